"""The equations of motion of an arm as a page of text, as LaTeX, or as a Python file."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import sympy
from sympy.printing.numpy import NumPyPrinter

from torque_lab.physics.lagrange import EquationsOfMotion, euler_lagrange
from torque_lab.physics.model import PRISMATIC, Robot
from torque_lab.physics.notation import SUBSCRIPTS, Notation, columns, matrix_lines, wrap
from torque_lab.physics.symbols import symbolic
from torque_lab.physics.textbook import by_inertia, by_wave

HALF = sympy.Rational(1, 2)
GROUPS = ('m', 'lLrcd', 'IJ', 'ksb', 'f')


@dataclass(frozen=True, eq=False)
class Arranged:
    """The parts of the equations in textbook form."""

    equations: EquationsOfMotion
    T: sympy.Expr
    V: sympy.Expr
    M: list[list[sympy.Expr]]
    c: list[sympy.Expr]
    g: list[sympy.Expr]
    f: list[sympy.Expr]
    tau: list[sympy.Expr]


def arranged(equations: EquationsOfMotion) -> Arranged:
    """Put every part of the equations into textbook form."""
    kinetic = by_inertia(equations.kinetic_energy, equations.symbols.velocities, HALF)
    return Arranged(equations, kinetic, by_wave(equations.potential_energy),
                    [[by_inertia(entry) for entry in row]
                     for row in equations.mass_matrix.tolist()],
                    [by_wave(entry) for entry in equations.velocity_terms],
                    [by_wave(entry) for entry in equations.gravity],
                    list(equations.friction), list(equations.effort))


def has_odd_angles(robot: Robot) -> bool:
    """Whether joints stand at angles that are neither simple nor worth a symbol."""
    return any(entry.has(sympy.Float) for body in symbolic(robot).robot.bodies
               for entry in (*body.rotation.flat, *body.axis))


def law(parts: Arranged, latex: bool = False) -> str:
    """Write the matrix form, without the terms that this robot does not have."""
    terms = [('M(q) q̈', r'M(q)\,\ddot{q}', True), ('c(q, q̇)', r'c(q, \dot{q})', any(parts.c)),
             ('g(q)', 'g(q)', any(parts.g)), ('f(q̇)', r'f(\dot{q})', any(parts.f))]
    left = ' + '.join(written if latex else plain for plain, written, there in terms if there)
    return f'{left} = {chr(92) + "tau" if latex else "τ"}'


# Text


def text(robot: Robot, coordinate: str, width: int) -> str:
    """Return the page for the terminal."""
    parts = arranged(euler_lagrange(robot, coordinate))
    sections = [_title(parts, width), _coordinates(parts, robot), _energies(parts, width),
                _motion(parts, width), _symbols(parts)]
    return '\n\n'.join('\n'.join(lines) for lines in sections)


def _title(parts: Arranged, width: int) -> list[str]:
    name, formula = parts.equations.name, law(parts).replace('q', _letter(parts))
    gap = max(width - len(name) - columns(formula), 2)
    return [name + ' ' * gap + formula, '─' * (len(name) + gap + columns(formula))]


def _letter(parts: Arranged) -> str:
    first = parts.equations.symbols.positions[0]
    return Notation(parts.equations.symbols).name(first).rstrip('₀₁₂₃₄₅₆₇₈₉')


def _coordinates(parts: Arranged, robot: Robot) -> list[str]:
    plain = Notation(parts.equations.symbols)
    lines = ['Coordinates']
    for body in sorted(robot.bodies, key=lambda body: body.v.start):
        what, unit = ('extension', 'm') if body.kind == PRISMATIC else ('angle', 'rad')
        symbol = plain.name(parts.equations.symbols.positions[body.v.start])
        lines.append(f'  {symbol}  {what} of {body.joint} [{unit}]')
    return lines


def _energies(parts: Arranged, width: int) -> list[str]:
    by_mass, plain = _notations(parts)
    return ['Energies',
            *_equation('T', by_mass(parts.T), width), *_equation('V', plain(parts.V), width)]


def _motion(parts: Arranged, width: int) -> list[str]:
    by_mass, plain = _notations(parts)
    lines = ['Equations of motion', *_matrix('M', parts.M, by_mass, width)]
    for name, vector in (('c', parts.c), ('g', parts.g), ('f', parts.f), ('τ', parts.tau)):
        drawn = name != 'τ' or any(not entry.is_Symbol for entry in vector)
        if any(vector) and drawn:
            lines += ['', *_vector(name, vector, plain, width)]
    return lines


def _notations(parts: Arranged) -> tuple[Callable[[sympy.Expr], str], Callable[[sympy.Expr], str]]:
    symbols = parts.equations.symbols
    return Notation(symbols, by_inertia=True).write, Notation(symbols).write


def _matrix(name: str, rows: Sequence[Sequence[sympy.Expr]],
            write: Callable[[sympy.Expr], str], width: int) -> list[str]:
    """Draw a symmetric matrix, or list its upper half if it is too wide."""
    if len(rows) == 1:
        return _equation(name, write(rows[0][0]), width)
    lines = matrix_lines([[write(entry) for entry in row] for row in rows])
    if columns(lines[0]) + 6 <= width:
        return _named(name, lines)
    listed = []
    for i, row in enumerate(rows):
        for j in range(i, len(row)):
            mirrored = '' if i == j else f' = {name}{_index(j, i)}'
            listed += _equation(f'{name}{_index(i, j)}{mirrored}', write(row[j]), width)
    return listed


def _vector(name: str, entries: Sequence[sympy.Expr], write: Callable[[sympy.Expr], str],
            width: int) -> list[str]:
    """Draw a column, or list its entries if they are too wide or there is but one."""
    if len(entries) == 1:
        return _equation(name, write(entries[0]), width)
    lines = matrix_lines([[write(entry)] for entry in entries])
    if columns(lines[0]) + 6 <= width:
        return _named(name, lines)
    return [line for i, entry in enumerate(entries)
            for line in _equation(f'{name}{_index(i)}', write(entry), width)]


def _named(name: str, lines: Sequence[str]) -> list[str]:
    middle = (len(lines) - 1) // 2
    return [(f'  {name} = ' if i == middle else ' ' * 6) + line for i, line in enumerate(lines)]


def _index(*places: int) -> str:
    return ''.join(str(place + 1) for place in places).translate(SUBSCRIPTS)


def _equation(name: str, written: str, width: int) -> list[str]:
    return wrap(f'  {name} = {written}', width, 6)


def _symbols(parts: Arranged) -> list[str]:
    plain = Notation(parts.equations.symbols)
    rows = [(plain.name(symbol), f'{parts.equations.values[symbol]:.6g}',
             parts.equations.symbols.meanings[symbol]) for symbol in _sorted_symbols(parts)]
    widths = [max(columns(row[i]) for row in rows) for i in range(2)]
    return ['Symbols, and their values in this model',
            *(f'  {name:<{widths[0]}} = {value:<{widths[1]}}  {meaning}'
              for name, value, meaning in rows)]


def _sorted_symbols(parts: Arranged) -> list[sympy.Symbol]:
    """Masses, lengths, inertias, what brakes and drives the joints, and gravity last."""
    def order(symbol: sympy.Symbol) -> tuple[bool, int, str]:
        known = [i for i, group in enumerate(GROUPS) if symbol.name[0] in group]
        motor = symbol.name[:2] in ('kt', 'kv', 'kr', 'Ra')
        return symbol.name == 'g', len(GROUPS) if motor or not known else known[0], symbol.name
    return sorted(parts.equations.used_symbols(), key=order)


# LaTeX


def latex(robot: Robot, coordinate: str) -> str:
    """Return LaTeX that needs amsmath."""
    parts = arranged(euler_lagrange(robot, coordinate))
    symbols = parts.equations.symbols
    by_mass = Notation(symbols, latex=True, by_inertia=True).write
    plain = Notation(symbols, latex=True).write
    letter = Notation(symbols, latex=True).name(symbols.positions[0]).split('_')[0]
    rows = [('T', by_mass(parts.T)), ('V', plain(parts.V)),
            ('M', _bmatrix([[by_mass(entry) for entry in row] for row in parts.M]))]
    for name, vector in (('c', parts.c), ('g', parts.g), ('f', parts.f), (r'\tau', parts.tau)):
        if any(vector):
            rows.append((name, _bmatrix([[plain(entry)] for entry in vector])))
    values = [(Notation(symbols, latex=True).name(symbol),
               f'{parts.equations.values[symbol]:.6g}', symbols.meanings[symbol])
              for symbol in _sorted_symbols(parts)]
    formula = law(parts, latex=True).replace('q', letter)
    lines = [f'% {robot.name}, by Euler-Lagrange', r'\begin{equation*}', f'  {formula}',
             r'\end{equation*}', r'\begin{align*}',
             ' \\\\\n'.join(f'  {name} &= {value}' for name, value in rows), r'\end{align*}',
             r'\begin{tabular}{lll}',
             *(f'  ${name}$ & {value} & {_latex_text(meaning)} \\\\'
               for name, value, meaning in values), r'\end{tabular}']
    return '\n'.join(lines)


def _bmatrix(rows: Iterable[Iterable[str]]) -> str:
    inside = ' \\\\ '.join(' & '.join(row) for row in rows)
    return rf'\begin{{bmatrix}} {inside} \end{{bmatrix}}'


def _latex_text(meaning: str) -> str:
    """Escape the names and units of a meaning."""
    for plain, escaped in (('_', r'\_'), ('²', r'$^2$'), ('Ω', r'$\Omega$')):
        meaning = meaning.replace(plain, escaped)
    return meaning


# Python

PYTHON_HEAD = '''\
"""
Equations of motion of {name}: {law}.

By Euler-Lagrange. Positions q, velocities qd and commands in the order
{joints}; angles in rad, SI units.
"""

import numpy as np
from numpy import {functions}

{constants}
'''

PYTHON_TAIL = '''

def forward_dynamics(q, qd, command):
    """Accelerations, in rad/s² or m/s²."""
    force = drive_effort(command, qd) - friction(qd) - velocity_terms(q, qd) - gravity_torque(q)
    return np.linalg.solve(mass_matrix(q), force)


def inverse_dynamics(q, qd, qdd):
    """Efforts for a motion, friction left out, in N m or N."""
    return mass_matrix(q) @ qdd + velocity_terms(q, qd) + gravity_torque(q)
'''


def python(robot: Robot, coordinate: str) -> str:
    """Return a Python file that needs nothing but numpy."""
    parts = arranged(euler_lagrange(robot, coordinate))
    symbols = parts.equations.symbols
    names = [body.joint for body in sorted(robot.bodies, key=lambda body: body.v.start)]
    constants = [f'{symbol.name} = {parts.equations.values[symbol]!r}  '
                 f'# {symbols.meanings[symbol]}' for symbol in _sorted_symbols(parts)]
    functions = [
        _function('mass_matrix', 'M(q)', parts, parts.M, 'q'),
        _function('velocity_terms', 'Coriolis and centrifugal forces c(q, qd), in N m or N',
                  parts, parts.c, 'q', 'qd'),
        _function('gravity_torque', 'Gradient g(q) of the potential energy, in N m or N',
                  parts, parts.g, 'q'),
        _function('friction', 'Friction f(qd), in N m or N', parts, parts.f, 'qd'),
        _function('drive_effort', _command(robot), parts, parts.tau, 'command', 'qd'),
        _function('kinetic_energy', 'T in J', parts, parts.T, 'q', 'qd'),
        _function('potential_energy', 'V in J', parts, parts.V, 'q')]
    body = ''.join(functions)
    used = [name for name in ('cos', 'sign', 'sin', 'sqrt') if f'{name}(' in body] or ['array']
    head = PYTHON_HEAD.format(name=robot.name, law=law(parts), functions=', '.join(used),
                              joints=', '.join(names), constants='\n'.join(constants))
    return head + body + PYTHON_TAIL


def _command(robot: Robot) -> str:
    volts = any(motor is not None for motor in robot.motors)
    return 'Efforts of the drives for commands in ' + ('V, N m or N' if volts else 'N m or N')


def _function(name: str, summary: str, parts: Arranged, value: object, *arguments: str) -> str:
    """Write one function; of its arguments it unpacks those symbols that it needs."""
    symbols = parts.equations.symbols
    known = {'q': symbols.positions, 'qd': symbols.velocities, 'command': symbols.inputs}
    flat = sympy.flatten([value])
    needed = set().union(*(entry.free_symbols for entry in flat))
    lines = [f'def {name}({", ".join(arguments)}):', f'    """{summary}."""']
    for argument in arguments:
        if needed & set(known[argument]):
            taken = [symbol.name if symbol in needed else '_' for symbol in known[argument]]
            lines.append(f'    {", ".join(taken)}{"," if len(taken) == 1 else ""} = {argument}')
    lines += _returned(value)
    return '\n\n' + '\n'.join(lines) + '\n'


def _returned(value: object) -> list[str]:
    """Write the return statement: a number, a vector with an entry a line, or a matrix."""
    if not isinstance(value, list):
        return ['    return (', *_code_lines(value, 8, ''), '    )']
    lines = ['    return np.array([']
    for row in value:
        if isinstance(row, list):
            entries = [line for entry in row for line in _code_lines(entry, 9, ',')]
            entries[0] = ' ' * 8 + '[' + entries[0].lstrip()
            entries[-1] = entries[-1].removesuffix(',') + '],'
            lines += entries
        else:
            lines += _code_lines(row, 8, ',')
    return [*lines, '    ], dtype=float)']


def _code_lines(value: object, indent: int, end: str) -> list[str]:
    """Write an expression as lines of Python; it stands inside brackets, so it may be broken."""
    code = NumPyPrinter({'fully_qualified_modules': False}).doprint(value) + end
    margin = ' ' * indent
    return textwrap.wrap(code, 95, initial_indent=margin, subsequent_indent=margin + '    ',
                         break_long_words=False, break_on_hyphens=False)
