"""A traced function compiled on its own, with a buffer for its inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .emitter import Writer, module
from .engine import MachineCode, compile_module, pointer
from .function import Function
from .python_function import python_function, wrapper


def compile_function(function: Function) -> tuple[MachineCode, Callable[[int], int], np.ndarray]:
    """
    Machine code of a function, a Python function that runs it, and its block of numbers.

    The block holds the inputs and then the outputs; the Python function takes a 1.
    """
    w, p = Writer(), pointer()

    def place(k: int) -> str:
        return w.line(f'getelementptr double, {p} %block, i64 {k}')

    inputs = [w.line(f'load double, {p} {place(k)}') for k in range(function.inputs)]
    for k, name in enumerate(w.inline(function, inputs)):
        w.plain(f'store double {name}, {p} {place(function.inputs + k)}')
    w.plain('ret i64 1')
    head = f'define i64 @run({p} %block, i64 %from, i64 %to)'
    code = compile_module(module(w, head) + wrapper(), 'call', 'run')
    block = np.zeros(function.inputs + len(function.outputs))
    return code, python_function(code, block.ctypes.data), block
