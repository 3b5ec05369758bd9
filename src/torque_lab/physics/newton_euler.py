"""Inverse dynamics by the recursive Newton-Euler algorithm, and its corollaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .arguments import vector
from .joints import motion_subspace, placements
from .model import WORLD, Array, Robot
from .spatial import cross, identity, settled, skew, zeros

Wrenches = Mapping[str, 'Array | Sequence']
"""Wrenches (6,) by link: force in N, torque in N m, acting on the arm at the link's origin."""


def inverse_dynamics(robot: Robot, q: Array, qd: Array, qdd: Array,
                     wrenches: Wrenches | None = None) -> Array:
    """
    Generalised forces for a motion: ``τ = M(q) q̈ + C(q, q̇) q̇ + g(q) − Jᵀ F`` (nv,).

    Recursive Newton-Euler: outwards, the motion of every body; inwards, the forces that it takes.
    Friction, springs and motors are not in it (see `torque_lab.physics.forces`).

    - ``q`` (nq,): positions, in rad and m.
    - ``qd``, ``qdd`` (nv,): velocities and accelerations.
    - ``wrenches``: by link name, (force, torque) (6,) acting **on** the arm at the origin of the
      link's frame, in world-aligned axes.

    Lynch & Park 2017, section 8.3; Featherstone 2008, section 5.3.
    """
    q = vector(robot, 'q', q, robot.nq)
    qd, qdd = vector(robot, 'qd', qd, robot.nv), vector(robot, 'qdd', qdd, robot.nv)
    places = placements(robot, q)
    forces = _forces_for_motion(robot, places, qd, qdd)
    for index, force, torque in wrenches_in_body_axes(robot, places, wrenches):
        forces[index] = forces[index][0] - force, forces[index][1] - torque
    return _joint_forces(robot, places, forces)


def _forces_for_motion(robot: Robot, places: Sequence[tuple[Array, Array]], qd: Array, qdd: Array,
                       ) -> list[tuple[Array, Array]]:
    """
    Outward pass: force and torque about the body origin that move each body, in body axes.

    ω is the angular velocity, α the angular acceleration and a the acceleration of the body's
    origin; a point r of the body accelerates with ``a + α × r + ω × (ω × r) = a + K r``, where
    ``K = [α]× + [ω]× [ω]×``.  Gravity enters as an upward acceleration of the world.
    """
    forces, motion = [], {WORLD: (zeros(3), zeros(3), zeros(3, 3), -robot.gravity)}
    for index, (body, (R, p)) in enumerate(zip(robot.bodies, places, strict=True)):
        S_linear, S_angular = motion_subspace(body)
        v_joint, w_joint = S_linear @ qd[body.v], S_angular @ qd[body.v]
        w_parent, alpha_parent, K_parent, a_parent = motion[body.parent]
        carried = R.T @ w_parent
        w = carried + w_joint
        alpha = R.T @ alpha_parent + cross(carried, w_joint) + S_angular @ qdd[body.v]
        a = (R.T @ (a_parent + K_parent @ p)
             + cross(carried + w, v_joint) + S_linear @ qdd[body.v])
        K = skew(alpha) + skew(w) @ skew(w)
        motion[index] = w, alpha, K, a

        mass, com, inertia = body.inertia.mass, body.inertia.com, body.inertia.about_com
        newton = mass * (a + K @ com)
        euler = inertia @ alpha + cross(w, inertia @ w)
        forces.append((newton, euler + cross(com, newton)))
    return forces


def _joint_forces(robot: Robot, places: Sequence[tuple[Array, Array]],
                  forces: list[tuple[Array, Array]]) -> Array:
    """Inward pass: each joint carries its body and all that hangs on it; ``τ = Sᵀ (f, n)``."""
    forces, tau = list(forces), np.zeros(robot.nv, dtype=object)
    for index in reversed(range(len(robot.bodies))):
        body, (R, p), (force, torque) = robot.bodies[index], places[index], forces[index]
        S_linear, S_angular = motion_subspace(body)
        tau[body.v] = S_linear.T @ force + S_angular.T @ torque
        if body.parent != WORLD:
            carried, about_origin = forces[body.parent]
            force = R @ force
            forces[body.parent] = carried + force, about_origin + R @ torque + cross(p, force)
    return settled(tau)


def wrenches_in_body_axes(robot: Robot, places: Sequence[tuple[Array, Array]],
                           wrenches: Wrenches | None) -> list[tuple[int, Array, Array]]:
    """External wrenches as (body, force, torque about the body's origin), in body axes."""
    found = []
    for link, wrench in (wrenches or {}).items():
        frame = robot.frame(link)
        wrench = vector(robot, f'wrench on {link}', wrench, 6)
        rotation, index = identity(), frame.body
        while index != WORLD:
            rotation, index = places[index][0] @ rotation, robot.bodies[index].parent
        if frame.body != WORLD:
            force, torque = rotation.T @ wrench[:3], rotation.T @ wrench[3:]
            found.append((frame.body, force, torque + cross(frame.translation, force)))
    return found


def bias(robot: Robot, q: Array, qd: Array, wrenches: Wrenches | None = None) -> Array:
    """Coriolis, centrifugal and gravity forces ``C q̇ + g`` (nv,): inverse dynamics at q̈ = 0."""
    return inverse_dynamics(robot, q, qd, zeros(robot.nv), wrenches)


def gravity_torque(robot: Robot, q: Array) -> Array:
    """Forces ``g(q)`` (nv,) that hold the robot still: inverse dynamics at q̇ = q̈ = 0."""
    return inverse_dynamics(robot, q, zeros(robot.nv), zeros(robot.nv))
