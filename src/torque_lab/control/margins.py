"""
How far a loop is from trouble: gain and delay margins at a pose, from the law as it is.

The law is linearised by differences about rest at the goal, the robot exactly; between two
instants of control the effort is held.  What a law remembers (integrals) is left out: it acts far
below the frequencies at which margins are lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from torque_lab.control.drives import command, driving_torque
from torque_lab.control.law import Law, Reference
from torque_lab.physics.linear import linearise
from torque_lab.physics.model import Array

DIFFERENCE = 1e-6
STABLE = 1.0 - 1e-9
MOST_GAIN, MOST_DELAY = 100.0, 200


@dataclass(frozen=True)
class Margins:
    """Margins of a loop; None where the loop is not stable to begin with."""

    decay: float | None
    """Slowest decay of a deviation, in 1/s."""
    gain: float | None
    """By how much all gains can grow, as a factor (at most 100)."""
    least_gain: float | None
    """By how much all gains can shrink, as a factor (0: entirely)."""
    delay: int | None
    """How many periods of delay, on top of the present, the loop bears (at most 200)."""


def margins(law: Law, goal: Array, period: float = 1e-3, delay: int = 1) -> Margins:
    """Margins of a law that holds its robot at a goal (nv,)."""
    robot, rest = law.robot, np.zeros(law.robot.nv)
    hold = command(robot, np.asarray(driving_torque(robot, goal, rest, rest), dtype=float), rest)
    A, B = linearise(robot, goal, rest, hold)
    plant = held_over(A, B, period)
    K = feedback_gain(law, goal)

    def stable(factor: float = 1.0, more: int = 0) -> bool:
        return spectral_radius(plant, factor * K, delay + more) < STABLE

    if not stable():
        return Margins(None, None, None, None)
    decay = -np.log(spectral_radius(plant, K, delay)) / period
    most = next((more for more in range(MOST_DELAY) if not stable(more=more + 1)), MOST_DELAY)
    return Margins(float(decay), _last_good(stable, MOST_GAIN), _last_good(stable, 0.0), most)


def feedback_gain(law: Law, goal: Array) -> Array:
    """Gain K (nv, 2 nv) of a law about rest at a goal: ``u = u0 − K x``."""
    n, h, reference = law.robot.nv, DIFFERENCE, Reference.hold(goal)

    def effort(x: Array) -> Array:
        return np.asarray(law.effort(0.0, 0.0, goal + x[:n], x[n:], reference), dtype=float)

    columns = [(effort(h * unit) - effort(-h * unit)) / (2.0 * h) for unit in np.eye(2 * n)]
    return -np.array(columns).T


def held_over(A: Array, B: Array, period: float) -> tuple[Array, Array]:
    """Discrete system of a continuous one whose input is held over a period."""
    n, m = B.shape
    block = np.zeros((n + m, n + m))
    block[:n, :n], block[:n, n:] = A, B
    whole = scipy.linalg.expm(block * period)
    return whole[:n, :n], whole[:n, n:]


def spectral_radius(plant: tuple[Array, Array], K: Array, delay: int) -> float:
    """Largest growth per period of the loop with a delay of so many periods."""
    Phi, Gamma = plant
    n, m = Gamma.shape
    whole = np.zeros((n + delay * m, n + delay * m))
    whole[:n, :n] = Phi
    if delay == 0:
        whole -= Gamma @ K
    else:
        whole[:n, n:n + m] = Gamma  # the oldest effort acts
        whole[n:n + (delay - 1) * m, n + m:] = np.eye((delay - 1) * m)
        whole[n + (delay - 1) * m:, :n] = -K
    return float(np.abs(np.linalg.eigvals(whole)).max())


def _last_good(stable: Callable[[float], bool], far: float) -> float:
    """Factor between 1 and ``far`` up to which the loop is stable, to 1 %."""
    if stable(far):
        return far
    good, bad = 1.0, far
    while abs(bad - good) > 0.01 * max(good, 0.01):
        middle = 0.5 * (good + bad) if far < 1.0 else float(np.sqrt(good * bad))
        good, bad = (middle, bad) if stable(middle) else (good, middle)
    return good
