"""Whatever a law does, the arm gets the right number of finite efforts within its limits."""

import time

import numpy as np
import pytest

from torque_lab.control import LAWS, Law, Reference, Supervisor
from torque_lab.control.pid import Gains
from torque_lab.control.supervisor import GRAVITY
from torque_lab.physics import gravity_torque, load

ROBOT = load('double_pendulum')
STATE = np.array([0.4, -0.3]), np.array([0.1, 0.2])
HOLD = Reference.hold([0.4, -0.3])


class Bad(Law):
    def __init__(self, answer):
        super().__init__(ROBOT)
        self.answer = answer

    def effort(self, t, dt, q, qd, reference):
        return self.answer()


def sleep():
    time.sleep(3.0)
    return [0.0, 0.0]


def endless():
    while True:
        pass


@pytest.mark.parametrize(('answer', 'reason'), [
    (lambda: 1 / 0, 'bad threw ZeroDivisionError'),
    (lambda: [1.0], 'bad returned efforts of shape (1,); the robot has 2 joints'),
    (lambda: [[1.0, 2.0]], 'bad returned efforts of shape (1, 2)'),
    (lambda: [1.0, float('nan')], 'bad returned nan for joint "joint2"'),
    (lambda: [float('inf'), 1.0], 'bad returned inf for joint "joint1"'),
    (lambda: None, 'bad returned'), (lambda: 'ten', 'which is no list of numbers'),
    (lambda: [1j, 0.0], 'no list of numbers'),
    (sleep, 'bad did not come back within'), (endless, 'bad did not come back within')])
def test_bad_law_is_cut_off_with_its_name_and_reason(answer, reason):
    supervisor = Supervisor(ROBOT, GRAVITY, time_limit=0.02)
    supervisor.use(Bad(answer))
    first = supervisor.answer(0.0, 0.0, *STATE, HOLD)
    assert reason in supervisor.fault
    assert first.effort == pytest.approx(gravity_torque(ROBOT, STATE[0]))
    again = supervisor.answer(0.0, 0.001, *STATE, HOLD)  # and is not asked again
    assert again.effort == pytest.approx(first.effort)


def test_slow_answer_that_came_is_refused_too():
    def slow():
        end = time.monotonic() + 0.03
        while time.monotonic() < end:
            pass
        return [0.0, 0.0]
    supervisor = Supervisor(ROBOT, time_limit=0.01)
    supervisor.use(Bad(slow))
    assert supervisor.answer(0.0, 0.0, *STATE, HOLD).effort.tolist() == [0.0, 0.0]
    assert 'the limit is 0.01 s' in supervisor.fault


def test_servo_on_gives_a_law_another_chance_and_another_law_too():
    supervisor = Supervisor(ROBOT)
    broken = [True]
    supervisor.use(Bad(lambda: 1 / 0 if broken else [3.0, 4.0]))
    supervisor.answer(0.0, 0.0, *STATE, HOLD)
    assert supervisor.fault
    broken.clear()
    supervisor.switch(True)
    assert supervisor.answer(0.0, 0.0, *STATE, HOLD).effort.tolist() == [3.0, 4.0]
    assert not supervisor.fault


def test_effort_is_clipped_at_the_limits_and_says_so():
    supervisor = Supervisor(ROBOT)
    supervisor.use(Bad(lambda: [1000.0, -1.0]))
    effort, saturated = supervisor.answer(0.0, 0.0, *STATE, HOLD)
    assert effort.tolist() == [300.0, -1.0]
    assert saturated.tolist() == [True, False]


def test_servo_off_gives_the_safe_effort():
    supervisor = Supervisor(ROBOT)
    supervisor.use(Bad(lambda: [5.0, 5.0]))
    supervisor.switch(False)
    assert supervisor.answer(0.0, 0.0, *STATE, HOLD).effort.tolist() == [0.0, 0.0]
    supervisor.safe_effort = GRAVITY
    assert supervisor.answer(0.0, 0.0, *STATE, HOLD).effort == pytest.approx(
        gravity_torque(ROBOT, STATE[0]))


def test_change_of_law_and_of_gains_comes_in_without_a_bump():
    supervisor = Supervisor(ROBOT, blend_time=0.1)
    supervisor.use(Bad(lambda: [50.0, -20.0]))
    supervisor.answer(0.0, 0.0, *STATE, HOLD)
    supervisor.use(LAWS['pd_gravity'](ROBOT))
    last, final = np.array([50.0, -20.0]), gravity_torque(ROBOT, STATE[0])
    step = 0.02 * np.abs(final - last).max()
    for k in range(1, 151):
        effort = supervisor.answer(k * 0.001, 0.001, *STATE, HOLD).effort
        assert np.abs(effort - last).max() < step
        last = effort
    assert last == pytest.approx(final)
    law = supervisor.law
    law.set_parameters(law.parameters, [Gains(p=500.0), Gains(p=500.0)])
    supervisor.changed()
    away = Reference.hold([1.0, 1.0])
    assert supervisor.answer(0.2, 0.001, *STATE, away).effort == pytest.approx(last)


def test_answer_costs_little():
    """Not a matter of microseconds, but of not calling anything slow by accident."""
    robot = load('ur5')
    supervisor = Supervisor(robot)
    supervisor.use(LAWS['computed_torque'](robot))
    zero = np.zeros(6)
    began = time.thread_time()
    for _ in range(1000):
        supervisor.answer(0.0, 0.001, zero, zero, Reference.hold(zero))
    assert time.thread_time() - began < 1.0
