"""What a joint does: where it puts its body, and which motion it allows."""

from __future__ import annotations

import numpy as np

from .arguments import vector
from .model import FLOATING, PRISMATIC, WORLD, Array, Body, Robot
from .spatial import (
    identity,
    quaternion_rate,
    rotation_about,
    rotation_of_quaternion,
    settled,
    zeros,
)


def placement(body: Body, q: Array) -> tuple[Array, Array]:
    """
    Where a body is in its parent: rotation (3, 3) and translation (3,) in m.

    A vector x in body axes is ``R x`` in parent axes; a point x in the body frame is ``R x + p``
    in the parent frame.  ``q`` is the position (nq,) of the whole robot.
    """
    position = q[body.q]
    if body.kind == FLOATING:
        motion = rotation_of_quaternion(position[3:])
        return body.rotation @ motion, body.translation + body.rotation @ position[:3]
    if body.kind == PRISMATIC:
        return body.rotation, body.translation + body.rotation @ (body.axis * position[0])
    return body.rotation @ rotation_about(body.axis, position[0]), body.translation


def placements(robot: Robot, q: Array) -> list[tuple[Array, Array]]:
    """`placement` of every body in its parent."""
    return [placement(body, q) for body in robot.bodies]


def motion_subspace(body: Body) -> tuple[Array, Array]:
    """
    Motion that a joint allows: the columns of S, linear (3, k) and angular (3, k), in body axes.

    The body moves relative to its parent with linear velocity ``S_linear qd`` of its origin and
    angular velocity ``S_angular qd``.  Featherstone 2008, section 4.4.
    """
    if body.kind == FLOATING:
        whole = identity(6)
        return whole[:3], whole[3:]
    axis = body.axis.reshape(3, 1)
    return (axis, zeros(3, 1)) if body.kind == PRISMATIC else (zeros(3, 1), axis)


def ancestors(robot: Robot, index: int) -> list[int]:
    """Indices of the bodies that carry a body, itself first, up to the root."""
    chain = []
    while index != WORLD:
        chain.append(index)
        index = robot.bodies[index].parent
    return chain


def configuration_rate(robot: Robot, q: Array, qd: Array) -> Array:
    """
    Rate of the position entries (nq,) that belongs to a velocity (nv,).

    The identity for revolute and prismatic joints; for a floating joint ``ṗ = R v`` and, for the
    quaternion, ``½ quaternion ∘ ω``, with v and ω in body axes.
    """
    q, qd = vector(robot, 'q', q, robot.nq), vector(robot, 'qd', qd, robot.nv)
    rate = np.zeros(robot.nq, dtype=object)
    for body in robot.bodies:
        position, velocity = q[body.q], qd[body.v]
        if body.kind == FLOATING:
            rotation = rotation_of_quaternion(position[3:])
            rate[body.q] = [*(rotation @ velocity[:3]),
                            *quaternion_rate(position[3:], velocity[3:])]
        else:
            rate[body.q] = velocity
    return settled(rate)
