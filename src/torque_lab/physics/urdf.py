"""From URDF text to a frozen :class:`~torque_lab.physics.model.Robot`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torque_lab.physics.check import check_description
from torque_lab.physics.description import (
    Description,
    Inertial,
    Joint,
    Pose,
    Source,
    clean,
    describe,
)
from torque_lab.physics.errors import ERROR, Finding, ModelError
from torque_lab.physics.model import (
    FLOATING,
    PRISMATIC,
    REVOLUTE,
    WORLD,
    Body,
    Frame,
    Inertia,
    Motor,
    Robot,
)

Array = np.ndarray

KINDS = {'revolute': REVOLUTE, 'continuous': REVOLUTE, 'prismatic': PRISMATIC,
         'floating': FLOATING}
NOTHING = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def load_urdf(text: str | bytes, source: Source | str = 'robot_description') -> Robot:
    """
    Make a robot of URDF text, already expanded if it was xacro.

    Fixed joints are lumped: the bodies of a :class:`~torque_lab.physics.model.Robot` are what
    moves, its frames are all links.  Joint axes are normalised.  A planar joint ``p`` becomes
    two prismatic joints ``p_x`` and ``p_y`` in its plane and a revolute one ``p_theta`` about
    its normal, through massless bodies: the same motion with scalar joints, whose velocities are
    along the plane's fixed axes.

    :param text: the XML
    :param source: its file name, for messages
    :raises ModelError: naming file, line and element, and what would be right
    """
    description = describe(text, source)
    refuse_errors(check_description(description))
    return _build(description)


def refuse_errors(findings: Sequence[Finding]) -> None:
    """Raise the first error among the findings, if there is one."""
    errors = [finding for finding in findings if finding.severity == ERROR]
    if errors:
        more = len(errors) - 1
        others = f' (and {more} more; torque-lab check lists all)' if more else ''
        raise ModelError(f'{errors[0]}{others}', errors)


@dataclass(frozen=True, eq=False)
class _Dof:
    """One joint of the robot; a planar joint of the file makes three."""

    name: str
    kind: str
    joint: Joint
    axis: Array
    q: slice
    v: slice
    part: int
    """Which of the file's joint's entries this is."""

    @property
    def limited(self) -> bool:
        return self.joint.kind in ('revolute', 'prismatic')


def _build(description: Description) -> Robot:
    dofs = list(_degrees_of_freedom(description.joints))
    bodies, frames = _tree(description, dofs)
    return Robot(
        name=description.name, urdf=description.text, bodies=bodies, frames=frames,
        joint_names=tuple(dof.name for dof in dofs if dof.kind != FLOATING),
        gravity=description.gravity,
        point_masses=frozenset(point.link for point in description.point_masses),
        **_joint_arrays(description, dofs))


def _degrees_of_freedom(joints: Sequence[Joint]) -> Iterator[_Dof]:
    """Yield the moving joints in document order, which is the order of ``q`` and ``qd``."""
    nq = nv = 0
    for joint in joints:
        for part, (suffix, kind, axis) in enumerate(_scalar_joints(joint)):
            in_q, in_v = (7, 6) if kind == FLOATING else (1, 1)
            yield _Dof(joint.name + suffix, kind, joint, axis,
                       slice(nq, nq + in_q), slice(nv, nv + in_v), part)
            nq, nv = nq + in_q, nv + in_v


def _scalar_joints(joint: Joint) -> list[tuple[str, str, Array]]:
    """Suffix, kind and unit axis of the joints that model one joint of the file."""
    if joint.kind == 'fixed':
        return []
    if joint.kind == 'floating':
        return [('', FLOATING, np.zeros(3))]
    axis = joint.axis / np.linalg.norm(joint.axis)
    if joint.kind == 'planar':
        x, y = _plane(axis)
        return [('_x', PRISMATIC, x), ('_y', PRISMATIC, y), ('_theta', REVOLUTE, axis)]
    return [('', KINDS[joint.kind], axis)]


def _plane(normal: Array) -> tuple[Array, Array]:
    """Two unit vectors that span a plane and are x and y if its normal is z."""
    helper = np.array([0.0, 1.0, 0.0]) if abs(normal[1]) < 0.9 else np.array([0.0, 0.0, 1.0])
    x = np.cross(helper, normal)
    x = x / np.linalg.norm(x)
    return x, np.cross(normal, x)


def _tree(description: Description,
          dofs: Sequence[_Dof]) -> tuple[tuple[Body, ...], dict[str, Frame]]:
    """Walk from the root, parents first; fixed links join the body that carries them."""
    moving: dict[str, list[_Dof]] = {joint.name: [] for joint in description.joints}
    for dof in dofs:
        moving[dof.joint.name].append(dof)
    leaving: dict[str, list[Joint]] = {link.name: [] for link in description.links}
    for joint in description.joints:
        leaving[joint.parent].append(joint)
    children = {joint.child for joint in description.joints}
    root = next(link.name for link in description.links if link.name not in children)

    bodies: list[Body] = []
    frames = {root: Frame(WORLD, np.eye(3), np.zeros(3))}
    waiting = leaving[root][::-1]
    while waiting:
        joint = waiting.pop()
        at = frames[joint.parent]
        at = Frame(at.body, clean(at.rotation @ joint.pose.rotation),
                   at.rotation @ joint.pose.translation + at.translation)
        for dof in moving[joint.name]:
            name = joint.child if dof is moving[joint.name][-1] else dof.name
            bodies.append(Body(name, dof.name, dof.kind, at.body, at.rotation, at.translation,
                               dof.axis, NOTHING, dof.q, dof.v))
            at = Frame(len(bodies) - 1, np.eye(3), np.zeros(3))
        frames[joint.child] = at
        waiting.extend(leaving[joint.child][::-1])

    frames = {link.name: frames[link.name] for link in description.links}
    lumps = lump(description, frames, len(bodies))
    return tuple(replace(body, inertia=inertia)
                 for body, inertia in zip(bodies, lumps, strict=True)), frames


def lump(description: Description, frames: dict[str, Frame], count: int) -> list[Inertia]:
    """Return the mass properties of each body: its link and all links fixed to it."""
    inertias = [NOTHING] * count
    for link in description.links:
        frame = frames[link.name]
        if frame.body != WORLD and link.inertial is not None and link.inertial.mass:
            part = _moved(link.inertial, frame)
            inertias[frame.body] = combine(inertias[frame.body], part)
    return inertias


def _moved(inertial: Inertial, frame: Frame) -> Inertia:
    """Mass properties of a link in the frame of the body that it is fixed to."""
    pose: Pose = inertial.pose
    rotation = clean(frame.rotation @ pose.rotation)
    tensor = np.zeros((3, 3)) if inertial.tensor is None else inertial.tensor
    about_com = rotation @ tensor @ rotation.T
    return Inertia(float(inertial.mass or 0.0),
                   frame.rotation @ pose.translation + frame.translation,
                   (about_com + about_com.T) / 2)


def combine(a: Inertia, b: Inertia) -> Inertia:
    """
    Mass properties of two bodies fixed to each other, in their common frame.

    ``I = I_a + I_b + m_a m_b / (m_a + m_b) (d·d 1 - d dᵀ)`` with ``d`` from one centre of mass
    to the other: the parallel axis theorem, applied twice (Featherstone 2008, section 2.13).
    """
    if a.mass == 0.0:
        return b
    if b.mass == 0.0:
        return a
    mass = a.mass + b.mass
    d = b.com - a.com
    offset = a.mass / mass * b.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertia(mass, (a.mass * a.com + b.mass * b.com) / mass,
                   a.about_com + b.about_com + offset)


def _joint_arrays(description: Description, dofs: Sequence[_Dof]) -> dict[str, Any]:
    """Everything that stands in the order of ``q`` or ``qd``."""
    nq, nv = (dofs[-1].q.stop, dofs[-1].v.stop) if dofs else (0, 0)
    values = {name: np.zeros(nv) for name in (
        'damping', 'friction', 'stiffness', 'spring_rest', 'start_velocity')}
    values |= {name: np.full(nv, math.inf) for name in (
        'upper', 'effort_limit', 'velocity_limit')}
    values['lower'] = np.full(nv, -math.inf)
    start = np.zeros(nq)
    extensions = {extension.joint: extension for extension in description.joint_extensions}
    for dof in dofs:
        joint, v = dof.joint, dof.v
        if dof.kind == FLOATING:
            start[dof.q] = 0, 0, 0, 0, 0, 0, 1
        else:
            values['damping'][v], values['friction'][v] = joint.damping, joint.friction
        if joint.limit is not None:
            values['effort_limit'][v] = _or_infinite(joint.limit.effort)
            values['velocity_limit'][v] = _or_infinite(joint.limit.velocity)
        if joint.limit is not None and dof.limited:
            values['lower'][v], values['upper'][v] = joint.limit.lower, joint.limit.upper
            start[dof.q] = min(max(0.0, joint.limit.lower), joint.limit.upper)
        extension = extensions.get(joint.name)
        if extension is None:
            continue
        if extension.passive:
            values['effort_limit'][v] = 0.0
        values['stiffness'][v] = extension.stiffness or 0.0
        values['spring_rest'][v] = extension.rest or 0.0
        if extension.start is not None:
            start[dof.q] = _part(extension.start, dof, dof.q)
        if extension.start_velocity is not None:
            values['start_velocity'][v] = _part(extension.start_velocity, dof, v)
    motors: list[Motor | None] = [None] * nv
    for motor in description.motors:
        dof = next(dof for dof in dofs if dof.name == motor.joint)
        motors[dof.v.start] = Motor(**motor.numbers)
    return {**values, 'start': start, 'motors': tuple(motors)}


def _or_infinite(limit: float | None) -> float:
    return math.inf if limit is None else limit


def _part(values: tuple[float, ...], dof: _Dof, entries: slice) -> tuple[float, ...]:
    width = entries.stop - entries.start
    part = values[dof.part * width:(dof.part + 1) * width]
    if dof.kind == FLOATING and width == 7:
        norm = math.sqrt(sum(value * value for value in part[3:]))
        part = (*part[:3], *(value / norm for value in part[3:]))
    return part
