"""
Friction that sticks and stops that hold, found for a whole step at once.

Coulomb friction jumps where the velocity changes its sign, and a stop is there or is not.  A force
that followed the velocity within the step would chatter.  So both are settled once, at the start
of each step of length h, and held over it:

1. *Impact.*  A joint that would run through a stop within the step loses what is too much of its
   speed by an impulse; the stop is inelastic.
2. *Rest.*  With the impulses ``p = h λ`` of friction and stops the velocities at the end of the
   step will be ``w = q̇ + h a + M⁻¹ p``, to first order.  Friction is the ``|λ| ≤ F_c`` that brings
   w as close to zero as it can: within the bounds the joint sticks, at a bound it slides and the
   friction is ``−F_c sign(q̇)`` exactly.  A stop is the one-sided λ that keeps w from leaving.

Joints push each other through ``M⁻¹``, so the rows are solved by sweeps of projected Gauss-Seidel;
the first guess is the exact answer when all joints stick.  Every update lowers the kinetic energy
that is left in the constraints, so that an impact creates no energy however few sweeps are made;
forces held over a step may, by the error of that step (its second order, at a reversal).  The
number of sweeps is fixed and nothing branches on a value: the same lines trace.

Todorov 2014 (convex contact, one row per joint); Moreau 1988 (inelastic impulses).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .forces import joint_positions
from .model import FLOATING, Array, Robot, Scalar
from .scalar import clamp
from .tracing.function import repeated
from .tree_solve import solve_mass_matrix, solve_positive

SWEEPS = 40
"""Gauss-Seidel sweeps where joints are coupled."""

REACH = 100.0
"""Acceleration, in rad/s^2 or m/s^2, that a joint near a stop is watched for."""


class Contact(NamedTuple):
    """What friction and stops do in one step."""

    q: Array
    """Positions (nq,) with joints put back onto the stops that they overran."""
    qd: Array
    """Velocities (nv,) after impacts."""
    force: Array
    """Generalised force (nv,) of friction and stops, held over the step."""
    lost: Scalar
    """Kinetic energy lost in impacts, in J."""


def limited_joints(robot: Robot) -> list[int]:
    """Degrees of freedom with a stop at either end."""
    return [i for body in robot.bodies if body.kind != FLOATING
            for i in range(body.v.start, body.v.stop)
            if np.isfinite(robot.lower[i]) or np.isfinite(robot.upper[i])]


def near_a_stop(robot: Robot, q: Array, qd: Array, h: Scalar) -> Scalar:
    """
    Whether any joint may touch a stop within a step of length h.

    Positions two steps ahead are compared with the stops, with a margin for acceleration.  Away
    from the stops a step then costs this comparison and nothing else.
    """
    ahead, margin, near = joint_positions(robot, q) + (2 * h) * qd, REACH * (h * h), False
    for i in limited_joints(robot):
        lower, upper = float(robot.lower[i]), float(robot.upper[i])
        if np.isfinite(upper):
            near = (ahead[i] > upper - margin) | near
        if np.isfinite(lower):
            near = (ahead[i] < lower + margin) | near
    return near


def settle(robot: Robot, q: Array, qd: Array, h: Scalar, friction: Array,
           mass_matrix: Callable[[Array], Array],
           acceleration: Callable[[Array, Array], Array]) -> Contact:
    """
    Friction and stops over one step of length h, in s.

    ``friction`` (nv,) is the Coulomb friction F_c; joints where it is the number zero have no row.
    ``mass_matrix(q)`` and ``acceleration(q, qd)`` are those of the robot without friction and
    stops.
    """
    stops = limited_joints(robot)
    rubbing = [i for i, bound in enumerate(friction.tolist())
               if not (isinstance(bound, float) and bound == 0.0)]
    rows = sorted({*stops, *rubbing})
    q = _put_back(robot, q, stops)
    columns = _inverse_columns(robot, mass_matrix(q), rows)
    A = columns[rows]
    low, high = _allowed_speed(robot, q, h, rows, stops)
    none: list[Scalar] = [None] * len(rows)
    bounds = [h * friction[i] if i in rubbing else None for i in rows]

    lost: Scalar = 0.0
    if stops:
        _, impulse = _project(A, qd[rows], none, low, high)
        after = qd + columns @ impulse
        lost = -0.5 * (impulse @ (qd[rows] + after[rows]))
        qd = after
    w = qd[rows] + h * acceleration(q, qd)[rows]
    rub, stop = _project(A, w, bounds, low, high)
    force = np.zeros(robot.nv, dtype=w.dtype)
    force[rows] = (rub + stop) / h
    return Contact(q, qd, force, lost)


def _put_back(robot: Robot, q: Array, stops: list[int]) -> Array:
    """Positions with the joints that overran a stop put back onto it."""
    q = q.copy()
    for body in robot.bodies:
        if body.v.start in stops:
            lower, upper = float(robot.lower[body.v.start]), float(robot.upper[body.v.start])
            q[body.q.start] = clamp(q[body.q.start], lower, upper)
    return q


def _inverse_columns(robot: Robot, M: Array, rows: list[int]) -> Array:
    """Columns (nv, rows) of ``M⁻¹``: how each joint's velocity answers an impulse at a row."""
    unit = np.eye(robot.nv)[:, rows]
    if M.dtype != object:
        return np.linalg.solve(M, unit)
    return np.array([solve_mass_matrix(robot, M, column) for column in unit.T]).T


def _allowed_speed(robot: Robot, q: Array, h: Scalar, rows: list[int], stops: list[int],
                   ) -> tuple[list[Scalar], list[Scalar]]:
    """Per row, the speeds downwards and upwards that reach a stop just at the end of the step."""
    position = joint_positions(robot, q)
    low, high = [], []
    for i in rows:
        lower, upper = float(robot.lower[i]), float(robot.upper[i])
        bounded = i in stops
        low.append((lower - position[i]) / h if bounded and np.isfinite(lower) else -np.inf)
        high.append((upper - position[i]) / h if bounded and np.isfinite(upper) else np.inf)
    return low, high


def _project(A: Array, w: Array, bounds: list[Scalar], low: list[Scalar], high: list[Scalar],
             ) -> tuple[Array, Array]:
    """
    Impulses of friction and of stops (rows,) for velocities w (rows,) that would be without them.

    ``bounds`` holds the largest friction impulse of each row, or None; ``low`` and ``high`` the
    velocities that the stops allow.
    """
    rub, stop = _all_stick(A, w, bounds), w * 0.0
    times = SWEEPS if len(w) > 1 else 1
    _, rub, stop = repeated('sweep', times, _sweep, (w + A @ rub, rub, stop),
                            (A, bounds, low, high))
    return rub, stop


def _all_stick(A: Array, w: Array, bounds: list[Scalar]) -> Array:
    """First guess of the friction impulses: all joints with friction stick, then clamped."""
    sticking = [i for i, bound in enumerate(bounds) if bound is not None]
    rub = w * 0.0
    if sticking:
        rub[sticking] = [clamp(impulse, -bounds[i], bounds[i]) for i, impulse in zip(
            sticking, solve_positive(A[np.ix_(sticking, sticking)], -w[sticking]), strict=True)]
    return rub


def _sweep(velocity_and_impulses: tuple[Array, Array, Array],
           problem: tuple[Array, list[Scalar], list[Scalar], list[Scalar]],
           ) -> tuple[Array, Array, Array]:
    """One sweep: each row in turn takes the impulse that is best while the others stay."""
    (w, rub, stop), (A, bounds, low, high) = velocity_and_impulses, problem
    rub, stop = rub.copy(), stop.copy()
    for i in range(len(w)):
        if bounds[i] is not None:
            impulse = clamp(rub[i] - w[i] / A[i, i], -bounds[i], bounds[i])
            w, rub[i] = w + A[:, i] * (impulse - rub[i]), impulse
        free = w[i] - A[i, i] * stop[i]
        impulse = (clamp(free, low[i], high[i]) - free) / A[i, i]
        w, stop[i] = w + A[:, i] * (impulse - stop[i]), impulse
    return w, rub, stop
