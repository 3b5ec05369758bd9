"""What a URDF file says, element by element, before anyone asks whether it makes sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torque_lab.physics.errors import Finding
from torque_lab.physics.poses import Array, Pose


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
