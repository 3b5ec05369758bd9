"""
Control of the tip: Cartesian impedance and operational-space control.

The goal of the tip is where the reference puts it: its pose by forward kinematics, its velocity by
the Jacobian.  So every goal and trajectory of the joints is one of the tip as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torque_lab.control.compiled import compiled
from torque_lab.control.drives import command, driving_torque
from torque_lab.control.law import Law, Reference, parameter
from torque_lab.physics.composite_body import mass_matrix
from torque_lab.physics.kinematics import forward_kinematics, jacobian
from torque_lab.physics.model import Array, Robot
from torque_lab.physics.preparation import prepared

DIFFERENCE = 1e-6
"""Time step, in s, of the difference that gives J̇."""


class Tip(NamedTuple):
    """Where the tip is and how it moves with the joints."""

    rotation: Array
    """(3, 3)."""
    position: Array
    """(3,), in m."""
    J: Array
    """(6, nv), linear part first, world axes."""


@lru_cache(maxsize=8)
def tip_function(robot: Robot, link: str) -> Callable[[Array], Tip]:
    """Return the compiled kinematics of a link."""
    nv = robot.nv

    def flat(q: Array) -> Array:
        R, p = forward_kinematics(robot, q, link)
        return np.concatenate([R.ravel(), p, jacobian(robot, q, link).ravel()])

    fast = compiled(flat, robot.nq)

    def tip(q: Array) -> Tip:
        values = fast(q)
        return Tip(values[:9].reshape(3, 3), values[9:12], values[12:].reshape(6, nv))

    return tip


@lru_cache(maxsize=8)
def dynamics_function(robot: Robot) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Return the compiled function of (q, qd) that gives M and the forces at q̈ = 0."""
    simple, nv = prepared(robot), robot.nv
    fast = compiled(lambda q, qd: np.concatenate([
        mass_matrix(simple, q).ravel(), driving_torque(simple, q, qd, np.zeros(nv))]),
        robot.nq, nv)

    def dynamics(q: Array, qd: Array) -> tuple[Array, Array]:
        values = fast(q, qd)
        return values[:nv * nv].reshape(nv, nv), values[nv * nv:]

    return dynamics


def orientation_error(wanted: Array, actual: Array) -> Array:
    """
    Small rotation (3,), in world axes, that turns the actual axes into the wanted ones.

    ``½ Σ actual_i × wanted_i``: the sine of the angle times the axis, right up to 90°
    (Luh, Walker & Paul 1980).
    """
    return 0.5 * np.cross(actual.T, wanted.T).sum(axis=0)


def reached_rows(robot: Robot, link: str, orientation: bool) -> list[int]:
    """Rows of a twist that a link can be given: 0 to 2 linear and, if wanted, 3 to 5 angular."""
    rng = np.random.default_rng(0)
    tip = tip_function(robot, link)
    rows: list[int] = []
    samples = [tip(rng.uniform(0.3, 1.2, robot.nq)).J for _ in range(5)]
    for row in range(6 if orientation else 3):
        if all(np.linalg.matrix_rank(J[[*rows, row]], tol=1e-8) == len(rows) + 1
               for J in samples):
            rows.append(row)
    return rows


class _TipLaw(Law):
    """What the laws of the tip have in common."""

    @dataclass(frozen=True)
    class Parameters:
        """Which link, which rows, and what the joints do that the tip does not feel."""

        link: str = parameter('', 'Link to control; empty: the tip')
        orientation: bool = parameter(
            False, 'Control the orientation of the link too, where the joints suffice')
        posture_frequency: float = parameter(
            4.0, 'How quickly joints that the tip does not need come to their reference',
            unit='rad/s', minimum=0.0)
        singularity_damping: float = parameter(
            0.02, 'λ: the tip\'s inertia is not taken for more than λ⁻² close to a singular pose',
            unit='kg^-½', minimum=1e-9)

    def configure(self) -> None:
        """Find the tip."""
        p, robot = self.parameters, self.robot
        link = p.link or robot.tip
        if link not in robot.frames:
            raise ValueError(f'{robot.name} has no link "{link}"; its links are '
                             f'{", ".join(robot.frames)}')
        self._tip = tip_function(robot, link)
        self._dynamics = dynamics_function(robot)
        self.rows = reached_rows(robot, link, p.orientation)

    def rows_of(self, linear: float, angular: float) -> Array:
        """One number for each row of the task."""
        return np.array([linear if row < 3 else angular for row in self.rows])

    def _error(self, now: Tip, q: Array, qd: Array, reference: Reference) -> tuple[Array, Array]:
        """Error of pose and of velocity in the rows of the task."""
        goal = self._tip(reference.position)
        pose = np.concatenate([goal.position - now.position,
                               orientation_error(goal.rotation, now.rotation)])
        motion = goal.J @ reference.velocity - now.J @ qd
        return pose[self.rows], motion[self.rows]

    def _mobility(self, M: Array, J: Array) -> tuple[Array, Array]:
        """
        How easily the tip moves, ``J M⁻¹ Jᵀ + λ² 1`` (k, k), and ``M⁻¹ Jᵀ`` (nv, k).

        The inverse of the first is the tip's inertia Λ, bounded by λ⁻² where a pose is singular.
        """
        response = np.linalg.solve(M, J.T)
        damping = self.parameters.singularity_damping**2 * np.eye(len(J))
        return J @ response + damping, response

    def _posture(self, M: Array, J: Array, mobility: Array, response: Array, q: Array, qd: Array,
                 reference: Reference) -> Array:
        """Joint forces ``(1 − Jᵀ Λ J M⁻¹) M a`` that do not move the tip (Khatib 1987)."""
        omega = self.parameters.posture_frequency
        pull = M @ (omega**2 * (reference.position - q) + 2.0 * omega * (reference.velocity - qd))
        return pull - J.T @ np.linalg.solve(mobility, response.T @ pull)


class Impedance(_TipLaw):
    """
    ``τ = g + C q̇ + Jᵀ (K e + D ė) + posture``: the tip as a spring and damper to its goal.

    A force F on the tip moves it by ``K⁻¹ F``, whatever the pose.  Each row has the damper
    ``2 ζ √(m K)`` of the mass m that a push in that direction alone meets.  J is not inverted, so
    that a singular pose does no harm.  Hogan 1985; Ott 2008, section 3.2.
    """

    @dataclass(frozen=True)
    class Parameters(_TipLaw.Parameters):
        """Parameters of the impedance."""

        stiffness: float = parameter(200.0, 'Stiffness of the tip against displacement',
                                     unit='N/m', minimum=0.0)
        rotational_stiffness: float = parameter(
            1.0, 'Stiffness of the tip against turning, where orientation is controlled; light '
            'wrists bear little', unit='N m/rad', minimum=0.0)
        damping_ratio: float = parameter(0.8, 'ζ of the tip', minimum=0.0)

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """Spring and damper at the tip, gravity and velocity forces paid."""
        p, now = self.parameters, self._tip(q)
        M, bias = self._dynamics(q, qd)
        J = now.J[self.rows]
        error, rate = self._error(now, q, qd, reference)
        mobility, response = self._mobility(M, J)
        K = self.rows_of(p.stiffness, p.rotational_stiffness)
        force = K * error + 2.0 * p.damping_ratio * np.sqrt(K / np.diag(mobility)) * rate
        torque = bias + J.T @ force + self._posture(M, J, mobility, response, q, qd, reference)
        return command(self.robot, torque, qd)


class OperationalSpace(_TipLaw):
    """
    ``τ = Jᵀ Λ (ẍ_d + 2 ζ ω ė + ω² e − J̇ q̇) + C q̇ + g + posture``: computed torque of the tip.

    The tip's error follows ``ë + 2 ζ ω ė + ω² e = 0`` in every direction.  Khatib 1987.
    """

    @dataclass(frozen=True)
    class Parameters(_TipLaw.Parameters):
        """Parameters of operational-space control."""

        natural_frequency: float = parameter(15.0, 'ω of the tip\'s error', unit='rad/s',
                                             minimum=0.0)
        damping_ratio: float = parameter(1.0, 'ζ of the tip\'s error', minimum=0.0)

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """Inverse dynamics of the tip."""
        p, now, rows = self.parameters, self._tip(q), self.rows
        M, bias = self._dynamics(q, qd)
        J = now.J[rows]
        error, rate = self._error(now, q, qd, reference)
        wanted = self._acceleration(reference) + p.natural_frequency**2 * error + (
            2.0 * p.damping_ratio * p.natural_frequency * rate)
        mobility, response = self._mobility(M, J)
        force = np.linalg.solve(mobility, wanted - self._turning(q, qd)[rows])
        torque = bias + J.T @ force + self._posture(M, J, mobility, response, q, qd, reference)
        return command(self.robot, torque, qd)

    def _acceleration(self, reference: Reference) -> Array:
        """Acceleration of the tip's goal."""
        goal = self._tip(reference.position)
        return (goal.J @ reference.acceleration
                + self._turning(reference.position, reference.velocity))[self.rows]

    def _turning(self, q: Array, qd: Array) -> Array:
        """``J̇ q̇`` (6,), by a central difference along the motion."""
        h = DIFFERENCE
        return (self._tip(q + h * qd).J - self._tip(q - h * qd).J) @ qd / (2.0 * h)
