"""The robot close to one state: the matrices A and B of linear control."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .arguments import vector
from .composite_body import mass_matrix
from .coriolis import STEP
from .forces import damping_effort, drive_effort, spring_effort
from .forward import motion_cross
from .joints import configuration_rate
from .model import FLOATING, Array, Robot
from .newton_euler import bias, inverse_dynamics


class Linearisation(NamedTuple):
    """Small deviations from a state follow ``ẋ = A x + B u``, with ``x = (q, q̇)``."""

    A: Array
    """(2 nv, 2 nv)."""
    B: Array
    """(2 nv, nv)."""


def linearise(robot: Robot, q: Array, qd: Array, command: Array | None = None) -> Linearisation:
    """
    Linear system ``ẋ = A x + B u`` of small deviations from a state, exactly (complex step).

    Damping, springs and motors are in it; Coulomb friction is not: it is constant while a joint
    slides, and has no derivative where it sticks.  With ``r = inverse dynamics − joint forces``
    zero along the motion, ``∂q̈/∂x = −M⁻¹ ∂r/∂x`` at the q̈ of the state.

    - ``q`` (nq,), ``qd`` (nv,): the state, at rest or moving.
    - ``command`` (nv,): volts for a joint with a motor, otherwise an effort; zero by default.

    For a floating joint the deviation of the position is a small twist in body axes,
    ``δ̇ = δv − v × δ``, so that x has 2 nv entries whatever the joints.

    Lynch & Park 2017, section 8.7 (equations in joint space); Martins et al. 2003 (complex step).
    """
    nv = robot.nv
    q = np.asarray(vector(robot, 'q', q, robot.nq), dtype=float)
    qd = np.asarray(vector(robot, 'qd', qd, nv), dtype=float)
    u = np.zeros(nv) if command is None else np.asarray(vector(robot, 'command', command, nv))
    M = mass_matrix(robot, q)
    qdd = np.linalg.solve(M, smooth_forces(robot, q, qd, u) - bias(robot, q, qd))

    def missing_force(q: Array, qd: Array) -> Array:
        return smooth_forces(robot, q, qd, u) - inverse_dynamics(robot, q, qd, qdd)

    by_position = _derivative(
        lambda step: missing_force(q + configuration_rate(robot, q, step), qd), nv)
    by_velocity = _derivative(lambda step: missing_force(q, qd + step), nv)
    by_command = _derivative(lambda step: smooth_forces(robot, q, qd, u + step), nv)
    A = np.block([[drift(robot, qd), np.eye(nv)],
                  [np.linalg.solve(M, by_position), np.linalg.solve(M, by_velocity)]])
    B = np.vstack([np.zeros((nv, nv)), np.linalg.solve(M, by_command)])
    return Linearisation(A, B)


def smooth_forces(robot: Robot, q: Array, qd: Array, command: Array) -> Array:
    """Joint forces (nv,) of commands, motors, springs and damping: all but Coulomb friction."""
    return (drive_effort(robot, command, qd) + spring_effort(robot, q)
            + damping_effort(robot.damping, qd))


def _derivative(function: Callable[[Array], Array], size: int) -> Array:
    """Jacobian (m, size) of a function of a small step (size,), at zero, by complex step."""
    return np.array([np.asarray(function(1j * STEP * unit)).imag / STEP
                     for unit in np.eye(size)]).T


def drift(robot: Robot, qd: Array) -> Array:
    """How a deviation of position moves by itself (nv, nv): ``−v ×`` for floating joints."""
    drift = np.zeros((robot.nv, robot.nv), dtype=qd.dtype)
    for body in robot.bodies:
        if body.kind == FLOATING:
            drift[body.v, body.v] = -motion_cross(qd[body.v])
    return drift
