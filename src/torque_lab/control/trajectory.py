"""
Smooth motions: quintic polynomials between states, and the smoothest one through waypoints.

A quintic takes position, velocity and acceleration at both ends.  From rest to rest it is the
motion of minimum jerk (Flash & Hogan 1985); joined with continuous derivatives up to the fourth
it is the motion of minimum jerk through waypoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np

from torque_lab.control.law import Reference
from torque_lab.physics.model import Array

DEGREE = 5


@dataclass(frozen=True, eq=False)
class Motion:
    """Piecewise quintic: rest before its beginning and after its end."""

    times: Array
    """Knots (N + 1,), in s, increasing."""
    coefficients: Array
    """(N, 6, n): powers of the time since the segment's first knot, lowest first."""

    @property
    def begin(self) -> float:
        """First instant, in s."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Last instant, in s."""
        return float(self.times[-1])

    @property
    def goal(self) -> Array:
        """Position (n,) at the end."""
        return self._derivative(len(self.coefficients) - 1, self.times[-1] - self.times[-2], 0)

    def at(self, t: float) -> Reference:
        """Position, velocity and acceleration at a time."""
        if t >= self.times[-1]:
            return Reference.hold(self.goal)
        if t <= self.times[0]:
            first = self.coefficients[0]
            return Reference(first[0].copy(), first[1].copy(), 2.0 * first[2])
        k = int(np.searchsorted(self.times, t, side='right')) - 1
        s = t - self.times[k]
        return Reference(*(self._derivative(k, s, order) for order in range(3)))

    def _derivative(self, segment: int, s: float, order: int) -> Array:
        return _powers(s, order) @ self.coefficients[segment]

    def peaks(self) -> tuple[Array, Array]:
        """Largest speed (n,) and acceleration (n,) on the way, exactly."""
        found = []
        for order in (1, 2):
            peak = np.zeros(self.coefficients.shape[2])
            for k, length in enumerate(np.diff(self.times)):
                for joint in range(len(peak)):
                    curve = np.polynomial.Polynomial(self.coefficients[k, :, joint]).deriv(order)
                    turns = curve.deriv().roots()
                    real = turns.real[np.abs(turns.imag) < 1e-9 * (1.0 + np.abs(turns))]
                    places = [0.0, length, *real[(real > 0.0) & (real < length)]]
                    peak[joint] = max(peak[joint], np.abs(curve(np.array(places))).max())
            found.append(peak)
        return found[0], found[1]

    def stretched(self, factor: float) -> Motion:
        """Return the same path, so many times slower, from the same beginning."""
        scale = float(factor) ** -np.arange(DEGREE + 1)
        return Motion(self.times[0] + (self.times - self.times[0]) * factor,
                      self.coefficients * scale[:, None])


EXPONENTS = np.array([[max(k - order, 0) for k in range(DEGREE + 1)]
                      for order in range(DEGREE)])
FACTORS = np.array([[factorial(k) / factorial(k - order) if k >= order else 0.0
                     for k in range(DEGREE + 1)] for order in range(DEGREE)])


def _powers(s: float, order: int) -> Array:
    """Derivative of (1, s, ..., s⁵)."""
    return FACTORS[order] * s**EXPONENTS[order]


def quintic(begin: float, start: Reference, duration: float, goal: Reference) -> Motion:
    """One quintic between two states of motion."""
    if not duration > 0.0:
        raise ValueError(f'a motion must take some time, not {duration:g} s')
    rows = np.array([_powers(s, order) for s in (0.0, duration) for order in range(3)])
    ends = np.array([start.position, start.velocity, start.acceleration,
                     goal.position, goal.velocity, goal.acceleration])
    return Motion(np.array([begin, begin + duration]), np.linalg.solve(rows, ends)[None])


def minimum_jerk(begin: float, start: Reference, goal: Sequence[float] | Array,
                 duration: float | None = None, velocity_limit: Array | float = np.inf,
                 acceleration_limit: Array | float = np.inf) -> Motion:
    """
    Smoothest motion from a state of motion to rest at a goal.

    Without a ``duration`` it takes as long as the limits (n,) ask for: 15/8 Δ/T and
    5.7735 Δ/T² are the peaks from rest.  With one, limits that it breaks stretch it.  From a
    fast start no quintic may keep them: then it is the one that breaks them least.
    """
    target = Reference.hold(goal)
    distance = np.abs(target.position - start.position)
    if duration is None:
        wanted = np.concatenate([np.atleast_1d(15.0 / 8.0 * distance / velocity_limit),
                                 np.sqrt(10.0 / np.sqrt(3.0) * distance / acceleration_limit)])
        duration = max(float(wanted.max()), 1e-3)
    # A moving start does not scale with time, and a longer motion may even swing out further:
    # take the shortest that keeps the limits, or else the one that breaks them least.
    best, least = None, np.inf
    for step in range(24):
        motion = quintic(begin, start, duration * 1.15**step, target)
        factor = _excess(motion, velocity_limit, acceleration_limit, start)
        if factor < least:
            best, least = motion, factor
        if factor <= 1.0 + 1e-9:
            break
    assert best is not None
    return best


def through(times: Sequence[float] | Array, positions: Array,
            start: Reference | None = None) -> Motion:
    """
    Motion of minimum jerk through waypoints (N + 1, n) at times (N + 1,).

    It begins with the velocity and acceleration of ``start`` (at rest unless stated) and ends at
    rest; in between, derivatives up to the fourth are continuous.
    """
    times, positions = np.asarray(times, dtype=float), np.asarray(positions, dtype=float)
    _check_times(times, positions)
    lengths, n = np.diff(times), positions.shape[1]
    begin = Reference.hold(positions[0]) if start is None else start
    rows: list[Array] = []
    values: list[Array] = []

    def ask(value: Array, *parts: tuple[int, float, int, float]) -> None:
        row = np.zeros((len(lengths), DEGREE + 1))
        for segment, s, order, sign in parts:
            row[segment] += sign * _powers(s, order)
        rows.append(row.ravel())
        values.append(value)

    last = len(lengths) - 1
    for k, length in enumerate(lengths):
        ask(positions[k], (k, 0.0, 0, 1.0))
        ask(positions[k + 1], (k, length, 0, 1.0))
        for order in range(1, DEGREE) if k < last else ():
            ask(np.zeros(n), (k, length, order, 1.0), (k + 1, 0.0, order, -1.0))
    ask(begin.velocity, (0, 0.0, 1, 1.0))
    ask(begin.acceleration, (0, 0.0, 2, 1.0))
    ask(np.zeros(n), (last, lengths[-1], 1, 1.0))
    ask(np.zeros(n), (last, lengths[-1], 2, 1.0))
    found = np.linalg.solve(np.array(rows), np.array(values))
    return Motion(times, found.reshape(len(lengths), DEGREE + 1, n))


def through_states(times: Sequence[float] | Array, states: Sequence[Reference]) -> Motion:
    """Quintics through states of motion, each with its position, velocity and acceleration."""
    times = np.asarray(times, dtype=float)
    _check_times(times, np.array([state.position for state in states]))
    pieces = [quintic(times[k], states[k], times[k + 1] - times[k], states[k + 1])
              for k in range(len(times) - 1)]
    return Motion(times, np.concatenate([piece.coefficients for piece in pieces]))


def within(motion: Motion, velocity_limit: Array | float, acceleration_limit: Array | float,
           ) -> tuple[Motion, float]:
    """Motion slowed down as a whole until its limits (n,) are kept, and the factor (1 if none)."""
    factor = max(1.0, _excess(motion, velocity_limit, acceleration_limit))
    return (motion if factor == 1.0 else motion.stretched(factor)), factor


def _excess(motion: Motion, velocity_limit: Array | float, acceleration_limit: Array | float,
            start: Reference | None = None) -> float:
    """How much slower a motion must be; what it starts with is not its fault."""
    speed, acceleration = motion.peaks()
    if start is not None:
        velocity_limit = np.maximum(velocity_limit, np.abs(start.velocity))
        acceleration_limit = np.maximum(acceleration_limit, np.abs(start.acceleration))
    by_speed = float((speed / velocity_limit).max())
    return max(by_speed, float(np.sqrt((acceleration / acceleration_limit).max())))


def _check_times(times: Array, positions: Array) -> None:
    if len(times) < 2 or len(times) != len(positions) or positions.ndim != 2:
        raise ValueError('a motion needs two waypoints or more, each with its time')
    if not (np.isfinite(times).all() and np.isfinite(positions).all()):
        raise ValueError('a waypoint is not finite')
    if not (np.diff(times) > 0.0).all():
        raise ValueError('times of waypoints must increase')
