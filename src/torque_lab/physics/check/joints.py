"""Joint types, axes, limits and friction."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torque_lab.physics.description import Description, Joint, Limit
from torque_lab.physics.errors import ERROR, WARNING, Finding

TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
AXIS_TOLERANCE = 1e-3
"""Leaves room for axes printed with three digits."""


def findings(description: Description) -> Iterator[Finding]:
    """Yield what is wrong with each joint."""
    passive = {extension.joint for extension in description.joint_extensions
               if extension.passive}
    for joint in description.joints:
        yield from kind(joint)
        if joint.kind in ('revolute', 'continuous', 'prismatic', 'planar'):
            yield from axis(joint)
            yield from limit_is_there(joint)
        if joint.kind in TYPES[:3] and joint.limit is not None:
            yield from position_limits(joint, joint.limit)
            yield from drive_limits(joint.limit, joint.name in passive)
        yield from friction(joint)


def kind(joint: Joint) -> Iterator[Finding]:
    """Yield unknown joint types, and joints that follow another one."""
    if joint.kind and joint.kind not in TYPES:
        yield joint.place.finding(ERROR, f'has the unknown type "{joint.kind}"',
                                  f'use {", ".join(TYPES)}')
    if joint.mimics is not None and joint.kind != 'fixed':
        yield joint.place.finding(
            ERROR, f'mimics joint "{joint.mimics}"; coupled joints are not supported',
            'remove <mimic> to let the joint move by itself, or make it fixed')


def axis(joint: Joint) -> Iterator[Finding]:
    """Yield axes that have no direction, or a length other than one."""
    length = float(np.linalg.norm(joint.axis))
    written = ' '.join(f'{value:g}' for value in joint.axis)
    if length < 1e-9:
        yield joint.axis_place.finding(ERROR, f'axis "{written}" has no direction',
                                       'write a unit vector such as "0 0 1"')
    elif abs(length - 1) > AXIS_TOLERANCE:
        unit = ' '.join(f'{value:.6g}' for value in joint.axis / length)
        yield joint.axis_place.finding(
            WARNING, f'axis "{written}" has length {length:.6g}, not 1', f'write "{unit}"')


def limit_is_there(joint: Joint) -> Iterator[Finding]:
    """Yield joints whose type needs limits and that have none."""
    if joint.kind in ('revolute', 'prismatic') and joint.limit is None:
        instead = ' or type continuous' if joint.kind == 'revolute' else ''
        yield joint.place.finding(ERROR, f'is {joint.kind} and has no <limit>',
                                  f'add lower, upper, effort and velocity{instead}')


def position_limits(joint: Joint, limit: Limit) -> Iterator[Finding]:
    """Yield position limits that leave no room."""
    if joint.kind == 'continuous':
        return
    if limit.lower > limit.upper:
        yield limit.place.finding(ERROR, f'lower limit {limit.lower:g} is above the upper limit '
                                         f'{limit.upper:g}', 'swap them')
    elif limit.lower == limit.upper:
        yield limit.place.finding(WARNING, f'lower and upper limit are both {limit.lower:g}: the '
                                           'joint cannot move', 'widen them, or use type fixed')


def drive_limits(limit: Limit, passive: bool) -> Iterator[Finding]:
    """Yield effort and velocity limits that are missing, negative or zero."""
    for name, value in (('effort', limit.effort), ('velocity', limit.velocity)):
        if value is None:
            yield limit.place.finding(ERROR, f'<limit> has no {name}',
                                      f'add {name}="..."; other URDF readers insist on it')
        elif value < 0:
            yield limit.place.finding(ERROR, f'{name} limit {value:g} is negative',
                                      f'write the largest {name} as a positive number')
        elif value == 0 and not (passive and name == 'effort'):
            yield limit.place.finding(
                WARNING, f'{name} limit is 0, which silently disables the joint in Gazebo',
                f'write the largest {name}; a joint without a drive is declared passive '
                'in <torque_lab>')


def friction(joint: Joint) -> Iterator[Finding]:
    """Yield friction that would drive, and friction that nothing can act on."""
    for name, value in (('damping', joint.damping), ('friction', joint.friction)):
        if value < 0:
            yield joint.place.finding(ERROR, f'{name} {value:g} is negative: it would feed in '
                                             'energy', 'write it as a positive number')
        elif value > 0 and joint.kind == 'floating':
            yield joint.place.finding(WARNING, f'{name} of a floating joint is ignored',
                                      'remove it')
