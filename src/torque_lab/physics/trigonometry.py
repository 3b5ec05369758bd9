"""
Trigonometric sums in one normal form, so that equal expressions look equal.

The equations of motion are polynomials in sines and cosines of the joint angles.  Every such
polynomial is, in exactly one way, a sum of ``A cos(n·q)`` and ``B sin(n·q)`` with whole numbers n
(its Fourier sum); products become sums of angles, and the ``cos(q₁ + q₂)`` of the textbook appears
by itself, without a search for simplifications.
"""

from __future__ import annotations

from functools import reduce

import sympy

Sum = dict[sympy.Expr, tuple[sympy.Expr, sympy.Expr]]
"""By angle: the factors of its cosine and of its sine.  The angle 0 holds the rest."""

ROUNDING = 1e-13
"""Decimal factors below this are what rounding has left of a zero."""


def normal_form(expression: sympy.Expr) -> sympy.Expr:
    """Return an expression as the sum of sines and cosines of sums of angles, factors expanded."""
    return sympy.Add(*(factor * wave for wave, factor in waves(expression).items()))


def waves(expression: sympy.Expr) -> dict[sympy.Expr, sympy.Expr]:
    """Factors, expanded, of every sine and cosine in the normal form; of 1 for the rest."""
    found: dict[sympy.Expr, sympy.Expr] = {}
    for angle, factors in fourier_sum(sympy.sympify(expression)).items():
        for wave, factor in zip((sympy.cos(angle), sympy.sin(angle)), factors, strict=True):
            factor = _without_rounding(sympy.expand(factor))
            if factor != 0 and wave != 0:
                found[wave] = factor
    return found


def _without_rounding(factor: sympy.Expr) -> sympy.Expr:
    """Leave out terms that are nothing but the rounding of decimal numbers, if there are any."""
    if not factor.has(sympy.Float):
        return factor
    return sympy.Add(*(term for term in sympy.Add.make_args(factor)
                       if abs(term.as_coeff_Mul()[0]) > ROUNDING))


def fourier_sum(expression: sympy.Expr) -> Sum:
    """Fourier sum of an expression; what is not a trigonometric polynomial is a factor."""
    if isinstance(expression, (sympy.sin, sympy.cos)):
        angle = expression.args[0]
        pair = (1, 0) if isinstance(expression, sympy.cos) else (0, 1)
        return _term(angle, *map(sympy.Integer, pair))
    if expression.has(sympy.sin, sympy.cos):
        if expression.is_Add:
            return reduce(_add, map(fourier_sum, expression.args))
        if expression.is_Mul:
            return reduce(_multiply, map(fourier_sum, expression.args))
        if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
            return reduce(_multiply, [fourier_sum(expression.base)] * int(expression.exp))
    return {sympy.S.Zero: (expression, sympy.S.Zero)}


def _term(angle: sympy.Expr, cosine: sympy.Expr, sine: sympy.Expr) -> Sum:
    """``A cos(angle) + B sin(angle)``, with one sign of the angle for both."""
    angle = sympy.expand(angle)
    if angle.could_extract_minus_sign():
        angle, sine = -angle, -sine
    return {angle: (cosine, sine if angle != 0 else sympy.S.Zero)}


def _add(one: Sum, other: Sum) -> Sum:
    total = dict(one)
    for angle, (cosine, sine) in other.items():
        before = total.get(angle, (sympy.S.Zero, sympy.S.Zero))
        total[angle] = before[0] + cosine, before[1] + sine
    return total


def _multiply(one: Sum, other: Sum) -> Sum:
    """
    Product of two sums, wave by wave.

    ``(A cos a + B sin a)(C cos b + D sin b)`` is half of
    ``(AC − BD) cos(a+b) + (AD + BC) sin(a+b) + (AC + BD) cos(a−b) + (BC − AD) sin(a−b)``.
    """
    total: Sum = {}
    for a, (A, B) in one.items():
        for b, (C, D) in other.items():
            if a == 0 or b == 0:
                total = _add(total, _term(a + b, A * C - B * D, A * D + B * C))
                continue
            total = _add(total, _term(a + b, (A * C - B * D) / 2, (A * D + B * C) / 2))
            total = _add(total, _term(a - b, (A * C + B * D) / 2, (B * C - A * D) / 2))
    return total
