"""Linear quadratic regulators about any equilibrium, from the exact linearisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from torque_lab.control.angles import wrapped
from torque_lab.control.drives import command, driven_joints, driving_torque, turning_joints
from torque_lab.control.law import Law, Reference, parameter
from torque_lab.physics.forces import command_limit
from torque_lab.physics.linear import linearise
from torque_lab.physics.model import Array, Robot

BALANCED = 1e-6
"""Effort, relative to the robot's weight, that a joint without a drive may need at rest."""


class Regulator(NamedTuple):
    """``u = u* − K x`` with ``x = (q − q*, q̇)``; ``xᵀ S x`` is the cost still to come."""

    equilibrium: Array
    """q* (nv,)."""
    command: Array
    """u* (nv,), what holds the equilibrium."""
    K: Array
    """(nv, 2 nv); zero rows where there is no drive."""
    S: Array
    """(2 nv, 2 nv)."""
    A: Array
    B: Array

    @property
    def closed_loop(self) -> Array:
        """Matrix ``A − B K`` of the loop."""
        return self.A - self.B @ self.K


def regulator(robot: Robot, equilibrium: Sequence[float] | Array, position_cost: Array,
              velocity_cost: Array, effort_cost: Array, driven: Sequence[int]) -> Regulator:
    """
    Regulator that minimises ``∫ xᵀ Q x + uᵀ R u dt`` about a rest position.

    - ``position_cost``, ``velocity_cost``, ``effort_cost`` (nv,): the diagonals of Q and R.
    - ``driven``: indices of the joints that u drives.

    ``AᵀS + S A − S B R⁻¹ Bᵀ S + Q = 0``, ``K = R⁻¹ Bᵀ S``.  Anderson & Moore 1990, section 3.2.
    """
    q = np.array(equilibrium, dtype=float)
    rest = np.zeros(robot.nv)
    torque = np.asarray(driving_torque(robot, q, rest, rest), dtype=float)
    passive = [k for k in range(robot.nv) if k not in driven]
    weight = 1.0 + np.abs(torque).max()
    for k in passive:
        if abs(torque[k]) > BALANCED * weight:
            raise ValueError(f'{robot.name} does not balance at {q.tolist()}: joint '
                             f'"{robot.joint_names[k]}" would need {torque[k]:.3g} and has no '
                             'drive there')
    held = np.where([k in driven for k in range(robot.nv)], command(robot, torque, rest), 0.0)
    limit = command_limit(robot)
    for k in driven:
        if abs(held[k]) > limit[k]:
            raise ValueError(f'{robot.name} cannot be held at {q.tolist()}: joint '
                             f'"{robot.joint_names[k]}" needs {held[k]:.3g} and can give '
                             f'{limit[k]:.3g}')
    A, B = linearise(robot, q, rest, held)
    columns = B[:, list(driven)]
    Q = np.diag(np.concatenate([position_cost, velocity_cost]))
    R = np.diag(effort_cost[list(driven)])
    try:
        S = scipy.linalg.solve_continuous_are(A, columns, Q, R)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise ValueError(f'no regulator for {robot.name} about {q.tolist()}: {error}; can its '
                         'drives reach every joint?') from None
    K = np.zeros((robot.nv, 2 * robot.nv))
    K[list(driven)] = np.linalg.solve(R, columns.T @ S)
    return Regulator(q, held, K, S, A, B)


def deviation(robot: Robot, equilibrium: Array, q: Array, qd: Array) -> Array:
    """``x = (q − q*, q̇)`` (2 nv,); angles without stops the short way round, any scalar."""
    turning = turning_joints(robot)
    return np.array([wrapped(a - b) if turns else a - b for a, b, turns in zip(
        q.tolist(), equilibrium.tolist(), turning, strict=True)] + qd.tolist())


class LQR(Law):
    """
    ``u = u* − K x`` about an equilibrium, with the gains that cost least.

    The equilibrium is a parameter and not the reference: gains belong to one pose.
    """

    name = 'lqr'

    @dataclass(frozen=True)
    class Parameters:
        """Parameters of the regulator; lists have one number, or one per joint."""

        equilibrium: tuple[float, ...] = parameter(
            (0.0,), 'Rest position to balance at', unit='rad or m')
        position_cost: tuple[float, ...] = parameter(
            (10.0,), 'Cost of a deviation, per rad² or m²', minimum=0.0)
        velocity_cost: tuple[float, ...] = parameter(
            (1.0,), 'Cost of motion, per (rad/s)² or (m/s)²', minimum=0.0)
        effort_cost: tuple[float, ...] = parameter(
            (1.0,), 'Cost of effort, per unit of it squared', minimum=1e-9)
        driven_joints: tuple[str, ...] = parameter(
            (), 'Joints to drive; empty: all that have a drive')

    def configure(self) -> None:
        """Solve the Riccati equation."""
        p = self.parameters
        self.driven = driven_joints(self.robot, p.driven_joints)
        self.regulator = regulator(
            self.robot, self.per_joint('equilibrium', p.equilibrium),
            self.per_joint('position_cost', p.position_cost),
            self.per_joint('velocity_cost', p.velocity_cost),
            self.per_joint('effort_cost', p.effort_cost), self.driven)

    def feedback(self, q: Array, qd: Array) -> Any:
        """Effort of a state, of any scalar."""
        r = self.regulator
        return r.command - r.K @ deviation(self.robot, r.equilibrium, q, qd)

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """Feedback of the whole state."""
        return self.feedback(q, qd)
