"""Forces from outside: pushes on joints and wrenches on links, each for a while."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torque_lab.physics.kinematics import jacobian
from torque_lab.physics.model import Robot


class Pushes:
    """
    The outside forces in force.

    A push or wrench acts for ``duration`` seconds of simulation time from its arrival on; a new
    one on the same link (or a new push) replaces the old one.  They bypass the effort limits.
    """

    def __init__(self, robot: Robot, duration: float) -> None:
        self._robot, self.duration = robot, duration
        self.clear()

    def clear(self) -> None:
        """End them all."""
        self._push = np.zeros(self._robot.nv)
        self._push_end = -1.0
        self._wrenches: dict[str, tuple[np.ndarray, float]] = {}

    def push(self, effort: Sequence[float], now: float) -> None:
        """Push the joints with generalised forces (nv,) from now on."""
        self._push = self._finite('a push', effort, self._robot.nv)
        self._push_end = now + self.duration

    def wrench(self, link: str, wrench: Sequence[float], now: float) -> None:
        """Apply a force and torque (6,) at a link's origin, in world axes, from now on."""
        if link not in self._robot.frames:
            raise ValueError(f'no link "{link}"; the links are {", ".join(self._robot.frames)}')
        self._wrenches[link] = (self._finite('a wrench', wrench, 6), now + self.duration)

    def active(self, now: float) -> bool:
        """Whether any force acts."""
        self._wrenches = {link: (wrench, end) for link, (wrench, end) in self._wrenches.items()
                          if now < end}
        return now < self._push_end or bool(self._wrenches)

    def generalised(self, q: np.ndarray, now: float) -> np.ndarray | None:
        """Return the sum of pushes and ``J(q)ᵀ F`` (nv,); None if nothing acts."""
        if not self.active(now):
            return None
        total = self._push.copy() if now < self._push_end else np.zeros(self._robot.nv)
        for link, (wrench, _) in self._wrenches.items():
            total += jacobian(self._robot, q, link).T @ wrench
        return total

    @staticmethod
    def _finite(what: str, values: Sequence[float], length: int) -> np.ndarray:
        array = np.asarray(values, dtype=float)
        if array.shape != (length,) or not np.isfinite(array).all():
            plural = '' if length == 1 else 's'
            raise ValueError(f'{what} is {length} finite number{plural}, not {list(values)}')
        return array
