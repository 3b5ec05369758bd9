"""From where a balance succeeds: the basin of attraction, by batches of rollouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from torque_lab.control.lqr import Regulator, deviation
from torque_lab.physics.model import Array, Robot
from torque_lab.physics.rollout import rollout


class Balancer(Protocol):
    """A law that balances: `LQR` and `SwingUp`."""

    robot: Robot
    regulator: Regulator
    feedback: Callable[[Array, Array], Any]


def balances(law: Balancer, starts: Array, seconds: float = 5.0, tolerance: float = 0.05,
             ) -> Array:
    """
    Return which of some starts (N, 2 nv) end at rest at the equilibrium, as bool (N,).

    At rest: every angle, in rad, and speed, in rad/s, within the tolerance after some seconds at
    1 kHz, with the drives' limits.
    """
    n = law.robot.nv
    result = rollout(law.robot, starts, lambda x: law.feedback(x[:n], x[n:]), dt=1e-3,
                     steps=round(seconds * 1000), record=0)
    ends = np.array([deviation(law.robot, law.regulator.equilibrium, x[:n], x[n:])
                     for x in result.final])
    return (np.abs(ends).max(axis=1) < tolerance) & (result.diverged == 0)


def plane(law: Balancer, first: int, second: int, extent: tuple[float, float], size: int,
          ) -> tuple[Array, Array, Array]:
    """
    Starts on a plane of the state space through the equilibrium.

    Entries ``first`` and ``second`` of x = (q − q*, q̇) vary over ± ``extent``; the result is the
    two axes (size,) and the starts (size², 2 nv), the first entry varying fastest.
    """
    a, b = (np.linspace(-reach, reach, size) for reach in extent)
    starts = np.zeros((size * size, 2 * law.robot.nv))
    starts[:, :law.robot.nv] = law.regulator.equilibrium
    starts[:, first] += np.tile(a, size)
    starts[:, second] += np.repeat(b, size)
    return a, b, starts
