"""Energies of a robot, and the momentum that nothing inside it can change."""

from __future__ import annotations

from .arguments import vector
from .joints import motion_subspace, placements
from .kinematics import world_placements
from .model import FLOATING, WORLD, Array, Robot, Scalar
from .spatial import cross, zeros


def body_velocities(robot: Robot, q: Array, qd: Array) -> list[tuple[Array, Array]]:
    """
    Velocity of each body's origin (3,) in m/s and angular velocity (3,) in rad/s, in body axes.

    Outwards along the tree: ``ω = Rᵀ ω_parent + S_angular q̇``,
    ``v = Rᵀ (v_parent + ω_parent × p) + S_linear q̇``.  Lynch & Park 2017, section 8.3.
    """
    q, qd = vector(robot, 'q', q, robot.nq), vector(robot, 'qd', qd, robot.nv)
    motion = {WORLD: (zeros(3), zeros(3))}
    for index, (body, (R, p)) in enumerate(zip(robot.bodies, placements(robot, q), strict=True)):
        v_parent, w_parent = motion[body.parent]
        S_linear, S_angular = motion_subspace(body)
        motion[index] = (R.T @ (v_parent + cross(w_parent, p)) + S_linear @ qd[body.v],
                         R.T @ w_parent + S_angular @ qd[body.v])
    return [motion[index] for index in range(len(robot.bodies))]


def kinetic_energy(robot: Robot, q: Array, qd: Array) -> Scalar:
    """Kinetic energy ``T = Σ ½ m v_c·v_c + ½ ωᵀ I_c ω = ½ q̇ᵀ M q̇``, in J."""
    twice: Scalar = 0
    for body, (v, w) in zip(robot.bodies, body_velocities(robot, q, qd), strict=True):
        inertia = body.inertia
        v_com = v + cross(w, inertia.com)
        twice = twice + inertia.mass * (v_com @ v_com) + w @ (inertia.about_com @ w)
    return twice / 2


def gravitational_energy(robot: Robot, q: Array) -> Scalar:
    """Energy of height ``−Σ m g·r_c`` in J, zero with all mass at the world's origin."""
    q = vector(robot, 'q', q, robot.nq)
    energy: Scalar = 0
    for body, (R, p) in zip(robot.bodies, world_placements(robot, q), strict=True):
        energy = energy - body.inertia.mass * (robot.gravity @ (p + R @ body.inertia.com))
    return energy


def spring_energy(robot: Robot, q: Array) -> Scalar:
    """Energy of the joint springs ``Σ ½ k (q − q_rest)²``, in J."""
    q = vector(robot, 'q', q, robot.nq)
    energy: Scalar = 0
    for body in robot.bodies:
        if body.kind != FLOATING:
            stretch = q[body.q.start] - robot.spring_rest[body.v.start]
            energy = energy + robot.stiffness[body.v.start] * stretch * stretch / 2
    return energy


def potential_energy(robot: Robot, q: Array) -> Scalar:
    """Potential energy ``V = −Σ m g·r_c + Σ ½ k (q − q_rest)²``, in J."""
    return gravitational_energy(robot, q) + spring_energy(robot, q)


def hamiltonian(robot: Robot, q: Array, qd: Array) -> Scalar:
    """Total energy ``H = T + V`` in J: constant when nothing drives or brakes the robot."""
    return kinetic_energy(robot, q, qd) + potential_energy(robot, q)


def lagrangian(robot: Robot, q: Array, qd: Array) -> Scalar:
    """Lagrangian ``L = T − V``, in J."""
    return kinetic_energy(robot, q, qd) - potential_energy(robot, q)


def momentum(robot: Robot, q: Array, qd: Array) -> tuple[Array, Array]:
    """Momentum (3,) in kg m/s and angular momentum (3,) about the world's origin, world axes."""
    linear, angular = zeros(3), zeros(3)
    velocities = body_velocities(robot, q, qd)
    for body, (R, p), (v, w) in zip(robot.bodies, world_placements(robot, q), velocities,
                                    strict=True):
        own = body.inertia.mass * (R @ (v + cross(w, body.inertia.com)))
        linear = linear + own
        angular = (angular + cross(p + R @ body.inertia.com, own)
                   + R @ (body.inertia.about_com @ w))
    return linear, angular
