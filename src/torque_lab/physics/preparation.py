"""
The same motion from fewer numbers: a robot rewritten so that its laws fold to less code.

Each pass takes a robot and returns one with the same equation of motion, ``q̈(q, q̇, τ)`` and
``M(q)``, but with more zeros in its numbers.  The frames and inertias of the result are not those
of the links any more, nor physical one by one, and energies differ by a constant: kernels are
traced from it, nothing else should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .composite_body import Composite, about_origin
from .model import FLOATING, PRISMATIC, REVOLUTE, WORLD, Array, Body, Inertia, Robot
from .spatial import rotate_symmetric

Z = np.array([0.0, 0.0, 1.0])


def prepared(robot: Robot) -> Robot:
    """All passes, in the order in which they help each other."""
    return regroup_inertias(slide_frames(align_axes(robot)))


def align_axes(robot: Robot) -> Robot:
    """Turn every body frame so that its joint axis is z."""
    return _move_frames(robot, [(np.eye(3) if body.kind == FLOATING else _turn_to(body.axis))
                                for body in robot.bodies], [np.zeros(3)] * len(robot.bodies))


def slide_frames(robot: Robot) -> Robot:
    """
    Slide body frames to where the offsets between them are shortest.

    The frame of a revolute joint may stand anywhere on its axis; that of a prismatic joint may
    stand anywhere, and goes to the centre of mass.
    """
    shifts: list[Array] = []
    for body in robot.bodies:
        shift = np.zeros(3)
        if body.kind == REVOLUTE:
            carried = shifts[body.parent] if body.parent != WORLD else np.zeros(3)
            shift = -(body.rotation.T @ (body.translation - carried) @ body.axis) * body.axis
        elif body.kind == PRISMATIC:
            shift = np.array(body.inertia.com, dtype=float)
        shifts.append(shift)
    return _move_frames(robot, [np.eye(3)] * len(robot.bodies), shifts)


def _turn_to(axis: Array) -> Array:
    """Rotation matrix with a unit axis as third column; a permutation for x, y or z."""
    helper = np.eye(3)[(int(np.argmax(np.abs(axis))) + 1) % 3]
    x = helper - (helper @ axis) * axis
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _move_frames(robot: Robot, turns: Sequence[Array], shifts: Sequence[Array]) -> Robot:
    """Robot with each body frame turned and then shifted, both given in the old body frame."""
    bodies = []
    for body, turn, shift in zip(robot.bodies, turns, shifts, strict=True):
        parent_turn, parent_shift = np.eye(3), np.zeros(3)
        if body.parent != WORLD:
            parent_turn, parent_shift = turns[body.parent], shifts[body.parent]
        place = body.translation + body.rotation @ shift - parent_shift
        inertia = body.inertia
        moved = Inertia(inertia.mass, clean(turn.T @ (inertia.com - shift)),
                        clean(rotate_symmetric(turn.T, inertia.about_com)))
        bodies.append(replace(body, rotation=clean(parent_turn.T @ body.rotation @ turn),
                              translation=clean(parent_turn.T @ place),
                              axis=clean(turn.T @ body.axis), inertia=moved))
    return robot.replace(bodies=tuple(bodies))


def regroup_inertias(robot: Robot) -> Robot:
    """
    Move to each parent what it cannot tell from its own: base inertial parameters.

    For a revolute joint about z, a mass on the axis and a transverse inertia diag(t, t, 0) move
    alike with the body and with its parent, so any amount of them can change sides.  What stays
    is chosen to be as nearly a point mass as can be.  For a prismatic joint all rotational
    inertia can go.  What reaches the world is dropped.  Khalil & Dombre 2002, section 9.4.
    """
    whole = [about_origin(body.inertia) for body in robot.bodies]
    bodies = list(robot.bodies)
    for index in reversed(range(len(bodies))):
        body = bodies[index]
        stays, goes = _split(body, whole[index])
        bodies[index] = replace(body, inertia=stays)
        if goes is not None and body.parent != WORLD:
            whole[body.parent] += goes.seen_from(body.rotation, body.translation)
    return robot.replace(bodies=tuple(bodies))


def _split(body: Body, whole: Composite) -> tuple[Inertia, Composite | None]:
    """What stays with a body, and what its parent may carry instead."""
    if body.kind == FLOATING:
        return _inertia(whole), None
    if body.kind == PRISMATIC:
        stays = _inertia(whole)
        return (Inertia(stays.mass, stays.com, np.zeros((3, 3))),
                Composite(0.0, np.zeros(3), stays.about_com))
    moment, spin = whole.moment * (1 - Z), whole.inertia[2, 2]
    lever = moment @ moment
    if lever <= 1e-28 * whole.mass * np.trace(whole.inertia):
        moment, lever = np.zeros(3), 0.0  # the centre of mass is on the axis, but for rounding
    mass = lever / spin if lever else 0.0
    bare = _inertia(Composite(mass, moment, whole.inertia))
    transverse = np.diag([1.0, 1.0, 0.0]) * bare.about_com[1, 1]
    return (Inertia(mass, bare.com, clean(bare.about_com - transverse)),
            Composite(whole.mass - mass, whole.moment * Z, transverse))


def _inertia(whole: Composite) -> Inertia:
    """Mass, centre of mass and inertia about it, of an inertia about the origin."""
    mass, moment, inertia = whole
    com = moment / mass if mass else np.zeros(3)
    return Inertia(mass, com, clean(inertia - (moment @ com) * np.eye(3) + np.outer(moment, com)))


def clean(array: Array) -> Array:
    """Entries that are rounding errors of 0, 1 or −1 beside the largest, put right."""
    array = np.array(array, dtype=float)
    scale = np.abs(array).max(initial=0.0)
    array[np.abs(array) < 4e-16 * scale] = 0.0
    for whole in (-1.0, 1.0):
        array[np.abs(array - whole) < 4e-16] = whole
    return array
