"""What a run amounts to: did it reach its goal, when, how well, and did the energy add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torque_lab.physics.model import PRISMATIC, Robot

ANGLE_TOLERANCE = np.radians(0.1)
LENGTH_TOLERANCE = 1e-3
SETTLED_TIME = 1.0
"""The goal is reached when the last so many seconds lie within the tolerance."""


@dataclass(frozen=True)
class JointSummary:
    """How one joint did; lengths and angles in SI units."""

    name: str
    unit: str
    scale: float
    """From SI to the unit shown."""
    start: float
    goal: float
    settling_time: float | None
    """Since the arm began to move, in s; None if it never settled."""
    error: float
    """Largest distance from the goal over the last second."""
    tolerance: float
    largest_effort: float
    effort_unit: str

    @property
    def reached(self) -> bool:
        """Whether it ended at its goal."""
        return self.error <= self.tolerance


def summarise(robot: Robot, time: np.ndarray, position: np.ndarray, effort: np.ndarray,
              goal: Sequence[float]) -> list[JointSummary]:
    """Summarise every joint of a run: ``time`` (k,), ``position`` and ``effort`` (k, n)."""
    kinds = {body.joint: body.kind for body in robot.bodies}
    moving = np.abs(position - position[0]).max(axis=1) > 0.0
    begin = time[np.argmax(moving)] if moving.any() else time[0]
    tail = time >= time[-1] - SETTLED_TIME
    summaries = []
    for i, name in enumerate(robot.joint_names):
        slides = kinds[name] == PRISMATIC
        tolerance = LENGTH_TOLERANCE if slides else ANGLE_TOLERANCE
        distance = np.abs(position[:, i] - goal[i])
        outside = np.flatnonzero(distance > tolerance)
        settled = 0 if not len(outside) else outside[-1] + 1
        volts = robot.motors[i] is not None
        summaries.append(JointSummary(
            name=name, unit='mm' if slides else '°', scale=1e3 if slides else 180.0 / np.pi,
            start=position[0, i], goal=goal[i],
            settling_time=float(time[settled] - begin) if settled < len(time) else None,
            error=float(distance[tail].max()), tolerance=tolerance,
            largest_effort=float(np.abs(effort[:, i]).max()),
            effort_unit='V' if volts else 'N' if slides else 'N·m'))
    return summaries


def energy_residual(energy: Sequence[Sequence[float]]) -> float:
    """
    Energy that appeared from nowhere, in J: the change of ``total - work + dissipated``.

    ``energy`` (k, 5) holds rows in the order of `torque_lab.nodes.interface.ENERGY_FIELDS`.
    """
    if len(energy) < 2:
        return float('nan')
    rows = np.asarray(energy)
    balance = rows[:, 2] - rows[:, 3] + rows[:, 4]
    return float(np.abs(balance - balance[0]).max())
