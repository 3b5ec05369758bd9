"""Lockstep: a period passes when the answer to the last state is there, and not before."""

import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from torque_lab.nodes import interface


def seconds(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def milliseconds(message):
    return round(seconds(message) * 1000)


class Answerer:
    """A controller in the test's own process: records every state and answers it once."""

    def __init__(self, lab, joints, delay=0.0, law=None):
        self.states = {}
        self._delay, self._law = delay, law
        self._publisher = lab.node.create_publisher(JointState, interface.JOINT_COMMAND, 1)
        self._command = JointState(name=joints)
        lab.node.create_subscription(JointState, interface.JOINT_STATES, self._on_state, 1)

    def _on_state(self, state):
        self.states[milliseconds(state)] = (*state.position, *state.velocity)
        if self._delay:
            time.sleep(self._delay)
        self._command.header.stamp = state.header.stamp
        q, qd = np.array(state.position), np.array(state.velocity)
        self._command.effort = list(self._law(q, qd) if self._law else -3.0 * q - qd)
        self._publisher.publish(self._command)


def run(lab, delay=0.0, until=300):
    lab.dynamics('three_link', lockstep=True, real_time_factor=0.0)
    answerer = Answerer(lab, ['joint1', 'joint2', 'joint3'], delay)
    lab.wait(lambda: answerer.states and max(answerer.states) >= until, 'lockstep', seconds=60.0)
    return {stamp: state for stamp, state in answerer.states.items() if stamp <= until}


@pytest.fixture
def second_lab(tmp_path_factory):
    from conftest import Lab
    laboratory = Lab(tmp_path_factory.mktemp('second'))
    yield laboratory
    laboratory.close()


def test_repeated_runs_are_identical_to_the_bit_also_with_a_slow_controller(lab, second_lab):
    quick, slow = run(lab), run(second_lab, delay=0.002)
    assert len(quick) == 301, 'not every state was answered'
    assert quick == slow


def test_controller_that_drops_and_delays_answers_in_real_time_is_survived_and_counted(lab):
    process = lab.dynamics(initial_position=[0.1])
    reports = lab.listen(DiagnosticArray, interface.DIAGNOSTICS)
    publisher = lab.publisher(JointState, interface.JOINT_COMMAND)
    rng, old, seen = np.random.default_rng(8), [], []

    def on_state(state):
        seen.append(state)
        effort = -200.0 * state.position[0] - 60.0 * state.velocity[0]
        command = JointState(name=['joint1'], effort=[effort])
        command.header.stamp = state.header.stamp
        chance = rng.random()
        if chance < 0.2:
            return  # dropped
        old.append(command)
        publisher.publish(command if chance < 0.8 or len(old) < 9 else old[-8])  # or long delayed
    lab.node.create_subscription(JointState, interface.JOINT_STATES, on_state, 1)
    lab.wait(lambda: seen and seen[-1].header.stamp.sec >= 3 and abs(seen[-1].position[0]) < 0.01,
             'the arm at rest')

    def counted():
        values = {pair.key: pair.value for report in reports for pair in report.status[0].values}
        return int(values['commands late']) > 20 and int(values['commands refused']) == 0
    lab.wait(counted, 'late commands in the diagnostics')
    assert process.exit_status is None


def test_time_stands_still_without_an_answer_and_says_so(lab):
    lab.dynamics(lockstep=True, lockstep_timeout=0.3)
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait_for_line('dynamics', 'lockstep: no answer to the state of 0.000 s; waiting')
    assert {seconds(state) for state in states} == {0.0}


def test_policy_continue_goes_on_as_if_commands_had_stopped(lab):
    lab.dynamics(lockstep=True, lockstep_policy='continue', lockstep_timeout=0.02, start='free')
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(lambda: states and seconds(states[-1]) > 0.02, 'time')
    assert states[-1].effort[0] == 0.0


def test_late_answers_are_counted_and_never_taken(lab):
    lab.dynamics(lockstep=True, real_time_factor=0.0)
    publisher = lab.publisher(JointState, interface.JOINT_COMMAND)
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(lambda: states, 'the node')

    def answer(stamp_ns, effort):
        command = JointState(name=['joint1'], effort=[effort])
        command.header.stamp.nanosec = stamp_ns
        publisher.publish(command)
    answer(0, 1.0)
    lab.wait(lambda: seconds(states[-1]) == 0.001, 'the first step')
    answer(0, 99.0)
    lab.spin(0.3)
    assert seconds(states[-1]) == 0.001, 'a late answer was taken for the next'
    answer(1_000_000, 2.0)
    lab.wait(lambda: seconds(states[-1]) == 0.002, 'the second step')
    assert states[-1].effort[0] == 2.0


def test_real_controller_and_lockstep_hold_the_pendulum(lab):
    lab.dynamics(lockstep=True, real_time_factor=0.0)
    lab.controller(command='stamped')
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(lambda: states and seconds(states[-1]) > 4.0, 'four seconds', seconds=60.0)
    assert abs(states[-1].position[0] + 1.2566370614359172) < np.radians(0.1)


def test_reset_in_lockstep_starts_anew(lab):
    lab.dynamics(lockstep=True, real_time_factor=0.0)
    answerer = Answerer(lab, ['joint1'])
    lab.wait(lambda: answerer.states and max(answerer.states) > 50, 'time')
    answerer.states.clear()
    assert lab.call(Trigger, '/dynamics/reset').success
    lab.wait(lambda: 20 in answerer.states, 'time after the reset')
