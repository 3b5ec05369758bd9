"""Joint states read by name, whatever their order and whoever else is in the message."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sensor_msgs.msg import JointState


class JointReader:
    """Finds the robot's joints in messages."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self.joint_names = tuple(joint_names)
        self._names: Sequence[str] = ()
        self._order: list[int] = []
        self._in_order = False

    def order(self, names: Sequence[str]) -> list[int]:
        """Place of each of the robot's joints in a list of names; ValueError if one is missing."""
        if names != self._names:
            missing = [name for name in self.joint_names if name not in names]
            if missing:
                raise ValueError(f'joint "{missing[0]}" is missing')
            if len(set(names)) != len(names):
                twice = next(name for name in names if list(names).count(name) > 1)
                raise ValueError(f'joint "{twice}" is named twice')
            self._order = [names.index(name) for name in self.joint_names]
            self._names = list(names)
            self._in_order = self._order == list(range(len(names)))
        return self._order

    def read(self, message: JointState) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities (nv,) in the robot's order; ValueError says what is wrong."""
        order = self.order(message.name)
        if not len(message.position) == len(message.velocity) == len(message.name):
            raise ValueError(f'{len(message.name)} names, {len(message.position)} positions, '
                             f'{len(message.velocity)} velocities')
        q, qd = np.array(message.position), np.array(message.velocity)
        if not self._in_order:
            q, qd = q[order], qd[order]
        if not math.isfinite(sum(q.tolist()) + sum(qd.tolist())):
            raise ValueError('a position or velocity is not finite')
        return q, qd
