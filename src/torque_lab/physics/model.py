"""
The robot as data: a frozen tree of rigid bodies, apart from any state.

A :class:`Robot` holds what a URDF says and nothing that moves.  Every law in
:mod:`torque_lab.physics` is a pure function of ``(robot, q, qd, ...)``.

The numbers in a robot are usually floats, but nothing here insists on it: a mass, a length or
gravity may also be a SymPy symbol or a tracing scalar, and the same laws then yield equations
or compiled code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Array = np.ndarray
Scalar = Any  # float, complex, sympy.Expr or a tracing scalar

WORLD = -1
"""Index of the fixed world, the parent of every root body."""

REVOLUTE = 'revolute'
PRISMATIC = 'prismatic'
FLOATING = 'floating'


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass properties of one body, in its body frame."""

    mass: Scalar
    """Mass in kg."""
    com: Array
    """Centre of mass (3,), in m."""
    about_com: Array
    """Rotational inertia about the centre of mass (3, 3), in kg m^2, in body axes."""


@dataclass(frozen=True, eq=False)
class Body:
    """
    One moving body and the joint that carries it.

    The body frame is the joint frame after the joint's motion.  At zero position it coincides
    with the joint frame, which ``rotation`` and ``translation`` place in the parent's body frame.
    """

    name: str
    """Link name."""
    joint: str
    """Joint name."""
    kind: str
    """``REVOLUTE``, ``PRISMATIC`` or ``FLOATING``."""
    parent: int
    """Index of the parent in ``Robot.bodies``, or ``WORLD``."""
    rotation: Array
    """Joint axes in parent axes (3, 3)."""
    translation: Array
    """Joint origin in the parent frame (3,), in m."""
    axis: Array
    """Unit joint axis (3,), in the joint frame; unused by a floating joint."""
    inertia: Inertia
    """Of the link and of every link fixed to it."""
    q: slice
    """Where this joint's position stands in ``q`` (1 entry, or 7 for a floating joint)."""
    v: slice
    """Where this joint's velocity stands in ``qd`` (1 entry, or 6 for a floating joint)."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A link's frame, fixed to a body (or to the world): where the link of that name is."""

    body: int
    """Index in ``Robot.bodies``, or ``WORLD``."""
    rotation: Array
    """Frame axes in body axes (3, 3)."""
    translation: Array
    """Frame origin in the body frame (3,), in m."""


@dataclass(frozen=True)
class Motor:
    """A DC motor with a gear, driven by a voltage; its inductance is neglected."""

    torque_constant: float
    """kt, in N m/A."""
    back_emf_constant: float
    """kv, in V s/rad."""
    gear_ratio: float
    """kr, motor turns per joint turn."""
    resistance: float
    """Ra, in ohm."""
    voltage_limit: float = float('inf')
    """In V."""

    def torque(self, voltage: Scalar, joint_velocity: Scalar) -> Scalar:
        """Joint torque ``kt kr / Ra (v - kv kr qd)``, in N m."""
        back_emf = self.back_emf_constant * self.gear_ratio * joint_velocity
        return self.torque_constant * self.gear_ratio / self.resistance * (voltage - back_emf)

    def voltage(self, torque: Scalar, joint_velocity: Scalar) -> Scalar:
        """Voltage that yields a joint torque at a joint velocity: the inverse of `torque`."""
        back_emf = self.back_emf_constant * self.gear_ratio * joint_velocity
        return torque * self.resistance / (self.torque_constant * self.gear_ratio) + back_emf


@dataclass(frozen=True, eq=False)
class Robot:
    """
    A tree of rigid bodies with everything that the manipulator equation needs.

    Positions ``q`` (nq,) and velocities ``qd`` (nv,) stand in URDF joint order.  Revolute and
    prismatic joints have one entry in each.  A floating joint has seven positions (x, y, z, then
    the unit quaternion x, y, z, w) and six velocities (linear, then angular, of the body origin,
    in body axes).  A planar joint is modelled as two prismatic joints and a revolute one.
    Spatial vectors are linear part first: twists (v, w), wrenches (force, torque).
    """

    name: str
    urdf: str = field(repr=False)
    """The expanded model text."""
    bodies: tuple[Body, ...] = field(repr=False)
    """Every parent before its children."""
    frames: Mapping[str, Frame] = field(repr=False)
    """Every link of the model, fixed ones included."""
    joint_names: tuple[str, ...]
    """The joints with one degree of freedom, in URDF order."""
    gravity: Array
    """Acceleration of free fall (3,), in world axes, in m/s^2."""
    damping: Array = field(repr=False)
    """Viscous friction (nv,), in N m s/rad or N s/m."""
    friction: Array = field(repr=False)
    """Coulomb friction (nv,), in N m or N."""
    stiffness: Array = field(repr=False)
    """Joint spring (nv,), in N m/rad or N/m."""
    spring_rest: Array = field(repr=False)
    """Position where the spring is slack (nv,)."""
    lower: Array = field(repr=False)
    """Position limits (nv,); infinite where there are none."""
    upper: Array = field(repr=False)
    effort_limit: Array = field(repr=False)
    """Largest effort (nv,); infinite where there is none."""
    velocity_limit: Array = field(repr=False)
    """Largest speed (nv,); infinite where there is none."""
    motors: tuple[Motor | None, ...] = field(repr=False)
    """One entry per degree of freedom."""
    start: Array = field(repr=False)
    """Default start position (nq,)."""
    start_velocity: Array = field(repr=False)
    """Default start velocity (nv,)."""
    point_masses: frozenset[str] = field(repr=False, default=frozenset())
    """Links declared to be point masses."""

    @property
    def nq(self) -> int:
        """Number of position entries."""
        return sum(body.q.stop - body.q.start for body in self.bodies)

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return sum(body.v.stop - body.v.start for body in self.bodies)

    @property
    def parents(self) -> tuple[int, ...]:
        """Parent index of every body."""
        return tuple(body.parent for body in self.bodies)

    @property
    def has_floating_joint(self) -> bool:
        """Whether positions and velocities differ in number."""
        return any(body.kind == FLOATING for body in self.bodies)

    @property
    def tip(self) -> str:
        """The link that moves with the last body and lies last in the file: the arm's tip."""
        last = len(self.bodies) - 1
        return [name for name, frame in self.frames.items() if frame.body == last][-1]

    def body_index(self, link: str) -> int:
        """Index of the body that a link moves with."""
        return self.frame(link).body

    def frame(self, link: str) -> Frame:
        """Frame of a link; an unknown name is refused with the known ones."""
        if link not in self.frames:
            known = ', '.join(self.frames)
            raise KeyError(f'{self.name} has no link "{link}"; its links are {known}')
        return self.frames[link]

    def joint_index(self, joint: str) -> int:
        """Place of a joint in ``qd``; an unknown name is refused with the known ones."""
        for body in self.bodies:
            if body.joint == joint:
                return body.v.start
        raise KeyError(f'{self.name} has no joint "{joint}"; its joints are '
                       f'{", ".join(self.joint_names)}')

    def replace(self, **changes: Any) -> Robot:
        """Return a copy with some fields replaced."""
        return replace(self, **changes)
