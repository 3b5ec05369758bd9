"""
XML that knows its lines, and attributes that are what they should be.

The XML is read with lxml because it knows the line of every element.  ROS's urdf_parser_py does
not serve here: it keeps no line numbers, drops elements it does not know (our extension among
them), lets NaN pass and answers a wrong count of numbers with an assertion.

A number that cannot be read becomes a :class:`~torque_lab.physics.errors.Finding` and is replaced
by a harmless one, so that a single pass over the file reports everything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree

from torque_lab.physics.description import Place
from torque_lab.physics.errors import ERROR, WARNING, Finding, ModelError

NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
LARGEST = 1e50
"""Masses and lengths beyond this overflow when multiplied; limits may be any finite number."""


@dataclass(frozen=True)
class Source:
    """Where a text comes from: its file, and where its lines stood before xacro expanded them."""

    file: str
    origins: Mapping[int, tuple[str, int]] | None = None
    """File and line of each element in document order; ``None``: the text is the file."""


@dataclass
class Reader:
    """Reads attributes; what it cannot read it notes and replaces."""

    source: Source
    order: dict[etree._Element, int]
    findings: list[Finding] = field(default_factory=list)

    def place(self, element: etree._Element, label: str) -> Place:
        """Return where an element was written, or what holds it if xacro made it up."""
        if self.source.origins is None:
            return Place(self.source.file, element.sourceline, label)
        for candidate in (element, *element.iterancestors()):
            origin = self.source.origins.get(self.order[candidate])
            if origin is not None:
                return Place(*origin, label)
        return Place(self.source.file, None, label)

    def error(self, place: Place, message: str, fix: str) -> None:
        """Note an error."""
        self.findings.append(place.finding(ERROR, message, fix))

    def text(self, element: etree._Element, attribute: str, place: Place) -> str:
        """Return a required attribute; empty if it is missing."""
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
    'joint': ('name type dont_collapse',
              'origin parent child axis calibration dynamics limit mimic safety_controller'),
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
