"""The ``<torque_lab>`` element: what it says must fit the joints and links of the file."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torque_lab.physics.check.structure import some
from torque_lab.physics.description import (
    Description,
    Joint,
    JointExtension,
    MotorExtension,
    PointMassExtension,
)
from torque_lab.physics.errors import ERROR, Finding

POSITIONS = {'floating': 7, 'planar': 3}
VELOCITIES = {'floating': 6, 'planar': 3}


def findings(description: Description) -> Iterator[Finding]:
    """Yield what does not fit."""
    moving = {joint.name: joint for joint in description.joints if joint.kind != 'fixed'}
    passive = {each.joint for each in description.joint_extensions if each.passive}
    yield from repeated(description.joint_extensions, '<joint>')
    yield from repeated(description.motors, '<motor>')
    for extension in description.joint_extensions:
        joint = moving.get(extension.joint)
        yield from (unknown_joint(extension, moving) if joint is None
                    else joint_numbers(extension, joint))
    for motor in description.motors:
        joint = moving.get(motor.joint)
        yield from (unknown_joint(motor, moving) if joint is None
                    else motor_numbers(motor, joint, passive))
    for point in description.point_masses:
        yield from point_mass(point, description)


def repeated(elements: tuple[JointExtension, ...] | tuple[MotorExtension, ...],
             tag: str) -> Iterator[Finding]:
    """Yield elements about a joint that has one already."""
    seen: set[str] = set()
    for element in elements:
        if element.joint in seen:
            yield element.place.finding(ERROR, f'has a second {tag} in <torque_lab>', 'keep one')
        seen.add(element.joint)


def unknown_joint(element: JointExtension | MotorExtension,
                  moving: dict[str, Joint]) -> Iterator[Finding]:
    """Yield an element about a joint that is not there or does not move."""
    if element.joint:
        known = some(set(moving)) if moving else 'none, since no joint moves'
        yield element.place.finding(
            ERROR, 'stands in <torque_lab> but the robot has no such moving joint',
            f'name one of {known}')


def joint_numbers(extension: JointExtension, joint: Joint) -> Iterator[Finding]:
    """Yield start values and springs that do not fit the joint."""
    for name, values, count in (
            ('start', extension.start, POSITIONS.get(joint.kind, 1)),
            ('start_velocity', extension.start_velocity, VELOCITIES.get(joint.kind, 1))):
        if values is not None and len(values) != count:
            yield extension.place.finding(
                ERROR, f'{name} holds {len(values)} numbers', f'a {joint.kind} joint has {count}')
            return
    yield from start_is_possible(extension, joint)
    if extension.stiffness is not None and extension.stiffness < 0:
        yield extension.place.finding(ERROR, f'stiffness {extension.stiffness:g} is negative',
                                      'write it as a positive number')
    if joint.kind == 'floating' and (extension.stiffness or extension.passive):
        yield extension.place.finding(ERROR, 'a floating joint has neither spring nor drive',
                                      'remove stiffness and passive')


def start_is_possible(extension: JointExtension, joint: Joint) -> Iterator[Finding]:
    """Yield start positions beyond the limits, and quaternions that are none."""
    if extension.start is None:
        return
    limit = joint.limit
    if joint.kind in ('revolute', 'prismatic') and limit is not None \
            and not limit.lower <= extension.start[0] <= limit.upper:
        yield extension.place.finding(
            ERROR, f'start {extension.start[0]:g} is outside the limits {limit.lower:g} to '
            f'{limit.upper:g}', 'start inside them')
    if joint.kind == 'floating' and abs(math.hypot(*extension.start[3:]) - 1) > 1e-6:
        yield extension.place.finding(
            ERROR, 'the quaternion in start has not length 1',
            'write x y z and then the unit quaternion x y z w, 0 0 0 1 for no rotation')


def motor_numbers(motor: MotorExtension, joint: Joint, passive: set[str]) -> Iterator[Finding]:
    """Yield motors that cannot work."""
    if joint.kind in POSITIONS:
        yield motor.place.finding(ERROR, f'a {joint.kind} joint cannot have a <motor>',
                                  'put it on a joint with one degree of freedom')
    if motor.joint in passive:
        yield motor.place.finding(ERROR, 'is passive and has a <motor>', 'remove one of both')
    for name, value in motor.numbers.items():
        if value < 0 or (value == 0 and name != 'back_emf_constant'):
            yield motor.place.finding(ERROR, f'motor {name} {value:g} is not positive',
                                      'write a positive number')


def point_mass(point: PointMassExtension, description: Description) -> Iterator[Finding]:
    """Yield point masses that are no link with a mass."""
    link = next((link for link in description.links if link.name == point.link), None)
    if link is None and point.link:
        yield point.place.finding(
            ERROR, 'is declared a point mass but the robot has no such link',
            f'name one of {some({link.name for link in description.links})}')
    elif link is not None and (link.inertial is None or not link.inertial.mass):
        yield point.place.finding(ERROR, 'is declared a point mass but has no mass',
                                  'add its <inertial>')
