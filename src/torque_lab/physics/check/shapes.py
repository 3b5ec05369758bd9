"""Inertia against the shape that a link is drawn with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from torque_lab.physics.assembly import NOTHING, combine
from torque_lab.physics.description import Description, Link, Shape
from torque_lab.physics.errors import WARNING, Finding
from torque_lab.physics.model import Inertia
from torque_lab.physics.poses import Array

FAR = 10.0
"""A factor between the declared inertia and that of the shape; wrong units give 1000 and more."""


def findings(description: Description) -> Iterator[Finding]:
    """Yield links whose inertia is far from that of their shape; point masses are exempt."""
    point_masses = {point.link for point in description.point_masses}
    for link in description.links:
        yield from sizes(link)
        if link.name not in point_masses:
            yield from far_from_shape(link)


def sizes(link: Link) -> Iterator[Finding]:
    """Yield shapes without extent."""
    for shape in (*link.visuals, *link.collisions):
        if any(value <= 0 for value in shape.size):
            yield link.place.finding(WARNING, f'has a {shape.kind} whose size is not positive',
                                     'write its size in m')


def far_from_shape(link: Link) -> Iterator[Finding]:
    """Yield a link whose inertia or centre of mass does not belong to its shape."""
    inertial = link.inertial
    shapes = solid_shapes(link)
    if inertial is None or inertial.tensor is None or not inertial.mass or not shapes:
        return
    solid = solid_inertia(shapes, inertial.mass)
    expected, declared = np.trace(solid.about_com), np.trace(inertial.tensor)
    if not expected > 0 or not declared > 0:
        return
    ratio = declared / expected
    if ratio > FAR or ratio < 1 / FAR:
        text = f'{ratio:.3g} times' if ratio > 1 else f'1/{1 / ratio:.3g} of'
        moments = ', '.join(f'{value:.3g}' for value in np.linalg.eigvalsh(solid.about_com))
        yield inertial.place.finding(
            WARNING, f'inertia is {text} that of its shape with this mass',
            f'expected principal moments near {moments} kg m²; check mm against m, or declare '
            'a point mass in <torque_lab>')
    distance = float(np.linalg.norm(inertial.pose.translation - solid.com))
    reach = max(float(np.linalg.norm(shape.pose.translation - solid.com)) + extent(shape)
                for shape in shapes)
    if distance > 2 * reach:
        yield inertial.place.finding(
            WARNING, f'centre of mass lies {distance:.3g} m from the middle of its shape, which '
            f'reaches {reach:.3g} m', 'correct the <origin> of <inertial>')


def solid_shapes(link: Link) -> tuple[Shape, ...]:
    """Return the collision shapes, else the visual ones; nothing if a mesh is among them."""
    for shapes in (link.collisions, link.visuals):
        if shapes and all(shape.kind != 'mesh' and min(shape.size) > 0 for shape in shapes):
            return shapes
    return ()


def solid_inertia(shapes: Sequence[Shape], mass: float) -> Inertia:
    """Mass properties in the link frame of shapes filled with one material."""
    volumes = [volume(shape) for shape in shapes]
    total = NOTHING
    for shape, part in zip(shapes, volumes, strict=True):
        rotation, share = shape.pose.rotation, mass * (part / sum(volumes))
        total = combine(total, Inertia(share, shape.pose.translation,
                                       rotation @ unit_inertia(shape) @ rotation.T * share))
    return total


def volume(shape: Shape) -> float:
    """Volume of a primitive shape, in m³."""
    if shape.kind == 'box':
        return math.prod(shape.size)
    if shape.kind == 'cylinder':
        radius, length = shape.size
        return math.pi * radius * radius * length
    return 4 / 3 * math.pi * shape.size[0] ** 3


def unit_inertia(shape: Shape) -> Array:
    """Inertia per mass of a primitive shape about its middle (3, 3), in m²."""
    if shape.kind == 'box':
        x, y, z = (edge * edge / 12 for edge in shape.size)
        return np.diag([y + z, x + z, x + y])
    radius = shape.size[0]
    if shape.kind == 'cylinder':
        across = (3 * radius * radius + shape.size[1] ** 2) / 12
        return np.diag([across, across, radius * radius / 2])
    return np.eye(3) * 2 / 5 * radius * radius


def extent(shape: Shape) -> float:
    """Radius of the ball around a primitive shape, in m."""
    if shape.kind == 'box':
        return float(np.linalg.norm(shape.size)) / 2
    if shape.kind == 'cylinder':
        return math.hypot(shape.size[0], shape.size[1] / 2)
    return shape.size[0]
