"""Many simulations at once: batches over SIMD lanes and over all cores."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np

from .batch import BatchKernel, Feedback, batch_kernel
from .errors import Divergence
from .integrators import Adaptive, Integrator
from .integrators import integrator as find_integrator
from .kernel import nonzero
from .model import FLOATING, Array, Robot
from .pending import find_compiler
from .plain import Layout
from .simulator import Simulator
from .stepping import ABSURD

Progress = Callable[[int, int], None]
"""``progress(done, all)``, counted in rollouts."""


@dataclass(frozen=True, eq=False)
class Rollouts:
    """States of a batch over time."""

    t: Array
    """Times (rows,) of the recorded states, in s, the start included."""
    states: Array
    """Positions and velocities (N, rows, nq + nv); held from where a rollout diverged."""
    final: Array
    """States (N, nq + nv) after the last step."""
    diverged: Array
    """Per rollout (N,), the step that diverged, counted from 1; 0 where none did."""


def rollout(robot: Robot, x0: Array | Sequence, efforts: Array | Sequence | Feedback | None = None,
            dt: float = 1e-3, steps: int = 1000, *, integrator: str | Integrator = 'rk4',
            record: int = 1, threads: int | None = None, progress: Progress | None = None,
            compiled: bool | None = None) -> Rollouts:
    """
    Simulate a batch of states, each on its own.

    - ``x0`` (N, nq + nv), or one state (nq + nv,).
    - ``efforts``: None; one effort (nv,); one per rollout (N, nv); a table over time
      (N or 1, steps, nv); or a feedback law ``k(x)`` or ``k(t, x)`` with x (nq + nv,), evaluated
      at the start of each step and held over it.  A law made of arithmetic, ``np.sin`` and the
      like is traced and compiled into the loop (once: it must not depend on anything that
      changes).  One that branches on values runs in Python, slower, and says so.
    - ``record``: keep every so many states; 0 keeps the start and the end only.
    - ``threads``: as many as there are cores, unless stated.
    - ``progress(done, all)`` is called now and then with numbers of rollouts.

    Limits, friction, motors and saturation act as in `Simulator`.  The result does not depend on
    the number of threads.
    """
    method = find_integrator(integrator)
    start = _states(robot, x0)
    law = efforts if callable(efforts) else None
    table = None if callable(efforts) else _efforts(robot, efforts, len(start), steps)
    if steps < 1 or record < 0 or not (np.isfinite(dt) and dt > 0):
        raise ValueError(f'{robot.name}: rollout needs steps >= 1, record >= 0 and dt > 0; got '
                         f'{steps}, {record} and {dt}')
    every = record or steps
    job = _Job(robot, method, start, table, dt, steps, every, threads or os.cpu_count() or 1,
               progress)
    kernel = None
    if find_compiler(compiled) is not None and not isinstance(method, Adaptive):
        kernel = _kernel(job, law)
    return job.run_plain(law, compiled) if kernel is None else job.run(kernel)


def _kernel(job: _Job, law: Feedback | None) -> BatchKernel | None:
    """Compiled kernel for a batch, or None if its feedback law cannot be traced."""
    sequence = job.table is not None and job.table.ndim == 3
    try:
        return batch_kernel(job.robot, job.integrator, nonzero(job.inputs, job.layout), sequence,
                            law, _takes_time(law))
    except TypeError as error:
        if law is None:
            raise
        warnings.warn(f'{job.robot.name}: the feedback law runs in Python, because it cannot be '
                      f'traced ({error})', stacklevel=3)
        return None


def _takes_time(law: Feedback | None) -> bool:
    """Whether a feedback law is ``k(t, x)`` and not ``k(x)``."""
    if law is None:
        return False
    required = [p for p in inspect.signature(law).parameters.values()
                if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(required) > 1


def _states(robot: Robot, x0: Array | Sequence) -> Array:
    """Start states (N, nq + nv), finite and with unit quaternions."""
    size = robot.nq + robot.nv
    states = np.atleast_2d(np.asarray(x0, dtype=float))
    if states.ndim != 2 or states.shape[1] != size or not np.isfinite(states).all():
        raise ValueError(f'{robot.name}: x0 needs finite numbers of shape (N, {size}); got shape '
                         f'{np.shape(x0)}')
    states = states.copy()
    for body in robot.bodies:
        if body.kind == FLOATING:
            quaternions = states[:, body.q.start + 3:body.q.stop]
            quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    return states


def _efforts(robot: Robot, efforts: Array | Sequence | None, count: int, steps: int) -> Array:
    """Efforts of shape (N, nv), or as a table (N or 1, steps, nv)."""
    table = np.zeros(robot.nv) if efforts is None else np.asarray(efforts, dtype=float)
    if table.ndim == 1:
        table = np.broadcast_to(table, (count, table.shape[0]))
    wanted = ((count, robot.nv), (count, steps, robot.nv), (1, steps, robot.nv))
    if table.shape not in wanted or not np.isfinite(table).all():
        raise ValueError(f'{robot.name}: efforts must be finite, of shape ({robot.nv},), '
                         f'{wanted[0]}, {wanted[1]} or {wanted[2]}; got {table.shape}')
    return table


class _Job:
    """One batch to be done."""

    def __init__(self, robot: Robot, integrator: Integrator, start: Array, table: Array | None,
                 dt: float, steps: int, every: int, threads: int, progress: Progress | None,
                 ) -> None:
        self.robot, self.integrator, self.start, self.table = robot, integrator, start, table
        self.dt, self.steps, self.every = dt, steps, every
        self.threads, self.progress = threads, progress
        self.layout = layout = Layout(robot)
        self.inputs = np.zeros(layout.input_size)
        self.inputs[layout.damping] = robot.damping
        self.inputs[layout.friction] = robot.friction
        self.inputs[layout.gravity] = robot.gravity
        self.inputs[layout.step_length] = dt
        self.t = np.arange(steps // every + 1) * (every * dt)

    def run(self, kernel: BatchKernel) -> Rollouts:
        """Do the batch with a compiled kernel."""
        count, lanes = len(self.start), kernel.lanes
        groups = -(-count // lanes)
        states = np.empty((groups * lanes, len(self.t), self.layout.qd.stop))
        states[:count, 0] = self.start
        states[count:, 0] = self.start[-1]
        blocks = self._blocks(states[:, 0], kernel)
        diverged = np.zeros(groups * lanes, dtype=int)
        chunk = max(1, groups // (4 * self.threads))
        pieces = [(k, min(k + chunk, groups)) for k in range(0, groups, chunk)]
        done = 0
        for first, last in self._worked_off(
                pieces, lambda piece: self._run_groups(kernel, blocks, states, diverged, *piece)):
            done = min(count, done + (last - first) * lanes)
            if self.progress:
                self.progress(done, count)
        final = blocks[:, :self.layout.qd.stop].transpose(0, 2, 1).reshape(groups * lanes, -1)
        return Rollouts(self.t, states[:count], np.ascontiguousarray(final[:count]),
                        diverged[:count])

    def _worked_off(self, pieces: list[tuple[int, int]], work: Callable[[tuple[int, int]], None],
                    ) -> Iterator[tuple[int, int]]:
        """Do pieces of work in as many threads as wanted; yield each when it is done."""
        if self.threads == 1 or len(pieces) == 1:
            for piece in pieces:
                work(piece)
                yield piece
            return
        with ThreadPoolExecutor(self.threads) as pool:
            running = {pool.submit(work, piece): piece for piece in pieces}
            for finished in as_completed(running):
                finished.result()
                yield running[finished]

    def _blocks(self, start: Array, kernel: BatchKernel) -> Array:
        """Blocks (groups, size, lanes) at the start of the batch."""
        layout, lanes = self.layout, kernel.lanes
        blocks = np.zeros((len(start) // lanes, layout.size, lanes))
        blocks[:, :layout.qd.stop] = _in_lanes(start, lanes)
        blocks[:, layout.u] = self.inputs[:, None]
        if self.table is not None and self.table.ndim == 2:
            u = layout.u.start
            blocks[:, u:u + self.robot.nv] = _in_lanes(_padded(self.table, len(start)), lanes)
        return blocks

    def _run_groups(self, kernel: BatchKernel, blocks: Array, states: Array, diverged: Array,
                    first: int, last: int) -> None:
        """Do some groups; those in which a state goes bad are taken up one by one."""
        lanes = kernel.lanes
        rows = slice(first * lanes, last * lanes)
        efforts = self._efforts_of(kernel, rows)
        reached = kernel.run(blocks[first:last], 0, self.steps, states[rows], self.every, efforts)
        for g in np.flatnonzero(reached < self.steps):
            mine = slice((first + g) * lanes, (first + g + 1) * lanes)
            own = efforts if efforts is None or len(efforts) == 1 else (
                efforts[g * lanes:(g + 1) * lanes])
            self._go_on(kernel, blocks[first + g:first + g + 1], states[mine], diverged[mine],
                        int(reached[g]), own)

    def _efforts_of(self, kernel: BatchKernel, rows: slice) -> Array | None:
        """Table of efforts for some rollouts, contiguous."""
        if not kernel.sequence or self.table is None:
            return None
        if len(self.table) == 1:
            return np.ascontiguousarray(self.table)
        return np.ascontiguousarray(_padded(self.table[rows], rows.stop - rows.start))

    def _go_on(self, kernel: BatchKernel, block: Array, states: Array, diverged: Array,
               reached: int, efforts: Array | None) -> None:
        """
        Take up a group again after a state went bad, which stays at its last good value.

        Its lane works on a copy of a good neighbour meanwhile.
        """
        layout = self.layout
        moving = slice(layout.rejected.start, layout.rejected.start + layout.qd.stop)
        kept: dict[int, Array] = {}
        while reached < self.steps:
            with np.errstate(all='ignore'):
                bad = ~(np.abs(block[0, moving]).sum(axis=0) < ABSURD)
            for lane in np.flatnonzero(bad).tolist():
                if lane not in kept:
                    kept[lane] = block[0, :layout.qd.stop, lane].copy()
                    diverged[lane] = reached + 1
            alive = [lane for lane in range(kernel.lanes) if lane not in kept]
            if not alive:
                break
            for lane in kept:
                block[0, layout.x, lane] = block[0, layout.x, alive[0]]
                block[0, layout.u, lane] = block[0, layout.u, alive[0]]
            reached = int(kernel.run(block, reached, self.steps, states, self.every, efforts)[0])
        for lane, state in kept.items():
            states[lane, (diverged[lane] - 1) // self.every + 1:] = state
            block[0, :layout.qd.stop, lane] = state

    def run_plain(self, law: Feedback | None, compiled: bool | None) -> Rollouts:
        """Do the batch one simulation after the other."""
        count, size, nq = len(self.start), self.layout.qd.stop, self.robot.nq
        states = np.empty((count, len(self.t), size))
        final, diverged = np.empty((count, size)), np.zeros(count, dtype=int)
        simulator = Simulator(self.robot, self.integrator, self.dt, compiled, track_energy=False)
        takes_time = _takes_time(law)
        for i in range(count):
            simulator.reset(self.start[i, :nq], self.start[i, nq:])
            states[i] = self.start[i]
            for k in range(self.steps):
                x = simulator.state
                try:
                    if law is not None:
                        simulator.step(law(k * self.dt, x) if takes_time else law(x))
                    else:
                        simulator.step(self._effort(i, k))
                except Divergence:
                    diverged[i] = k + 1
                    break
                if (k + 1) % self.every == 0:
                    states[i, (k + 1) // self.every:] = simulator.state
            final[i] = simulator.state
            if diverged[i]:
                states[i, (diverged[i] - 1) // self.every + 1:] = final[i]
            if self.progress:
                self.progress(i + 1, count)
        return Rollouts(self.t, states, final, diverged)

    def _effort(self, i: int, k: int) -> Array:
        """Effort of one rollout in one step."""
        assert self.table is not None
        if self.table.ndim == 2:
            return self.table[i]
        return self.table[0 if len(self.table) == 1 else i, k]


def _in_lanes(rows: Array, lanes: int) -> Array:
    """Rows (N, size) as groups (N / lanes, size, lanes)."""
    return rows.reshape(-1, lanes, rows.shape[1]).transpose(0, 2, 1)


def _padded(rows: Array, count: int) -> Array:
    """Rows with the last one repeated up to a number."""
    if len(rows) == count:
        return rows
    return np.concatenate([rows, np.repeat(rows[-1:], count - len(rows), axis=0)])
