"""
The equations of motion as the courses derive them: Euler-Lagrange, in SymPy.

From the kinematics alone: where the centres of mass are and how the bodies are turned, as
functions of q; velocities by differentiating them; from those the energies T and V; and from the
energies, by differentiating again,

    d/dt ∂L/∂q̇ − ∂L/∂q = τ − f(q̇),   L = T − V,

in the form ``M(q) q̈ + C(q, q̇) q̇ + g(q) + f(q̇) = τ``.  No recursion is used, so that agreement
with RNEA means something.  Lynch & Park 2017, section 8.1; Murray, Li & Sastry 1994, section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller

import numpy as np
import sympy

from .kinematics import world_placements
from .model import Array, Robot
from .symbols import SymbolicRobot, symbolic
from .trigonometry import normal_form

Symbols = Sequence[sympy.Symbol]


@dataclass(frozen=True, eq=False)
class EquationsOfMotion:
    """``M(q) q̈ + C(q, q̇) q̇ + g(q) + f(q̇) = τ`` in symbols, and the energies behind it."""

    name: str
    """Of the robot."""
    symbols: SymbolicRobot
    """The symbols, their numbers and their meanings."""
    kinetic_energy: sympy.Expr
    """T(q, q̇) in J."""
    potential_energy: sympy.Expr
    """V(q) in J, springs included; without its constant part."""
    mass_matrix: sympy.ImmutableMatrix
    """M(q) (nv, nv): the Hessian of T in q̇."""
    coriolis_matrix: sympy.ImmutableMatrix
    """C(q, q̇) (nv, nv), from Christoffel symbols."""
    velocity_terms: sympy.ImmutableMatrix
    """c = C q̇ (nv, 1), Coriolis and centrifugal forces."""
    gravity: sympy.ImmutableMatrix
    """g(q) (nv, 1), the gradient of V; springs included."""
    friction: sympy.ImmutableMatrix
    """f(q̇) (nv, 1)."""
    effort: sympy.ImmutableMatrix
    """τ (nv, 1): symbols, or what a motor makes of its voltage."""

    @property
    def lagrangian(self) -> sympy.Expr:
        """``L = T − V`` in J."""
        return self.kinetic_energy - self.potential_energy

    @property
    def values(self) -> Mapping[sympy.Symbol, float]:
        """The number behind each symbol."""
        return self.symbols.values

    def used_symbols(self) -> list[sympy.Symbol]:
        """Those symbols for the model's numbers that stand in the equations."""
        parts = (self.mass_matrix, self.gravity, self.friction, self.effort)
        used = set().union(*(part.free_symbols for part in parts))
        return [symbol for symbol in self.values if symbol in used]


def euler_lagrange(robot: Robot, coordinate: str = 'q') -> EquationsOfMotion:
    """
    Derive the equations of motion of a robot without floating joints.

    Quick for up to three joints, and for planar arms of up to about six; the equations of an arm
    in space grow by an order of magnitude with each joint.
    """
    symbols = symbolic(robot, coordinate)
    model, q, qd = symbols.robot, symbols.positions, symbols.velocities
    T = kinetic_energy(model, q, qd)
    V = potential_energy(model, q)
    M = sympy.Matrix(len(qd), len(qd), lambda i, j: sympy.diff(T, qd[i], qd[j]))
    C = christoffel(M, q, qd)
    velocity_terms = (C * sympy.Matrix(qd)).applyfunc(normal_form)
    gravity = sympy.Matrix([sympy.diff(V, position) for position in q])
    parts = (M.applyfunc(normal_form), C.applyfunc(normal_form), velocity_terms, gravity,
             friction(model, qd), effort(symbols))
    return EquationsOfMotion(robot.name, symbols, T, V, *map(sympy.ImmutableMatrix, parts))


def kinetic_energy(robot: Robot, q: Symbols, qd: Symbols) -> sympy.Expr:
    """``T = Σ ½ m ṙ·ṙ + ½ ωᵀ I ω``, with ``ṙ = Σ ∂r/∂q_j q̇_j`` and ``[ω]× = Rᵀ Ṙ``."""
    twice = sympy.S.Zero
    for body, (rotation, origin) in zip(robot.bodies, _placements(robot, q), strict=True):
        velocity = _rate(_normal(origin + rotation @ body.inertia.com), q, qd)
        omega = angular_velocity(rotation, q, qd)
        twice += normal_form(body.inertia.mass * (velocity @ velocity))
        twice += normal_form(omega @ body.inertia.about_com @ omega)
    return sympy.expand(twice / 2)


def potential_energy(robot: Robot, q: Symbols) -> sympy.Expr:
    """``V = −Σ m g·r + ½ Σ k (q − q_rest)²``, without its constant part."""
    V = sympy.S.Zero
    for body, (rotation, origin) in zip(robot.bodies, _placements(robot, q), strict=True):
        V -= body.inertia.mass * (robot.gravity @ (origin + rotation @ body.inertia.com))
    V = sympy.expand(normal_form(V))
    V -= V.as_independent(*q, as_Add=True)[0]
    stretch = np.array(q) - robot.spring_rest
    return V + sympy.Add(*(robot.stiffness * stretch**2)) / 2


def angular_velocity(rotation: Array, q: Symbols, qd: Symbols) -> Array:
    """Angular velocity (3,) in body axes: ``ω = Σ ω_j q̇_j``, read off ``[ω_j]× = Rᵀ ∂R/∂q_j``."""
    omega = np.array([sympy.S.Zero] * 3)
    for position, speed in zip(q, qd, strict=True):
        turned = _each(methodcaller('diff', position), rotation)
        omega += _normal(np.array([rotation[:, 2] @ turned[:, 1], rotation[:, 0] @ turned[:, 2],
                                   rotation[:, 1] @ turned[:, 0]])) * speed
    return omega


def christoffel(M: sympy.Matrix, q: Symbols, qd: Symbols) -> sympy.Matrix:
    """``C_kj = Σ_i ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k) q̇_i``."""
    def entry(k: int, j: int) -> sympy.Expr:
        return sympy.Add(*((M[k, j].diff(q[i]) + M[k, i].diff(q[j]) - M[i, j].diff(q[k]))
                           * qd[i] / 2 for i in range(len(q))))
    return sympy.Matrix(len(q), len(q), entry)


def friction(robot: Robot, qd: Symbols) -> sympy.Matrix:
    """``f = b q̇ + f_c sign(q̇)`` (nv, 1)."""
    return sympy.Matrix([b * speed + coulomb * sympy.sign(speed) for b, coulomb, speed in
                         zip(robot.damping, robot.friction, qd, strict=True)])


def effort(symbols: SymbolicRobot) -> sympy.Matrix:
    """τ (nv, 1): the input itself, or the torque that a motor gives at a voltage and a speed."""
    drives = zip(symbols.robot.motors, symbols.inputs, symbols.velocities, strict=True)
    return sympy.Matrix([given if motor is None else motor.torque(given, speed)
                         for motor, given, speed in drives])


def _placements(robot: Robot, q: Symbols) -> list[tuple[Array, Array]]:
    """Rotation and origin of every body in the world, angles added up."""
    return [(_normal(rotation), _normal(origin))
            for rotation, origin in world_placements(robot, np.array(q))]


def _rate(array: Array, q: Symbols, qd: Symbols) -> Array:
    """``Σ ∂x/∂q_j q̇_j`` of every entry."""
    def rate(entry: sympy.Expr) -> sympy.Expr:
        return sympy.Add(*(entry.diff(position) * speed
                           for position, speed in zip(q, qd, strict=True)))
    return _each(rate, array)


def _normal(array: Array) -> Array:
    return _each(normal_form, array)


def _each(function: Callable[[sympy.Expr], sympy.Expr], array: Array) -> Array:
    return np.array([function(sympy.sympify(entry)) for entry in array.flat],
                    dtype=object).reshape(array.shape)
