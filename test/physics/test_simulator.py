"""The simulator: same calls, same bits; power balance; bad input and divergence in clear words."""

import sys
import time
import warnings

import numpy as np
import pytest
from robots import robot_named, some_robots

from torque_lab import Divergence, Simulator
from torque_lab.physics import forward_dynamics, mass_matrix, pending
from torque_lab.physics.compiled_laws import CompiledLaws
from torque_lab.physics.forces import command_limit

pytest.importorskip('llvmlite')

BOTH = pytest.mark.parametrize('compiled', [False, True])


@pytest.mark.parametrize('name', some_robots())
def test_work_and_dissipation_balance_the_energy(name):
    robot = robot_named(name)
    rng = np.random.default_rng(3)
    robot = robot.replace(damping=np.full(robot.nv, 0.02), lower=np.full(robot.nv, -np.inf),
                          upper=np.full(robot.nv, np.inf))
    simulator = Simulator(robot, dt=2e-4)
    before = simulator.energy.total
    for _ in range(20):
        effort = rng.normal(size=robot.nv) * 0.1
        simulator.step(effort, 20, external=0.05 * rng.normal(size=robot.nv))
        energy = simulator.energy
        assert energy.total == pytest.approx(before + energy.work - energy.dissipated,
                                             rel=1e-8, abs=1e-7)
    assert energy.dissipated > 0


@BOTH
def test_results_are_the_same_to_the_bit(compiled):
    runs = []
    for _ in range(2):
        simulator = Simulator(robot_named('three_link'), compiled=compiled)
        for k in range(5):
            simulator.step([np.sin(k), 1.0, -0.5], 1 + k)
        runs.append(simulator.state.tobytes())
    assert runs[0] == runs[1]


def test_many_steps_in_one_call_are_many_calls_of_one_step():
    one, many = Simulator(robot_named('ur5')), Simulator(robot_named('ur5'))
    many.step(np.ones(6), 200)
    for _ in range(200):
        one.step(np.ones(6))
    assert one.state.tobytes() == many.state.tobytes()
    assert one.steps == many.steps == 200
    assert one.time == pytest.approx(0.2)


def test_tracking_the_energy_does_not_change_the_motion():
    states = []
    for track in (True, False):
        simulator = Simulator(robot_named('three_link'), track_energy=track)
        simulator.step([1.0, 0.5, 0.1], 500)
        states.append(simulator.state)
    np.testing.assert_allclose(states[0], states[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize('turns', [1e4, 1e6])
def test_a_joint_that_has_spun_far_still_has_the_right_acceleration(turns):
    robot = robot_named('three_link')
    q, qd, tau = np.array([turns + 0.3, -turns, 0.7]), np.array([1.0, -2.0, 0.5]), np.ones(3)
    right = forward_dynamics(robot, q, qd, tau)
    np.testing.assert_allclose(CompiledLaws(robot).forward_dynamics(q, qd, tau), right, rtol=0,
                               atol=1e-10)
    reduced = np.remainder(q, 2 * np.pi)  # the same angles up to their own rounding
    near = forward_dynamics(robot, reduced, qd, tau)
    np.testing.assert_allclose(right, near, rtol=0, atol=turns * 1e-12)


@BOTH
def test_efforts_are_saturated_and_external_forces_are_not(compiled):
    robot = robot_named('pendulum')
    at_limit, beyond, pushed = (Simulator(robot, compiled=compiled) for _ in range(3))
    at_limit.step([300.0], 5)
    beyond.step([1e6], 5)
    pushed.step([300.0], 5, external=[100.0])
    assert beyond.applied_effort.tolist() == [300.0]
    assert beyond.state.tolist() == at_limit.state.tolist()
    assert pushed.qd[0] > at_limit.qd[0]
    pushed.step([0.0])
    assert pushed.applied_effort.tolist() == [0.0]


@BOTH
def test_an_external_force_acts_in_its_own_call_only(compiled):
    free, pushed = (Simulator(robot_named('pendulum'), compiled=compiled) for _ in range(2))
    pushed.step([0.0], external=[50.0])
    state = pushed.state
    free.reset(state[:1], state[1:])
    for simulator in (free, pushed):
        simulator.step([0.0], 3)
    np.testing.assert_allclose(free.state, pushed.state, rtol=1e-14)


@BOTH
def test_a_motor_turns_volts_into_torque_less_the_back_emf(compiled):
    robot = robot_named('rotary_pendulum')
    motor = robot.motors[0]
    assert motor is not None
    simulator = Simulator(robot, 'euler', 1e-6, compiled=compiled)
    simulator.reset([0.1, 2.0], [3.0, -1.0])
    simulator.step([1e3, 0.0])
    volts = command_limit(robot)[0]
    assert simulator.applied_effort[0] == volts == motor.voltage_limit
    tau = np.array([motor.torque(volts, 3.0), 0.0]) - robot.damping * np.array([3.0, -1.0])
    expected = forward_dynamics(robot, np.array([0.1, 2.0]), np.array([3.0, -1.0]), tau)
    np.testing.assert_allclose((simulator.qd - [3.0, -1.0]) / 1e-6, expected, rtol=1e-6)


@BOTH
@pytest.mark.parametrize(('bad', 'words'), [
    ([np.nan, 0.0], 'effort needs 2 finite numbers'), ([np.inf, 0.0], 'finite'),
    ([1.0], r'effort needs 2 finite numbers; got shape \(1,\)'), (3.0, 'got shape'),
    ([[1.0, 2.0], [3.0, 4.0]], 'got shape'), (['a', 'b'], 'effort needs'), (None, 'effort needs')])
def test_bad_efforts_are_refused_and_the_state_is_untouched(compiled, bad, words):
    simulator = Simulator(robot_named('double_pendulum'), compiled=compiled)
    simulator.step([1.0, 2.0], 3)
    before = simulator.state.tobytes(), simulator.steps, simulator.applied_effort.tolist()
    with pytest.raises(ValueError, match=words):
        simulator.step(bad)
    with pytest.raises(ValueError, match='external needs 2 finite'):
        simulator.step([0.0, 0.0], external=[np.nan, 0.0])
    for n in (0, -1, 1.5):
        with pytest.raises(ValueError, match='n must be a whole number'):
            simulator.step([0.0, 0.0], n)
    assert (simulator.state.tobytes(), simulator.steps,
            simulator.applied_effort.tolist()) == before
    simulator.step([1.0, 2.0])


@BOTH
def test_divergence_names_joint_step_and_time_and_keeps_the_last_good_state(compiled):
    simulator = Simulator(robot_named('double_pendulum'), 'euler', 0.05, compiled=compiled)
    simulator.set_parameters(damping=[0.0, 1e3])  # far too stiff for the step
    simulator.reset([1.0, 0.5], [0.0, 1.0])
    with pytest.raises(Divergence, match='joint "') as caught:
        simulator.step([0.0, 0.0], 5000)
    error = caught.value
    assert error.joint in robot_named('double_pendulum').joint_names
    assert error.step == simulator.steps + 1
    assert error.time == pytest.approx(error.step * 0.05)
    assert np.isfinite(simulator.state).all()
    assert np.abs(simulator.state).sum() < 1e9
    simulator.reset()
    simulator.step([0.0, 0.0])
    assert simulator.steps == 1


def test_both_paths_diverge_in_the_same_step():
    steps = []
    for compiled in (False, True):
        simulator = Simulator(robot_named('pendulum'), 'euler', 0.05, compiled=compiled)
        simulator.set_parameters(damping=[1e3])
        simulator.reset([1.0], [1.0])
        with pytest.raises(Divergence) as caught:
            simulator.step([0.0], 1000)
        steps.append(caught.value.step)
    assert steps[0] == steps[1]


def test_parameters_change_between_steps_without_a_new_kernel():
    robot = robot_named('double_pendulum')
    simulator = Simulator(robot)
    kernel = simulator._kernel
    simulator.set_parameters(gravity=[0, 0, -1.62], damping=[0.5, 0.1])
    assert simulator._kernel is kernel
    other = Simulator(robot.replace(gravity=np.array([0, 0, -1.62]), damping=np.array([0.5, 0.1])),
                      compiled=False)
    for s in (simulator, other):
        s.step([1.0, 0.0], 20)
    np.testing.assert_allclose(simulator.state, other.state, rtol=1e-12)
    assert simulator.gravity.tolist() == [0, 0, -1.62]


def test_parameters_that_bring_new_terms_bring_a_new_kernel():
    robot = robot_named('double_pendulum')
    simulator = Simulator(robot)
    simulator.set_parameters(gravity=[1.0, 0, -9.0], friction=[0.3, 0.0])
    other = Simulator(robot.replace(gravity=np.array([1.0, 0, -9.0]),
                                    friction=np.array([0.3, 0.0])), compiled=False)
    for s in (simulator, other):
        s.step([1.0, 0.0], 20)
    np.testing.assert_allclose(simulator.state, other.state, rtol=1e-12)


def test_a_change_of_mass_comes_in_while_the_simulation_goes_on():
    from torque_lab import load
    simulator, heavy = Simulator(robot_named('pendulum')), load('pendulum', mass=3.0)
    simulator.set_parameters(robot=heavy, wait=False)
    for _ in range(1000):
        simulator.step([0.0])
        if simulator._pending is None:
            break
        time.sleep(0.01)
    assert mass_matrix(simulator.robot, simulator.q)[0, 0] == pytest.approx(12.0)
    with pytest.raises(ValueError, match='other joints'):
        simulator.set_parameters(robot=robot_named('ur5'))


def test_a_change_overtakes_one_that_is_still_on_its_way():
    simulator = Simulator(robot_named('double_pendulum'))
    simulator.set_parameters(friction=[1.0, 0.0], wait=False)
    simulator.set_parameters(damping=[0.2, 0.3], wait=False)
    simulator.set_parameters(gravity=[0.0, 0.0, -3.7])
    assert simulator.friction.tolist() == [1.0, 0.0]
    assert simulator.damping.tolist() == [0.2, 0.3]
    assert simulator.gravity.tolist() == [0.0, 0.0, -3.7]
    simulator.step([0.0, 0.0])


def test_the_integrator_changes_between_steps():
    simulator = Simulator(robot_named('pendulum'))
    simulator.step([0.0], 10)
    simulator.integrator = 'verlet'
    simulator.step([0.0], 10)
    simulator.integrator = 'adaptive'
    simulator.step([0.0], 2)
    assert simulator.integrator == 'adaptive'
    assert simulator.steps == 22
    assert simulator.energy.total == pytest.approx(0.0, abs=1e-4)


def test_run_records_every_control_instant():
    simulator = Simulator(robot_named('pendulum'), dt=1e-3)
    seen = []

    def controller(t, q, qd):
        seen.append(t)
        return [-1e4 * q[0]]

    result = simulator.run(0.1, controller, control_period=0.005)
    assert len(result) == 21
    assert len(seen) == 20
    np.testing.assert_allclose(result.t, np.arange(21) * 0.005)
    assert result.q.shape == result.qd.shape == result.effort.shape == (21, 1)
    assert result.effort[0, 0] == -300.0
    np.testing.assert_allclose(result.q[-1], simulator.q)
    with pytest.raises(ValueError, match='control_period must be a positive multiple'):
        simulator.run(0.1, controller, control_period=0.0015)


def test_a_run_that_diverges_hands_over_what_it_recorded():
    simulator = Simulator(robot_named('pendulum'), 'euler', 0.05)
    simulator.set_parameters(damping=[1e4])
    with pytest.raises(Divergence) as caught:
        simulator.run(50.0, lambda t, q, qd: [100.0])
    assert len(caught.value.trajectory) == simulator.steps + 1
    assert np.isfinite(caught.value.trajectory.q).all()


def test_states_are_copies_and_starts_are_checked():
    simulator = Simulator(robot_named('free_body'))
    simulator.q[:] = 7.0
    assert simulator.q[0] == 0.0
    simulator.reset([0, 0, 0, 0, 0, 0, 2.0], np.ones(6))
    assert simulator.q[6] == 1.0
    for bad in ([0, 0, 0, 0, 0, 0, 0], [1.0, 2.0], [np.nan] * 7):
        with pytest.raises(ValueError, match='free_body'):
            simulator.reset(bad)
    with pytest.raises(ValueError, match='dt must be a positive'):
        Simulator(robot_named('pendulum'), dt=0.0)


def test_without_llvmlite_the_plain_path_serves_and_says_so_once(monkeypatch):
    monkeypatch.setattr(pending, '_said', False)
    monkeypatch.setitem(sys.modules, 'llvmlite', None)
    monkeypatch.setitem(sys.modules, 'llvmlite.binding', None)
    from torque_lab.physics.tracing import engine
    engine._target.cache_clear()
    try:
        with pytest.warns(UserWarning, match='llvmlite is not installed'):
            simulator = Simulator(robot_named('pendulum'))
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            Simulator(robot_named('pendulum')).step([0.0])
        assert not simulator.compiled
        with pytest.raises(RuntimeError, match='needs llvmlite'):
            Simulator(robot_named('pendulum'), compiled=True)
    finally:
        engine._target.cache_clear()
