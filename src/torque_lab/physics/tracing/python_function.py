"""
Machine code as a Python function: a call costs tens of nanoseconds, where ctypes takes hundreds.

A small wrapper, compiled along with the kernel, has the signature of a built-in function of
CPython, ``PyObject *call(PyObject *self, PyObject *argument)``.  Its ``self`` is the address of
the block of numbers that the kernel works on, and its argument how many steps to make.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

from .engine import MachineCode, pointer

ONE_ARGUMENT = 0x0008  # METH_O


class _Definition(ctypes.Structure):
    """PyMethodDef of the Python C interface."""

    _fields_ = (('name', ctypes.c_char_p), ('function', ctypes.c_void_p), ('flags', ctypes.c_int),
                ('documentation', ctypes.c_char_p))


def wrapper() -> str:
    """Text of the wrapper ``call`` around ``i64 run(block, i64 from, i64 to)``."""
    block = 'ptr' if pointer() == 'ptr' else 'double*'
    return f'''
define i64 @call(i64 %self, i64 %argument) {{
  %address = call i64 {_python('PyLong_AsVoidPtr')}(i64 %self)
  %block = inttoptr i64 %address to {block}
  %n = call i64 {_python('PyLong_AsLongLong')}(i64 %argument)
  %done = call i64 @run({block} %block, i64 0, i64 %n)
  %result = call i64 {_python('PyLong_FromLongLong')}(i64 %done)
  ret i64 %result
}}
'''


def _python(name: str) -> str:
    """A function of the running interpreter, as LLVM text."""
    address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    kind = 'ptr' if pointer() == 'ptr' else 'i64 (i64)*'
    return f'inttoptr (i64 {address} to {kind})'


def python_function(code: MachineCode, block: int) -> Callable[[int], int]:
    """
    Python function of some machine code (``call`` and ``run``), bound to the block at an address.

    It holds the interpreter's lock: for short work.  The code must outlive it.
    """
    if sys.implementation.name != 'cpython':
        return releasing_function(code, block)
    if not hasattr(code, 'definition'):  # the interpreter refers to it by its address
        code.definition = _Definition(  # type: ignore[attr-defined]
            b'run', code.addresses['call'], ONE_ARGUMENT, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object,
                                                     ctypes.c_void_p)
    return make(ctypes.addressof(code.definition), block, None)  # type: ignore[attr-defined]


def releasing_function(code: MachineCode, block: int) -> Callable[[int], int]:
    """Python function as above that lets other threads run meanwhile: for long work."""
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64,
                                ctypes.c_int64)(code.addresses['run'])
    return lambda n: function(block, 0, n)
