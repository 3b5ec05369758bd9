"""The dynamics node as its users meet it: in a process of its own."""

import itertools
import math

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from torque_lab.nodes import interface
from torque_lab.physics import load
from torque_lab.physics.simulator import Simulator

ARRAY = interface.EFFORT_COMMANDS


def seconds(message) -> float:
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def joint_states(lab):
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(lambda: states, 'the first joint state')
    return states


def send(lab, publisher, message, times=1, apart=0.01) -> None:
    for _ in range(times):
        publisher.publish(message)
        lab.spin(apart)


def test_arm_is_held_until_the_first_command_and_then_falls(lab):
    lab.dynamics(command_timeout=0.0)
    states = joint_states(lab)
    lab.wait(lambda: seconds(states[-1]) > 0.3, 'time')
    assert states[-1].position[0] == math.pi / 2
    assert states[-1].velocity[0] == 0.0
    publisher = lab.publisher(Float64MultiArray, ARRAY)
    send(lab, publisher, Float64MultiArray(data=[0.0]))
    lab.wait(lambda: states[-1].position[0] < 1.4, 'the fall')


def test_free_start_is_the_motion_of_the_simulator_to_the_bit(lab):
    lab.dynamics('double_pendulum', start='free')
    states = joint_states(lab)
    lab.wait(lambda: seconds(states[-1]) > 0.5, 'time')
    simulator = Simulator(load('double_pendulum'))
    for state in states:
        steps = round(seconds(state) * 1000) - simulator.steps
        if steps:
            simulator.step(np.zeros(2), n=steps)
        assert list(state.position) == list(simulator.q), f'after {simulator.steps} steps'
        assert list(state.velocity) == list(simulator.qd)


def test_states_name_joints_in_urdf_order_and_stamps_count_whole_periods(lab):
    lab.dynamics('double_pendulum', publish_rate=500.0)
    states = joint_states(lab)
    clocks = lab.listen(Clock, interface.CLOCK)
    lab.wait(lambda: len(states) > 100 and clocks, 'states and clock')
    assert states[0].name == ['joint1', 'joint2']
    assert states[0].header.frame_id
    stamps = [s.header.stamp.sec * 10**9 + s.header.stamp.nanosec for s in states]
    assert all(stamp % 2_000_000 == 0 for stamp in stamps)
    assert all(b > a for a, b in itertools.pairwise(stamps))


def test_published_effort_is_the_applied_one_after_saturation(lab):
    lab.dynamics(command_timeout=0.0)
    states = joint_states(lab)
    publisher = lab.publisher(Float64MultiArray, ARRAY)
    send(lab, publisher, Float64MultiArray(data=[1000.0]))
    lab.wait(lambda: states[-1].effort[0] == 300.0, 'the saturated effort')


def test_description_is_there_for_whoever_comes_late(lab):
    lab.dynamics()
    joint_states(lab)
    received: list[String] = []
    lab.node.create_subscription(String, interface.ROBOT_DESCRIPTION, received.append,
                                 interface.LATCHED)
    lab.wait(lambda: received, 'the description')
    assert received[0].data == load('pendulum').urdf


@pytest.mark.parametrize(('message', 'words'), [
    (Float64MultiArray(data=[1.0, 2.0]), '2 efforts for 1 joints (joint1)'),
    (Float64MultiArray(data=[math.nan]), 'effort nan for joint "joint1" is not finite'),
    (JointState(name=['elbow'], effort=[1.0]), 'unknown joint "elbow"; the joints are joint1'),
    (JointState(name=['joint1', 'joint1'], effort=[1.0, 2.0]), 'joint "joint1" is named twice'),
    (JointState(name=['joint1'], effort=[]), '1 names but 0 efforts'),
])
def test_bad_command_is_refused_in_one_line_and_the_good_one_stays(lab, message, words):
    lab.dynamics(command_timeout=0.0)
    states = joint_states(lab)
    good = lab.publisher(Float64MultiArray, ARRAY)
    topic = ARRAY if isinstance(message, Float64MultiArray) else interface.JOINT_COMMAND
    bad = lab.publisher(type(message), topic)
    send(lab, good, Float64MultiArray(data=[7.0]))
    lab.wait(lambda: states[-1].effort[0] == 7.0, 'the good command')
    send(lab, bad, message, times=20)
    line = lab.wait_for_line('dynamics', words)
    assert line.startswith('ERROR') and topic in line
    count = len(states)
    lab.wait(lambda: len(states) > count + 10, 'more states')
    assert states[-1].effort[0] == 7.0
    assert np.isfinite(states[-1].position).all()
    assert len([text for text in lab.lines('dynamics') if words in text]) == 1, 'reported twice'


def test_every_command_is_accounted_for_in_diagnostics(lab):
    lab.dynamics()
    joint_states(lab)
    reports = lab.listen(DiagnosticArray, interface.DIAGNOSTICS)
    publisher = lab.publisher(Float64MultiArray, ARRAY)
    # So far apart that none is replaced in the middleware's queue of one, where nobody sees it.
    send(lab, publisher, Float64MultiArray(data=[1.0]), times=10, apart=0.06)
    send(lab, publisher, Float64MultiArray(data=[math.inf]), times=3, apart=0.06)

    def settled() -> bool:
        if not reports:
            return False
        values = {pair.key: pair.value for pair in reports[-1].status[0].values}
        counts = {name: int(values[f'commands {name}'])
                  for name in ('applied', 'superseded', 'refused', 'late')}
        return counts['refused'] == 3 and sum(counts.values()) == 13
    lab.wait(settled, 'the account of 13 commands')


def test_paused_time_stands_still_and_steps_one_by_one(lab):
    lab.dynamics(start='free')
    states = joint_states(lab)
    assert not lab.call(Trigger, '/dynamics/step').success, 'stepped while running'
    assert lab.call(Trigger, '/dynamics/pause').success
    lab.spin(0.2)
    before = states[-1]
    assert lab.call(Trigger, '/dynamics/step').success
    lab.wait(lambda: seconds(states[-1]) > seconds(before), 'the state of the step')
    lab.spin(0.2)
    assert seconds(states[-1]) == pytest.approx(seconds(before) + 0.001, abs=1e-12)
    assert lab.call(Trigger, '/dynamics/resume').success
    lab.wait(lambda: seconds(states[-1]) > seconds(before) + 0.1, 'time')


def test_reset_brings_back_the_start(lab):
    lab.dynamics(start='free')
    states = joint_states(lab)
    lab.wait(lambda: states[-1].position[0] < 1.0, 'the fall')
    assert lab.call(Trigger, '/dynamics/pause').success
    assert lab.call(Trigger, '/dynamics/reset').success
    lab.wait(lambda: seconds(states[-1]) == 0.0, 'time zero')
    assert states[-1].position[0] == math.pi / 2


@pytest.mark.parametrize(('parameters', 'words'), [
    ({'robot': 'pendulums'}, 'pendulums: neither a file nor a shipped model; shipped are'),
    ({'robot': 'missing.urdf.xacro'}, 'missing.urdf.xacro: neither a file nor a shipped model'),
    ({'robot': ''}, 'no robot: set the parameter robot_description'),
    ({'robot': '', 'robot_description': '<robot name="x"><link'}, 'parameter robot_description'),
    ({'publish_rate': 300.0}, 'the nearest valid rates are 250 Hz and 333.333 Hz'),
    ({'integrator': 'rk5'}, 'parameter "integrator" is "rk5"; choose one of'),
    ({'initial_position': [0.0, 1.0]}, 'parameter "initial_position" is [0.0, 1.0]; it wants 1'),
    ({'dt': -1.0}, 'dt'),
])
def test_bad_start_says_why_in_one_line_and_ends_with_status_1(lab, parameters, words):
    process = lab.dynamics(**parameters)
    line = lab.wait_for_line('dynamics', words)
    assert line.startswith('FATAL')
    lab.wait(lambda: process.exit_status is not None, 'the end of the node')
    assert process.exit_status == 1
    assert not any('Traceback' in text for text in lab.lines('dynamics'))


@pytest.mark.parametrize('node', ['dynamics', 'controller'])
def test_node_ends_cleanly_on_interrupt(lab, node):
    process = getattr(lab, node)()
    lab.wait(lambda: node in lab.node.get_node_names(), 'the node')
    lab.spin(0.5)
    assert process.stop() == 0
    assert not any('Traceback' in line or 'rror' in line for line in lab.lines(node))
