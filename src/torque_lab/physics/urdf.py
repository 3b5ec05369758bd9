"""From URDF text to a frozen :class:`~torque_lab.physics.model.Robot`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torque_lab.physics.assembly import NOTHING, rigid_groups
from torque_lab.physics.check import check_description
from torque_lab.physics.describe import describe
from torque_lab.physics.description import Description, Joint
from torque_lab.physics.errors import ERROR, Finding, ModelError
from torque_lab.physics.markup import Source
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
    """Bodies, parents first, and where every link is on them."""
    groups = rigid_groups(description)
    parts: dict[str, list[_Dof]] = {}
    for dof in dofs:
        parts.setdefault(dof.joint.name, []).append(dof)
    carrier = [WORLD]  # which body each group is
    bodies: list[Body] = []
    for group in groups[1:]:
        assert group.joint is not None
        *planar, last = parts[group.joint.name]
        at = Frame(carrier[group.parent], group.pose.rotation, group.pose.translation)
        for dof in planar:
            bodies.append(_body(dof.name, dof, at, NOTHING))
            at = Frame(len(bodies) - 1, np.eye(3), np.zeros(3))
        bodies.append(_body(group.members[0][0].name, last, at, group.inertia))
        carrier.append(len(bodies) - 1)
    frames = {link.name: Frame(body, pose.rotation, pose.translation)
              for group, body in zip(groups, carrier, strict=True)
              for link, pose in group.members}
    return tuple(bodies), {link.name: frames[link.name] for link in description.links}


def _body(name: str, dof: _Dof, at: Frame, inertia: Inertia) -> Body:
    return Body(name, dof.name, dof.kind, at.body, at.rotation, at.translation, dof.axis, inertia,
                dof.q, dof.v)


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
