"""
Equations on one line, as they are written by hand: in Unicode for the terminal, or in LaTeX.

SymPy sorts factors by the alphabet; a reader wants number, mass, gravity, length, wave, velocity:
``m₂ g l₂ sin(q₁ + q₂)``, ``−m₂ l₁ l₂ sin q₂ (2 q̇₁ q̇₂ + q̇₂²)``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import sympy

from .symbols import SymbolicRobot
from .textbook import is_inertia

GREEK = {'alpha': 'α', 'beta': 'β', 'gamma': 'γ', 'theta': 'θ', 'phi': 'φ', 'psi': 'ψ',
         'tau': 'τ', 'omega': 'ω', 'pi': 'π'}
SUBSCRIPTS = str.maketrans('0123456789', '₀₁₂₃₄₅₆₇₈₉')
SUPERSCRIPTS = str.maketrans('0123456789-', '⁰¹²³⁴⁵⁶⁷⁸⁹⁻')
FRACTIONS = {(1, 2): '½', (1, 3): '⅓', (2, 3): '⅔', (1, 4): '¼', (3, 4): '¾', (1, 8): '⅛',
             (3, 8): '⅜', (1, 6): '⅙'}
DOTS = ('', '\u0307', '\u0308')
LATEX_DOTS = ('', r'\dot', r'\ddot')
NAME = re.compile(r'([A-Za-z]+)(?:(\d+)([a-z]?))?')


@dataclass(frozen=True, eq=False)
class Notation:
    """How to write the symbols of one robot."""

    symbols: SymbolicRobot
    latex: bool = False
    by_inertia: bool = False
    """Sort the terms of a sum by mass and inertia first, not by sines and cosines."""

    def write(self, expression: sympy.Expr) -> str:
        """One line of Unicode or LaTeX."""
        return self._sum(sympy.sympify(expression))

    def name(self, symbol: sympy.Symbol) -> str:
        """Write a symbol: number as subscript, Greek letters as such, dots over velocities."""
        for dots, motion in enumerate((self.symbols.positions, self.symbols.velocities,
                                       self.symbols.accelerations)):
            if symbol in motion:
                letter = self.symbols.positions[motion.index(symbol)].name
                return self._name(letter, dots)
        return self._name(symbol.name, 0)

    def _name(self, name: str, dots: int) -> str:
        match = NAME.fullmatch(name)
        letters, number, suffix = match.groups('') if match else (name, '', '')
        if not self.latex:
            head = GREEK.get(letters, letters)
            return head[0] + DOTS[dots] + head[1:] + number.translate(SUBSCRIPTS) + suffix
        head = '\\' + letters if letters in GREEK else letters[0]
        below = number if letters in GREEK else ','.join(filter(None, (letters[1:], number)))
        below += suffix
        head = f'{LATEX_DOTS[dots]}{{{head}}}' if dots else head
        return f'{head}_{{{below}}}' if below else head

    def _sum(self, expression: sympy.Expr) -> str:
        text = ''
        for term in sorted(sympy.Add.make_args(expression), key=self._term_order):
            negative = term.could_extract_minus_sign()
            sign = ('-' if self.latex else '−') if negative else '+'
            written = self._product(-term if negative else term)
            if text:
                text += f' {sign} {written}'
            else:
                text = (sign if negative else '') + written
        return text

    def _product(self, term: sympy.Expr) -> str:
        number, rest = term.as_coeff_Mul()
        above, below = [], []
        for factor in sympy.Mul.make_args(rest):
            base, exponent = factor.as_base_exp()
            if exponent.is_Number and exponent < 0:
                below.append(base**-exponent)
            elif factor != 1:
                above.append(factor)
        written = [self._factor(factor) for factor in sorted(above, key=self._factor_order)]
        if number != 1 or not written:
            written.insert(0, self._number(number))
        if not below:
            return ' '.join(written)
        divisor = ' '.join(map(self._factor, below))
        if self.latex:
            return rf'\frac{{{" ".join(written)}}}{{{divisor}}}'
        return f'{" ".join(written)}/{f"({divisor})" if below[1:] else divisor}'

    def _number(self, number: sympy.Expr) -> str:
        if number.is_Rational and number.q != 1:
            if self.latex:
                return rf'\tfrac{{{number.p}}}{{{number.q}}}'
            return FRACTIONS.get((number.p, number.q), f'({number.p}/{number.q})')
        return f'{float(number):.6g}' if number.is_Float else str(number)

    def _factor(self, factor: sympy.Expr) -> str:
        if factor.is_Symbol:
            return self.name(factor)
        if isinstance(factor, (sympy.sin, sympy.cos, sympy.sign)):
            return self._wave(factor, '')
        if factor.is_Pow and factor.exp == sympy.Rational(1, 2):
            inside = self._sum(factor.base)
            return rf'\sqrt{{{inside}}}' if self.latex else f'√{inside}'
        if factor.is_Pow and factor.exp.is_Integer:
            power = (f'^{{{factor.exp}}}' if self.latex
                     else str(factor.exp).translate(SUPERSCRIPTS))
            if isinstance(factor.base, (sympy.sin, sympy.cos)):
                return self._wave(factor.base, power)
            return self._factor(factor.base) + power
        if factor.is_Number:
            return self._number(factor)
        return self._in_brackets(self._sum(factor))

    def _in_brackets(self, text: str) -> str:
        return rf'\left({text}\right)' if self.latex else f'({text})'

    def _wave(self, wave: sympy.Expr, power: str) -> str:
        name = type(wave).__name__
        if self.latex:
            name = r'\operatorname{sign}' if name == 'sign' else f'\\{name}'
        angle = wave.args[0]
        if angle.is_Symbol:
            return f'{name}{power} {self._sum(angle)}'
        return f'{name}{power}{self._in_brackets(self._sum(angle))}'

    def _factor_order(self, factor: sympy.Expr) -> tuple:
        """Masses, g, lengths, positions, waves, velocities, accelerations; sums last in each."""
        letters = factor.free_symbols
        rank = max((self._rank(letter) for letter in letters), default=0)
        if factor.has(sympy.sin, sympy.cos) and not factor.is_Add:
            return 6, *_wave_order(factor)
        if factor.is_Add and any(map(is_inertia, letters)):
            rank = 1
        return rank, factor.is_Add, str(factor)

    def _rank(self, letter: sympy.Symbol) -> int:
        symbols = self.symbols
        for rank, group in ((9, symbols.accelerations), (8, symbols.velocities),
                            (7, symbols.inputs), (5, symbols.positions)):
            if letter in group:
                return rank
        return 1 if is_inertia(letter) else 2 if letter.name in ('g', 'kt') else 3

    def _term_order(self, term: sympy.Expr) -> tuple:
        """By waves, those with fewer angles first; then by inertia, J and I before m."""
        factors = sympy.Mul.make_args(term)
        inputs = term.free_symbols & set(self.symbols.inputs)
        inertias = [('JIm'.index(factor.name[0]), factor.name) for factor in factors
                    if is_inertia(factor)]
        waves = sorted((_wave_order(factor) for factor in factors
                        if factor.has(sympy.sin, sympy.cos) and not factor.is_Add), reverse=True)
        order = (inertias, waves) if self.by_inertia else (waves, inertias)
        return not inputs, *order, str(term).lstrip('-')


def _wave_order(factor: sympy.Expr) -> tuple:
    """Fewer angles first, sines before cosines."""
    wave = factor.as_base_exp()[0]
    angle = wave.args[0]
    return len(angle.free_symbols), isinstance(wave, sympy.cos), str(angle)


def columns(text: str) -> int:
    """Width of a text in the terminal: dots over letters take no room."""
    return len(text) - sum(text.count(dot) for dot in DOTS[1:])


def wrap(text: str, width: int, indent: int, depth: int = 0) -> list[str]:
    """Break a long line before its signs, inside as few brackets as will do; indent the rest."""
    if columns(text) <= width or depth > text.count('('):
        return [text]
    lines: list[str] = []
    for part in _split_before_signs(text, depth):
        if lines and columns(lines[-1]) + 1 + columns(part) <= width:
            lines[-1] += f' {part}'
        else:
            lines += wrap(' ' * indent * bool(lines) + part, width, indent, depth + 1)
    return lines


def _split_before_signs(text: str, depth: int) -> list[str]:
    """Parts of a line between its plus and minus signs, inside at most so many brackets."""
    parts, inside = [''], 0
    for piece in re.split(r'( [+−] |[()])', text):
        inside += {'(': 1, ')': -1}.get(piece, 0)
        if piece in (' + ', ' − ') and inside <= depth:
            parts.append(piece.lstrip())
        else:
            parts[-1] += piece
    return parts


def matrix_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Draw a matrix of texts between tall brackets."""
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    lines = ['   '.join(text + ' ' * (width - columns(text))
                        for text, width in zip(row, widths, strict=True)) for row in rows]
    if len(lines) == 1:
        return [f'[ {lines[0]} ]']
    left, right = ('⎡', *'⎢' * (len(lines) - 2), '⎣'), ('⎤', *'⎥' * (len(lines) - 2), '⎦')
    return [f'{a} {line} {b}' for a, line, b in zip(left, lines, right, strict=True)]
