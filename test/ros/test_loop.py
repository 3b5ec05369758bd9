"""Both nodes together: the loop, and what each says when the other is gone."""

import os
import signal

import numpy as np
import pytest
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from torque_lab.nodes import interface

GOAL = -1.2566370614359172


def settled(states, goal, tolerance=0.01, count=200):
    """Whether the arm has been at its goal for a while, not only on its way through it."""
    return lambda: len(states) > count and all(
        np.abs(np.array(state.position) - goal).max() < tolerance for state in states[-count:])


def set_parameter(lab, name, value):
    parameter = Parameter(name=name, value=ParameterValue(
        type=ParameterType.PARAMETER_DOUBLE, double_value=value))
    request = SetParameters.Request(parameters=[parameter])
    return lab.call(SetParameters, '/controller/set_parameters', request).results[0]


@pytest.mark.parametrize('command', ['array', 'stamped'])
def test_pendulum_comes_to_its_goal_and_stays(lab, command):
    lab.dynamics()
    lab.controller(command=command)
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(settled(states, GOAL, np.radians(0.1), count=1000), 'a second at the goal')


def test_controller_reads_joints_by_name_whatever_their_order(lab):
    lab.controller('double_pendulum_pid')
    lab.dynamics('double_pendulum', start='paused')  # only for its description
    lab.wait_for_line('controller', 'pid on joint1, joint2')
    commands = lab.listen(Float64MultiArray, interface.EFFORT_COMMANDS)
    publisher = lab.publisher(JointState, interface.JOINT_STATES)
    state = JointState(name=['joint2', 'gripper', 'joint1'], position=[1.84, 9.9, -1.46 - 0.01],
                       velocity=[0.0, 9.9, 0.0])

    def answered():
        state.header.stamp.nanosec += 1000
        publisher.publish(state)
        lab.spin(0.02)
        return [c for c in commands if abs(c.data[0] - 30.0) < 1.0 and abs(c.data[1]) < 1.0]
    lab.wait(answered, 'an answer with the joints in their places')


def test_goal_and_gains_change_while_it_runs(lab):
    lab.dynamics()
    lab.controller()
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(settled(states, GOAL), 'the first goal')
    publisher = lab.publisher(Float64MultiArray, '/controller/goal')
    publisher.publish(Float64MultiArray(data=[0.3]))
    lab.wait(settled(states, 0.3), 'the second goal')
    assert set_parameter(lab, 'gains.joint1.p', 1200.0).successful
    got = lab.call(GetParameters, '/controller/get_parameters',
                   GetParameters.Request(names=['gains.joint1.p']))
    assert got.values[0].double_value == 1200.0
    lab.spin(0.5)
    assert settled(states, 0.3)(), 'the change of gain upset the arm'


@pytest.mark.parametrize(('name', 'value'), [
    ('gains.joint1.p', -1.0), ('gains.joint1.i', float('nan')),
    ('gains.joint1.u_clamp_max', -500.0)])
def test_bad_gain_is_refused_with_the_reason(lab, name, value):
    lab.dynamics()
    lab.controller()
    lab.wait_for_line('controller', 'pid on joint1')
    result = set_parameter(lab, name, value)
    assert not result.successful
    assert result.reason


def test_goal_of_the_wrong_length_ends_the_controller_with_one_line(lab):
    lab.dynamics()
    controller = lab.controller(goal=[1.0, 2.0])
    line = lab.wait_for_line('controller', 'cannot control this robot')
    assert line.startswith('FATAL') and 'it wants 1 finite number' in line
    lab.wait(lambda: controller.exit_status is not None, 'the end of the node')
    assert controller.exit_status == 1
    assert not any('Traceback' in text for text in lab.lines('controller'))


def test_law_that_cannot_be_made_is_refused_and_the_old_one_goes_on(lab, tmp_path):
    (tmp_path / 'bad_law.py').write_text(
        'from torque_lab.control.law import Law\n\n\n'
        'class Bad(Law):\n    name = "bad"\n\n'
        '    def __init__(self, *arguments):\n        raise KeyError("nothing here")\n\n'
        '    def effort(self, *arguments):\n        return []\n')
    lab.dynamics()
    controller = lab.controller()
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(settled(states, GOAL), 'the goal')
    parameter = Parameter(name='controller', value=ParameterValue(
        type=ParameterType.PARAMETER_STRING, string_value=f'{tmp_path}/bad_law.py:Bad'))
    result = lab.call(SetParameters, '/controller/set_parameters',
                      SetParameters.Request(parameters=[parameter])).results[0]
    assert not result.successful and 'KeyError' in result.reason
    lab.spin(0.5)
    assert controller.exit_status is None
    assert settled(states, GOAL)(), 'the refusal upset the arm'


def test_controller_killed_drops_the_effort_and_a_new_one_takes_over(lab):
    lab.dynamics()
    controller = lab.controller()
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(settled(states, GOAL), 'the goal')
    os.kill(controller.pid, signal.SIGKILL)
    lab.wait_for_line('dynamics', 'no command for 0.1 s: effort set to zero; is the controller')
    lab.wait(lambda: states[-1].effort[0] == 0.0, 'zero effort')
    lab.controller()
    lab.wait_for_line('dynamics', 'commands are back')
    lab.wait(settled(states, GOAL), 'the goal again')


def test_dynamics_killed_is_noticed_and_its_restart_survived(lab):
    dynamics = lab.dynamics()
    controller = lab.controller()
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(settled(states, GOAL), 'the goal')
    os.kill(dynamics.pid, signal.SIGKILL)
    lab.wait_for_line('controller', 'no joint states for')
    states.clear()
    lab.dynamics()
    lab.wait_for_line('controller', 'time jumped back')
    lab.wait(settled(states, GOAL), 'the goal again')
    assert controller.exit_status is None
