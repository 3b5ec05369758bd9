"""Forward dynamics: the acceleration that forces cause, by two algorithms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arguments import vector
from .composite_body import about_origin, mass_matrix
from .joints import motion_subspace, placements
from .model import WORLD, Array, Body, Robot
from .newton_euler import Wrenches, bias, wrenches_in_body_axes
from .spatial import identity, settled, skew, zeros
from .tree_solve import solve_mass_matrix, solve_positive


def forward_dynamics(robot: Robot, q: Array, qd: Array, tau: Array,
                     wrenches: Wrenches | None = None) -> Array:
    """
    Acceleration (nv,) by solving ``M(q) q̈ = τ − C(q, q̇) q̇ − g(q) + Jᵀ F``.

    ``tau`` (nv,) is the net generalised force: friction, springs and motors are in it already
    (see `torque_lab.physics.forces`).  The other arguments are as for `inverse_dynamics`, whose
    inverse this is.  `articulated_body` gives the same without a mass matrix.

    Featherstone 2008, section 6.1.
    """
    tau = vector(robot, 'tau', tau, robot.nv)
    return solve_mass_matrix(robot, mass_matrix(robot, q), tau - bias(robot, q, qd, wrenches))


class Articulated(NamedTuple):
    """A body and all that hangs on it, free to move at their joints: ``f = I a + b``."""

    inertia: Array
    """Articulated-body inertia (6, 6): force per acceleration, linear part first."""
    bias: Array
    """Force (6,) at zero acceleration."""


def articulated_body(robot: Robot, q: Array, qd: Array, tau: Array,
                     wrenches: Wrenches | None = None) -> Array:
    """
    Acceleration (nv,) by the articulated-body algorithm, in a time that grows as the robot does.

    Same arguments and result as `forward_dynamics`.  Three passes: outwards the velocities,
    inwards the inertia that each joint feels when the joints after it are free, outwards the
    accelerations.  Featherstone 2008, section 7.3 and table 7.1.
    """
    q = vector(robot, 'q', q, robot.nq)
    qd, tau = vector(robot, 'qd', qd, robot.nv), vector(robot, 'tau', tau, robot.nv)
    places = placements(robot, q)
    transforms = [motion_transform(R, p) for R, p in places]
    subspaces = [np.vstack(motion_subspace(body)) for body in robot.bodies]

    velocity, coriolis, handles = {WORLD: zeros(6)}, [], []
    for index, body in enumerate(robot.bodies):
        joint_velocity = subspaces[index] @ qd[body.v]
        velocity[index] = transforms[index] @ velocity[body.parent] + joint_velocity
        coriolis.append(motion_cross(velocity[index]) @ joint_velocity)
        inertia = spatial_inertia(body)
        momentum = inertia @ velocity[index]
        handles.append(Articulated(inertia, -motion_cross(velocity[index]).T @ momentum))
    for index, force, torque in wrenches_in_body_axes(robot, places, wrenches):
        push = np.concatenate([force, torque])
        handles[index] = handles[index]._replace(bias=handles[index].bias - push)

    joints = {}
    for index in reversed(range(len(robot.bodies))):
        body, S, (inertia, force) = robot.bodies[index], subspaces[index], handles[index]
        U = inertia @ S
        gain = _solve_columns(S.T @ U, U.T)
        free = _solve_columns(S.T @ U, (tau[body.v] - S.T @ force).reshape(-1, 1))[:, 0]
        joints[index] = gain, free
        if body.parent != WORLD:
            inertia = inertia - U @ gain
            force = force + inertia @ coriolis[index] + U @ free
            X, parent = transforms[index], handles[body.parent]
            handles[body.parent] = Articulated(parent.inertia + X.T @ inertia @ X,
                                               parent.bias + X.T @ force)

    qdd = np.zeros(robot.nv, dtype=object)
    acceleration = {WORLD: np.concatenate([-robot.gravity, zeros(3)])}
    for index, body in enumerate(robot.bodies):
        gain, free = joints[index]
        carried = transforms[index] @ acceleration[body.parent] + coriolis[index]
        qdd[body.v] = own = free - gain @ carried
        acceleration[index] = carried + subspaces[index] @ own
    return settled(qdd)


def motion_transform(R: Array, p: Array) -> Array:
    """Matrix (6, 6) that takes a twist from a frame into the one at R, p in it."""
    return np.block([[R.T, -R.T @ skew(p)], [zeros(3, 3), R.T]])


def motion_cross(velocity: Array) -> Array:
    """Matrix (6, 6) of the product of two twists: ``(v, ω) × (v', ω') = (ω×v' + v×ω', ω×ω')``."""
    linear, angular = skew(velocity[:3]), skew(velocity[3:])
    return np.block([[angular, linear], [zeros(3, 3), angular]])


def spatial_inertia(body: Body) -> Array:
    """Matrix (6, 6) that takes a body's twist to its momentum, about the body's origin."""
    mass, moment, inertia = about_origin(body.inertia)
    across = skew(moment)
    return np.block([[mass * identity(), -across], [across, inertia]])


def _solve_columns(A: Array, B: Array) -> Array:
    """Solution (k, n) of ``A X = B`` for a small symmetric positive definite A (k, k)."""
    if A.dtype != object and B.dtype != object:
        return np.linalg.solve(A, B)
    return np.array([solve_positive(A, column) for column in B.T]).T
