"""From URDF text to a :class:`~torque_lab.physics.description.Description`."""

from __future__ import annotations

import numpy as np
from lxml import etree

from torque_lab.physics.describe_extension import Extension
from torque_lab.physics.description import Description, Inertial, Joint, Limit, Link, Place, Shape
from torque_lab.physics.errors import ModelError
from torque_lab.physics.markup import Reader, Source, decoded, parse_xml, shorten
from torque_lab.physics.poses import Array, Pose, rotation_from_rpy


def describe(text: str | bytes, source: Source | str) -> Description:
    """
    Read URDF text, already expanded if it was xacro.

    :param text: the XML
    :param source: where it comes from, for messages
    :raises ModelError: if it is not XML or not a ``<robot>``
    """
    source = Source(source) if isinstance(source, str) else source
    root = parse_xml(text, source.file)
    for element in root.iter(etree.Element):
        if element.prefix is None:  # <robot xmlns="...">: a namespace that means nothing here
            element.tag = etree.QName(element).localname
    if root.tag != 'robot':
        raise ModelError(f'{source.file}:{root.sourceline}: the outermost element is '
                         f'<{shorten(str(root.tag))}>; a URDF starts with <robot name="...">')
    reader = Reader(source, {element: k for k, element in enumerate(root.iter(etree.Element))})
    place = reader.place(root, 'robot')
    name = reader.text(root, 'name', place)
    place = reader.place(root, f'robot "{name}"')
    for element in (*root.findall('link'), *root.findall('joint')):
        reader.note_unknown(element, f'{element.tag} "{element.get("name", "")}"')
    links = tuple(_link(reader, element) for element in root.findall('link'))
    joints = tuple(_joint(reader, element) for element in root.findall('joint'))
    extension = Extension(reader)
    for element in root.findall('torque_lab'):
        extension.read(element)
    return Description(name, decoded(text, root), place, links, joints,
                       extension.gravity, tuple(extension.joints), tuple(extension.motors),
                       tuple(extension.point_masses), tuple(reader.findings))


def _pose(reader: Reader, element: etree._Element, place: Place) -> Pose:
    origin = reader.single(element, 'origin', place)
    if origin is None:
        return Pose(np.eye(3), np.zeros(3))
    zero = (0.0, 0.0, 0.0)
    xyz = reader.vector(origin, 'xyz', reader.place(origin, place.element), 3, zero)
    rpy = reader.vector(origin, 'rpy', reader.place(origin, place.element), 3, zero)
    return Pose(rotation_from_rpy(*rpy), np.array(xyz))


def _link(reader: Reader, element: etree._Element) -> Link:
    place = reader.place(element, 'link')
    name = reader.text(element, 'name', place)
    place = reader.place(element, f'link "{name}"')
    inertial = reader.single(element, 'inertial', place)
    return Link(name, place, None if inertial is None else _inertial(reader, inertial, place),
                _shapes(reader, element, 'visual', place),
                _shapes(reader, element, 'collision', place))


def _inertial(reader: Reader, element: etree._Element, link: Place) -> Inertial:
    place = reader.place(element, link.element)
    mass = reader.single(element, 'mass', place)
    inertia = reader.single(element, 'inertia', place)
    return Inertial(
        place,
        None if mass is None else reader.number(mass, 'value', reader.place(mass, link.element)),
        _pose(reader, element, link),
        None if inertia is None else _tensor(reader, inertia, link))


def _tensor(reader: Reader, element: etree._Element, link: Place) -> Array:
    place = reader.place(element, link.element)
    xx, xy, xz, yy, yz, zz = (reader.number(element, name, place)
                              for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _shapes(reader: Reader, element: etree._Element, tag: str, link: Place) -> tuple[Shape, ...]:
    shapes = []
    for child in element.findall(tag):
        geometry = child.find('geometry')
        if geometry is None:
            reader.error(reader.place(child, link.element), f'<{tag}> has no <geometry>',
                         f'add one, or drop the <{tag}>')
            continue
        pose = _pose(reader, child, link)
        for solid in geometry.iterchildren(*SIZES):
            place = reader.place(solid, link.element)
            size = [value for name, count in SIZES[solid.tag]
                    for value in reader.vector(solid, name, place, count)]
            shapes.append(Shape(solid.tag, tuple(size), pose))
    return tuple(shapes)


SIZES = {'box': [('size', 3)], 'cylinder': [('radius', 1), ('length', 1)],
         'sphere': [('radius', 1)], 'mesh': []}


def _joint(reader: Reader, element: etree._Element) -> Joint:
    place = reader.place(element, 'joint')
    name = reader.text(element, 'name', place)
    place = reader.place(element, f'joint "{name}"')
    axis = reader.single(element, 'axis', place)
    axis_place = place if axis is None else reader.place(axis, place.element)
    limit = reader.single(element, 'limit', place)
    dynamics = reader.single(element, 'dynamics', place)
    mimic = element.find('mimic')
    return Joint(
        name, reader.text(element, 'type', place), place,
        _end(reader, element, 'parent', place), _end(reader, element, 'child', place),
        _pose(reader, element, place),
        np.array((1.0, 0.0, 0.0) if axis is None
                 else reader.vector(axis, 'xyz', axis_place, 3, (1.0, 0.0, 0.0))),
        axis_place,
        None if limit is None else _limit(reader, limit, place),
        _coefficient(reader, dynamics, 'damping', place),
        _coefficient(reader, dynamics, 'friction', place),
        None if mimic is None else mimic.get('joint', ''))


def _end(reader: Reader, element: etree._Element, tag: str, place: Place) -> str:
    child = reader.single(element, tag, place)
    if child is None:
        reader.error(place, f'has no <{tag} link="..."/>', 'add it')
        return ''
    return reader.text(child, 'link', reader.place(child, place.element))


def _limit(reader: Reader, element: etree._Element, joint: Place) -> Limit:
    place = reader.place(element, joint.element)
    lower, upper, effort, velocity = (reader.limit_number(element, name, place)
                                      for name in ('lower', 'upper', 'effort', 'velocity'))
    return Limit(place, lower or 0.0, upper or 0.0, effort, velocity)


def _coefficient(reader: Reader, dynamics: etree._Element | None, name: str,
                 joint: Place) -> float:
    if dynamics is None:
        return 0.0
    return reader.number(dynamics, name, reader.place(dynamics, joint.element), 0.0)
