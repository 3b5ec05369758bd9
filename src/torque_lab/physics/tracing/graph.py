"""
The graph of a computation: every operation once, constants folded away.

Nodes are numbered in the order of their creation, so that operands always come before what is made
of them.  A node is a tuple of an operation and the numbers of its operands.  Asking twice for the
same operation on the same operands gives the same node: common sub-expressions are shared from the
start (hash-consing).
"""

from __future__ import annotations

import math
from typing import Any

Node = tuple[Any, ...]

FOLDING = {'neg': lambda a: -a, 'abs': abs, 'sin': math.sin, 'cos': math.cos, 'sqrt': math.sqrt}


class Graph:
    """Nodes of one traced function."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[int, float] = {}
        """Value of the nodes that are numbers."""
        self._known: dict[Node, int] = {}

    def node(self, *key: Any) -> int:
        """Number of the node with this operation and operands, new or known."""
        index = self._known.get(key)
        if index is None:
            index = self._known[key] = len(self.nodes)
            self.nodes.append(key)
        return index

    def constant(self, value: Any) -> int:
        """Node of a number."""
        value = float(value) + 0.0  # no negative zero
        index = self.node('constant', value)
        self.constants[index] = value
        return index

    def unary(self, operation: str, a: int) -> int:
        """Node of an operation on one operand."""
        if a in self.constants:
            return self.constant(FOLDING[operation](self.constants[a]))
        inner = self.nodes[a]
        if inner[0] == 'neg':
            if operation == 'neg':
                return inner[1]
            if operation in ('abs', 'cos'):
                return self.unary(operation, inner[1])
            if operation == 'sin':
                return self.unary('neg', self.unary('sin', inner[1]))
        if operation == 'neg' and inner[0] == 'sub':
            return self.subtract(inner[2], inner[1])
        return self.node(operation, a)

    def add(self, a: int, b: int) -> int:
        """Node of ``a + b``."""
        x, y = self.constants.get(a), self.constants.get(b)
        if x is not None and y is not None:
            return self.constant(x + y)
        if x == 0.0:
            return b
        if y == 0.0:
            return a
        if self.nodes[b][0] == 'neg':
            return self.subtract(a, self.nodes[b][1])
        if self.nodes[a][0] == 'neg':
            return self.subtract(b, self.nodes[a][1])
        return self.node('add', *sorted((a, b)))

    def subtract(self, a: int, b: int) -> int:
        """Node of ``a − b``; the difference the other way round is its negative."""
        if a == b:
            return self.constant(0.0)
        x, y = self.constants.get(a), self.constants.get(b)
        if x is not None and y is not None:
            return self.constant(x - y)
        if y == 0.0:
            return a
        if x == 0.0:
            return self.unary('neg', b)
        if self.nodes[b][0] == 'neg':
            return self.add(a, self.nodes[b][1])
        if self.nodes[a][0] == 'neg':
            return self.unary('neg', self.add(self.nodes[a][1], b))
        if ('sub', b, a) in self._known:
            return self.node('neg', self._known['sub', b, a])
        return self.node('sub', a, b)

    def multiply(self, a: int, b: int) -> int:
        """Node of ``a b``; signs move outwards and constants together, where they can meet."""
        x, y = self.constants.get(a), self.constants.get(b)
        if x is not None and y is not None:
            return self.constant(x * y)
        if x is not None:
            return self._scale(b, x)
        if y is not None:
            return self._scale(a, y)
        first, second = self.nodes[a], self.nodes[b]
        if first[0] == 'neg' or second[0] == 'neg':
            product = self.multiply(first[1] if first[0] == 'neg' else a,
                                    second[1] if second[0] == 'neg' else b)
            both = first[0] == second[0]
            return product if both else self.unary('neg', product)
        return self.node('mul', *sorted((a, b)))

    def _scale(self, a: int, factor: float) -> int:
        """Node of a number times a node."""
        if factor == 0.0:
            return self.constant(0.0)
        if factor == 1.0:
            return a
        node = self.nodes[a]
        if factor < 0.0:
            return self.unary('neg', self._scale(a, -factor))
        if node[0] == 'neg':
            return self.unary('neg', self._scale(node[1], factor))
        if node[0] == 'mul' and node[2] in self.constants:
            return self._scale(node[1], factor * self.constants[node[2]])
        return self.node('mul', a, self.constant(factor))

    def divide(self, a: int, b: int) -> int:
        """Node of ``a / b``; through the reciprocal, which is shared by all divisions by b."""
        y = self.constants.get(b)
        if y is not None:
            return self.multiply(a, self.constant(1.0 / y))
        if self.nodes[b][0] == 'neg':
            return self.unary('neg', self.divide(a, self.nodes[b][1]))
        return self.multiply(a, self.node('reciprocal', b))

    def select(self, condition: int, a: int, b: int) -> int:
        """Node of ``a if condition else b``."""
        return a if a == b else self.node('select', condition, a, b)

    def used(self, outputs: list[int]) -> list[int]:
        """Nodes that some outputs depend on, operands first."""
        found, waiting = set(), list(outputs)
        while waiting:
            index = waiting.pop()
            if index not in found:
                found.add(index)
                waiting.extend(operands(self.nodes[index]))
        return sorted(found)


def operands(node: Node) -> tuple[int, ...]:
    """Numbers of the nodes that a node is made of."""
    if node[0] in ('constant', 'input'):
        return ()
    if node[0] == 'call':
        return node[2:]
    if node[0] == 'output':
        return node[1:2]
    return node[1:]
