"""
Links joined by fixed joints are one rigid body: the tree of what really moves.

Needs a description whose links form a tree; the structure check sees to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from torque_lab.physics.description import Description, Joint, Link
from torque_lab.physics.model import WORLD, Inertia
from torque_lab.physics.poses import Pose, compose

NOTHING = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(eq=False)
class Group:
    """Links fixed to each other; the first carries the others and lends the group its frame."""

    joint: Joint | None
    """The joint that moves the group; ``None`` for the one fixed to the world."""
    parent: int
    """Index of the group that the joint starts from, or ``WORLD``."""
    pose: Pose
    """Joint frame in the parent group's frame."""
    members: list[tuple[Link, Pose]] = field(default_factory=list)
    """Every link, and its frame in the group's."""

    @property
    def inertia(self) -> Inertia:
        """Mass properties of all members together."""
        total = NOTHING
        for link, pose in self.members:
            total = combine(total, link_inertia(link, pose))
        return total


def rigid_groups(description: Description) -> list[Group]:
    """
    Return the groups, parents before children; the first is the one fixed to the world.

    Depth first and in document order, so that the bodies of each branch stand together.
    """
    links = {link.name: link for link in description.links}
    leaving: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in description.joints:
        leaving[joint.parent].append(joint)
    root = root_link(description.links, description.joints)

    here = Pose(np.eye(3), np.zeros(3))
    groups = [Group(None, WORLD, here, [(root, here)])]
    place = {root.name: (0, here)}
    waiting = leaving[root.name][::-1]
    while waiting:
        joint = waiting.pop()
        group, pose = place[joint.parent]
        pose = compose(pose, joint.pose)
        if joint.kind != 'fixed':
            groups.append(Group(joint, group, pose))
            group, pose = len(groups) - 1, here
        groups[group].members.append((links[joint.child], pose))
        place[joint.child] = group, pose
        waiting.extend(leaving[joint.child][::-1])
    return groups


def root_link(links: Sequence[Link], joints: Sequence[Joint]) -> Link:
    """Return the link that is no joint's child."""
    children = {joint.child for joint in joints}
    return next(link for link in links if link.name not in children)


def link_inertia(link: Link, pose: Pose) -> Inertia:
    """Mass properties of a link in the frame of the body that it is fixed to."""
    inertial = link.inertial
    if inertial is None or inertial.mass is None or inertial.tensor is None:
        return NOTHING
    at = compose(pose, inertial.pose)
    about_com = at.rotation @ inertial.tensor @ at.rotation.T
    return Inertia(inertial.mass, at.translation, (about_com + about_com.T) / 2)


def combine(a: Inertia, b: Inertia) -> Inertia:
    """
    Mass properties of two bodies fixed to each other, in their common frame.

    ``I = I_a + I_b + m_a m_b / (m_a + m_b) (d·d 1 - d dᵀ)`` with ``d`` from one centre of mass
    to the other: the parallel axis theorem, applied twice (Featherstone 2008, section 2.13).
    """
    mass = a.mass + b.mass
    if mass == 0.0:  # without mass a centre of mass has no meaning, but inertias still add
        return Inertia(0.0, a.com, a.about_com + b.about_com)
    d = b.com - a.com
    offset = a.mass / mass * b.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertia(mass, a.mass / mass * a.com + b.mass / mass * b.com,
                   a.about_com + b.about_com + offset)
