"""
Compiled kernels: the whole loop over steps as machine code for exactly one robot.

The pieces of a step (see `torque_lab.physics.stepping`) are traced, and the code of the emitter
for them is put into a loop: ::

    loop:   is any joint near a stop?  then settle friction and stops
            one step of the integrator
            is the state sane?  if not, keep the last good one and leave
            record the state, if asked to

Gravity, damping, friction, the step and the efforts are inputs; the zeros among gravity and
friction are built in.  The same text serves one state (a `Simulator`) or several in SIMD lanes
(`rollout`): then every entry of a buffer is a row of lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .composite_body import mass_matrix
from .contact import near_a_stop
from .forces import saturate
from .forward import forward_dynamics
from .integrators import Integrator, State
from .model import Array, Robot
from .plain import Bound, Layout
from .preparation import prepared
from .stepping import Drive, Dynamics, advance, contact, has_contact, is_sane
from .tracing import engine
from .tracing.emitter import Writer, module
from .tracing.function import Function, trace
from .tracing.python_function import python_function, releasing_function, wrapper

TABLES = ', {} %record, i64 %every, i64 %due, i64 %record_lane'
"""Further arguments of a kernel that records: where to, how often, when first, row per lane."""

EFFORTS = ', {} %efforts, i64 %effort_lane, i64 %effort_step'
"""Further arguments of a kernel that takes its efforts from a table."""


class Pattern(NamedTuple):
    """Which entries of the parameters are not zero, and therefore inputs of a kernel."""

    gravity: tuple[bool, ...]
    friction: tuple[bool, ...]


@dataclass(frozen=True)
class Pieces:
    """One step of a robot, traced."""

    saturate: Function
    """Inputs to saturated command."""
    near: Function | None
    """State and inputs to the condition that a stop may matter; None without stops."""
    settle: Function | None
    """State, inputs and command to q, qd, held force and lost energy; None without contact."""
    always_settle: bool
    """Whether there is friction, which is settled in every step."""
    step: Function
    """State, inputs, command and held force to the next state."""
    sane: Function
    """State to the condition that it is good."""


def nonzero(u: Array, layout: Layout) -> Pattern:
    """Pattern of the parameters in the inputs."""
    return Pattern(tuple((u[layout.gravity] != 0).tolist()),
                 tuple((u[layout.friction] != 0).tolist()))


def trace_pieces(robot: Robot, integrator: Integrator, pattern: Pattern, first: bool,
                 track_energy: bool) -> Pieces:
    """Trace a step of a robot."""
    layout, nv = Layout(robot), robot.nv
    sizes = layout.state_size, layout.input_size
    simple = prepared(robot)

    def masked(values: Array, mask: tuple[bool, ...]) -> Array:
        return np.array([value if kept else 0.0 for value, kept in zip(values, mask, strict=True)],
                        dtype=object)

    law = trace('acceleration', lambda q, qd, tau, gravity: forward_dynamics(
        simple.replace(gravity=masked(gravity, pattern.gravity)), q, qd, tau),
        robot.nq, nv, nv, 3)

    def dynamics(u: Array) -> Dynamics:
        return Dynamics(lambda q: mass_matrix(simple, q),
                        lambda q, qd, tau: law(q, qd, tau, u[layout.gravity]))

    def drive(u: Array, command: Array) -> Drive:
        return Drive(command, u[layout.external], u[layout.damping],
                     masked(u[layout.friction], pattern.friction))

    def settle(x: Array, u: Array, command: Array) -> Any:
        return contact(robot, dynamics(u), drive(u, command), x[layout.q], x[layout.qd],
                       u[layout.step_length])

    def step(x: Array, u: Array, command: Array, held: Array) -> State:
        return advance(robot, dynamics(u), drive(u, command), held, integrator, layout.state(x),
                       u[layout.step_length], first, track_energy)

    rubs, stops = has_contact(robot, masked(np.ones(nv), pattern.friction))
    rubs, stops = rubs and bool(integrator.order), stops and bool(integrator.order)
    pieces = Pieces(
        trace('saturate', lambda u: saturate(robot, u[layout.command]), sizes[1]),
        trace('near', lambda x, u: near_a_stop(robot, x[layout.q], x[layout.qd],
                                               u[layout.step_length]), *sizes) if stops else None,
        trace('settle', settle, *sizes, nv) if rubs or stops else None, rubs,
        trace('step', step, *sizes, nv, nv),
        trace('sane', lambda x: is_sane(layout.state(x)), sizes[0]))
    if pieces.settle is not None:
        pieces.settle.may_inline = rubs
    return pieces


class KernelText:
    """LLVM text of the loop over steps."""

    def __init__(self, robot: Robot, pieces: Pieces, lanes: int = 1, has_memory: bool = False,
                 track_energy: bool = True, feedback: Function | None = None,
                 sequence: bool = False, record: bool = False) -> None:
        self.layout, self.nv = Layout(robot), robot.nv
        self.pieces, self.feedback, self.sequence, self.record = (pieces, feedback, sequence,
                                                                  record)
        layout = self.layout
        self.kept = [*range(layout.qd.stop),
                     *(range(layout.memory.start, layout.memory.stop) if has_memory else ()),
                     *((layout.work, layout.dissipated) if track_energy else ())]
        """Entries of the state that this kernel changes."""
        self.w = Writer(lanes)
        self.pointer = engine.pointer()

    def text(self) -> str:
        """Module text; the kernel's name is ``run``."""
        w, layout = self.w, self.layout
        w.plain('entry:')
        inputs = [self._load(layout.u.start + k) for k in range(layout.input_size)]
        start = {k: self._load(k) for k in self.kept}
        constant = w.inline(self.pieces.saturate, inputs)
        w.plain(f'br i1 {self._all_finite(inputs)}, label %begin, label %refuse')
        w.plain('refuse:')
        w.plain('ret i64 -1')
        w.plain('begin:')
        for k, name in enumerate(constant):
            self._store(name, layout.applied.start + k)
        w.plain('br label %loop')
        w.plain('loop:')
        phis = len(w.lines)
        x = [f'%x{k}' if k in start else w.constant(0.0) for k in range(layout.state_size)]
        command = self._command(x, inputs, constant)
        state, held = self._settle(x, inputs, command)
        result = self._named(w.inline(self.pieces.step, [*state, *inputs, *command, *held]))
        sane = w.inline(self.pieces.sane, [result.get(k, w.constant(0.0))
                                           for k in range(layout.state_size)])[0]
        w.plain(f'br i1 {self._all(sane)}, label %keep, label %bad')
        self._finish(result)
        w.lines[phis:phis] = self._phis(start, result)
        return module(w, self._head())

    def _head(self) -> str:
        """First line of the kernel."""
        pointer = self.pointer
        tables = TABLES.format(pointer) if self.record else ''
        tables += EFFORTS.format(pointer) if self.sequence else ''
        return f'define i64 @run({pointer} %block, i64 %from, i64 %to{tables})'

    def _phis(self, start: dict[int, str], result: dict[int, str]) -> list[str]:
        """What the loop carries from step to step."""
        lines = ['  %k = phi i64 [ %from, %begin ], [ %next, %good ]']
        if self.record:
            lines += ['  %left = phi i64 [ %due, %begin ], [ %left2, %good ]',
                      '  %out = phi i64 [ 0, %begin ], [ %out2, %good ]']
        return lines + [f'  %x{k} = phi {self.w.type} [ {name}, %begin ], [ {result[k]}, %good ]'
                        for k, name in start.items()]

    def _named(self, outputs: list[str]) -> dict[int, str]:
        """Outputs of the step by their place in the state."""
        layout, order = self.layout, list(range(self.layout.qd.stop))
        if len(outputs) == layout.state_size:
            order += range(layout.memory.start, layout.memory.stop)
        named = dict(zip([*order, layout.work, layout.dissipated], outputs, strict=True))
        return {k: name for k, name in named.items() if k in self.kept}

    def _command(self, x: list[str], inputs: list[str], constant: list[str]) -> list[str]:
        """Saturated command of a step: constant, from a table, or by feedback."""
        w = self.w
        if self.feedback is not None:
            k = w.line('sitofp i64 %k to double')
            time = w.line(f'fmul {w.type} {self._splat(k)}, {inputs[self.layout.step_length]}')
            efforts = w.inline(self.feedback, [time, *x[:self.layout.qd.stop]])
        elif self.sequence:
            efforts = self._from_table()
        else:
            return constant
        return w.inline(self.pieces.saturate, [*efforts, *inputs[self.nv:]])

    def _from_table(self) -> list[str]:
        """Efforts of this step, gathered from each lane's row of the table."""
        w, base, efforts = self.w, self.w.line('mul i64 %k, %effort_step'), []
        for j in range(self.nv):
            vector = 'undef'
            for lane in range(w.lanes):
                row = w.line(f'mul i64 {lane}, %effort_lane')
                place = w.line(f'add i64 {base}, {w.line(f"add i64 {row}, {j}")}')
                value = self._load_scalar('%efforts', place)
                vector = value if w.lanes == 1 else w.line(
                    f'insertelement {w.type} {vector}, double {value}, i32 {lane}')
            efforts.append(vector)
        return efforts

    def _settle(self, x: list[str], inputs: list[str], command: list[str],
                ) -> tuple[list[str], list[str]]:
        """State after impacts, and the force of friction and stops over the step."""
        w, layout, pieces = self.w, self.layout, self.pieces
        none = [w.constant(0.0)] * self.nv
        if pieces.settle is None:
            return x, none
        if pieces.near is not None and not pieces.always_settle:
            near = w.inline(pieces.near, [*x, *inputs])[0]
            w.plain('br label %check')
            w.plain('check:')
            w.plain(f'br i1 {self._any(near)}, label %contact, label %go')
            w.plain('contact:')
        found = w.call(pieces.settle, [*x, *inputs, *command])
        motion, held, lost = found[:layout.qd.stop], found[layout.qd.stop:-1], found[-1]
        dissipated = w.line(f'fadd {w.type} {x[layout.dissipated]}, {lost}')
        if pieces.near is not None and not pieces.always_settle:
            w.plain('br label %go')
            w.plain('go:')
            motion = [self._joined(a, b) for a, b in zip(motion, x, strict=False)]
            held = [self._joined(a, b) for a, b in zip(held, none, strict=True)]
            dissipated = self._joined(dissipated, x[layout.dissipated])
        after = [*motion, *x[layout.qd.stop:]]
        after[layout.dissipated] = dissipated
        return after, held

    def _joined(self, after_contact: str, otherwise: str) -> str:
        return self.w.line(f'phi {self.w.type} [ {after_contact}, %contact ], '
                           f'[ {otherwise}, %check ]')

    def _finish(self, result: dict[int, str]) -> None:
        """Write what happens after a step: record, go on, or leave."""
        w = self.w
        w.plain('keep:')
        w.plain('%next = add i64 %k, 1')
        if self.record:
            self._record(result)
        w.plain('br label %good')
        w.plain('good:')
        if self.record:
            w.plain('%left2 = phi i64 [ %fewer, %keep ], [ %every, %write ]')
            w.plain('%out2 = phi i64 [ %out, %keep ], [ %further, %write ]')
        w.plain('%more = icmp slt i64 %next, %to')
        w.plain('br i1 %more, label %loop, label %done')
        w.plain('done:')
        for k, name in result.items():
            self._store(name, k)
        w.plain('ret i64 %to')
        w.plain('bad:')
        for k, name in result.items():
            self._store(f'%x{k}', k)
            self._store(name, self.layout.rejected.start + k)
        w.plain('ret i64 %k')

    def _record(self, result: dict[int, str]) -> None:
        """Write the state of each lane into its row, every so many steps."""
        w, size = self.w, self.layout.qd.stop
        w.plain('%fewer = sub i64 %left, 1')
        w.plain('%now = icmp eq i64 %fewer, 0')
        w.plain('br i1 %now, label %write, label %good')
        w.plain('write:')
        for lane in range(w.lanes):
            base = w.line(f'add i64 {w.line(f"mul i64 {lane}, %record_lane")}, %out')
            for k in range(size):
                value = result[k] if w.lanes == 1 else w.line(
                    f'extractelement {w.type} {result[k]}, i32 {lane}')
                place = self._place('%record', w.line(f'add i64 {base}, {k}'), 'double')
                w.plain(f'store double {value}, {self.pointer} {place}')
        w.plain(f'%further = add i64 %out, {size}')

    def _all_finite(self, inputs: list[str]) -> str:
        """Condition that command and external force are finite numbers."""
        w, name = self.w, 'true'
        for value in inputs[:2 * self.nv]:
            size = w.line(f'call {w.type} @llvm.fabs.{w.suffix}({w.type} {value})')
            one = self._all(w.line(f'fcmp olt {w.type} {size}, {w.constant(float("inf"))}'))
            name = w.line(f'and i1 {name}, {one}')
        return name

    def _all(self, condition: str) -> str:
        w = self.w
        if w.lanes == 1:
            return condition
        mask = w.line(f'bitcast {w.bits} {condition} to i{w.lanes}')
        return w.line(f'icmp eq i{w.lanes} {mask}, -1')

    def _any(self, condition: str) -> str:
        w = self.w
        if w.lanes == 1:
            return condition
        mask = w.line(f'bitcast {w.bits} {condition} to i{w.lanes}')
        return w.line(f'icmp ne i{w.lanes} {mask}, 0')

    def _splat(self, value: str) -> str:
        w, vector = self.w, 'undef'
        if w.lanes == 1:
            return value
        for lane in range(w.lanes):
            vector = w.line(f'insertelement {w.type} {vector}, double {value}, i32 {lane}')
        return vector

    def _place(self, base: str, index: str | int, kind: str) -> str:
        """Address of an entry, as a pointer to a kind of value."""
        place = self.w.line(f'getelementptr double, {self.pointer} {base}, i64 {index}')
        if self.pointer == 'ptr' or kind == 'double':
            return place
        return self.w.line(f'bitcast double* {place} to {kind}*')

    def _load(self, entry: int) -> str:
        """Entry of the block, in all lanes."""
        kind = self.w.type
        place = self._place('%block', entry * self.w.lanes, kind)
        return self.w.line(f'load {kind}, {self._to(kind)} {place}, align 8')

    def _store(self, value: str, entry: int) -> None:
        kind = self.w.type
        place = self._place('%block', entry * self.w.lanes, kind)
        self.w.plain(f'store {kind} {value}, {self._to(kind)} {place}, align 8')

    def _load_scalar(self, base: str, index: str) -> str:
        return self.w.line(f'load double, {self.pointer} {self._place(base, index, "double")}')

    def _to(self, kind: str) -> str:
        """Type of a pointer to a kind of value."""
        return 'ptr' if self.pointer == 'ptr' else f'{kind}*'


class CompiledKernel:
    """Steps of one robot with one integrator, as machine code; same calls as `PlainKernel`."""

    SHORT = 64
    """Up to this many steps, a call does not let go of the interpreter's lock."""

    def __init__(self, robot: Robot, integrator: Integrator, pattern: Pattern,
                 track_energy: bool) -> None:
        self._pattern, self._layout = pattern, Layout(robot)
        self._later = _compile(robot, integrator, pattern, False, track_energy)
        self._first = (_compile(robot, integrator, pattern, True, track_energy)
                       if integrator.has_memory else self._later)

    def serves(self, inputs: Array) -> bool:
        """Whether the kernel is right for these parameters too: if their zeros are the same."""
        return nonzero(inputs, self._layout) == self._pattern

    def bind(self, block: Array) -> Bound:
        """Functions that make steps on a block of numbers; see `Bound`."""
        address, limit = block.ctypes.data, self.SHORT
        short, long = python_function(self._later, address), releasing_function(self._later,
                                                                                address)

        def later(n: int) -> int:
            return short(n) if n <= limit else long(n)

        if self._first is self._later:
            return Bound(later, later)
        start = python_function(self._first, address)

        def first(n: int) -> int:
            done = start(1)
            return done if done < 1 or n == 1 else 1 + later(n - 1)

        return Bound(first, later)


def _compile(robot: Robot, integrator: Integrator, pattern: Pattern, first: bool,
             track_energy: bool) -> engine.MachineCode:
    pieces = trace_pieces(robot, integrator, pattern, first, track_energy)
    text = KernelText(robot, pieces, 1, integrator.has_memory, track_energy).text()
    return engine.compile_module(text + wrapper(), 'call', 'run')


_KERNELS: WeakKeyDictionary[Robot, dict[Any, CompiledKernel]] = WeakKeyDictionary()


def kernel(robot: Robot, integrator: Integrator, pattern: Pattern, track_energy: bool,
           ) -> CompiledKernel:
    """Kernel of a robot, compiled when it is first asked for and kept as long as the robot is."""
    known = _KERNELS.setdefault(robot, {})
    key = integrator, pattern, track_energy
    if key not in known:
        known[key] = CompiledKernel(robot, integrator, pattern, track_energy)
    return known[key]
