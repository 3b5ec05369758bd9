"""
A robot with SymPy symbols in place of its numbers, so that the laws yield equations.

Masses become m₁, m₂, …, link lengths l₁, l₂, …, inertias I₁, I₂, …, gravity g; a centre of mass
halfway along its link is l₁/2, not a symbol of its own.  What is zero in the model stays an exact
zero, a rotation by π/2 an exact one, and a point mass has no inertia at all.  Numbers that cannot
enter the equations of motion get no symbol: where the base stands, and the inertia about axes
that a body never turns about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from .free_body import angles_of_rotation, rotation_of_angles
from .joints import ancestors
from .model import PRISMATIC, REVOLUTE, WORLD, Array, Body, Inertia, Motor, Robot

TINY = 1e-12
"""Lengths in m, angles in rad and direction cosines below this are zero."""
POINT_MASS_INERTIA = 1e-9
"""Inertia in kg m² below which a body with a declared point mass is one."""
FRACTIONS = (sympy.Integer(1), sympy.Rational(1, 2), sympy.Rational(1, 3), sympy.Rational(2, 3),
             sympy.Rational(1, 4), sympy.Rational(3, 4))
"""Parts of a link that a student would write as such."""


@dataclass(frozen=True, eq=False)
class SymbolicRobot:
    """A robot of symbols, and what each of them stands for."""

    robot: Robot
    """The same tree with symbols for numbers; every law of this package takes it."""
    values: Mapping[sympy.Symbol, float]
    """The number that each symbol replaces."""
    meanings: Mapping[sympy.Symbol, str]
    """What each symbol is, with its unit, such as ``mass of link1 [kg]``."""
    positions: tuple[sympy.Symbol, ...]
    """Joint positions (nq,): q₁, q₂, …"""
    velocities: tuple[sympy.Symbol, ...]
    """Joint velocities (nv,)."""
    accelerations: tuple[sympy.Symbol, ...]
    """Joint accelerations (nv,)."""
    inputs: tuple[sympy.Expr, ...]
    """What drives each joint (nv,): an effort τ, a voltage v to a motor, or 0 if it is passive."""


def symbolic(robot: Robot, coordinate: str = 'q') -> SymbolicRobot:
    """
    Put symbols in place of a robot's numbers.

    Everything about the joint that stands at place i of ``qd`` has the number i + 1: its
    coordinate, and the mass, length and inertia of the body it carries.  A robot with one joint
    needs no numbers.  Floating joints are refused: their equations are in
    `torque_lab.physics.free_body`.

    ``coordinate`` is the letter for joint positions, such as ``q`` or ``theta``.
    """
    if robot.has_floating_joint:
        raise ValueError(f'{robot.name}: a floating joint has no symbols for its coordinates; '
                         'see torque_lab.physics.free_body for the equations of a free body')
    table = _Table(robot)
    gravity = _gravity(robot, table)
    rulers = [_Ruler(robot, index, table) for index in range(len(robot.bodies))]
    bodies = tuple(_body(robot, index, rulers, table) for index in range(len(robot.bodies)))
    motion = [[table.coordinate(coordinate + dots, index) for index in range(robot.nv)]
              for dots in ('', 'd', 'dd')]
    drives = _drives(robot, table)
    inputs = tuple(_input(robot, index, table) for index in range(robot.nv))
    positions, velocities, accelerations = map(tuple, motion)
    return SymbolicRobot(robot.replace(bodies=bodies, gravity=gravity, **drives),
                         table.values, table.meanings, positions, velocities, accelerations,
                         inputs)


class _Table:
    """The symbols handed out so far."""

    def __init__(self, robot: Robot) -> None:
        self.single = robot.nv == 1
        self.values: dict[sympy.Symbol, float] = {}
        self.meanings: dict[sympy.Symbol, str] = {}

    def number(self, index: int) -> str:
        return '' if self.single else str(index + 1)

    def coordinate(self, letter: str, index: int) -> sympy.Symbol:
        return sympy.Symbol(letter + self.number(index), real=True)

    def symbol(self, name: str, value: float, meaning: str, **assumptions: bool) -> sympy.Symbol:
        """Return a new symbol; if its name is taken, a letter is put behind it."""
        taken = {symbol.name for symbol in self.values}
        letters = (name + letter for letter in ('', *'abcdefghijklmnopqrstuvwxyz'))
        free = next(candidate for candidate in letters if candidate not in taken)
        symbol = sympy.Symbol(free, **(assumptions or {'positive': True}))
        self.values[symbol] = float(value)
        self.meanings[symbol] = meaning
        return symbol

    def signed(self, name: str, value: float, meaning: str) -> sympy.Expr:
        """Return a positive symbol with the value's sign before it, and nothing for nothing."""
        if value == 0:
            return sympy.S.Zero
        symbol = self.symbol(name, abs(value), meaning)
        return symbol if value > 0 else -symbol


class _Ruler:
    """Measures vectors in one body, with a link's length wherever that serves."""

    def __init__(self, robot: Robot, index: int, table: _Table) -> None:
        self.body = robot.bodies[index]
        self.table = table
        self.number = table.number(self.body.v.start)
        self.rods: list[tuple[int, sympy.Expr, float]] = []
        letter = 'r' if _turns_about_the_vertical(robot, index) else 'l'
        link = _link_vector(robot, index)
        self.com_letter = 'L' if link is None else 'c'
        if link is not None:
            self.measure(link, letter, f'length of {self.body.name}')

    def measure(self, vector: Array, letter: str, meaning: str) -> Array:
        """Return a vector (3,) in symbols: parts of known lengths, or new ones."""
        across = [i for i in range(3) if abs(vector[i]) > TINY and not self._along_joint(i)]
        entries = []
        for i, value in enumerate(vector.tolist()):
            if abs(value) < TINY:
                entries.append(sympy.S.Zero)
                continue
            entry = self._part_of_known_length(i, value)
            if entry is None:
                name = 'd' if self._along_joint(i) else letter + ('xyz'[i] if across[1:] else '')
                number = '' if name == 'r' else self.number
                entry = self.table.signed(name + number, value, f'{meaning} [m]')
                self.rods.append((i, entry, value))
            entries.append(entry)
        return _array(entries)

    def _along_joint(self, component: int) -> bool:
        """Whether a length along this axis is an offset along a hinge, which does not swing."""
        return self.body.kind == REVOLUTE and abs(abs(self.body.axis[component]) - 1) < TINY

    def _part_of_known_length(self, component: int, value: float) -> sympy.Expr | None:
        for where, entry, length in self.rods:
            for fraction in FRACTIONS:
                if where == component and math.isclose(abs(value / length), fraction,
                                                       rel_tol=1e-9):
                    return fraction * entry * (1 if value * length > 0 else -1)
        return None


def _link_vector(robot: Robot, index: int) -> Array | None:
    """From a body's joint to the next one, or to the last frame fixed to it, if not the same."""
    joints = [body.translation for body in robot.bodies if body.parent == index]
    frames = [frame.translation for frame in robot.frames.values() if frame.body == index]
    ends = [end for end in (*joints, *reversed(frames)) if np.abs(end).max() > TINY]
    return ends[0] if ends else None


def _turns_about_the_vertical(robot: Robot, index: int) -> bool:
    """Whether a body turns about a fixed vertical axis, so that gravity does not move it."""
    body = robot.bodies[index]
    if body.parent != WORLD or body.kind != REVOLUTE or np.linalg.norm(robot.gravity) < TINY:
        return False
    return bool(np.linalg.norm(np.cross(body.rotation @ body.axis, robot.gravity)) < 1e-9)


def _gravity(robot: Robot, table: _Table) -> Array:
    """Gravity (3,): ``g`` times an exact direction."""
    size = float(np.linalg.norm(robot.gravity))
    if size < TINY:
        return _array([0, 0, 0])
    return table.symbol('g', size, 'gravity [m/s²]') * exact_direction(robot.gravity)


def _body(robot: Robot, index: int, rulers: list[_Ruler], table: _Table) -> Body:
    """Return a body in symbols; where the base stands moves nothing but the zero of V."""
    body = robot.bodies[index]
    translation = _array([0, 0, 0])
    if body.parent != WORLD:
        parent = robot.bodies[body.parent]
        translation = rulers[body.parent].measure(
            body.translation, 'l', f'from {parent.joint} to {body.joint}')
    return replace(body, rotation=exact_rotation(body.rotation, table, body),
                   translation=translation, axis=exact_direction(body.axis),
                   inertia=_inertia(robot, index, rulers[index], table))


def _inertia(robot: Robot, index: int, ruler: _Ruler, table: _Table) -> Inertia:
    """Mass, centre of mass and inertia of a body, as far as its motion can show them."""
    body, number = robot.bodies[index], ruler.number
    own = body.inertia
    mass = table.signed(f'm{number}', own.mass, f'mass of {body.name} [kg]')
    if _turns_about_the_vertical(robot, index):
        lever = np.cross(body.axis, own.com)
        about_joint = body.axis @ own.about_com @ body.axis + own.mass * (lever @ lever)
        J = table.signed(f'J{number}', about_joint,
                         f'inertia of {body.name} about {body.joint} [kg m²]')
        return Inertia(mass, _array([0, 0, 0]), J * _outer(exact_direction(body.axis)))
    com = ruler.measure(own.com, ruler.com_letter,
                        f'distance to the centre of mass of {body.name}')
    return Inertia(mass, com, _about_com(robot, index, table))


def _about_com(robot: Robot, index: int, table: _Table) -> Array:
    """Rotational inertia (3, 3): nothing, one number about the only axis, or the whole tensor."""
    body = robot.bodies[index]
    own, number = body.inertia.about_com, table.number(body.v.start)
    links = {name for name, frame in robot.frames.items() if frame.body == index}
    axes = _turning_axes(robot, index)
    point = links & robot.point_masses and np.abs(own).max() < POINT_MASS_INERTIA
    if point or not axes:
        return _array(np.zeros((3, 3), dtype=int))
    if all(np.linalg.norm(np.cross(axes[0], axis)) < 1e-9 for axis in axes):
        moment = table.signed(f'I{number}', axes[0] @ own @ axes[0],
                              f'inertia of {body.name} about its centre of mass [kg m²]')
        return moment * _outer(exact_direction(axes[0]))
    return _tensor(own, number, body.name, table)


def _turning_axes(robot: Robot, index: int) -> list[Array]:
    """Axes (3,) of the hinges that turn a body, in its own axes at zero position."""
    found, rotation = [], np.eye(3)
    for ancestor in ancestors(robot, index):
        body = robot.bodies[ancestor]
        if body.kind != PRISMATIC:
            found.append(rotation.T @ body.axis)
        rotation = body.rotation @ rotation
    return found


def _tensor(own: Array, number: str, link: str, table: _Table) -> Array:
    """Inertia tensor (3, 3) in symbols: equal moments share one, as those of a round rod do."""
    noise = 1e-12 * float(np.trace(own))
    moments: list[tuple[float, sympy.Symbol]] = []
    diagonal = own.diagonal().tolist()
    entries = np.zeros((3, 3), dtype=object)
    for i, value in enumerate(diagonal):
        shared = [symbol for known, symbol in moments if math.isclose(known, value, rel_tol=1e-9)]
        several = sum(math.isclose(other, value, rel_tol=1e-9) for other in diagonal) > 1
        name = f'I{number}' if several else f'I{"xyz"[i]}{number}'
        axis = 'centre of mass' if several else f'own {"xyz"[i]} axis'
        meaning = f'inertia of {link} about its {axis} [kg m²]'
        if not shared:
            moments.append((value, table.symbol(name, value, meaning)))
        entries[i, i] = shared[0] if shared else moments[-1][1]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(own[i, j]) > noise:
            entries[i, j] = entries[j, i] = table.signed(
                f'I{"xyz"[i]}{"xyz"[j]}{number}', own[i, j],
                f'product of inertia of {link} about its centre of mass [kg m²]')
    return _array(entries)


def _drives(robot: Robot, table: _Table) -> dict[str, Any]:
    """Dampers, friction, springs and motors in symbols, where the robot has them."""
    joints = {body.v.start: body for body in robot.bodies}
    found: dict[str, list] = {name: [] for name in
                              ('damping', 'friction', 'stiffness', 'spring_rest')}
    for index in range(robot.nv):
        joint, number = joints[index].joint, table.number(index)
        turning = joints[index].kind == REVOLUTE
        per_speed, force, per_angle, angle = (
            ('N m s/rad', 'N m', 'N m/rad', 'rad') if turning else ('N s/m', 'N', 'N/m', 'm'))
        found['damping'].append(table.signed(
            f'b{number}', robot.damping[index], f'viscous friction of {joint} [{per_speed}]'))
        found['friction'].append(table.signed(
            f'fc{number}', robot.friction[index], f'Coulomb friction of {joint} [{force}]'))
        found['stiffness'].append(table.signed(
            f'k{number}', robot.stiffness[index], f'spring of {joint} [{per_angle}]'))
        rest = robot.spring_rest[index] if robot.stiffness[index] else 0
        found['spring_rest'].append(table.signed(
            f's{number}', rest, f'rest of the spring of {joint} [{angle}]'))
    motors = tuple(_motor(robot, index, joints[index].joint, table) for index in range(robot.nv))
    return {'motors': motors, **{name: _array(entries) for name, entries in found.items()}}


def _input(robot: Robot, index: int, table: _Table) -> sympy.Expr:
    if robot.motors[index] is not None:
        return table.coordinate('v', index)
    return sympy.S.Zero if robot.effort_limit[index] == 0 else table.coordinate('tau', index)


def _motor(robot: Robot, index: int, joint: str, table: _Table) -> Motor | None:
    """Return a motor in symbols; they are numbered only if there are several motors."""
    motor = robot.motors[index]
    if motor is None:
        return None
    number = table.number(index) if sum(m is not None for m in robot.motors) > 1 else ''
    constants = {
        'torque_constant': ('kt', 'torque constant', 'N m/A'),
        'back_emf_constant': ('kv', 'back-EMF constant', 'V s/rad'),
        'gear_ratio': ('kr', 'gear ratio', '1'),
        'resistance': ('Ra', 'armature resistance', 'Ω')}
    return replace(motor, **{
        field: table.signed(name + number, getattr(motor, field), f'{what} of {joint} [{unit}]')
        for field, (name, what, unit) in constants.items()})


def exact_direction(vector: Array) -> Array:
    """
    Unit vector (3,) along a vector of floats, in exact numbers where it has simple ratios.

    (0.6, 0, 0.8) and (1, 1, 0)/√2 are found as they were meant; others stay decimal numbers.
    """
    unit = np.asarray(vector, dtype=float) / np.linalg.norm(vector)
    ratios = (unit / np.abs(unit).max()).tolist()
    fractions = [Fraction(ratio).limit_denominator(100) for ratio in ratios]
    if any(abs(fraction - ratio) > TINY
           for fraction, ratio in zip(fractions, ratios, strict=True)):
        return _array([sympy.Float(entry) if abs(entry) > TINY else 0 for entry in unit.tolist()])
    entries = [sympy.Rational(fraction.numerator, fraction.denominator) for fraction in fractions]
    length = sympy.sqrt(sum(entry**2 for entry in entries))
    return _array([entry / length for entry in entries])


def exact_rotation(rotation: Array, table: _Table, body: Body) -> Array:
    """
    Rotation matrix (3, 3) in exact numbers: roll, pitch and yaw as multiples of π/12.

    If one of them is none, it becomes a symbol: α for roll, β for pitch, γ for yaw.  If several
    are none, they stay decimal numbers: symbols would fill pages.
    """
    given = angles_of_rotation(rotation).tolist()
    angles = [_multiple_of_fifteen_degrees(angle) for angle in given]
    if angles.count(None) == 1:
        odd = angles.index(None)
        angles[odd] = table.symbol(
            ('alpha', 'beta', 'gamma')[odd] + table.number(body.v.start), given[odd],
            f'{("roll", "pitch", "yaw")[odd]} of {body.joint} [rad]', real=True)
    return rotation_of_angles(_array([sympy.Float(number) if angle is None else angle
                                      for angle, number in zip(angles, given, strict=True)]))


def _multiple_of_fifteen_degrees(angle: float) -> sympy.Expr | None:
    twelfths = round(angle * 12 / math.pi)
    exact = abs(angle - twelfths * math.pi / 12) < 1e-9
    return sympy.pi * twelfths / 12 if exact else None


def _outer(vector: Array) -> Array:
    return np.outer(vector, vector)


def _array(entries: Any) -> Array:
    """Array of SymPy numbers, of dtype object."""
    array = np.array(entries, dtype=object)
    return np.array([sympy.sympify(entry) for entry in array.flat],
                    dtype=object).reshape(array.shape)
