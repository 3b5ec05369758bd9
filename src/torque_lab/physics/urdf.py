"""From URDF text to a frozen :class:`~torque_lab.physics.model.Robot`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np

from torque_lab.physics.assembly import NOTHING, rigid_groups
from torque_lab.physics.check import check_description
from torque_lab.physics.describe import describe
from torque_lab.physics.description import Description, Joint, JointExtension
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
    def width(self) -> int:
        """Return the number of velocities."""
        return self.v.stop - self.v.start


def _build(description: Description) -> Robot:
    dofs = list(_degrees_of_freedom(description.joints))
    bodies, frames = _tree(description, dofs)
    robot = Robot(
        name=description.name, urdf=description.text, bodies=bodies, frames=frames,
        joint_names=tuple(dof.name for dof in dofs if dof.kind != FLOATING),
        gravity=description.gravity,
        point_masses=frozenset(point.link for point in description.point_masses),
        **_joint_arrays(description, dofs))
    _freeze(robot)
    return robot


def _freeze(part: Any) -> None:
    """Make every array of a robot read-only: nobody changes a model that others hold."""
    if isinstance(part, np.ndarray):
        part.flags.writeable = False
    elif isinstance(part, (tuple, dict)):
        for member in part.values() if isinstance(part, dict) else part:
            _freeze(member)
    elif is_dataclass(part):
        _freeze(vars(part))


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
    extensions = {extension.joint: extension for extension in description.joint_extensions}
    entries = [_entries(dof, extensions.get(dof.joint.name, _silent(dof.joint))) for dof in dofs]
    motors = {motor.joint: Motor(**motor.numbers) for motor in description.motors}
    return {
        **{name: np.array([value for entry in entries for value in entry[name]], dtype=float)
           for name in ENTRIES},
        'motors': tuple(motors.get(dof.name) for dof in dofs for _ in range(dof.width)),
    }


ENTRIES = ('damping', 'friction', 'stiffness', 'spring_rest', 'lower', 'upper', 'effort_limit',
           'velocity_limit', 'start', 'start_velocity')


def _silent(joint: Joint) -> JointExtension:
    """Return the extension of a joint that has none."""
    return JointExtension(joint.name, joint.place, None, None, None, None, passive=False)


def _entries(dof: _Dof, extension: JointExtension) -> dict[str, Sequence[float]]:
    """One joint's part of each array."""
    joint, limit = dof.joint, dof.joint.limit
    effort, velocity = (None, None) if limit is None else (limit.effort, limit.velocity)
    bounded = limit is not None and joint.kind in ('revolute', 'prismatic')
    lower, upper = (limit.lower, limit.upper) if limit and bounded else (-math.inf, math.inf)
    free = dof.kind == FLOATING
    single = {
        'damping': 0.0 if free else joint.damping,
        'friction': 0.0 if free else joint.friction,
        'stiffness': extension.stiffness or 0.0,
        'spring_rest': extension.rest or 0.0,
        'lower': lower,
        'upper': upper,
        'effort_limit': 0.0 if extension.passive else _or_infinite(effort),
        'velocity_limit': _or_infinite(velocity),
    }
    nearest = (0.0, 0.0, 0.0, *IDENTITY) if free else (min(max(0.0, lower), upper),)
    return {
        **{name: (value,) * dof.width for name, value in single.items()},
        'start': nearest if extension.start is None else _start(dof, extension.start),
        'start_velocity': (0.0,) * dof.width if extension.start_velocity is None
        else extension.start_velocity[dof.part:dof.part + dof.width],
    }


IDENTITY = (0.0, 0.0, 0.0, 1.0)
"""The quaternion of no rotation: x, y, z, w."""


def _or_infinite(limit: float | None) -> float:
    return math.inf if limit is None else limit


def _start(dof: _Dof, values: tuple[float, ...]) -> tuple[float, ...]:
    """Return this joint's part of a start position, its quaternion at unit length."""
    if dof.kind != FLOATING:
        return values[dof.part:dof.part + 1]
    norm = math.hypot(*values[3:])
    return (*values[:3], *(value / norm for value in values[3:]))
