"""Kernels for batches: several states in SIMD lanes, groups of lanes one after the other."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .integrators import Integrator
from .kernel import EFFORTS, TABLES, KernelText, Pattern, trace_pieces
from .model import Array, Robot
from .plain import Layout
from .tracing import engine
from .tracing.function import Function, trace

Feedback = Callable[..., Any]


class BatchKernel:
    """
    Steps of many states of one robot.

    The states come in groups of as many as there are lanes.  Each group has a block as in
    `Layout`, every entry a row of lanes: the array of blocks has shape (groups, size, lanes).
    """

    def __init__(self, robot: Robot, integrator: Integrator, pattern: Pattern, lanes: int,
                 sequence: bool, feedback: Function | None) -> None:
        self.layout, self.lanes, self.sequence = Layout(robot), lanes, sequence

        def compiled(first: bool) -> engine.MachineCode:
            pieces = trace_pieces(robot, integrator, pattern, first, track_energy=False)
            kernel = KernelText(robot, pieces, lanes, integrator.has_memory, False, feedback,
                                sequence, record=True)
            driver = _driver(self.layout.size * lanes, lanes, sequence)
            return engine.compile_module(kernel.text() + driver, 'run_groups')

        self._later = compiled(False)
        self._first = compiled(True) if integrator.has_memory else None

    def run(self, blocks: Array, start: int, stop: int, states: Array, every: int,
            efforts: Array | None) -> Array:
        """
        Advance groups from one step to another; return how far each came, (groups,).

        ``states`` (groups * lanes, rows, nq + nv) receives every so many states, the start being
        row 0; ``efforts`` is None or a table (groups * lanes or 1, steps, nv).  A group in which
        one state goes bad stops before that step, all its states good.
        """
        if self._first is not None and start == 0:
            reached = self._call(self._first, blocks, 0, 1, states, every, efforts)
            if stop == 1 or (reached < 1).any():
                return reached
            start = 1
        return self._call(self._later, blocks, start, stop, states, every, efforts)

    def _call(self, code: engine.MachineCode, blocks: Array, start: int, stop: int, states: Array,
              every: int, efforts: Array | None) -> Array:
        reached = np.zeros(len(blocks))
        row = states.shape[1] * states.shape[2]
        record = states.ctypes.data + 8 * (1 + start // every) * states.shape[2]
        arguments = [blocks.ctypes.data, reached.ctypes.data, len(blocks), start, stop, record,
                     every, every - start % every, row]
        if self.sequence:
            assert efforts is not None
            shared = efforts.shape[0] == 1
            arguments += [efforts.ctypes.data, 0 if shared else efforts[0].size,
                          efforts.shape[2]]
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 3,
                                    ctypes.c_void_p, *[ctypes.c_int64] * 3,
                                    *([ctypes.c_void_p] + [ctypes.c_int64] * 2
                                      if self.sequence else []))
        function(code.addresses['run_groups'])(*arguments)
        return reached


def _driver(size: int, lanes: int, sequence: bool) -> str:
    """Text of the loop over groups."""
    p = engine.pointer()
    head = TABLES.format(p) + (EFFORTS.format(p) if sequence else '')
    efforts = f', {p} %table, i64 %effort_lane, i64 %effort_step' if sequence else ''
    table = f'''
  %lines = mul i64 %g, {lanes}
  %offset = mul i64 %lines, %effort_lane
  %table = getelementptr double, {p} %efforts, i64 %offset''' if sequence else ''
    return f'''
define void @run_groups({p} %blocks, {p} %reached, i64 %groups, i64 %from, i64 %to{head}) {{
entry:
  br label %loop
loop:
  %g = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = mul i64 %g, {size}
  %block = getelementptr double, {p} %blocks, i64 %place
  %rows = mul i64 %g, {lanes}
  %skip = mul i64 %rows, %record_lane
  %out = getelementptr double, {p} %record, i64 %skip{table}
  %done = call i64 @run({p} %block, i64 %from, i64 %to, {p} %out, i64 %every, i64 %due,
                        i64 %record_lane{efforts})
  %value = sitofp i64 %done to double
  %mine = getelementptr double, {p} %reached, i64 %g
  store double %value, {p} %mine
  %next = add i64 %g, 1
  %more = icmp slt i64 %next, %groups
  br i1 %more, label %loop, label %end
end:
  ret void
}}
'''


@lru_cache(maxsize=64)
def batch_kernel(robot: Robot, integrator: Integrator, pattern: Pattern, sequence: bool,
                 feedback: Feedback | None, takes_time: bool) -> BatchKernel:
    """Kernel for batches on this machine; the last ones used are kept."""
    law = None if feedback is None else trace_feedback(robot, feedback, takes_time)
    return BatchKernel(robot, integrator, pattern, engine.lanes(), sequence, law)


def trace_feedback(robot: Robot, feedback: Feedback, takes_time: bool) -> Function:
    """Trace a law ``effort = k(x)`` or ``k(t, x)``; TypeError if it branches on values."""
    def law(t: Any, x: Array) -> Array:
        effort = np.asarray(feedback(t, x) if takes_time else feedback(x), dtype=object)
        if effort.shape != (robot.nv,):
            raise ValueError(f'{robot.name}: the feedback law must return {robot.nv} efforts; '
                             f'got shape {effort.shape}')
        return effort

    return trace('feedback', law, 0, robot.nq + robot.nv)
