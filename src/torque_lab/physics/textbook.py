"""
Equations arranged as a textbook prints them: which terms to put together, and what to factor out.

Nothing here changes what an expression is worth; it starts from the normal form of
`torque_lab.physics.trigonometry` and puts brackets where a reader expects them:
``m₂ (l₁² + l₂² + 2 l₁ l₂ cos q₂)`` in a mass matrix, ``(m₁ + m₂) g l₁ sin q₁`` in a gravity
vector, ``sin² q₂`` for ``½ (1 − cos 2 q₂)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import sympy

from .trigonometry import waves

Group = dict[sympy.Expr, sympy.Expr]


def by_inertia(expression: sympy.Expr, velocities: Sequence[sympy.Symbol] = (),
               number: sympy.Expr = sympy.S.One) -> sympy.Expr:
    """
    Sum with one term for each mass and inertia, as in a mass matrix or a kinetic energy.

    ``m₁ l₁² + m₂ (l₁² + l₂² + 2 l₁ l₂ cos q₂)``.  Within a term, what multiplies the same lengths
    and waves is a factored polynomial of the velocities, and ``number`` stands before each, such
    as the ½ of a kinetic energy.
    """
    def outside(factor: sympy.Expr) -> bool:
        return not factor.is_Number and factor.as_base_exp()[0] not in velocities
    terms = []
    for inertia, rest in _grouped(short_waves(expression), is_inertia).items():
        parts = _grouped(rest / number, outside).items()
        inside = sympy.Add(*(name * sympy.factor(speeds) for name, speeds in parts))
        terms.append(number * inertia * inside)
    return sympy.Add(*terms)


def by_wave(expression: sympy.Expr) -> sympy.Expr:
    """
    Sum with one term for each sine or cosine, as in a gravity vector or a potential energy.

    ``(m₁ + m₂) g l₁ sin q₁ + m₂ g l₂ sin(q₁ + q₂)``.
    """
    groups = _grouped(short_waves(expression), _is_wave)
    return sympy.Add(*(wave * _factored(factor) for wave, factor in groups.items()))


def short_waves(expression: sympy.Expr) -> sympy.Expr:
    """
    Expanded expression with sums of waves turned back into products where that is shorter.

    ``½ (1 − cos 2a)`` becomes ``sin² a``, and ``½ (cos b + cos(2a + b))`` becomes
    ``cos a cos(a + b)``.
    """
    by_factor: dict[sympy.Expr, Group] = {}
    for wave, factor in waves(expression).items():
        for term in sympy.Add.make_args(factor):
            number, symbols = term.as_coeff_Mul()
            by_factor.setdefault(symbols, {})[wave] = number
    return sympy.Add(*(symbols * _as_product(numbers) for symbols, numbers in by_factor.items()))


def _as_product(numbers: Group) -> sympy.Expr:
    """Waves with their numbers: two of equal size as one product, otherwise the sum as it is."""
    plain = sympy.Add(*(number * wave for wave, number in numbers.items()))
    if len(numbers) == 1:
        return _without_double_angle(plain)
    if len(numbers) > 2:
        return plain
    (first, x), (second, y) = sorted(numbers.items(), key=lambda item: -len(str(item[0])))
    a, b = _angle(first), _angle(second)
    half_sum, half_difference = sympy.expand((a + b) / 2), sympy.expand((a - b) / 2)
    alike = isinstance(first, sympy.sin) == isinstance(second, sympy.sin)
    if abs(x) != abs(y) or not alike or not (_whole(half_sum) and _whole(half_difference)):
        return plain
    same_sign, sine = x == y, isinstance(first, sympy.sin)
    sin, cos = sympy.sin, sympy.cos
    if sine:
        pair = (sin(half_sum) * cos(half_difference) if same_sign
                else cos(half_sum) * sin(half_difference))
        return 2 * x * pair
    if same_sign:
        return 2 * x * cos(half_sum) * cos(half_difference)
    return -2 * x * sin(half_sum) * sin(half_difference)


def _without_double_angle(term: sympy.Expr) -> sympy.Expr:
    """``sin 2a`` as ``2 sin a cos a``, to go with the ``sin² a`` and ``cos² a`` beside it."""
    def product(angle: sympy.Expr) -> sympy.Expr:
        half = sympy.expand(angle / 2)
        return 2 * sympy.sin(half) * sympy.cos(half) if _whole(half) else sympy.sin(angle)
    return term.replace(sympy.sin, product)


def _angle(wave: sympy.Expr) -> sympy.Expr:
    return sympy.S.Zero if wave == 1 else wave.args[0]


def _whole(angle: sympy.Expr) -> bool:
    """Whether an angle is a sum of whole multiples of symbols."""
    return all(term.as_coeff_Mul()[0].is_Integer for term in sympy.Add.make_args(angle))


def _is_wave(factor: sympy.Expr) -> bool:
    return factor.has(sympy.sin, sympy.cos)


def is_inertia(factor: sympy.Expr) -> bool:
    """Whether a factor is a mass or a moment of inertia, by its letter."""
    return factor.is_Symbol and factor.name[0] in 'mIJ'


def _grouped(expression: sympy.Expr, belongs: Callable[[sympy.Expr], bool]) -> Group:
    """Split every term into the factors that belong to a group's name and the rest, and add up."""
    groups: Group = {}
    for term in sympy.Add.make_args(sympy.expand(expression)):
        factors = sympy.Mul.make_args(term)
        name = sympy.Mul(*(factor for factor in factors if belongs(factor)))
        rest = sympy.Mul(*(factor for factor in factors if not belongs(factor)))
        groups[name] = groups.get(name, sympy.S.Zero) + rest
    return groups


def _factored(expression: sympy.Expr) -> sympy.Expr:
    """Factored polynomial, with sums of masses scaled to the largest: ``½ m₁ + m₂``."""
    number, factors = sympy.S.One, []
    for factor in sympy.Mul.make_args(sympy.factor(expression)):
        if factor.is_Add and any(map(is_inertia, factor.free_symbols)):
            largest = max(_numbers(factor), key=abs)
            number, factor = number * abs(largest), sympy.expand(factor / abs(largest))
            if all(n < 0 for n in _numbers(factor)):
                number, factor = -number, -factor
        factors.append(factor)
    return sympy.Mul(number, *factors)


def _numbers(total: sympy.Expr) -> Iterable[sympy.Expr]:
    return [term.as_coeff_Mul()[0] for term in total.args]
