"""
What a URDF file says, element by element, before anyone asks whether it makes sense.

The XML is read with lxml because it knows the line of every element.  ROS's urdf_parser_py does
not serve here: it keeps no line numbers, drops or rejects elements it does not know (our
extension among them) and lets NaN and wrong counts of numbers pass.

A number that cannot be read becomes a :class:`~torque_lab.physics.errors.Finding` and is replaced
by a harmless one, so that a single pass over the file reports everything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from lxml import etree

from torque_lab.physics.errors import ERROR, WARNING, Finding, ModelError

Array = np.ndarray

NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
LARGEST = 1e50
"""Masses and lengths beyond this overflow when multiplied; limits may be any finite number."""


@dataclass(frozen=True)
class Place:
    """Where an element stands and what it is called, for messages."""

    file: str
    line: int | None
    element: str

    def finding(self, severity: str, message: str, fix: str) -> Finding:
        """Return a finding about this element."""
        return Finding(severity, self.file, self.line, self.element, message, fix)


@dataclass(frozen=True, eq=False)
class Pose:
    """A frame in another one."""

    rotation: Array
    translation: Array


@dataclass(frozen=True, eq=False)
class Inertial:
    """The ``<inertial>`` of a link."""

    place: Place
    mass: float | None
    """``None`` if the element has no mass."""
    pose: Pose
    """Centre of mass, and the axes of the tensor, in the link frame."""
    tensor: Array | None
    """About the centre of mass (3, 3); ``None`` if the element has no inertia."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A ``<visual>`` or ``<collision>`` of primitive geometry."""

    kind: str
    """``box``, ``cylinder``, ``sphere`` or ``mesh``."""
    size: tuple[float, ...]
    """Edges of a box; radius and length of a cylinder; radius of a sphere."""
    pose: Pose


@dataclass(frozen=True, eq=False)
class Link:
    """A ``<link>``."""

    name: str
    place: Place
    inertial: Inertial | None
    visuals: tuple[Shape, ...]
    collisions: tuple[Shape, ...]


@dataclass(frozen=True, eq=False)
class Limit:
    """The ``<limit>`` of a joint."""

    place: Place
    lower: float
    upper: float
    effort: float | None
    velocity: float | None


@dataclass(frozen=True, eq=False)
class Joint:
    """A ``<joint>``."""

    name: str
    kind: str
    place: Place
    parent: str
    child: str
    pose: Pose
    axis: Array
    axis_place: Place
    limit: Limit | None
    damping: float
    friction: float
    mimics: str | None


@dataclass(frozen=True, eq=False)
class JointExtension:
    """A ``<joint>`` of the ``<torque_lab>`` extension; ``None`` where it says nothing."""

    joint: str
    place: Place
    start: tuple[float, ...] | None
    start_velocity: tuple[float, ...] | None
    stiffness: float | None
    rest: float | None
    passive: bool


@dataclass(frozen=True, eq=False)
class MotorExtension:
    """A ``<motor>`` of the ``<torque_lab>`` extension."""

    joint: str
    place: Place
    numbers: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class PointMassExtension:
    """A ``<point_mass>`` of the ``<torque_lab>`` extension."""

    link: str
    place: Place


@dataclass(frozen=True, eq=False)
class Description:
    """A whole ``<robot>``."""

    name: str
    text: str
    place: Place
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    gravity: Array
    joint_extensions: tuple[JointExtension, ...]
    motors: tuple[MotorExtension, ...]
    point_masses: tuple[PointMassExtension, ...]
    findings: tuple[Finding, ...]
    """What could not be read."""


@dataclass(frozen=True)
class Source:
    """Where a text comes from: its file, and where its lines stood before xacro expanded them."""

    file: str
    origins: Mapping[int, tuple[str, int]] | None = None
    """File and line of each element in document order; ``None``: the text is the file."""


@dataclass
class _Reader:
    """Reads attributes; what it cannot read it notes and replaces."""

    source: Source
    order: dict[etree._Element, int]
    findings: list[Finding] = field(default_factory=list)

    def place(self, element: etree._Element, label: str) -> Place:
        if self.source.origins is None:
            return Place(self.source.file, element.sourceline, label)
        for candidate in (element, *element.iterancestors()):
            origin = self.source.origins.get(self.order[candidate])
            if origin is not None:
                return Place(*origin, label)
        return Place(self.source.file, None, label)

    def error(self, place: Place, message: str, fix: str) -> None:
        self.findings.append(place.finding(ERROR, message, fix))

    def text(self, element: etree._Element, attribute: str, place: Place) -> str:
        value = element.get(attribute)
        if value is None or not value.strip():
            self.error(place, f'<{element.tag}> has no attribute "{attribute}"', 'add it')
            return ''
        return value

    def numbers(self, element: etree._Element, attribute: str, place: Place,
                largest: float = LARGEST) -> tuple[float, ...] | None:
        """Return the numbers of an attribute; ``None`` if it is absent or unreadable."""
        text = element.get(attribute)
        if text is None:
            return None
        values = []
        for word in text.split():
            value = float(word) if NUMBER.fullmatch(word) else math.nan
            if not abs(value) <= largest:
                self.error(place, f'<{element.tag} {attribute}="{shorten(text)}"> is not a finite '
                                  'number', f'write plain numbers such as "0.5" for {attribute}')
                return None
            values.append(value)
        return tuple(values)

    def vector(self, element: etree._Element, attribute: str, place: Place, count: int,
               default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Return exactly ``count`` numbers; without a default the attribute is required."""
        if element.get(attribute) is None:
            if default is None:
                self.text(element, attribute, place)
            return default or (0.0,) * count
        values = self.numbers(element, attribute, place)
        if values is not None and len(values) != count:
            wanted = 'one number' if count == 1 else f'{count} numbers'
            self.error(place, f'<{element.tag} {attribute}="{shorten(element.get(attribute))}"> '
                              f'holds {len(values)} numbers', f'write {wanted}')
            values = None
        return default or (0.0,) * count if values is None else values

    def number(self, element: etree._Element, attribute: str, place: Place,
               default: float | None = None) -> float:
        """Return one number; without a default the attribute is required."""
        return self.vector(element, attribute, place, 1,
                           None if default is None else (default,))[0]

    def limit_number(self, element: etree._Element, attribute: str,
                     place: Place) -> float | None:
        """Return one finite number of any size, or ``None`` if it is absent."""
        values = self.numbers(element, attribute, place, largest=math.inf)
        if values is None:
            return None
        if len(values) != 1 or not math.isfinite(values[0]):
            written = shorten(element.get(attribute))
            self.error(place, f'<{element.tag} {attribute}="{written}"> is not one finite number',
                       'write one number, or leave it out')
            return None
        return values[0]

    def single(self, element: etree._Element, tag: str, place: Place) -> etree._Element | None:
        """Return the only child of that tag, or ``None``."""
        children = element.findall(tag)
        if len(children) > 1:
            self.error(self.place(children[1], place.element),
                       f'has {len(children)} <{tag}> elements', 'keep one')
        return children[0] if children else None

    def note_unknown(self, element: etree._Element, label: str) -> None:
        """Warn of children and attributes that URDF does not know: most are misspelt."""
        for part in element.iter(*VOCABULARY):
            attributes, children = VOCABULARY[part.tag]
            place = self.place(part, label)
            for name in part.attrib:
                if name not in attributes.split():
                    self.findings.append(place.finding(
                        WARNING, f'<{part.tag}> has the unknown attribute "{shorten(str(name))}"',
                        f'it is ignored; known are {attributes or "none"}'))
            for child in part.iterchildren(etree.Element):
                if child.tag not in children.split():
                    self.findings.append(self.place(child, label).finding(
                        WARNING, f'<{part.tag}> holds the unknown element '
                        f'<{shorten(str(child.tag))}>',
                        f'it is ignored; known are {children or "none"}'))


VOCABULARY = {
    'joint': ('name type dont_collapse', 'origin parent child axis calibration dynamics limit mimic '
                           'safety_controller'),
    'inertial': ('', 'origin mass inertia'),
    'origin': ('xyz rpy', ''),
    'mass': ('value', ''),
    'inertia': ('ixx ixy ixz iyy iyz izz', ''),
    'axis': ('xyz', ''),
    'limit': ('lower upper effort velocity', ''),
    'dynamics': ('damping friction', ''),
}
"""
Attributes and children of the elements that the physics depends on.  Links are left out: many
tools keep elements of their own there, and a misspelt ``<inertial>`` shows as a missing mass.
"""


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
    reader = _Reader(source, {element: k for k, element in enumerate(root.iter(etree.Element))})
    place = reader.place(root, 'robot')
    name = reader.text(root, 'name', place)
    place = reader.place(root, f'robot "{name}"')
    for element in (*root.findall('link'), *root.findall('joint')):
        reader.note_unknown(element, f'{element.tag} "{element.get("name", "")}"')
    links = tuple(_link(reader, element) for element in root.findall('link'))
    joints = tuple(_joint(reader, element) for element in root.findall('joint'))
    extension = _Extension(reader)
    for element in root.findall('torque_lab'):
        extension.read(element)
    return Description(name, decoded(text, root), place, links, joints,
                       extension.gravity, tuple(extension.joints), tuple(extension.motors),
                       tuple(extension.point_masses), tuple(reader.findings))


def parse_xml(text: str | bytes, file: str) -> etree._Element:
    """Parse XML with line numbers; no entities, no network, and one clear error."""
    encoding = 'utf-8' if isinstance(text, str) else None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, encoding=encoding)
    try:
        raw = text.encode('utf-8') if isinstance(text, str) else text
        return etree.fromstring(raw, parser)
    except etree.XMLSyntaxError as error:
        line = f':{error.lineno}' if error.lineno else ''
        raise ModelError(f'{file}{line}: not XML: {error.msg}; '
                         'correct the markup') from None
    except (ValueError, LookupError) as error:
        raise ModelError(f'{file}: not XML: {error}; correct the encoding') from None


def decoded(text: str | bytes, root: etree._Element) -> str:
    """Return XML bytes as text, in the encoding that they declare."""
    if isinstance(text, str):
        return text
    return text.decode(root.getroottree().docinfo.encoding or 'utf-8', errors='replace')


def shorten(text: str | None, length: int = 60) -> str:
    """Cut a long value so that a message stays one readable line."""
    words = ' '.join((text or '').split())
    return words if len(words) <= length else words[:length - 3] + '...'


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """
    Rotation matrix ``Rz(yaw) Ry(pitch) Rx(roll)`` of URDF's fixed-axis angles.

    Quarter turns come out exact: entries that differ from 0 or ±1 by rounding alone are
    cleaned, so that the symbolic equations and the compiled code stay free of noise.
    """
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return clean(np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr]]))


def clean(rotation: Array) -> Array:
    """Round the entries of a rotation that are 0 or ±1 but for rounding errors."""
    nearest = np.rint(rotation)
    return np.where(abs(rotation - nearest) < 1e-15, nearest, rotation) + 0.0


def _pose(reader: _Reader, element: etree._Element, place: Place) -> Pose:
    origin = reader.single(element, 'origin', place)
    if origin is None:
        return Pose(np.eye(3), np.zeros(3))
    zero = (0.0, 0.0, 0.0)
    xyz = reader.vector(origin, 'xyz', reader.place(origin, place.element), 3, zero)
    rpy = reader.vector(origin, 'rpy', reader.place(origin, place.element), 3, zero)
    return Pose(rotation_from_rpy(*rpy), np.array(xyz))


def _link(reader: _Reader, element: etree._Element) -> Link:
    place = reader.place(element, 'link')
    name = reader.text(element, 'name', place)
    place = reader.place(element, f'link "{name}"')
    inertial = reader.single(element, 'inertial', place)
    return Link(name, place, None if inertial is None else _inertial(reader, inertial, place),
                _shapes(reader, element, 'visual', place),
                _shapes(reader, element, 'collision', place))


def _inertial(reader: _Reader, element: etree._Element, link: Place) -> Inertial:
    place = reader.place(element, link.element)
    mass = reader.single(element, 'mass', place)
    inertia = reader.single(element, 'inertia', place)
    return Inertial(
        place,
        None if mass is None else reader.number(mass, 'value', reader.place(mass, link.element)),
        _pose(reader, element, link),
        None if inertia is None else _tensor(reader, inertia, link))


def _tensor(reader: _Reader, element: etree._Element, link: Place) -> Array:
    place = reader.place(element, link.element)
    xx, xy, xz, yy, yz, zz = (reader.number(element, name, place)
                              for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _shapes(reader: _Reader, element: etree._Element, tag: str, link: Place) -> tuple[Shape, ...]:
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


def _joint(reader: _Reader, element: etree._Element) -> Joint:
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


def _end(reader: _Reader, element: etree._Element, tag: str, place: Place) -> str:
    child = reader.single(element, tag, place)
    if child is None:
        reader.error(place, f'has no <{tag} link="..."/>', 'add it')
        return ''
    return reader.text(child, 'link', reader.place(child, place.element))


def _limit(reader: _Reader, element: etree._Element, joint: Place) -> Limit:
    place = reader.place(element, joint.element)
    lower, upper, effort, velocity = (reader.limit_number(element, name, place)
                                      for name in ('lower', 'upper', 'effort', 'velocity'))
    return Limit(place, lower or 0.0, upper or 0.0, effort, velocity)


def _coefficient(reader: _Reader, dynamics: etree._Element | None, name: str,
                 joint: Place) -> float:
    if dynamics is None:
        return 0.0
    return reader.number(dynamics, name, reader.place(dynamics, joint.element), 0.0)


MOTOR_NUMBERS = ('torque_constant', 'back_emf_constant', 'gear_ratio', 'resistance')
JOINT_ATTRIBUTES = ('name', 'start', 'start_velocity', 'stiffness', 'rest', 'passive')


class _Extension:
    """The ``<torque_lab>`` element, described for users in docs/models.md."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.gravity = np.array([0.0, 0.0, -9.81])
        self.joints: list[JointExtension] = []
        self.motors: list[MotorExtension] = []
        self.point_masses: list[PointMassExtension] = []

    def read(self, element: etree._Element) -> None:
        readers = {'gravity': self._gravity, 'joint': self._joint, 'motor': self._motor,
                   'point_mass': self._point_mass}
        self._refuse_unknown(element, ())
        for child in element.iterchildren(etree.Element):
            if child.tag in readers:
                readers[child.tag](child)
            else:
                self.reader.error(self.reader.place(child, '<torque_lab>'),
                                  f'knows no <{shorten(str(child.tag))}>',
                                  f'use {", ".join(readers)}')

    def _refuse_unknown(self, element: etree._Element, known: tuple[str, ...]) -> None:
        for name in element.attrib:
            if name not in known:
                fix = f'use {", ".join(known)}' if known else 'remove it'
                self.reader.error(self.reader.place(element, '<torque_lab>'),
                                  f'<{element.tag}> knows no attribute "{shorten(str(name))}"',
                                  fix)

    def _gravity(self, element: etree._Element) -> None:
        self._refuse_unknown(element, ('xyz',))
        place = self.reader.place(element, '<torque_lab>')
        self.gravity = np.array(self.reader.vector(element, 'xyz', place, 3))

    def _joint(self, element: etree._Element) -> None:
        self._refuse_unknown(element, JOINT_ATTRIBUTES)
        reader = self.reader
        name = reader.text(element, 'name', reader.place(element, '<torque_lab>'))
        place = reader.place(element, f'joint "{name}"')
        passive = element.get('passive', 'false')
        if passive not in ('true', 'false'):
            reader.error(place, f'passive="{shorten(passive)}" is neither true nor false',
                         'write passive="true" for a joint without a drive')
        self.joints.append(JointExtension(
            name, place,
            reader.numbers(element, 'start', place),
            reader.numbers(element, 'start_velocity', place),
            self._optional(element, 'stiffness', place),
            self._optional(element, 'rest', place),
            passive == 'true'))

    def _optional(self, element: etree._Element, name: str, place: Place) -> float | None:
        present = element.get(name) is not None
        return self.reader.number(element, name, place) if present else None

    def _motor(self, element: etree._Element) -> None:
        self._refuse_unknown(element, ('joint', *MOTOR_NUMBERS, 'voltage_limit'))
        reader = self.reader
        name = reader.text(element, 'joint', reader.place(element, '<torque_lab>'))
        place = reader.place(element, f'joint "{name}"')
        numbers = {key: reader.number(element, key, place) for key in MOTOR_NUMBERS}
        numbers['voltage_limit'] = reader.number(element, 'voltage_limit', place, math.inf)
        self.motors.append(MotorExtension(name, place, numbers))

    def _point_mass(self, element: etree._Element) -> None:
        self._refuse_unknown(element, ('link',))
        reader = self.reader
        name = reader.text(element, 'link', reader.place(element, '<torque_lab>'))
        self.point_masses.append(
            PointMassExtension(name, reader.place(element, f'link "{name}"')))
