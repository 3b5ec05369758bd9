"""
Functions that every kind of scalar knows: float, complex, SymPy and tracing.

The laws of this package call these and plain arithmetic only, so that one body of code yields
numbers, derivatives, printed equations and compiled kernels.  A scalar of a new kind joins by
having methods of these names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Scalar = Any


def sin(x: Scalar) -> Scalar:
    """Sine of one scalar of any kind."""
    return _call('sin', x)


def cos(x: Scalar) -> Scalar:
    """Cosine of one scalar of any kind."""
    return _call('cos', x)


def sqrt(x: Scalar) -> Scalar:
    """Square root of one scalar of any kind."""
    return _call('sqrt', x)


def select(condition: Any, when_true: Scalar, when_false: Scalar) -> Scalar:
    """
    One of two scalars: ``when_true if condition else when_false``, without a branch in a trace.

    The condition is a comparison of scalars; both alternatives are computed.
    """
    if hasattr(condition, 'select'):
        return condition.select(when_true, when_false)
    return when_true if condition else when_false


def clamp(x: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    """``x`` kept between two bounds; a bound that is a number and infinite costs nothing."""
    if not (isinstance(lower, float) and lower == -np.inf):
        x = select(x < lower, lower, x)
    if not (isinstance(upper, float) and upper == np.inf):
        x = select(x > upper, upper, x)
    return x


def _call(name: str, x: Scalar) -> Scalar:
    if isinstance(x, (float, int, complex, np.number)):
        return getattr(np, name)(x)
    if hasattr(x, name):
        return getattr(x, name)()
    import sympy  # only reached by SymPy expressions, so SymPy is there
    return getattr(sympy, name)(x)
