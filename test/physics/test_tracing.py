"""Tracing keeps the computation and nothing more; compiled code computes what was traced."""

import ctypes

import numpy as np
import pytest

from torque_lab.physics.scalar import clamp, cos, select, sin, sqrt
from torque_lab.physics.tracing.derivative import directional, held
from torque_lab.physics.tracing.function import objects, repeated, trace

llvm = pytest.importorskip('llvmlite')
from torque_lab.physics.tracing import engine  # noqa: E402
from torque_lab.physics.tracing.buffers import compile_function  # noqa: E402
from torque_lab.physics.tracing.emitter import Writer, module  # noqa: E402


def compiled(function, *sizes):
    """Numbers in, numbers out, through machine code."""
    traced = trace('f', function, *sizes)
    code, run, block = compile_function(traced)

    def call(*values):
        block[:traced.inputs] = np.concatenate([np.atleast_1d(value) for value in values])
        run(1)
        assert code.addresses
        return block[traced.inputs:].copy()

    return call


def count(function, *sizes):
    return trace('f', function, *sizes).operations


def test_zeros_and_ones_leave_no_operation():
    assert count(lambda x: 0 * x, 0) == 0
    assert count(lambda x: 1 * x + 0, 0) == 0
    assert count(lambda x: x - x, 0) == 0
    assert count(lambda x: np.array([[0, 1], [1, 0]]) @ x, 2) == 0


def test_constants_meet():
    assert count(lambda x: 2.0 * (3.0 * x), 0) == 1
    assert trace('f', lambda x: 0.0 * x + 5.0, 0)(0.0 + _traced()) == 5.0


def _traced():
    kept = []
    trace('g', lambda x: kept.append(x) or x, 0)
    return kept[0]


def test_common_subexpressions_are_computed_once():
    assert count(lambda x: objects([x[0] * x[1] + 1.0, x[1] * x[0] + 2.0]), 2) == 3
    assert count(lambda x: objects([x[0] - x[1], x[1] - x[0]]), 2) == 1
    assert count(lambda x: objects([sin(x), sin(-x)]), 0) == 1
    assert count(lambda x: sin(x) + sin(-x), 0) == 0


def test_code_that_branches_on_a_traced_value_is_refused_in_words():
    with pytest.raises(TypeError, match=r'cannot branch.*select'):
        trace('f', lambda x: x if x > 0 else -x, 0)
    with pytest.raises(TypeError, match='not a number yet'):
        trace('f', lambda x: float(x), 0)


def test_values_of_one_trace_do_not_leak_into_another():
    kept = _traced()
    with pytest.raises(ValueError, match='another trace'):
        trace('f', lambda x: x + 0 if False else select(x < 1, kept, x), 0)


def test_compiled_arithmetic_is_that_of_floats():
    def law(x, y):
        a, b = x * y - x / y, sqrt(abs(x)) + sin(x) * cos(y)
        return objects([a, b, select(x < y, a, b), clamp(x, -0.5, 0.5), x**3, 2 / y - x])

    call, rng = compiled(law, 0, 0), np.random.default_rng(1)
    for x, y in rng.normal(size=(50, 2)):
        expected = np.array(law(x, y).tolist(), dtype=float)
        np.testing.assert_allclose(call(x, y), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize('scale', [1e-3, 1.0, 30.0, 1e4, 1e6, 1e9, 1e12])
def test_sine_and_cosine_hold_at_large_angles(scale):
    call, rng = compiled(lambda x: objects([sin(x), cos(x)]), 0), np.random.default_rng(2)
    angles = rng.uniform(-scale, scale, 2000)
    results = np.array([call(angle) for angle in angles])
    np.testing.assert_allclose(results, np.column_stack([np.sin(angles), np.cos(angles)]),
                               rtol=0, atol=2.5e-16)


def test_sine_keeps_its_digits_near_its_zeros():
    call = compiled(lambda x: objects([sin(x), cos(x)]), 0)
    for k in range(-50, 50):
        angle = k * np.pi / 2
        np.testing.assert_allclose(call(angle), [np.sin(angle), np.cos(angle)], rtol=1e-9,
                                   atol=1e-25)
    assert call(0.0).tolist() == [0.0, 1.0]


@pytest.mark.parametrize('lanes', [2, 4, 8])
def test_lanes_compute_what_one_state_computes(lanes):
    traced = trace('f', lambda x: objects([sin(x[0]) * x[1], select(x[0] < x[1], x[0], x[1])]), 2)
    w, p = Writer(lanes), engine.pointer()
    vector = p if p == 'ptr' else f'{w.type}*'

    def place(k):
        return w.line(f'getelementptr {w.type}, {vector} %block, i64 {k}')

    inputs = [w.line(f'load {w.type}, {vector} {place(k)}, align 8') for k in range(2)]
    for k, name in enumerate(w.inline(traced, inputs)):
        w.plain(f'store {w.type} {name}, {vector} {place(2 + k)}, align 8')
    w.plain('ret void')
    code = engine.compile_module(module(w, f'define void @f({vector} %block)'), 'f')
    block = np.zeros((4, lanes))
    block[:2] = np.random.default_rng(3).normal(size=(2, lanes)) * 100
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.addresses['f'])(block.ctypes.data)
    one = compiled(lambda x: objects([sin(x[0]) * x[1], select(x[0] < x[1], x[0], x[1])]), 2)
    for lane in range(lanes):
        assert one(block[:2, lane]).tolist() == block[2:, lane].tolist()


def test_a_repeated_body_is_a_loop_with_the_same_result():
    def newton(carried, fixed):
        return (objects([0.5 * (carried[0][0] + fixed[0][0] / carried[0][0])]),)

    def root(x):
        return repeated('newton', 20, newton, (objects([1.0 + 0 * x]),), (objects([x]),))[0]

    call = compiled(root, 0)
    assert call(2.0)[0] == pytest.approx(np.sqrt(2.0), rel=1e-15)
    assert float(root(2.0)[0]) == pytest.approx(np.sqrt(2.0), rel=1e-15)


def test_a_traced_function_called_from_another_trace_is_called_not_copied():
    inner = trace('inner', lambda x: x[0] * x[1], 2)
    inner.may_inline = False
    call = compiled(lambda x: inner(x) + inner(objects([x[1], x[1]])), 2)
    assert call([2.0, 3.0])[0] == 2.0 * 3.0 + 9.0


def test_derivative_of_a_trace_is_that_of_the_complex_step():
    def law(x):
        return objects([sin(x[0] * x[1]) / x[2], sqrt(x[2]) * cos(x[0]) - x[1]**3])

    point, direction = np.array([0.3, -0.7, 1.9]), np.array([1.0, 2.0, -0.5])
    call = compiled(lambda x: directional(law(x), x, direction), 3)
    exact = np.array([complex(v) for v in law(point + 1e-30j * direction)]).imag / 1e-30
    np.testing.assert_allclose(call(point), exact, rtol=1e-14)


def test_held_values_have_no_derivative():
    call = compiled(lambda x: directional(held(objects([x[0] * x[1]])) * x[0], x,
                                          np.array([1.0, 0.0])), 2)
    assert call([3.0, 5.0])[0] == 15.0
