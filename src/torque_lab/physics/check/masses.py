"""Masses and inertia tensors: what moves must have them, and they must be possible."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torque_lab.physics.assembly import Group, rigid_groups
from torque_lab.physics.description import Description, Inertial
from torque_lab.physics.errors import ERROR, WARNING, Finding
from torque_lab.physics.poses import Array

TINY_MASS = 1e-4
"""In kg; lighter moving bodies are mostly placeholders, and make stiff equations."""
TENSOR_TOLERANCE = 1e-3
"""Relative; tensors are printed with few digits."""
DEFINITE_TOLERANCE = 1e-9
"""Relative; smaller eigenvalues are zero but for rounding."""


def findings(description: Description) -> Iterator[Finding]:
    """Yield what is wrong with the mass properties; the links have to form a tree."""
    for link in description.links:
        if link.inertial is not None:
            yield from completeness(link.inertial)
    groups = rigid_groups(description)
    subtree = subtree_masses(groups)
    for number, group in enumerate(groups):
        if group.joint is not None:
            yield from moving_mass(group, subtree[number])
        yield from tensors(group)


def completeness(inertial: Inertial) -> Iterator[Finding]:
    """Yield ``<inertial>`` elements that say only half, and negative masses."""
    if inertial.mass is None:
        yield inertial.place.finding(ERROR, '<inertial> has no <mass>', 'add <mass value="..."/>')
    elif inertial.mass < 0:
        yield inertial.place.finding(ERROR, f'mass {inertial.mass:g} kg is negative',
                                     'write a positive mass')
    if inertial.tensor is None:
        yield inertial.place.finding(
            ERROR, '<inertial> has no <inertia>',
            'add the inertia of its shape; torque_lab\'s macros.xacro has the formulas')


def subtree_masses(groups: list[Group]) -> list[float]:
    """Mass of each group and of everything that it carries."""
    masses = [group.inertia.mass for group in groups]
    for number in range(len(groups) - 1, 0, -1):
        masses[groups[number].parent] += masses[number]
    return masses


def moving_mass(group: Group, carried: float) -> Iterator[Finding]:
    """
    Yield moving bodies without a mass, or with hardly any.

    A massless link is fine if a link fixed to it has mass.  If only links that move further out
    have mass, the equations still have a solution, but Gazebo drops the link.
    """
    link = group.members[0][0]
    mass = group.inertia.mass
    if mass < 0 or any(member.inertial is not None and member.inertial.mass is None
                       for member, _ in group.members):
        return  # already said
    if mass == 0:
        what = 'has no <inertial>' if link.inertial is None else 'has mass 0'
        where = 'add <inertial> with its mass and inertia' if link.inertial is None \
            else 'write its mass'
        if carried > 0:
            yield link.place.finding(WARNING, f'moves but {what}; Gazebo drops such a link and '
                                              'all that hangs on it', where)
        else:
            yield link.place.finding(ERROR, f'moves but {what}, and carries none: a force would '
                                            'accelerate it without bound', where)
    elif mass < TINY_MASS:
        yield link.place.finding(WARNING, f'moves with a tiny mass of {mass:g} kg, which makes '
                                          'stiff equations', 'check the unit: masses are in kg')


def tensors(group: Group) -> Iterator[Finding]:
    """
    Yield tensors that no body has.

    The rigid body as a whole decides: a bad tensor of a link whose body is sound, or does not
    move, is a warning.
    """
    total = group.inertia
    whole = impossible(total.about_com) if group.joint is not None and total.mass > 0 else None
    for link, _ in group.members:
        inertial = link.inertial
        if inertial is None or inertial.tensor is None or not inertial.mass:
            continue
        problem = impossible(inertial.tensor)
        if problem is not None:
            yield inertial.place.finding(ERROR if whole else WARNING, *problem)


def impossible(tensor: Array) -> tuple[str, str] | None:
    """Say why no rigid body has this tensor, and what would help; ``None`` if one may."""
    if not np.isfinite(tensor).all():
        return 'inertia is not finite', 'use the inertia of its shape'
    low, middle, high = np.linalg.eigvalsh(tensor)
    moments = f'principal moments {low:.4g}, {middle:.4g}, {high:.4g}'
    if low <= DEFINITE_TOLERANCE * abs(high):
        return (f'inertia is not positive definite: {moments}',
                'use the inertia of its shape; for a point mass 1e-12 on the diagonal')
    if low + middle < high * (1 - TENSOR_TOLERANCE):
        return (f'inertia breaks the triangle inequality: {moments}, and no body has one larger '
                'than the sum of the others', 'use the inertia of its shape')
    return None
