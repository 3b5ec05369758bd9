"""Minimum-jerk motions and quintics through waypoints."""

import numpy as np
import pytest

from torque_lab.control import Reference
from torque_lab.control.goals import MINIMUM_JERK, STEP, Goals
from torque_lab.control.trajectory import minimum_jerk, quintic, through, through_states, within

RNG = np.random.default_rng(5)


def slopes(motion, t, h=1e-5):
    """Velocity and acceleration by differences."""
    before, now, after = (motion.at(t + k * h).position for k in (-1, 0, 1))
    return (after - before) / (2 * h), (after - 2 * now + before) / h**2


def test_minimum_jerk_is_the_known_polynomial():
    motion = minimum_jerk(1.0, Reference.hold([0.0]), [2.0], 4.0)
    for s in np.linspace(0.0, 1.0, 11):
        expected = 2.0 * (10 * s**3 - 15 * s**4 + 6 * s**5)
        assert motion.at(1.0 + 4.0 * s).position == pytest.approx(expected, abs=1e-12)
    speed, acceleration = motion.peaks()
    assert speed == pytest.approx(15 / 8 * 2.0 / 4.0)
    assert acceleration == pytest.approx(10 / np.sqrt(3) * 2.0 / 16.0)


def test_reference_velocity_and_acceleration_are_the_slopes_of_the_position():
    motion = through([0.0, 0.7, 1.1, 2.0], RNG.normal(size=(4, 3)))
    for t in (0.2, 0.69, 0.9, 1.5):
        velocity, acceleration = slopes(motion, t)
        assert motion.at(t).velocity == pytest.approx(velocity, abs=1e-6)
        assert motion.at(t).acceleration == pytest.approx(acceleration, abs=1e-3)


def test_waypoints_are_met_from_rest_to_rest_without_a_jump_up_to_the_fourth_derivative():
    times, points = np.array([0.0, 0.5, 1.5, 2.0]), RNG.normal(size=(4, 2))
    motion = through(times, points)
    for t, point in zip(times, points, strict=True):
        assert motion.at(t).position == pytest.approx(point, abs=1e-9)
    for t in (times[0], times[-1]):
        assert np.abs(motion.at(t).velocity).max() < 1e-9
    for k in (0, 1):
        for order in range(5):
            left = motion._derivative(k, times[k + 1] - times[k], order)
            assert left == pytest.approx(motion._derivative(k + 1, 0.0, order), abs=1e-6)


def test_no_other_motion_through_the_waypoints_has_less_jerk():
    times, points = np.array([0.0, 1.0, 2.5]), np.array([[0.0], [1.0], [0.3]])
    best = through(times, points)

    def jerk(motion):
        return sum((motion._derivative(k, s, 3) ** 2).sum() * 0.005
                   for k, length in enumerate(np.diff(motion.times))
                   for s in np.arange(0.0025, length, 0.005))

    middle = best.at(1.0)
    for _ in range(5):
        other = Reference(middle.position, middle.velocity + 0.3 * RNG.normal(size=1),
                          middle.acceleration + 0.3 * RNG.normal(size=1))
        rival = through_states(times, [Reference.hold(points[0]), other,
                                       Reference.hold(points[2])])
        assert jerk(best) < jerk(rival)


@pytest.mark.parametrize('limits', [(0.5, np.inf), (np.inf, 0.8), (0.5, 0.8)])
def test_limits_are_kept_and_one_of_them_is_reached(limits):
    motion, factor = within(through([0.0, 0.5, 1.0], RNG.normal(size=(3, 2))), *limits)
    speed, acceleration = motion.peaks()
    assert factor > 1.0
    assert max(speed.max() / limits[0], np.sqrt(acceleration.max() / limits[1])) == (
        pytest.approx(1.0, rel=1e-6))
    goal = minimum_jerk(0.0, Reference.hold([0.0, 0.0]), [1.0, -2.0], None, *limits)
    speed, acceleration = goal.peaks()
    assert speed.max() <= limits[0] * (1 + 1e-6) and acceleration.max() <= limits[1] * (1 + 1e-6)


def test_moving_start_keeps_its_velocity_and_the_limits():
    start = Reference(np.array([0.0]), np.array([0.8]), np.array([-1.0]))
    motion = minimum_jerk(0.0, start, [-1.0], None, 1.0, 3.0)
    assert motion.at(0.0).velocity == pytest.approx(0.8)
    assert motion.at(0.0).acceleration == pytest.approx(-1.0)
    assert motion.peaks()[0].max() <= 1.0 + 1e-6


def test_new_goal_on_the_way_bends_the_reference_without_a_jump():
    goals = Goals(np.array([1.0]), np.array([2.0]), MINIMUM_JERK)
    goals.begin(0.0, np.array([0.0]))
    goals.go(0.0, [1.0])
    before = goals.at(0.8)
    goals.go(0.8, [-1.0])
    after = goals.at(0.8)
    assert after.position == pytest.approx(before.position)
    assert after.velocity == pytest.approx(before.velocity)
    assert after.acceleration == pytest.approx(before.acceleration)
    assert goals.at(100.0).position.tolist() == [-1.0]


def test_step_goal_is_there_at_once_and_a_jump_of_time_keeps_it():
    goals = Goals(np.array([1.0]), np.array([2.0]), STEP)
    goals.begin(0.0, np.array([0.5]))
    assert goals.at(0.0).position == 0.5
    goals.go(0.0, [2.0])
    assert goals.at(0.001).position == 2.0
    goals.begin(0.0, np.array([0.7]))
    assert goals.at(0.0).position == 2.0


def test_trajectory_goes_on_from_the_reference_and_is_slowed_to_the_limits():
    goals = Goals(np.array([1.0]), np.array([np.inf]))
    goals.begin(0.0, np.array([0.5]))
    assert goals.follow(1.0, [2.0], [np.array([1.0])]) == 1.0
    assert goals.at(1.0).position == pytest.approx(0.5)
    assert goals.at(3.0).position == pytest.approx(1.0)
    factor = goals.follow(3.0, [0.1, 0.2], [np.array([1.5]), np.array([2.0])])
    assert factor > 1.0
    assert goals.at(3.0 + 0.2 * factor).position == pytest.approx(2.0)


@pytest.mark.parametrize(('times', 'positions'), [
    ([0.0, 0.0], [[0.0], [1.0]]), ([0.0], [[0.0]]), ([0.0, np.nan], [[0.0], [1.0]]),
    ([0.0, 1.0], [[0.0], [np.inf]])])
def test_bad_waypoints_are_refused(times, positions):
    with pytest.raises(ValueError, match='waypoint'):
        through(times, np.array(positions))
    with pytest.raises(ValueError, match='some time'):
        quintic(0.0, Reference.hold([0.0]), 0.0, Reference.hold([1.0]))


def test_goal_motion_without_limits_is_calm():
    goals = Goals(np.array([np.inf]), np.array([np.inf]), MINIMUM_JERK)
    goals.begin(0.0, np.array([0.0]))
    goals.go(0.0, [1.0])
    peak = max(abs(goals.at(t).acceleration[0]) for t in np.linspace(0.0, 3.0, 3001))
    assert peak == pytest.approx(4.0, rel=1e-3)
