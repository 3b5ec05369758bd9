"""
Functions of a control law as machine code, so that a law on six joints costs microseconds.

What is compiled is the law as it is written, traced over its inputs.  Gains are inputs too, so a
change of gains compiles nothing.  Without llvmlite the same function runs in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torque_lab.physics.model import Array
from torque_lab.physics.tracing import engine

Vector = Any
"""Numbers (n,), or traced scalars in an array of objects."""


def compiled(function: Callable[..., Vector], *sizes: int) -> Callable[..., Array]:
    """
    Return a fast function of vectors with some sizes, each given as an array (size,).

    ``function`` returns one vector and is made of arithmetic, `physics.scalar` and the laws of
    `physics`: no branches on values.  The result is a new array each time.
    """
    if not engine.available():
        return lambda *inputs: np.array(function(*(np.asarray(x, dtype=float) for x in inputs)),
                                        dtype=float)
    from torque_lab.physics.tracing.buffers import compile_function
    from torque_lab.physics.tracing.function import trace
    traced = trace('law', function, *sizes)
    code, run, block = compile_function(traced)
    ends = np.cumsum(sizes).tolist()
    places = [block[end - size:end] for size, end in zip(sizes, ends, strict=True)]
    outputs = block[traced.inputs:]

    def call(*inputs: Array) -> Array:
        for place, value in zip(places, inputs, strict=True):
            place[:] = value
        run(1)
        return outputs.copy()

    call.code = code  # type: ignore[attr-defined]  # the code must live as long as the function
    return call
