"""Integrators have the order that the books say, on the plain and on the compiled path alike."""

import numpy as np
import pytest
from robots import robot_named

from torque_lab import Simulator
from torque_lab.physics.integrators import (
    INTEGRATORS,
    ButcherTableau,
    State,
    Verlet,
    integrator,
)

pytest.importorskip('llvmlite')

FIXED = [name for name in INTEGRATORS if name not in ('adaptive', 'none')]
THREE_EIGHTHS = ButcherTableau('three_eighths', 4, ((), (1 / 3,), (-1 / 3, 1.0), (1.0, -1.0, 1.0)),
                               (1 / 8, 3 / 8, 3 / 8, 1 / 8))


def final_state(name, method, dt, duration, start, compiled=None):
    simulator = Simulator(robot_named(name), method, dt, compiled=compiled)
    simulator.reset(*start)
    simulator.step(np.zeros(robot_named(name).nv), round(duration / dt))
    return simulator.state


def measured_order(name, method, start, dt):
    exact = final_state(name, 'rk4', 1e-4, 1.0, start)
    errors = [np.abs(final_state(name, method, h, 1.0, start) - exact).max()
              for h in (dt, dt / 2)]
    return np.log2(errors[0] / errors[1])


@pytest.mark.parametrize('method', [*FIXED, THREE_EIGHTHS])
def test_error_falls_with_the_power_of_the_step_that_is_the_order(method):
    expected = integrator(method).order
    dt = 0.02 if expected == 4 else 0.002
    measured = measured_order('pendulum', method, ([1.5], [0.0]), dt)
    assert measured == pytest.approx(expected, abs=0.1)


def test_verlet_falls_to_first_order_where_acceleration_depends_on_velocity():
    start = [1.0, 0.5], [1.0, -2.0]
    assert measured_order('double_pendulum', 'verlet', start, 5e-4) == pytest.approx(1, abs=0.15)
    assert measured_order('double_pendulum', 'velocity_verlet', start, 2e-3) == pytest.approx(
        2, abs=0.1)


def test_verlet_positions_are_those_of_the_three_term_recurrence():
    simulator, h = Simulator(robot_named('pendulum'), 'verlet', 0.01), 0.01

    def acceleration(y):
        return -9.81 / 2 * np.sin(y)

    simulator.reset([1.0], [0.5])
    before, now = 1.0, 1.0 + h * 0.5 + 0.5 * h**2 * acceleration(1.0)  # the starting step
    simulator.step([0.0])
    assert simulator.q[0] == pytest.approx(now, rel=1e-14)
    for _ in range(50):
        before, now = now, 2 * now - before + h**2 * acceleration(now)
        simulator.step([0.0])
        assert simulator.q[0] == pytest.approx(now, rel=1e-11)


def test_verlet_in_one_call_and_in_many_is_the_same():
    states = []
    for pieces in ([30], [1] * 30, [1, 29], [13, 17]):
        simulator = Simulator(robot_named('double_pendulum'), 'verlet', 0.01)
        for n in pieces:
            simulator.step([0.0, 0.0], n)
        states.append(simulator.state.tolist())
    assert all(state == states[0] for state in states)


@pytest.mark.parametrize('name', ['pendulum', 'double_pendulum', 'rp_arm', 'n_link', 'three_link',
                                  'rotary_pendulum', 'free_body', 'ur5', 1, 2])
@pytest.mark.parametrize('method', [*FIXED, 'none', THREE_EIGHTHS])
def test_plain_and_compiled_path_agree(name, method):
    robot = robot_named(name)
    rng, effort = np.random.default_rng(5), np.zeros(robot.nv)
    plain, fast = (Simulator(robot, method, 1e-3, compiled=c) for c in (False, True))
    assert fast.compiled
    assert not plain.compiled
    for n in (1, 2):
        effort = rng.normal(size=robot.nv)
        for simulator in (plain, fast):
            simulator.step(effort, n, external=0.1 * effort)
    np.testing.assert_allclose(fast.state, plain.state, rtol=1e-12, atol=1e-12)
    assert fast.energy.work == pytest.approx(plain.energy.work, rel=1e-11, abs=1e-13)
    assert fast.energy.dissipated == pytest.approx(plain.energy.dissipated, rel=1e-11, abs=1e-13)


def test_euler_gains_energy_and_rk4_keeps_it():
    robot, gains = robot_named('pendulum'), {}
    for method in ('euler', 'rk4'):
        simulator = Simulator(robot, method, 1e-3)
        before = simulator.energy.total
        simulator.step([0.0], 10_000)
        gains[method] = simulator.energy.total - before
    assert gains['euler'] > 0.5
    assert abs(gains['rk4']) < 1e-9


def test_double_pendulum_keeps_its_energy_for_a_minute():
    simulator = Simulator(robot_named('double_pendulum'), 'rk4', 1e-3)
    simulator.reset([np.pi / 2, 0.0])
    before, drift = simulator.energy.total, 0.0
    for _ in range(600):
        simulator.step([0.0, 0.0], 100)
        drift = max(drift, abs(simulator.energy.total - before))
    assert drift < 1e-9 * 117.72


def test_tumbling_body_keeps_energy_momentum_and_unit_quaternion_for_a_minute():
    from torque_lab.physics import momentum
    simulator = Simulator(robot_named('free_body').replace(gravity=np.zeros(3)))
    before, spin = simulator.energy.total, momentum(simulator.robot, simulator.q, simulator.qd)[1]
    for _ in range(60):
        simulator.step(np.zeros(6), 1000)
        assert simulator.energy.total == pytest.approx(before, rel=1e-9)
        now = momentum(simulator.robot, simulator.q, simulator.qd)[1]
        np.testing.assert_allclose(now, spin, rtol=0, atol=1e-9 * np.linalg.norm(spin))
        assert np.linalg.norm(simulator.q[3:]) == pytest.approx(1.0, abs=1e-15)


def test_adaptive_reference_agrees_with_small_steps():
    start = [1.0, 0.5], [0.3, -0.2]
    fine = final_state('double_pendulum', 'rk4', 1e-4, 0.5, start)
    np.testing.assert_allclose(final_state('double_pendulum', 'adaptive', 0.1, 0.5, start), fine,
                               rtol=0, atol=1e-11)


def test_no_integration_holds_the_state_while_time_passes():
    simulator = Simulator(robot_named('pendulum'), 'none', 0.05)
    before = simulator.state
    simulator.step([10.0], 7)
    assert simulator.time == pytest.approx(0.35)
    assert simulator.state.tolist() == before.tolist()


def test_unknown_integrators_and_impossible_tableaus_are_refused_by_name():
    with pytest.raises(ValueError, match='no integrator "rk5"; there are euler'):
        integrator('rk5')
    with pytest.raises(ValueError, match='weights add up to'):
        ButcherTableau('lossy', 1, ((),), (0.9,))
    with pytest.raises(ValueError, match='row i'):
        ButcherTableau('implicit', 1, ((0.5,),), (1.0,))


def test_the_starting_step_of_verlet_needs_no_memory():
    class Falling:
        def acceleration(self, q, qd):
            return np.array([-9.81])

        def rate(self, q, qd):
            return qd

        def power(self, q, qd):
            return 0.0, 0.0

        def normalise(self, q):
            return q

    start = State(np.array([1.0]), np.array([2.0]), np.array([np.nan]))
    state = Verlet().start(Falling(), start, 0.1)
    assert state.q[0] == pytest.approx(1.0 + 0.2 - 9.81 * 0.005)
    assert state.qd[0] == pytest.approx(2.0 - 0.981)
