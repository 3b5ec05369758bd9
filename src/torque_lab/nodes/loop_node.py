"""Both nodes in one process on one executor: the lowest latency between them."""

from __future__ import annotations

import sys

from torque_lab.nodes.controller_node import ControllerNode
from torque_lab.nodes.dynamics_node import DynamicsNode
from torque_lab.nodes.running import run


def main() -> None:
    """Run the dynamics node and the controller node together."""
    sys.exit(run('loop', [DynamicsNode, ControllerNode]))


if __name__ == '__main__':
    main()
