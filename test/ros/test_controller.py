"""The controller node: laws, goals, services and faults, over real DDS."""

import textwrap

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from torque_lab.nodes import interface
from torque_lab.physics import gravity_torque, load

FIELDS = {name: k for k, name in enumerate(interface.CONTROLLER_STATE_FIELDS)}


def lockstep(lab, robot, config, **controller):
    """Both nodes as fast as they can, one answer to one state."""
    dynamics = controller.pop('dynamics', {})
    lab.controller(config, **{'command': 'stamped', 'state_rate': 1000.0, **controller})
    lab.dynamics(robot, lockstep=True, real_time_factor=0.0, **dynamics)
    return lab.listen(Float64MultiArray, '/controller/controller_state')


def table(message):
    return np.array(message.data).reshape(message.layout.dim[0].size, -1)


def column(message, field):
    return table(message)[:, FIELDS[field]]


def time_of(message):
    return message.data[FIELDS['time']]


def set_parameter(lab, name, value):
    request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
    return lab.call(SetParameters, '/controller/set_parameters', request).results[0]


def publisher(lab, kind, topic):
    made = lab.node.create_publisher(kind, topic, 1)
    lab.wait(lambda: made.get_subscription_count() > 0, f'discovery of {topic}')
    return made


def describe(lab, robot):
    """Publish a robot's description in place of the simulator."""
    lab.node.create_publisher(String, interface.ROBOT_DESCRIPTION, interface.LATCHED).publish(
        String(data=robot.urdf))


def trajectory(robot, goal, seconds, names=None):
    point = JointTrajectoryPoint(positions=[float(x) for x in goal])
    point.time_from_start.sec = seconds
    return JointTrajectory(joint_names=list(names or robot.joint_names), points=[point])


# --- laws ----------------------------------------------------------------------------------

def move(lab, robot, states, way, goal):
    """Make a 2 s motion of minimum jerk to a goal; return its RMS error and how much was seen."""
    states.clear()
    way.publish(trajectory(robot, goal, 2))
    lab.wait(lambda: states and np.abs(column(states[-1], 'desired') - goal).max() < 1e-9,
             'the end', 60.0)
    errors = np.array([column(message, 'error') for message in states
                       if np.abs(column(message, 'desired_velocity')).max()])
    return np.sqrt(np.mean(errors**2, axis=0)).max(), len(errors)


@pytest.mark.parametrize('name', ['three_link', 'ur5'])
def test_computed_torque_follows_a_move_of_1_rad_in_lockstep(lab, name):
    robot = load(name)
    states = lockstep(lab, name, f'{name}_computed_torque', goal=robot.start.tolist())
    way = publisher(lab, JointTrajectory, '/controller/joint_trajectory')
    lab.wait(lambda: states, 'the first state')
    rms, seen = move(lab, robot, states, way, robot.start + 1.0)
    print(f'{name} in lockstep: RMS {rms:.2e} rad over {seen} states')
    assert seen > 100
    assert rms < 1e-4


@pytest.mark.parametrize('name', ['three_link', 'ur5'])
def test_computed_torque_follows_a_move_of_1_rad_in_real_time(lab, name):
    """A busy machine can only make it worse, so the best of some moves counts."""
    robot = load(name)
    lab.controller(f'{name}_computed_torque', command='stamped', state_rate=200.0,
                   goal=robot.start.tolist())
    lab.dynamics(name)
    states = lab.listen(Float64MultiArray, '/controller/controller_state')
    way = publisher(lab, JointTrajectory, '/controller/joint_trajectory')
    lab.wait(lambda: states, 'the first state')
    seen = []
    for attempt in range(6):
        goal = robot.start + 1.0 if attempt % 2 == 0 else robot.start
        rms, count = move(lab, robot, states, way, goal)
        seen.append(count)
        print(f'{name} in real time: RMS {rms:.2e} rad over {count} of 400 states')
        if rms < 5e-4:
            return
    if max(seen) < 396:
        pytest.skip(f'the machine is too busy for 1 kHz: of 400 states {max(seen)} came in time')
    pytest.fail('no move was good enough')


@pytest.mark.parametrize('name', ['three_link', 'ur5'])
def test_pd_with_gravity_ends_at_its_goal(lab, name):
    states = lockstep(lab, name, f'{name}_pd_gravity')
    lab.wait(lambda: states and time_of(states[-1]) > 4.0, '4 s of simulation', 60.0)
    assert np.abs(column(states[-1], 'error')).max() < 1e-3


@pytest.mark.parametrize('controller', ['computed_torque', 'pd_gravity'])
def test_masses_that_are_wrong_by_a_fifth_leave_an_error_and_a_stable_arm(lab, controller):
    import re

    robot = load('three_link')
    heavy = re.sub(r'(mass value=")([^"]+)"', lambda m: f'{m[1]}{1.2 * float(m[2])}"', robot.urdf)
    assert heavy != robot.urdf
    describe(lab, robot)  # what the controller believes
    states = lockstep(lab, '', f'three_link_{controller}', dynamics={
        'robot_description': heavy, 'publish_description': False})
    lab.wait(lambda: states and time_of(states[-1]) > 4.0, '4 s of simulation', 60.0)
    error = np.abs(column(states[-1], 'error')).max()
    print(f'{controller}: steady-state error {error:.2e} rad')
    assert 1e-5 < error < 0.1
    assert np.abs(column(states[-1], 'actual_velocity')).max() < 1e-3


@pytest.mark.parametrize(('robot', 'controller', 'seconds', 'initial'), [
    ('double_pendulum', 'acrobot', 20.0, [0.05, -0.05]),
    ('double_pendulum', 'pendubot', 14.0, [0.05, -0.05])])
def test_double_pendulum_driven_at_one_joint_swings_up(lab, robot, controller, seconds, initial):
    states = lockstep(lab, robot, f'{robot}_{controller}', state_rate=100.0,
                      dynamics={'initial_position': initial})
    lab.wait(lambda: states and time_of(states[-1]) > seconds, 'the swing-up', 120.0)
    assert upright(states[-1])


def upright(message):
    error = column(message, 'error')
    return np.abs(np.remainder(error + np.pi, 2.0 * np.pi) - np.pi).max() < 0.02


def test_rotary_pendulum_swings_up_within_10_v_and_recovers_from_a_push(lab):
    from geometry_msgs.msg import WrenchStamped
    states = lockstep(lab, 'rotary_pendulum', 'rotary_pendulum_swing_up', state_rate=200.0,
                      dynamics={'initial_position': [0.1, 3.0], 'push_duration': 0.01})
    hand = publisher(lab, WrenchStamped, '/dynamics/wrench')
    lab.wait(lambda: states and time_of(states[-1]) > 6.0, 'the swing-up', 60.0)
    assert upright(states[-1])
    wrench = WrenchStamped()
    wrench.header.frame_id = load('rotary_pendulum').tip
    wrench.wrench.force.y = 5.0  # for 10 ms: 0.05 N s
    hand.publish(wrench)
    lab.wait(lambda: not upright(states[-1]), 'the push')
    mark = time_of(states[-1]) + 5.0
    lab.wait(lambda: time_of(states[-1]) > mark, 'the recovery', 60.0)
    assert upright(states[-1])
    assert max(np.abs(column(message, 'effort')).max() for message in states) <= 10.0


def test_tip_yields_to_a_push_by_its_stiffness(lab):
    from geometry_msgs.msg import WrenchStamped
    robot = load('three_link')
    states = lockstep(lab, 'three_link', 'three_link_impedance', goal=robot.start.tolist(),
                      dynamics={'push_duration': 1000.0})
    hand = publisher(lab, WrenchStamped, '/dynamics/wrench')
    lab.wait(lambda: states, 'the first state')
    wrench = WrenchStamped()
    wrench.header.frame_id = robot.tip
    wrench.wrench.force.x = 5.0
    hand.publish(wrench)
    began = time_of(states[-1])
    lab.wait(lambda: time_of(states[-1]) > began + 4.0, '4 s of simulation', 60.0)
    from torque_lab.physics import forward_kinematics
    moved = (forward_kinematics(robot, column(states[-1], 'actual'))[1]
             - forward_kinematics(robot, robot.start)[1])
    assert moved[0] == pytest.approx(5.0 / 200.0, rel=0.05)
    assert abs(moved[2]) < 0.05 * 5.0 / 200.0


# --- changes while it runs -----------------------------------------------------------------

def test_law_changes_while_it_runs_without_a_bump(lab):
    states = lockstep(lab, 'double_pendulum', 'double_pendulum_pid')
    lab.wait(lambda: states and time_of(states[-1]) > 6.0, 'the goal', 60.0)
    before = column(states[-1], 'effort')
    assert set_parameter(lab, 'controller', 'computed_torque').successful
    lab.wait_for_line('controller', 'computed_torque takes over')
    mark = len(states)
    end = time_of(states[-1]) + 2.0
    lab.wait(lambda: time_of(states[-1]) > end, '2 s more')
    efforts = np.array([column(message, 'effort') for message in states[mark:]])
    assert np.abs(efforts - before).max() < 0.5
    assert np.abs(column(states[-1], 'error')).max() < 1e-3
    got = lab.call(GetParameters, '/controller/get_parameters', GetParameters.Request(
        names=['computed_torque.natural_frequency', 'gains.joint1.p']))
    assert list(got.values[0].double_array_value) == [15.0]


@pytest.mark.parametrize(('name', 'value', 'reason'), [
    ('controller', 'fuzzy', 'there is no controller "fuzzy"'),
    ('controller', 'no.such:Law', 'cannot import'),
    ('goal', [1.0, 2.0, 3.0], 'wants 2 finite numbers'),
    ('goal_motion', 'jump', 'choose one of step, minimum_jerk'),
    ('velocity_limit', [-1.0], 'must be positive'),
    ('computed_torque.natural_frequency', [1.0, 2.0, 3.0], 'natural_frequency has 3 entries'),
    ('computed_torque.damping_ratio', [-1.0], 'damping_ratio')])
def test_bad_change_is_refused_with_the_reason(lab, name, value, reason):
    lab.dynamics('double_pendulum')
    lab.controller('double_pendulum_computed_torque')
    lab.wait_for_line('controller', 'computed_torque on joint1, joint2')
    result = set_parameter(lab, name, value)
    assert not result.successful
    assert reason in result.reason


def test_servo_goes_off_and_on_by_service(lab):
    lab.dynamics()
    lab.controller('pendulum_pd_gravity', safe_effort='zero')
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(lambda: states and abs(states[-1].position[0] + 1.2566) < 0.001, 'the goal')
    assert lab.call(Trigger, '/controller/servo_off').message == 'servo off'
    lab.wait(lambda: states[-1].effort[0] == 0.0 and abs(states[-1].velocity[0]) > 0.5, 'the fall')
    assert lab.call(Trigger, '/controller/servo_toggle').message == 'servo on'
    lab.wait(lambda: abs(states[-1].position[0] + 1.2566) < 0.001
             and abs(states[-1].velocity[0]) < 0.01, 'the goal again')


def test_goal_topic_is_approached_smoothly_and_state_tells_about_it(lab):
    states = lockstep(lab, 'three_link', 'three_link_computed_torque',
                      velocity_limit=[0.5], goal=[0.5, -0.5, 0.5])
    goal = publisher(lab, Float64MultiArray, '/controller/goal')
    lab.wait(lambda: states, 'the first state')
    goal.publish(Float64MultiArray(data=[1.0, 0.0, 0.0]))
    lab.wait(lambda: np.abs(column(states[-1], 'actual') - [1.0, 0.0, 0.0]).max() < 1e-4,
             'the goal', 60.0)
    speeds = np.array([column(message, 'desired_velocity') for message in states])
    assert 0.2 < np.abs(speeds).max() <= 0.5 + 1e-9
    message = states[-1]
    assert message.layout.dim[0].label == 'joint1,joint2,joint3'
    assert message.layout.dim[1].label.split(',') == list(interface.CONTROLLER_STATE_FIELDS)
    assert column(message, 'error') == pytest.approx(
        column(message, 'desired') - column(message, 'actual'))


def test_trajectory_is_read_by_name_and_a_bad_one_is_refused(lab):
    robot = load('double_pendulum')
    states = lockstep(lab, 'double_pendulum', 'double_pendulum_computed_torque',
                      goal=robot.start.tolist())
    way = publisher(lab, JointTrajectory, '/controller/joint_trajectory')
    lab.wait(lambda: states, 'the first state')
    way.publish(trajectory(robot, [0.1, 0.2], 1, ['joint1', 'elbow']))
    lab.wait_for_line('controller', 'trajectory refused: joint "joint2" is missing')
    way.publish(trajectory(robot, [0.3, 1.2], 1, ['joint2', 'joint1']))
    lab.wait(lambda: np.abs(column(states[-1], 'actual') - [1.2, 0.3]).max() < 1e-4, 'the end')
    backwards = trajectory(robot, [0.1, 0.2], 2)
    backwards.points.append(JointTrajectoryPoint(positions=[0.0, 0.0]))
    way.publish(backwards)
    lab.wait_for_line('controller', 'trajectory refused: time_from_start must increase')


# --- faults --------------------------------------------------------------------------------

BAD_LAWS = '''
    import time
    from torque_lab.control import Law

    class Good(Law):
        def effort(self, t, dt, q, qd, reference):
            return -50.0 * q - 30.0 * qd

    class Throws(Good):
        def effort(self, t, dt, q, qd, reference):
            return {}['torque'] if t > 0.3 else super().effort(t, dt, q, qd, reference)

    class WrongLength(Good):
        def effort(self, t, dt, q, qd, reference):
            return [1.0, 2.0] if t > 0.3 else super().effort(t, dt, q, qd, reference)

    class NotANumber(Good):
        def effort(self, t, dt, q, qd, reference):
            return q * float('nan') if t > 0.3 else super().effort(t, dt, q, qd, reference)

    class Endless(Good):
        def effort(self, t, dt, q, qd, reference):
            while t > 0.3:
                pass
            return super().effort(t, dt, q, qd, reference)
'''


@pytest.mark.parametrize(('law', 'reason'), [
    ('Throws', 'throws threw KeyError: \'torque\' (laws.py, line 11)'),
    ('WrongLength', 'wrong_length returned efforts of shape (2,); the robot has 1 joint'),
    ('NotANumber', 'not_a_number returned nan for joint "joint1"'),
    ('Endless', 'endless did not come back within')])
def test_bad_law_is_cut_off_and_the_arm_gets_the_safe_effort(lab, tmp_path, law, reason):
    path = tmp_path / 'laws.py'
    path.write_text(textwrap.dedent(BAD_LAWS))
    robot = load('pendulum')
    lab.dynamics()
    lab.controller('pendulum_pid', controller=f'{path}:{law}', safe_effort='gravity')
    states = lab.listen(JointState, interface.JOINT_STATES)
    diagnostics = lab.listen(DiagnosticArray, interface.DIAGNOSTICS)
    line = lab.wait_for_line('controller', 'control law cut off')
    assert reason in line
    lab.wait(lambda: states and abs(states[-1].effort[0] - gravity_torque(
        robot, np.array(states[-1].position))[0]) < 1.0, 'gravity compensation')

    def reported():
        return [status for message in diagnostics for status in message.status
                if status.level == DiagnosticStatus.ERROR and reason in status.message]
    lab.wait(reported, 'the diagnostics')
    assert set_parameter(lab, 'controller', f'{path}:Good').successful
    lab.wait_for_line('controller', 'good takes over')
    lab.wait(lambda: abs(states[-1].position[0]) < 0.05, 'another law at work')


def test_silence_is_answered_with_the_safe_effort(lab):
    robot = load('pendulum')
    describe(lab, robot)
    lab.controller('pendulum_pd_gravity')
    lab.wait_for_line('controller', 'pd_gravity on joint1')
    commands = lab.listen(Float64MultiArray, interface.EFFORT_COMMANDS)
    states = publisher(lab, JointState, interface.JOINT_STATES)
    state = JointState(name=['joint1'], position=[0.5], velocity=[0.0])
    state.header.stamp.sec = 5
    states.publish(state)
    weight = gravity_torque(robot, np.array([0.5]))[0]
    lab.wait_for_line('controller', 'no joint states for')
    commands.clear()
    lab.wait(lambda: commands and abs(commands[-1].data[0] - weight) < 1e-9, 'the safe effort')


def test_own_law_from_the_template_runs(lab):
    from conftest import CONFIG
    states = lockstep(lab, 'three_link', 'three_link_computed_torque',
                      controller=f'{CONFIG / "my_law.py"}:MyLaw', goal=[0.8, 0.1, -0.2],
                      **{'my_law.stiffness': 40.0, 'my_law.damping': 4.0})
    lab.wait_for_line('controller', 'my_law on joint1, joint2, joint3')
    lab.wait(lambda: states and np.abs(column(states[-1], 'error')).max() < 0.01, 'the goal', 60.0)
    assert set_parameter(lab, 'my_law.stiffness', 30.0).successful


def test_backward_jump_clears_the_integral_and_goes_to_the_goal_again(lab):
    states = lockstep(lab, 'pendulum', 'pendulum_pid')
    for _ in range(3):
        lab.wait(lambda: states and time_of(states[-1]) > 2.6, '2.6 s of simulation', 60.0)
        assert abs(column(states[-1], 'error')[0]) < np.radians(0.1)
        states.clear()
        assert lab.call(Trigger, '/dynamics/reset').success
        lab.wait(lambda: states and time_of(states[-1]) < 1.0, 'time zero')
    assert len([line for line in lab.lines('controller') if 'time jumped back' in line]) == 3
