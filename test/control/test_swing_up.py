"""Swing-ups and balances from many starts, by compiled rollouts."""

import numpy as np
import pytest

from torque_lab.control.configuration import Configuration
from torque_lab.control.lqr import deviation
from torque_lab.control.swing_up import SwingUp
from torque_lab.physics import jacobian, load, mass_matrix
from torque_lab.physics.rollout import rollout
from torque_lab.physics.simulator import Simulator

STARTS = 50


def starts(robot, centre, spread, speed, seed):
    rng = np.random.default_rng(seed)
    return np.column_stack([centre + rng.uniform(-1.0, 1.0, (STARTS, robot.nv)) * spread,
                            rng.uniform(-speed, speed, (STARTS, robot.nv))])


def caught_at(law, result):
    """Time after which each rollout stays where the regulator works; inf if it never does."""
    n, S = law.robot.nv, law.regulator.S
    x = np.array([[deviation(law.robot, law.regulator.equilibrium, row[:n], row[n:])
                   for row in run] for run in result.states])
    outside = np.einsum('rti,ij,rtj->rt', x, S, x) >= law.level
    last = np.where(outside, result.t, -1.0).max(axis=1)
    return np.where((last < result.t[-1]) & (result.diverged == 0), last, np.inf)


def study(robot, controller, x0, seconds):
    law = Configuration.shipped(robot.name, controller).law(robot)
    n = robot.nv
    result = rollout(robot, x0, lambda x: law.feedback(x[:n], x[n:]), dt=1e-3,
                     steps=round(seconds * 1000), record=100)
    return caught_at(law, result), result, law


def test_pendulum_swings_up_with_less_torque_than_its_weight_needs():
    robot = load('pendulum')
    x0 = starts(robot, np.zeros(1), 0.3, 0.1, seed=1)
    x0[0] = 0.0  # even from hanging still
    caught, _, law = study(robot, 'swing_up', x0, 20.0)
    assert law.limit < 2.0 * 9.81 * 2.0 / 2
    assert (caught < 10.0).all()


def test_rotary_pendulum_swings_up_and_balances_for_20_s_from_every_start():
    robot = load('rotary_pendulum')
    x0 = starts(robot, np.array([0.0, np.pi]), np.array([0.8, 0.3]), 0.5, seed=2)
    x0[0] = [0.0, np.pi, 0.0, 0.0]
    caught, _, law = study(robot, 'swing_up', x0, 30.0)
    assert np.sum(caught <= 10.0) == STARTS
    assert law.limit == 10.0


@pytest.mark.parametrize('controller', ['acrobot', 'pendubot'])
def test_double_pendulum_driven_at_one_joint_swings_up_within_60_s(controller):
    robot = load('double_pendulum')
    x0 = starts(robot, np.zeros(2), 0.2, 0.1, seed=3)
    caught, result, law = study(robot, controller, x0, 65.0)
    assert np.sum(caught <= 60.0) >= 40
    passive = 1 - law.driven[0]
    for x in result.states[:, ::50].reshape(-1, 4):
        assert law.feedback(x[:2], x[2:])[passive] == 0.0


def test_rotary_pendulum_recovers_from_a_push_at_the_tip():
    robot = load('rotary_pendulum')
    law = Configuration.shipped('rotary_pendulum', 'swing_up').law(robot)
    simulator = Simulator(robot, track_energy=False)
    for seed in range(5):
        angle = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi)
        impulse = 0.05 * np.array([np.cos(angle), np.sin(angle), 0.0, 0.0, 0.0, 0.0])
        q = np.zeros(2)
        jump = np.linalg.solve(mass_matrix(robot, q).astype(float), jacobian(robot, q).T @ impulse)
        simulator.reset(q, jump)
        for _ in range(8000):
            simulator.step(law._law(simulator.q, simulator.qd))
        assert law.caught(simulator.q, simulator.qd)


def test_inside_the_catch_region_the_regulator_never_saturates():
    robot = load('rotary_pendulum')
    law = Configuration.shipped('rotary_pendulum', 'swing_up').law(robot)
    r, rng = law.regulator, np.random.default_rng(4)
    half = np.linalg.cholesky(r.S)
    largest = 0.0
    for _ in range(2000):
        direction = rng.normal(size=4)
        x = np.linalg.solve(half.T, direction / np.linalg.norm(direction)) * np.sqrt(law.level)
        largest = max(largest, abs(r.K[0] @ x))
    assert 9.0 < largest <= 10.0 + 1e-9


def test_swing_up_refuses_robots_that_it_does_not_fit():
    with pytest.raises(ValueError, match='one or two joints of which one is driven'):
        SwingUp(load('double_pendulum'), SwingUp.Parameters(equilibrium=(np.pi, 0.0)))
    with pytest.raises(ValueError, match='one or two joints'):
        SwingUp(load('three_link'), SwingUp.Parameters(driven_joints=('joint1',)))
