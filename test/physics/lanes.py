"""
Many states at once: a scalar that holds one number per state.

The laws are generic in their scalar; this one runs each of them over a hundred states in one call.
"""

from __future__ import annotations

import numpy as np


def entrywise(operation):
    """Leave whole arrays to numpy, which applies the operation to each entry."""
    def operator(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else operation(self, other)
    return operator


class Lanes:
    """One number per state, with the arithmetic that the laws need and no more."""

    __slots__ = ('values',)

    def __init__(self, values):
        self.values = values

    @entrywise
    def __add__(self, other):
        return Lanes(self.values + _values(other))

    @entrywise
    def __sub__(self, other):
        return Lanes(self.values - _values(other))

    @entrywise
    def __rsub__(self, other):
        return Lanes(_values(other) - self.values)

    @entrywise
    def __mul__(self, other):
        return Lanes(self.values * _values(other))

    @entrywise
    def __truediv__(self, other):
        return Lanes(self.values / _values(other))

    @entrywise
    def __rtruediv__(self, other):
        return Lanes(_values(other) / self.values)

    def __neg__(self):
        return Lanes(-self.values)

    def sin(self):
        return Lanes(np.sin(self.values))

    def cos(self):
        return Lanes(np.cos(self.values))

    __radd__ = __add__
    __rmul__ = __mul__


def _values(other):
    return other.values if isinstance(other, Lanes) else other


def lanes(states):
    """Array (states, n) of numbers as an array (n,) of lanes."""
    array = np.empty(states.shape[1], dtype=object)
    array[:] = [Lanes(np.ascontiguousarray(column)) for column in states.T]
    return array


def unlaned(result, count: int):
    """Result of a law, a scalar or array of lanes, as numbers with the states in front."""
    entries = np.empty(np.shape(result), dtype=object)
    entries[...] = result
    columns = [np.broadcast_to(_values(entry), count) for entry in entries.ravel().tolist()]
    return np.array(columns, dtype=float).T.reshape(count, *entries.shape)
