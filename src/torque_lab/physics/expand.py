"""
Xacro to URDF, by ROS's own xacro, so that a file means here what it means everywhere in ROS.

Two things are added.  Each element remembers the file and line that it was written on, so that
messages lead to what the user has to edit, not into the expansion.  And an argument that the
file does not know is refused; xacro would ignore it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.dom import minidom

import xacro
from lxml import etree

from torque_lab.physics.errors import ModelError
from torque_lab.physics.markup import Source, decoded, parse_xml

NAMESPACE = re.compile(r'https?://(www\.|wiki\.)?ros\.org/(wiki/)?xacro/?')
MARK = '_torque_lab_origin'
REFERENCE = re.compile(r'\$\(arg\s+([^\s)]+)\s*\)')
LOCK = threading.Lock()
"""xacro keeps its state in module variables: one expansion at a time."""


def expand(path: Path, arguments: Mapping[str, Any]) -> tuple[str, Source]:
    """
    Return the URDF text of a file, expanded if it is xacro, and where its elements come from.

    :param path: a URDF or xacro file
    :param arguments: values for its ``<xacro:arg>`` elements
    :raises ModelError: if the file cannot be read or expanded
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ModelError(f'{path}: cannot be read: {error.strerror}; check the path') from None
    root = parse_xml(raw, str(path))
    if not any(NAMESPACE.fullmatch(uri or '') for uri in root.nsmap.values()):
        if arguments:
            raise ModelError(f'{path}: takes no arguments, since it is plain URDF; got '
                             f'{", ".join(arguments)}')
        return decoded(raw, root), Source(str(path))
    with LOCK:
        return _Expansion(path).run({name: _text(value) for name, value in arguments.items()})


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Expansion:
    """One run of xacro over a file and what it includes."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.origins: list[tuple[str, int]] = []
        self.arguments: dict[str, None] = {}  # in the order of the files
        self.xacro_parse = xacro.parse

    def run(self, arguments: dict[str, str]) -> tuple[str, Source]:
        """Expand the file."""
        given = tuple(arguments)  # xacro adds the defaults to its dictionary
        xacro.init_stacks(self.path)
        # xacro has no hook for included files; it parses all of them through this function.
        xacro.parse = self.parse
        try:
            document = self.parse(None, self.path)
            xacro.process_doc(document, mappings=arguments)
        except Exception as error:  # expressions in the file may raise anything
            raise ModelError(self.explain(error)) from None
        finally:
            xacro.parse = self.xacro_parse
        for name in given:
            if name not in self.arguments:
                raise ModelError(f'{self.path}: has no argument "{name}"; {self.declared()}')
        return self.finish(document)

    def parse(self, text: Any, filename: str | None = None) -> minidom.Document:
        """Parse as xacro does, and mark every element that is not xacro's with its origin."""
        document = self.xacro_parse(text, filename)
        if filename is None:
            return document
        raw = Path(filename).read_bytes()
        elements = parse_xml(raw, filename).iter(etree.Element)
        for node, element in zip(document.getElementsByTagName('*'), elements, strict=False):
            if node.tagName == 'xacro:arg':
                self.arguments.setdefault(node.getAttribute('name'))
            elif not node.tagName.startswith('xacro:'):
                node.setAttribute(MARK, str(len(self.origins)))
                self.origins.append((filename, element.sourceline))
        for name in REFERENCE.findall(raw.decode('utf-8', errors='replace')):
            self.arguments.setdefault(name)
        return document

    def finish(self, document: minidom.Document) -> tuple[str, Source]:
        """Take the marks off again and write the text."""
        origins = {}
        for number, node in enumerate(document.getElementsByTagName('*')):
            if node.hasAttribute(MARK):
                origins[number] = self.origins[int(node.getAttribute(MARK))]
                node.removeAttribute(MARK)
        return document.toprettyxml(indent='  '), Source(self.path, origins)

    def explain(self, error: Exception) -> str:
        """Say in one line what xacro could not do, and where."""
        if isinstance(error, ModelError):
            return str(error)
        if isinstance(error, RecursionError):
            reason = 'a macro calls itself without end, or too deeply'
        else:
            reason = ' '.join(str(error).split()) or type(error).__name__
            reason = reason.split(" when evaluating expression 'xacro.fatal(")[0]
        where = [f'in macro "{macro.body.getAttribute("name")}"'
                 for macro in reversed(xacro.macrostack or [])][:1]
        files = [str(file) for file in xacro.filestack or [] if file != self.path]
        where += [f'in {files[-1]}'] if files else []
        hint = f'; {self.declared()}' if 'Undefined substitution argument' in reason else ''
        return f'{self.path}: xacro: {" ".join([reason, *where])}{hint}'

    def declared(self) -> str:
        """List the arguments of the file."""
        names = ', '.join(self.arguments)
        return f'its arguments are {names}' if names else 'it has no arguments'
