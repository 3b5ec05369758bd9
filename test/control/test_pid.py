"""PID as a pure law."""

import math

import numpy as np
import pytest

from torque_lab.control.pid import (
    BACK_CALCULATION,
    CONDITIONAL_INTEGRATION,
    NONE,
    PID,
    Gains,
)
from torque_lab.physics import load
from torque_lab.physics.simulator import Simulator

GOAL = np.array([-math.pi / 2.5])


def run(gains, seconds, dt=1e-3, hold=1, goal=GOAL):
    """Positions of the course pendulum, one row per control period."""
    robot = load('pendulum')
    simulator = Simulator(robot, dt=dt)
    law = PID([gains], robot.effort_limit)
    rows = []
    for _ in range(round(seconds / (dt * hold))):
        simulator.step(law.effort(dt * hold, simulator.q, simulator.qd, goal), n=hold)
        rows.append(simulator.q[0])
    return np.array(rows)


def test_effort_is_the_sum_of_its_three_terms():
    law = PID([Gains(p=10.0, i=4.0, d=2.0)], [math.inf])
    q, qd, goal = np.array([0.5]), np.array([0.25]), np.array([1.5])
    assert law.effort(0.1, q, qd, goal) == pytest.approx(10.0 - 0.5)
    assert law.effort(0.1, q, qd, goal) == pytest.approx(10.0 - 0.5 + 4.0 * 0.1)


def test_effort_never_leaves_the_clamps_nor_the_limits_of_the_joint():
    rng = np.random.default_rng(1)
    law = PID([Gains(p=1e4, i=1e4, d=1e2, u_clamp_max=50.0), Gains(p=1e4)], [80.0, 20.0])
    for _ in range(200):
        effort = law.effort(0.01, *rng.normal(size=(3, 2)) * 10.0)
        assert -80.0 <= effort[0] <= 50.0
        assert abs(effort[1]) <= 20.0


@pytest.mark.parametrize('strategy', [CONDITIONAL_INTEGRATION, BACK_CALCULATION])
def test_antiwindup_shortens_the_overshoot_of_a_saturated_start(strategy):
    far = np.array([-math.pi])
    with_strategy = run(Gains(1500.0, 3000.0, 220.0, antiwindup_strategy=strategy), 4.0, goal=far)
    without = run(Gains(1500.0, 3000.0, 220.0, antiwindup_strategy=NONE), 4.0, goal=far)
    assert with_strategy.min() > without.min() + np.radians(1.0)


def test_integral_term_is_clamped():
    law = PID([Gains(i=100.0, i_clamp_max=3.0, i_clamp_min=-2.0)], [math.inf])
    for _ in range(100):
        law.effort(0.1, np.array([0.0]), np.array([0.0]), np.array([1.0]))
    assert law.integral[0] == 3.0
    for _ in range(100):
        law.effort(0.1, np.array([0.0]), np.array([0.0]), np.array([-1.0]))
    assert law.integral[0] == -2.0


def test_change_of_gains_keeps_the_integral_and_reset_clears_it():
    law = PID([Gains(p=1.0, i=10.0)], [math.inf])
    law.effort(0.5, np.zeros(1), np.zeros(1), np.ones(1))
    held = law.integral.copy()
    law.set_gains([Gains(p=1.0, i=99.0)])
    assert law.effort(0.0, np.zeros(1), np.zeros(1), np.zeros(1)) == held
    law.reset()
    assert law.integral == 0.0


def test_course_pendulum_settles_with_the_good_gains_and_not_with_the_printed_ones():
    good = run(Gains(1500.0, 3000.0, 220.0), 4.0)
    assert np.abs(good[2300:] - GOAL).max() < np.radians(0.1)
    printed = run(Gains(1500.0, 150.0, 15.0), 4.0)
    assert np.degrees(printed.min()) < -200.0, 'barely damped: a huge overshoot'
    assert np.abs(printed[2300:] - GOAL).max() > np.radians(5.0)


def test_slow_loop_needs_softer_gains():
    soft = run(Gains(200.0, 150.0, 60.0), 10.0, hold=50)
    assert np.abs(soft[-20:] - GOAL).max() < np.radians(0.1)
    hard = run(Gains(1500.0, 150.0, 15.0), 10.0, hold=50)
    assert np.abs(hard[-20:] - GOAL).max() > np.radians(20.0)


@pytest.mark.parametrize('gains', [
    {'p': -1.0}, {'i': math.nan}, {'d': math.inf}, {'u_clamp_max': -1.0, 'u_clamp_min': 1.0},
    {'antiwindup_strategy': 'hope'}])
def test_bad_gains_are_refused(gains):
    with pytest.raises(ValueError, match=next(iter(gains))[:7]):
        Gains(**gains)
