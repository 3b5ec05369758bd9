"""Names and connections: every link once, one root, no cycle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torque_lab.physics.description import Description, Joint, Link
from torque_lab.physics.errors import ERROR, Finding

PLANAR_SUFFIXES = ('_x', '_y', '_theta')


def findings(description: Description) -> Iterator[Finding]:
    """Yield what keeps the links from being one tree."""
    if not description.links:
        yield description.place.finding(ERROR, 'has no links', 'add a <link name="..."/>')
        return
    yield from duplicates(description.links)
    yield from duplicates(description.joints)
    yield from planar_names(description.joints)
    connected = True
    for finding in connections(description):
        connected = False
        yield finding
    if connected:
        yield from cycles(description.joints)
        yield from roots(description)


def duplicates(elements: Sequence[Link] | Sequence[Joint]) -> Iterator[Finding]:
    """Yield every element whose name is taken."""
    seen: dict[str, Link | Joint] = {}
    for element in elements:
        if element.name and element.name in seen:
            first = seen[element.name].place.line
            where = '' if first is None else f' on line {first}'
            yield element.place.finding(ERROR, f'the name is already taken{where}',
                                        'give each its own name')
        seen.setdefault(element.name, element)


def planar_names(joints: Sequence[Joint]) -> Iterator[Finding]:
    """Yield joints that bear a name which a planar joint needs for its parts."""
    parts = {joint.name + suffix: joint.name for joint in joints if joint.kind == 'planar'
             for suffix in PLANAR_SUFFIXES}
    for joint in joints:
        if joint.name in parts:
            yield joint.place.finding(
                ERROR, f'the name is needed for a part of the planar joint "{parts[joint.name]}"',
                'rename one of them')


def connections(description: Description) -> Iterator[Finding]:
    """Yield joints that end nowhere, at their own start, or at a link that has a parent."""
    names = {link.name for link in description.links}
    carried: dict[str, str] = {}
    for joint in description.joints:
        for end, link in (('parent', joint.parent), ('child', joint.child)):
            if link and link not in names:
                yield joint.place.finding(ERROR, f'its {end} link "{link}" does not exist',
                                          f'add the link or name one of {some(names)}')
        if joint.child and joint.child == joint.parent:
            yield joint.place.finding(ERROR, f'joins link "{joint.child}" to itself',
                                      'name two different links')
        if joint.child in carried:
            yield joint.place.finding(
                ERROR, f'its child link "{joint.child}" already hangs on joint '
                f'"{carried[joint.child]}"', 'a URDF is a tree: give each link one parent')
        carried.setdefault(joint.child, joint.name)
        if not joint.child or not joint.parent:
            yield joint.place.finding(ERROR, 'connects nothing', 'name its parent and child link')


def cycles(joints: Sequence[Joint]) -> Iterator[Finding]:
    """Yield one joint of each closed chain."""
    above = {joint.child: joint for joint in joints}
    cleared: set[str] = set()
    for joint in joints:
        path: list[str] = []
        link = joint.child
        while link in above and link not in cleared and link not in path:
            path.append(link)
            link = above[link].parent
        if link in path:
            loop = path[path.index(link):]
            chain = ' - '.join(f'"{name}"' for name in [*loop[::-1], loop[-1]])
            yield above[link].place.finding(ERROR, f'closes a cycle: {chain}',
                                            'a URDF is a tree: remove one joint of the cycle')
        cleared.update(path)


def roots(description: Description) -> Iterator[Finding]:
    """Yield every root but the first."""
    children = {joint.child for joint in description.joints}
    tops = [link for link in description.links if link.name not in children]
    for link in tops[1:]:
        yield link.place.finding(
            ERROR, f'is a second root beside link "{tops[0].name}": no joint has it as child',
            'connect it by a joint, or remove it')


def some(names: set[str], limit: int = 6) -> str:
    """List a few names."""
    known = sorted(names)
    return ', '.join(known[:limit]) + (', ...' if len(known) > limit else '')
