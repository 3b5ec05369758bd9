"""
The scalar that records: arithmetic on it builds a graph instead of a number.

Handed to a law of this package in place of floats, it leaves behind the straight-line computation
that the law performs for one robot.  What folds to a number becomes a number: ``0 * x`` is 0.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import Graph

NUMBERS = (float, int, np.floating, np.integer)


class Traced:
    """A node of a graph, as seen by the code that is traced."""

    __slots__ = ('graph', 'index')
    __array_priority__ = 1000.0  # numpy leaves operators with arrays to `_spread`

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph = graph
        self.index = index

    def __bool__(self) -> bool:
        raise TypeError('a traced value is not known yet, so code cannot branch on it; '
                        'use torque_lab.physics.scalar.select, clamp or arithmetic instead')

    def __float__(self) -> float:
        raise TypeError('a traced value is not a number yet; keep it in an array of objects')


class Condition(Traced):
    """Comparison of two scalars."""

    __slots__ = ()

    def select(self, when_true: Any, when_false: Any) -> Any:
        """One of two scalars."""
        graph = self.graph
        return wrap(graph, graph.select(self.index, node(graph, when_true),
                                        node(graph, when_false)))

    def __or__(self, other: Condition | bool) -> Condition:
        if isinstance(other, (bool, np.bool_)):
            return self.always(True) if other else self  # type: ignore[return-value]
        return Condition(self.graph, self.graph.node('or', self.index, other.index))

    def __and__(self, other: Condition | bool) -> Condition:
        if isinstance(other, (bool, np.bool_)):
            return self if other else self.always(False)  # type: ignore[return-value]
        return Condition(self.graph, self.graph.node('and', self.index, other.index))

    @staticmethod
    def always(value: bool) -> bool:
        """A condition that is known."""
        return value

    __ror__ = __or__
    __rand__ = __and__


class Expression(Traced):
    """Number that is not known yet."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return self._binary(Graph.add, other, '__add__')

    def __radd__(self, other: Any) -> Any:
        return self._binary(Graph.add, other, '__radd__')

    def __sub__(self, other: Any) -> Any:
        return self._binary(Graph.subtract, other, '__sub__')

    def __rsub__(self, other: Any) -> Any:
        return self._reflected(Graph.subtract, other, '__rsub__')

    def __mul__(self, other: Any) -> Any:
        return self._binary(Graph.multiply, other, '__mul__')

    def __rmul__(self, other: Any) -> Any:
        return self._binary(Graph.multiply, other, '__rmul__')

    def __truediv__(self, other: Any) -> Any:
        return self._binary(Graph.divide, other, '__truediv__')

    def __rtruediv__(self, other: Any) -> Any:
        return self._reflected(Graph.divide, other, '__rtruediv__')

    def __pow__(self, exponent: Any) -> Any:
        if exponent == 0.5:
            return self.sqrt()
        if int(exponent) != exponent or exponent < 0:
            raise TypeError(f'a traced value can be raised to 0.5 or a whole power, '
                            f'not to {exponent}')
        result: Any = 1.0
        for _ in range(int(exponent)):
            result = result * self
        return result

    def __neg__(self) -> Any:
        return self._unary('neg')

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self._unary('abs')

    def sin(self) -> Any:
        """Sine."""
        return self._unary('sin')

    def cos(self) -> Any:
        """Cosine."""
        return self._unary('cos')

    def tan(self) -> Any:
        """Tangent."""
        return self.sin() / self.cos()

    def sqrt(self) -> Any:
        """Square root."""
        return self._unary('sqrt')

    def conjugate(self) -> Any:
        """Return the same: a traced value is real."""
        return self

    def __lt__(self, other: Any) -> Condition:
        return self._compare(self.index, node(self.graph, other))

    def __gt__(self, other: Any) -> Condition:
        return self._compare(node(self.graph, other), self.index)

    __le__ = __lt__  # no code may depend on which side equality falls
    __ge__ = __gt__

    def _compare(self, a: int, b: int) -> Condition:
        return Condition(self.graph, self.graph.node('less', a, b))

    def _unary(self, operation: str) -> Any:
        return wrap(self.graph, self.graph.unary(operation, self.index))

    def _binary(self, operation: Any, other: Any, name: str) -> Any:
        if isinstance(other, Expression):
            return wrap(self.graph, operation(self.graph, self.index, other.index))
        if isinstance(other, NUMBERS):
            graph = self.graph
            return wrap(graph, operation(graph, self.index, graph.constant(other)))
        return self._spread(other, name)

    def _reflected(self, operation: Any, other: Any, name: str) -> Any:
        if isinstance(other, (Expression, *NUMBERS)):
            graph = self.graph
            return wrap(graph, operation(graph, node(graph, other), self.index))
        return self._spread(other, name)

    def _spread(self, other: Any, name: str) -> Any:
        """Apply an operator with an array entry by entry."""
        if not isinstance(other, np.ndarray):
            return NotImplemented
        result = np.empty(other.shape, dtype=object)
        result.ravel()[:] = [getattr(self, name)(entry) for entry in other.ravel().tolist()]
        return result


def wrap(graph: Graph, index: int) -> Any:
    """Node as a scalar: an expression, or a float where it is known."""
    value = graph.constants.get(index)
    return Expression(graph, index) if value is None else value


def node(graph: Graph, value: Any) -> int:
    """Node of a scalar."""
    if isinstance(value, Traced):
        if value.graph is not graph:
            raise ValueError('a traced value was kept and used in another trace')
        return value.index
    return graph.constant(value)
