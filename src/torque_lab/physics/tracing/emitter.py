"""
From graph to LLVM: straight-line code on one state, or on several at once in SIMD lanes.

The emitter writes LLVM's text form.  A value is a ``double``, or with L lanes a vector
``<L x double>``: the same code, L robots.  Multiplications and additions may be contracted to
fused operations by the code generator; nothing else about rounding is left open, so that results
are the same from run to run.
"""

from __future__ import annotations

import struct

from .function import Function
from .graph import Node
from .trigonometry import emit_sine_and_cosine

INLINE = 1000
"""Functions of up to this many operations are written out where they are called."""

BINARY = {'add': 'fadd contract', 'sub': 'fsub contract', 'mul': 'fmul contract'}


class Writer:
    """Lines of one LLVM function, with a name for every value."""

    def __init__(self, lanes: int = 1) -> None:
        self.lanes = lanes
        self.lines: list[str] = []
        vector = f'<{lanes} x {{}}>' if lanes > 1 else '{}'
        self.type, self.integers, self.bits = (vector.format(t) for t in ('double', 'i64', 'i1'))
        self.suffix = f'v{lanes}f64' if lanes > 1 else 'f64'
        self.functions: dict[str, Function] = {}
        """Functions that are called and have to be defined as well."""
        self._count = 0
        self._constants: dict[float, str] = {}

    def line(self, code: str) -> str:
        """Write an instruction; return the name of its value."""
        self._count += 1
        self.lines.append(f'  %v{self._count} = {code}')
        return f'%v{self._count}'

    def plain(self, code: str) -> None:
        """Write an instruction without a value, or a label."""
        self.lines.append(code if code.endswith(':') else f'  {code}')

    def constant(self, value: float) -> str:
        """Literal of a number in all lanes."""
        if value not in self._constants:
            literal = '0x' + struct.pack('>d', value).hex().upper()
            self._constants[value] = literal if self.lanes == 1 else (
                '<' + ', '.join([f'double {literal}'] * self.lanes) + '>')
        return self._constants[value]

    def integer(self, value: int) -> str:
        """Literal of a whole number in all lanes."""
        if self.lanes == 1:
            return str(value)
        return '<' + ', '.join([f'i64 {value}'] * self.lanes) + '>'

    def fused(self, a: str, b: str, c: str) -> str:
        """``a b + c`` rounded once."""
        t = self.type
        return self.line(f'call {t} @llvm.fma.{self.suffix}({t} {a}, {t} {b}, {t} {c})')

    def choose(self, condition: str, a: str, b: str) -> str:
        """``a`` where a condition holds, else ``b``."""
        return self.line(f'select {self.bits} {condition}, {self.type} {a}, {self.type} {b}')

    def inline(self, function: Function, arguments: list[str]) -> list[str]:
        """Write a function out; return the names of its outputs."""
        values: dict[int, str] = {}
        trigonometric: dict[int, tuple[str, str]] = {}
        calls: dict[int, list[str]] = {}
        nodes = function.graph.nodes
        for index in function.nodes:
            node = nodes[index]
            if node[0] == 'constant':
                values[index] = self.constant(node[1])
            elif node[0] == 'input':
                values[index] = arguments[node[1]]
            elif node[0] == 'hold':
                values[index] = values[node[1]]
            elif node[0] == 'call':
                calls[index] = self.call(node[1], [values[i] for i in node[2:]])
            elif node[0] == 'output':
                values[index] = calls[node[1]][node[2]]
            elif node[0] in ('sin', 'cos'):
                if node[1] not in trigonometric:
                    trigonometric[node[1]] = emit_sine_and_cosine(self, values[node[1]])
                values[index] = trigonometric[node[1]][node[0] == 'cos']
            else:
                values[index] = self._operation(node, [values[i] for i in node[1:]])
        return [values[index] for index in function.outputs]

    def call(self, function: Function, arguments: list[str]) -> list[str]:
        """Write a call, or the function itself if it is small; return the names of its outputs."""
        if function.may_inline and function.times == 1 and function.operations <= INLINE:
            return self.inline(function, arguments)
        self.functions[function.name] = function
        typed = ', '.join(f'{self.type} {name}' for name in arguments)
        result = self.line(f'call fastcc {self.result(function)} @{function.name}({typed})')
        return [self.line(f'extractvalue {self.result(function)} {result}, {place}')
                for place in range(len(function.outputs))]

    def result(self, function: Function) -> str:
        """Type of what a function returns."""
        return '{' + ', '.join([self.type] * len(function.outputs)) + '}'

    def _operation(self, node: Node, names: list[str]) -> str:
        kind, t = node[0], self.type
        if kind in BINARY:
            return self.line(f'{BINARY[kind]} {t} {names[0]}, {names[1]}')
        if kind == 'neg':
            return self.line(f'fneg {t} {names[0]}')
        if kind == 'reciprocal':
            return self.line(f'fdiv {t} {self.constant(1.0)}, {names[0]}')
        if kind in ('abs', 'sqrt'):
            name = 'fabs' if kind == 'abs' else 'sqrt'
            return self.line(f'call {t} @llvm.{name}.{self.suffix}({t} {names[0]})')
        if kind == 'less':
            return self.line(f'fcmp olt {t} {names[0]}, {names[1]}')
        if kind in ('or', 'and'):
            return self.line(f'{kind} {self.bits} {names[0]}, {names[1]}')
        if kind == 'select':
            return self.choose(*names)
        raise ValueError(f'no code for {kind}')


def define(function: Function, writer: Writer, attributes: str) -> str:
    """Text of an LLVM function for a traced one that is called."""
    arguments = [f'%a{k}' for k in range(function.inputs)]
    head = ', '.join(f'{writer.type} {name}' for name in arguments)
    if function.times > 1:
        outputs = _loop(function, writer, arguments)
    else:
        outputs = writer.inline(function, arguments)
    result, value = writer.result(function), 'undef'
    for place, name in enumerate(outputs):
        value = writer.line(f'insertvalue {result} {value}, {writer.type} {name}, {place}')
    body = '\n'.join(writer.lines)
    return (f'define internal fastcc {result} @{function.name}({head}) noinline {attributes} {{\n'
            f'{body}\n  ret {result} {value}\n}}\n')


def _loop(function: Function, w: Writer, arguments: list[str]) -> list[str]:
    """Write a loop that applies a function to its own outputs; return the last ones."""
    count = len(function.outputs)
    for line in ('entry:', 'br label %loop', 'loop:', '%i = phi i64 [ 0, %entry ], [ %j, %loop ]'):
        w.plain(line)
    phis = len(w.lines)
    outputs = w.inline(function, [f'%c{k}' for k in range(count)] + arguments[count:])
    w.lines[phis:phis] = [f'  %c{k} = phi {w.type} [ {arguments[k]}, %entry ], [ {name}, %loop ]'
                          for k, name in enumerate(outputs)]
    for line in ('%j = add i64 %i, 1', f'%more = icmp slt i64 %j, {function.times}',
                 'br i1 %more, label %loop, label %done', 'done:'):
        w.plain(line)
    return outputs


def module(writer: Writer, head: str, attributes: str = '') -> str:
    """Text of an LLVM module: the function that a writer holds, and all that it calls."""
    parts = [f'{head} {attributes} {{\n' + '\n'.join(writer.lines) + '\n}\n']
    written: set[str] = set()
    waiting = dict(writer.functions)
    while waiting:
        name, function = waiting.popitem()
        if name not in written:
            written.add(name)
            inner = Writer(writer.lanes)
            parts.append(define(function, inner, attributes))
            waiting.update(inner.functions)
    t, s = writer.type, writer.suffix
    parts += [f'declare {t} @llvm.fma.{s}({t}, {t}, {t})', f'declare {t} @llvm.fabs.{s}({t})',
              f'declare {t} @llvm.sqrt.{s}({t})']
    return '\n'.join(parts)
