"""What a run amounts to: did it reach its goal, when, how well, and did the energy add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torque_lab.physics.model import PRISMATIC, Robot

ANGLE_TOLERANCE = np.radians(0.1)
BALANCE_TOLERANCE = np.radians(2.0)
"""For laws that balance: they hold a point that is unstable, whatever turns it took."""
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


def distances(robot: Robot, position: np.ndarray, goal: Sequence[float],
              balances: bool) -> tuple[np.ndarray, np.ndarray]:
    """Distance from the goal (k, n) in SI units, and the tolerance (n,) for having reached it."""
    kinds = {body.joint: body.kind for body in robot.bodies}
    slides = np.array([kinds[name] == PRISMATIC for name in robot.joint_names])
    distance = position - np.asarray(goal)
    if balances:
        distance = np.where(slides, distance, (distance + np.pi) % (2 * np.pi) - np.pi)
    angle = BALANCE_TOLERANCE if balances else ANGLE_TOLERANCE
    return np.abs(distance), np.where(slides, LENGTH_TOLERANCE, angle)


def summarise(robot: Robot, time: np.ndarray, position: np.ndarray, effort: np.ndarray,
              goal: Sequence[float], balances: bool = False) -> list[JointSummary]:
    """
    Summarise every joint of a run: ``time`` (k,), ``position`` and ``effort`` (k, n).

    Where a law balances, whole turns do not count and the tolerance is wider.
    """
    kinds = {body.joint: body.kind for body in robot.bodies}
    distance, tolerances = distances(robot, position, goal, balances)
    moving = np.abs(position - position[0]).max(axis=1) > 0.0
    begin = time[np.argmax(moving)] if moving.any() else time[0]
    tail = time >= time[-1] - SETTLED_TIME
    summaries = []
    for i, name in enumerate(robot.joint_names):
        slides = kinds[name] == PRISMATIC
        outside = np.flatnonzero(distance[:, i] > tolerances[i])
        settled = 0 if not len(outside) else outside[-1] + 1
        summaries.append(JointSummary(
            name=name, unit='mm' if slides else '°', scale=1e3 if slides else 180.0 / np.pi,
            start=position[0, i], goal=goal[i],
            settling_time=float(time[settled] - begin) if settled < len(time) else None,
            error=float(distance[tail, i].max()), tolerance=float(tolerances[i]),
            largest_effort=float(np.abs(effort[:, i]).max()),
            effort_unit='N' if slides else 'N·m'))
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
