"""Where the links of a robot are, and how they move with the joints."""

from __future__ import annotations

import numpy as np

from .arguments import vector
from .joints import ancestors, motion_subspace, placements
from .model import WORLD, Array, Robot, Scalar
from .spatial import identity, settled, skew, zeros


def world_placements(robot: Robot, q: Array) -> list[tuple[Array, Array]]:
    """Rotation (3, 3) and translation (3,) of every body in the world."""
    q = vector(robot, 'q', q, robot.nq)
    places = {WORLD: (identity(), zeros(3))}
    for index, (R, p) in enumerate(placements(robot, q)):
        R_parent, p_parent = places[robot.bodies[index].parent]
        places[index] = R_parent @ R, p_parent + R_parent @ p
    return [places[index] for index in range(len(robot.bodies))]


def forward_kinematics(robot: Robot, q: Array, link: str | None = None) -> tuple[Array, Array]:
    """
    Where a link is in the world: rotation (3, 3) and translation (3,) in m.

    A point x in the link's frame is ``R x + p`` in the world.  ``link`` is the robot's tip unless
    another is named; ``q`` (nq,) are the positions.  Lynch & Park 2017, section 4.1.
    """
    frame = robot.frame(link or robot.tip)
    places = world_placements(robot, q)
    R, p = (identity(), zeros(3)) if frame.body == WORLD else places[frame.body]
    return R @ frame.rotation, p + R @ frame.translation


def jacobian(robot: Robot, q: Array, link: str | None = None, axes: str = 'world') -> Array:
    """
    Jacobian J(q) (6, nv) of a link: its twist is ``(v, ω) = J q̇``.

    v is the velocity of the origin of the link's frame and ω the link's angular velocity, both in
    world-aligned axes, or with ``axes='link'`` in the link's own axes.  ``link`` is the robot's
    tip unless another is named.  Lynch & Park 2017, section 5.1.
    """
    if axes not in ('world', 'link'):
        raise ValueError(f'{robot.name}: axes of a Jacobian are "world" or "link", not "{axes}"')
    frame = robot.frame(link or robot.tip)
    rotation, origin = forward_kinematics(robot, q, link)
    places = world_placements(robot, q)
    J = np.zeros((6, robot.nv), dtype=object)
    for index in ancestors(robot, frame.body):
        body, (R, p) = robot.bodies[index], places[index]
        S_linear, S_angular = motion_subspace(body)
        turning = R @ S_angular
        linear = R @ S_linear - skew(origin - p) @ turning
        if axes == 'link':
            linear, turning = rotation.T @ linear, rotation.T @ turning
        J[:3, body.v], J[3:, body.v] = linear, turning
    return settled(J)


def centre_of_mass(robot: Robot, q: Array) -> Array:
    """Centre of mass (3,) of the whole robot in the world, in m."""
    mass: Scalar = 0
    moment = zeros(3)
    for body, (R, p) in zip(robot.bodies, world_placements(robot, q), strict=True):
        mass = mass + body.inertia.mass
        moment = moment + body.inertia.mass * (p + R @ body.inertia.com)
    return moment / mass
