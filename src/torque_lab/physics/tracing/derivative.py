"""Exact derivatives of traced values: the chain rule, node by node."""

from __future__ import annotations

import numpy as np

from .expression import Expression, node, wrap
from .function import objects
from .graph import Graph


def held(values: np.ndarray) -> np.ndarray:
    """Return the same values, but constant in the eyes of `directional`."""
    return objects([Expression(value.graph, value.graph.node('hold', value.index))
                    if isinstance(value, Expression) else value for value in values])


def directional(values: np.ndarray, at: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """
    Derivative of some traced values along a direction in some traced inputs.

    ``d values = Σ ∂values/∂at_i direction_i``: an array of as many scalars as there are values.
    Griewank & Walther 2008, section 3.1 (forward mode).
    """
    graph = at[0].graph
    zero = graph.constant(0.0)
    tangent = {x.index: node(graph, d) for x, d in zip(at, direction, strict=True)}
    targets = [node(graph, value) for value in values]
    for index in graph.used(targets):
        if index not in tangent:
            tangent[index] = _rule(graph, index, tangent, zero)
    return objects([wrap(graph, tangent[index]) for index in targets])


def _rule(graph: Graph, index: int, tangent: dict[int, int], zero: int) -> int:
    """Tangent of one node from those of its operands."""
    kind, *operands = graph.nodes[index]
    if kind in ('constant', 'input', 'hold', 'less', 'or', 'and'):
        return zero
    if kind == 'select':
        condition, a, b = operands
        return graph.select(condition, tangent[a], tangent[b])
    a = operands[0]
    da = tangent[a]
    if kind == 'add':
        return graph.add(da, tangent[operands[1]])
    if kind == 'sub':
        return graph.subtract(da, tangent[operands[1]])
    if kind == 'mul':
        b = operands[1]
        return graph.add(graph.multiply(da, b), graph.multiply(a, tangent[b]))
    if kind == 'neg':
        return graph.unary('neg', da)
    if kind == 'sin':
        return graph.multiply(graph.unary('cos', a), da)
    if kind == 'cos':
        return graph.unary('neg', graph.multiply(graph.unary('sin', a), da))
    if kind == 'reciprocal':
        return graph.unary('neg', graph.multiply(graph.multiply(index, index), da))
    if kind == 'sqrt':
        return graph.multiply(da, graph.divide(graph.constant(0.5), index))
    raise TypeError(f'no derivative of {kind} in a trace')
