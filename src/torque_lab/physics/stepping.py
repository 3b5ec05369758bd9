"""One step of a driven robot: forces, contact and integrator put together, for every scalar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .contact import Contact, limited_joints, near_a_stop, settle
from .forces import damping_effort, drive_effort, spring_effort
from .integrators import Integrator, State
from .joints import configuration_rate
from .model import FLOATING, Array, Robot, Scalar
from .scalar import sqrt

ABSURD = 1e9
"""Positions and velocities whose magnitudes add up to this are no simulation any more."""


class Drive(NamedTuple):
    """What acts on the robot during a step, besides its own motion."""

    command: Array
    """Efforts (nv,), in N m or N, or volts where a joint has a motor; saturated."""
    external: Array
    """Further generalised force (nv,)."""
    damping: Array
    """Viscous friction (nv,)."""
    friction: Array
    """Coulomb friction (nv,)."""


class Dynamics(NamedTuple):
    """The laws of one robot as a step needs them."""

    mass_matrix: Callable[[Array], Array]
    """``M(q)``."""
    acceleration: Callable[[Array, Array, Array], Array]
    """``q̈(q, q̇, τ)``."""


@dataclass(frozen=True)
class Motion:
    """The robot as an integrator sees it: a `torque_lab.physics.integrators.System`."""

    robot: Robot
    dynamics: Dynamics
    drive: Drive
    held: Array
    """Force of friction and stops (nv,), the same all through the step."""
    track_energy: bool

    def acceleration(self, q: Array, qd: Array) -> Array:
        """Acceleration (nv,) under drive, spring, damper, friction and stops."""
        constant = self.drive.external + self.held
        force = (drive_effort(self.robot, self.drive.command, qd) + constant
                 + spring_effort(self.robot, q) + damping_effort(self.drive.damping, qd))
        return self.dynamics.acceleration(q, qd, force)

    def rate(self, q: Array, qd: Array) -> Array:
        """Rate of the position entries (nq,)."""
        return configuration_rate(self.robot, q, qd)

    def power(self, q: Array, qd: Array) -> tuple[Scalar, Scalar]:
        """Power of drive and external force, and power of friction, damper and stops, in W."""
        if not self.track_energy:
            return 0.0, 0.0
        pushed = drive_effort(self.robot, self.drive.command, qd) + self.drive.external
        braking = damping_effort(self.drive.damping, qd) + self.held
        return pushed @ qd, -(braking @ qd)

    def normalise(self, q: Array) -> Array:
        """Positions with unit quaternions."""
        return normalise(self.robot, q)


def normalise(robot: Robot, q: Array) -> Array:
    """Positions (nq,) with every quaternion scaled to unit length."""
    if not robot.has_floating_joint:
        return q
    q = q.copy()
    for body in robot.bodies:
        if body.kind == FLOATING:
            quaternion = q[body.q][3:]
            q[body.q.start + 3:body.q.stop] = quaternion * (1 / sqrt(quaternion @ quaternion))
    return q


def has_contact(robot: Robot, friction: Array) -> tuple[bool, bool]:
    """Whether friction may ever stick, and whether there are stops."""
    rubs = any(not (isinstance(bound, float) and bound == 0.0) for bound in friction.tolist())
    return rubs, bool(limited_joints(robot))


def contact(robot: Robot, dynamics: Dynamics, drive: Drive, q: Array, qd: Array, h: Scalar,
            ) -> Contact:
    """Friction and stops over the step that starts at a state."""
    free = Motion(robot, dynamics, drive, np.zeros(robot.nv), track_energy=False)
    return settle(robot, q, qd, h, drive.friction, dynamics.mass_matrix, free.acceleration)


def advance(robot: Robot, dynamics: Dynamics, drive: Drive, held: Array, integrator: Integrator,
            state: State, h: Scalar, first: bool, track_energy: bool) -> State:
    """State after one step of length h, with the force of friction and stops given."""
    motion = Motion(robot, dynamics, drive, held, track_energy)
    return (integrator.start if first else integrator.step)(motion, state, h)


def step(robot: Robot, dynamics: Dynamics, drive: Drive, integrator: Integrator, state: State,
         h: float, first: bool, track_energy: bool) -> State:
    """
    State after one step of length h, in numbers.

    The compiled kernel is made of the same three pieces: `near_a_stop`, `contact`, `advance`.
    """
    held = np.zeros(robot.nv)
    rubs, stops = has_contact(robot, drive.friction)
    if integrator.order and (rubs or (stops and near_a_stop(robot, state.q, state.qd, h))):
        found = contact(robot, dynamics, drive, state.q, state.qd, h)
        held = found.force
        state = state._replace(q=found.q, qd=found.qd, dissipated=state.dissipated + found.lost)
    return advance(robot, dynamics, drive, held, integrator, state, h, first, track_energy)


def is_sane(state: State) -> Scalar:
    """Whether a state is finite and within reason; false for anything that is not a number."""
    total: Scalar = 0.0
    for value in (*state.q.tolist(), *state.qd.tolist()):
        total = total + abs(value)
    return total < ABSURD
