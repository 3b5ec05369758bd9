"""The mass matrix by the composite-rigid-body algorithm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arguments import vector
from .joints import ancestors, motion_subspace, placements
from .model import WORLD, Array, Inertia, Robot, Scalar
from .spatial import identity, rotate_symmetric, settled, skew, zeros


class Composite(NamedTuple):
    """Inertia of bodies moving as one, about the origin of a frame, in its axes."""

    mass: Scalar
    """In kg."""
    moment: Array
    """First moment, mass times centre of mass (3,), in kg m."""
    inertia: Array
    """Rotational inertia about the origin (3, 3), in kg m^2."""

    def __add__(self, other: Composite) -> Composite:  # type: ignore[override]
        """Inertia of both together, given in the same frame."""
        return Composite(*(mine + its for mine, its in zip(self, other, strict=True)))

    def seen_from(self, R: Array, p: Array) -> Composite:
        """The same bodies, in the axes of a frame in which this one stands at R, p."""
        return Composite(0, zeros(3), zeros(3, 3)).carrying(self, R, p)

    def carrying(self, other: Composite, R: Array, p: Array) -> Composite:
        """
        Inertia of these bodies with others, given in a frame at rotation R, translation p in this.

        With the others' mass m, their first moment h in these axes and ``p·x 1 − p xᵀ`` for what
        a shift by p adds (parallel axes): ``R I Rᵀ + (2 p·h 1 − p hᵀ − h pᵀ) + m (p·p 1 − p pᵀ)``.
        What does not depend on the joint is added first, so that it folds in a trace.
        """
        moment = R @ other.moment
        outer = np.outer(p, moment)
        fixed = self.inertia + other.mass * ((p @ p) * identity() - np.outer(p, p))
        return Composite(self.mass + other.mass, self.moment + other.mass * p + moment,
                         fixed + (rotate_symmetric(R, other.inertia)
                                  + (2 * (p @ moment) * identity() - (outer + outer.T))))

    def force(self, linear: Array, angular: Array) -> tuple[Array, Array]:
        """Forces and torques (3, k) for k accelerations from rest, linear and angular (3, k)."""
        across = skew(self.moment)
        return self.mass * linear - across @ angular, self.inertia @ angular + across @ linear


def about_origin(inertia: Inertia) -> Composite:
    """Inertia of one body about the origin of its frame: ``I + m (c·c 1 − c cᵀ)``."""
    mass, c = inertia.mass, inertia.com
    shift = mass * ((c @ c) * identity() - np.outer(c, c))
    return Composite(mass, mass * c, inertia.about_com + shift)


def mass_matrix(robot: Robot, q: Array) -> Array:
    """
    Mass matrix M(q) (nv, nv), symmetric by construction.

    Composite-rigid-body algorithm: when joint i alone accelerates, all that hangs on it moves as
    one body; the force that takes, felt at each joint between i and the root, is column i of M.
    Equals ``inverse_dynamics`` with q̇ = 0, no gravity and q̈ the unit vectors.

    ``q`` (nq,): positions.  Featherstone 2008, section 6.2.
    """
    q = vector(robot, 'q', q, robot.nq)
    places = placements(robot, q)
    composites = _composites(robot, places)
    M = np.zeros((robot.nv, robot.nv), dtype=object)
    for index, body in enumerate(robot.bodies):
        force, torque = composites[index].force(*motion_subspace(body))
        for carrier in ancestors(robot, index):
            joint = robot.bodies[carrier]
            S_linear, S_angular = motion_subspace(joint)
            block = S_linear.T @ force + S_angular.T @ torque
            M[joint.v, body.v], M[body.v, joint.v] = block, block.T
            R, p = places[carrier]
            force = R @ force
            torque = R @ torque + skew(p) @ force
        _mirror(M[body.v, body.v])
    return settled(M)


def _composites(robot: Robot, places: list[tuple[Array, Array]]) -> list[Composite]:
    """Inertia of every body together with all that hangs on it, in its body frame."""
    composites = [about_origin(body.inertia) for body in robot.bodies]
    for index in reversed(range(len(robot.bodies))):
        parent = robot.bodies[index].parent
        if parent != WORLD:
            composites[parent] = composites[parent].carrying(composites[index], *places[index])
    return composites


def _mirror(block: Array) -> None:
    """Copy what stands above the diagonal below it: rounding differs between the two."""
    for i in range(len(block)):
        for j in range(i):
            block[i, j] = block[j, i]
