"""Forward dynamics: the acceleration that forces cause, by two algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .arguments import vector
from .composite_body import about_origin, mass_matrix
from .joints import motion_subspace, placements
from .model import WORLD, Array, Body, Robot
from .newton_euler import Wrenches, bias, wrenches_in_body_axes
from .spatial import identity, settled, skew, zeros
from .tree_solve import singular, solve_mass_matrix, solve_positive


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
    """A body with all that hangs on it, free to move at their joints: ``f = I a + b``."""

    inertia: Array
    """Articulated-body inertia (6, 6): force per acceleration, linear part first."""
    bias: Array
    """Force (6,) at zero acceleration."""


class JointMotion(NamedTuple):
    """What the outward pass knows of one joint, as spatial vectors in body axes."""

    X: Array
    """Takes twists from the parent frame into the body frame (6, 6)."""
    S: Array
    """Motion subspace (6, k)."""
    coriolis: Array
    """Acceleration ``v × S q̇`` (6,) of a joint that keeps its speed."""


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
    joints, bodies = _moving_bodies(robot, places, qd)
    for index, force, torque in wrenches_in_body_axes(robot, places, wrenches):
        push = np.concatenate([force, torque])
        bodies[index] = bodies[index]._replace(bias=bodies[index].bias - push)
    try:
        responses = _joint_responses(robot, joints, bodies, tau)
    except np.linalg.LinAlgError:
        raise singular(robot) from None
    return _accelerations(robot, joints, responses)


def _moving_bodies(robot: Robot, places: Sequence[tuple[Array, Array]], qd: Array,
                   ) -> tuple[list[JointMotion], list[Articulated]]:
    """First pass, outwards: velocities, and with them ``f = I a + v ×* I v`` of each body."""
    velocity, joints, bodies = {WORLD: zeros(6)}, [], []
    for index, (body, place) in enumerate(zip(robot.bodies, places, strict=True)):
        X, S = motion_transform(*place), np.vstack(motion_subspace(body))
        joint_velocity = S @ qd[body.v]
        velocity[index] = X @ velocity[body.parent] + joint_velocity
        product, inertia = motion_cross(velocity[index]), spatial_inertia(body)
        joints.append(JointMotion(X, S, product @ joint_velocity))
        bodies.append(Articulated(inertia, -product.T @ (inertia @ velocity[index])))
    return joints, bodies


def _joint_responses(robot: Robot, joints: Sequence[JointMotion], bodies: Sequence[Articulated],
                     tau: Array) -> list[tuple[Array, Array]]:
    """
    Second pass, inwards: (gain, free) of each joint, ``q̈ = free − gain a`` for a carried with a.

    With ``U = I S`` the joint takes ``U (Sᵀ U)⁻¹ Uᵀ`` off the inertia that its parent feels.
    """
    found, responses = list(bodies), {}
    for index in reversed(range(len(joints))):
        body, (X, S, coriolis), (inertia, force) = robot.bodies[index], joints[index], found[index]
        U = inertia @ S
        gain = _solve_columns(S.T @ U, U.T)
        free = _solve_columns(S.T @ U, (tau[body.v] - S.T @ force).reshape(-1, 1))[:, 0]
        responses[index] = gain, free
        if body.parent != WORLD:
            felt = inertia - U @ gain
            parent, push = found[body.parent], force + felt @ coriolis + U @ free
            found[body.parent] = Articulated(parent.inertia + X.T @ felt @ X,
                                             parent.bias + X.T @ push)
    return [responses[index] for index in range(len(joints))]


def _accelerations(robot: Robot, joints: Sequence[JointMotion],
                   responses: Sequence[tuple[Array, Array]]) -> Array:
    """Third pass, outwards; gravity is an upward acceleration of the world."""
    qdd = np.zeros(robot.nv, dtype=object)
    acceleration = {WORLD: np.concatenate([-robot.gravity, zeros(3)])}
    for index, (body, (X, S, coriolis)) in enumerate(zip(robot.bodies, joints, strict=True)):
        gain, free = responses[index]
        carried = X @ acceleration[body.parent] + coriolis
        qdd[body.v] = own = free - gain @ carried
        acceleration[index] = carried + S @ own
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
