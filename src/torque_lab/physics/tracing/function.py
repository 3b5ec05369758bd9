"""Functions as graphs: traced once, called from other traces, compiled by the emitter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .expression import Condition, Expression, Traced, node, wrap
from .graph import Graph


class Function:
    """
    A computation with numbered inputs and outputs.

    Called with traced scalars it becomes a single node of the caller's graph, so that a law which
    is used four times in a step is traced once and, if it is large, compiled once.
    """

    def __init__(self, name: str, graph: Graph, inputs: int, outputs: list[int],
                 unpack: Callable[[list[Any]], Any]) -> None:
        self.name = name
        self.times = 1
        """How often it is applied; its outputs then take the place of its first inputs."""
        self.may_inline = True
        """Whether the emitter may write the function out where it is called."""
        self.graph = graph
        self.inputs = inputs
        self.outputs = outputs
        self.nodes = graph.used(outputs)
        """Nodes that count, operands first."""
        self._unpack = unpack

    def __call__(self, *arguments: Any) -> Any:
        """Value of the function, in the shape that the traced code returned."""
        flat = _flatten(arguments)
        graph = next((value.graph for value in flat if isinstance(value, Traced)), None)
        if graph is None:
            raise TypeError(f'{self.name}: no argument is traced; call the law itself instead')
        call = graph.node('call', self, *(node(graph, value) for value in flat))
        return self._unpack([self._output(graph, call, place, index)
                             for place, index in enumerate(self.outputs)])

    def _output(self, graph: Graph, call: int, place: int, index: int) -> Any:
        if index in self.graph.constants:
            return self.graph.constants[index]
        return Expression(graph, graph.node('output', call, place))

    @property
    def operations(self) -> int:
        """How many operations the function takes, those of called functions included."""
        count = 0
        for index in self.nodes:
            kind = self.graph.nodes[index]
            if kind[0] == 'call':
                count += kind[1].operations * kind[1].times
            elif kind[0] not in ('constant', 'input', 'output', 'neg', 'hold'):
                count += 1
        return count


def trace(name: str, function: Callable[..., Any], *sizes: int) -> Function:
    """
    Run a function over traced vectors of some sizes and keep what it does.

    A size of 0 stands for a single scalar.  The function may return a scalar, an array, a
    condition, or a tuple of these.
    """
    graph, arguments, count = Graph(), [], 0
    for size in sizes:
        entries = [Expression(graph, graph.node('input', count + k)) for k in range(size or 1)]
        count += len(entries)
        arguments.append(objects(entries) if size else entries[0])
    result = function(*arguments)
    outputs = [node(graph, value) for value in _flatten(result)]
    return Function(name, graph, count, outputs, lambda values: _shape_like(result, iter(values)))


def repeated(name: str, times: int, function: Callable[..., Any], carried: Any, fixed: Any) -> Any:
    """
    ``carried = function(carried, fixed)`` so many times; in a trace it is a loop.

    ``carried`` is a tuple of arrays, which the function returns anew in the same shapes.
    """
    known = [value for value in _flatten(fixed) if isinstance(value, Traced)]
    start = _flatten(carried)
    if not known:
        for _ in range(times):
            carried = function(carried, fixed)
        return carried
    size = len(start)
    body = trace(f'{name}_{len(known[0].graph.nodes)}', lambda entries: function(
        _shape_like(carried, iter(entries[:size])), _refill(fixed, iter(entries[size:]))),
        size + len(known))
    body.times = times
    return body(objects(start), objects(known))


def _refill(template: Any, values: Any) -> Any:
    """Copy of a template with its traced scalars replaced in order."""
    if isinstance(template, np.ndarray):
        filled = objects([_refill(entry, values) for entry in template.ravel().tolist()])
        return filled.reshape(template.shape)
    if isinstance(template, (tuple, list)):
        return type(template)([_refill(part, values) for part in template])
    return next(values) if isinstance(template, Traced) else template


def objects(entries: Sequence[Any]) -> np.ndarray:
    """Array of objects from a list."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _flatten(value: Any) -> list[Any]:
    """Scalars in a scalar, an array, or a tuple or list of these."""
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    if isinstance(value, (tuple, list)):
        return [scalar for part in value for scalar in _flatten(part)]
    return [value]


def _shape_like(template: Any, values: Any) -> Any:
    """Scalars put into the shape of a template."""
    if isinstance(template, np.ndarray):
        return objects([next(values) for _ in range(template.size)]).reshape(template.shape)
    if isinstance(template, (tuple, list)):
        parts = [_shape_like(part, values) for part in template]
        return type(template)(*parts) if hasattr(template, '_fields') else type(template)(parts)
    return next(values)


__all__ = ['Condition', 'Expression', 'Function', 'objects', 'trace', 'wrap']
