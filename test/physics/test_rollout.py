"""A batch is nothing but its simulations, whatever the lanes, threads and laws."""

import warnings

import numpy as np
import pytest
from robots import random_states, robot_named

from torque_lab import Simulator, rollout
from torque_lab.physics.scalar import clamp

pytest.importorskip('llvmlite')


def starts(name, count):
    q, qd = random_states(robot_named(name), count)
    return np.hstack([q, qd])


@pytest.mark.parametrize('name', ['pendulum', 'three_link', 'rp_arm', 'rotary_pendulum',
                                  'free_body', 'ur5'])
@pytest.mark.parametrize('method', ['rk4', 'verlet'])
def test_every_rollout_is_a_simulation(name, method):
    robot, x0 = robot_named(name), starts(name, 11)
    efforts = np.random.default_rng(1).normal(size=(11, robot.nv))
    result = rollout(robot, x0, efforts, 1e-3, 50, integrator=method, record=10)
    assert result.states.shape == (11, 6, robot.nq + robot.nv)
    np.testing.assert_allclose(result.t, np.arange(6) * 0.01)
    for k in (0, 7, 10):
        simulator = Simulator(robot, method)
        simulator.reset(x0[k, :robot.nq], x0[k, robot.nq:])
        for row in range(5):
            np.testing.assert_allclose(result.states[k, row], simulator.state, rtol=1e-12,
                                       atol=1e-12)
            simulator.step(efforts[k], 10)
        np.testing.assert_allclose(result.final[k], simulator.state, rtol=1e-12, atol=1e-12)
    assert not result.diverged.any()


def test_threads_and_neighbours_do_not_change_a_result():
    robot, x0 = robot_named('three_link'), starts('three_link', 50)
    whole = rollout(robot, x0, None, 1e-3, 100, threads=1)
    threaded = rollout(robot, x0, None, 1e-3, 100, threads=3)
    assert whole.states.tobytes() == threaded.states.tobytes()
    part = rollout(robot, x0[17:20], None, 1e-3, 100)
    assert part.final.tobytes() == whole.final[17:20].tobytes()


@pytest.mark.parametrize('shape', ['table', 'shared'])
def test_a_table_of_efforts_is_applied_step_by_step(shape):
    robot, x0 = robot_named('double_pendulum'), starts('double_pendulum', 10)
    table = np.random.default_rng(2).normal(size=(10 if shape == 'table' else 1, 30, 2)) * 5
    result = rollout(robot, x0, table, 1e-3, 30)
    for k in (0, 9):
        simulator = Simulator(robot)
        simulator.reset(x0[k, :2], x0[k, 2:])
        for step in range(30):
            simulator.step(table[k if shape == 'table' else 0, step])
            np.testing.assert_allclose(result.states[k, step + 1], simulator.state, rtol=1e-12,
                                       atol=1e-12)


def test_a_feedback_law_is_compiled_into_the_loop():
    robot, x0 = robot_named('double_pendulum'), starts('double_pendulum', 9)
    gains = np.array([[-50.0, -10.0, -8.0, 0.0], [0.0, -40.0, 0.0, -6.0]])

    def law(t, x):
        return gains @ x + np.array([np.sin(x[0]), clamp(100 * t, 0.0, 1.0)])

    with warnings.catch_warnings():
        warnings.simplefilter('error')
        result = rollout(robot, x0, law, 1e-3, 40)
    for k in range(9):
        simulator = Simulator(robot)
        simulator.reset(x0[k, :2], x0[k, 2:])
        for step in range(40):
            simulator.step(law(step * 1e-3, simulator.state))
        np.testing.assert_allclose(result.final[k], simulator.state, rtol=1e-11, atol=1e-12)


def test_a_law_that_branches_runs_in_python_and_says_so():
    robot, x0 = robot_named('pendulum'), starts('pendulum', 3)

    def bang_bang(x):
        return [5.0 if x[0] < 0 else -5.0]

    with pytest.warns(UserWarning, match='runs in Python'):
        result = rollout(robot, x0, bang_bang, 1e-3, 20)
    simulator = Simulator(robot)
    simulator.reset(x0[2, :1], x0[2, 1:])
    for _ in range(20):
        simulator.step(bang_bang(simulator.state))
    np.testing.assert_allclose(result.final[2], simulator.state, rtol=1e-12)


def test_a_rollout_that_diverges_is_held_and_its_neighbours_go_on():
    robot = robot_named('pendulum').replace(damping=np.array([1e3]))
    x0 = np.zeros((20, 2))
    x0[:, 1] = 1e-3
    x0[[3, 12], 1] = [5.0, 1.0]

    compiled = rollout(robot, x0, None, 0.05, 14, integrator='euler')
    plain = rollout(robot, x0, None, 0.05, 14, integrator='euler', compiled=False)
    assert (compiled.diverged > 0).sum() == 2
    assert compiled.diverged.tolist() == plain.diverged.tolist()
    np.testing.assert_allclose(compiled.states, plain.states, rtol=1e-12)
    np.testing.assert_allclose(compiled.final, plain.final, rtol=1e-12)
    assert np.isfinite(compiled.states).all()
    assert compiled.diverged[3] < compiled.diverged[12]


def test_progress_is_told_up_to_the_end():
    told = []
    rollout(robot_named('pendulum'), starts('pendulum', 100), None, 1e-3, 10,
            progress=lambda done, all_: told.append((done, all_)))
    assert told[-1] == (100, 100)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_only_start_and_end_are_kept_on_request():
    x0 = starts('pendulum', 5)
    result = rollout(robot_named('pendulum'), x0, None, 1e-3, 77, record=0)
    assert result.states.shape == (5, 2, 2)
    assert result.states[:, 1].tolist() == result.final.tolist()


@pytest.mark.parametrize(('change', 'words'), [
    ({'x0': np.zeros((3, 5))}, 'x0 needs finite numbers'),
    ({'x0': np.full((3, 2), np.nan)}, 'x0 needs finite'),
    ({'efforts': np.zeros((4, 1))}, 'efforts must be finite, of shape'),
    ({'efforts': [np.inf]}, 'efforts must be finite'),
    ({'efforts': lambda x: x}, 'must return 1 efforts'),
    ({'steps': 0}, 'steps >= 1'), ({'dt': -1.0}, 'dt > 0')])
def test_bad_batches_are_refused_in_words(change, words):
    arguments = {'x0': np.zeros((3, 2)), 'efforts': None, 'dt': 1e-3, 'steps': 5, **change}
    with pytest.raises(ValueError, match=words):
        rollout(robot_named('pendulum'), **arguments)
