"""What a lab does to a running simulation: push it, move it, change its physics, abuse it."""

import math
import os
import signal

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from torque_lab.nodes import interface, simulation_services


def seconds(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def running(lab, *arguments, **parameters):
    """Start the dynamics node and return its process and its growing list of states."""
    process = lab.dynamics(*arguments, **parameters)
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(lambda: states, 'the first state')
    return process, states


def set_parameter(lab, name, value):
    kind = {float: ('double_value', ParameterType.PARAMETER_DOUBLE),
            str: ('string_value', ParameterType.PARAMETER_STRING),
            list: ('double_array_value', ParameterType.PARAMETER_DOUBLE_ARRAY)}[type(value)]
    parameter = Parameter(name=name, value=ParameterValue(**{kind[0]: value, 'type': kind[1]}))
    return lab.call(SetParameters, '/dynamics/set_parameters',
                    SetParameters.Request(parameters=[parameter])).results[0]


def test_push_moves_the_arm_for_its_duration_and_releases_it(lab):
    _, states = running(lab, initial_position=[0.0], push_duration=0.1)
    pushes = lab.publisher(Float64MultiArray, '/dynamics/push')
    pushes.publish(Float64MultiArray(data=[8.0]))
    lab.wait(lambda: states[-1].velocity[0] > 0.05, 'the push')
    # m l² = 8 kg m²: 8 N m for 0.1 s give 0.1 rad/s, less what gravity takes back meanwhile.
    lab.spin(0.3)
    assert max(state.velocity[0] for state in states) == pytest.approx(0.1, abs=0.002)


def test_wrench_at_the_tip_acts_through_the_jacobian(lab):
    _, states = running(lab, initial_position=[0.0], gravity=[0.0, 0.0, 0.0], push_duration=0.1)
    wrenches = lab.publisher(WrenchStamped, '/dynamics/wrench')
    wrench = WrenchStamped()
    wrench.header.frame_id = 'tip'
    wrench.wrench.force.x = 4.0  # at 2 m: 8 N m
    wrenches.publish(wrench)
    lab.wait(lambda: states[-1].velocity[0] > 0.099, 'the motion')
    lab.spin(0.2)
    assert states[-1].velocity[0] == pytest.approx(0.1, abs=1e-3)
    wrench.header.frame_id = 'elbow'
    wrenches.publish(wrench)
    lab.wait_for_line('dynamics', '~/wrench: refused: no link "elbow"; the links are')


def test_state_can_be_set_and_reset_goes_back_there(lab):
    _, states = running(lab, 'double_pendulum')
    setter = lab.publisher(JointState, '/dynamics/set_state')
    setter.publish(JointState(name=['joint2', 'joint1'], position=[0.5, -0.25]))
    lab.wait(lambda: list(states[-1].position) == [-0.25, 0.5], 'the new state')
    setter.publish(JointState(name=['joint1'], position=[math.nan]))
    setter.publish(JointState(name=['knee'], position=[1.0]))
    lab.wait_for_line('dynamics', '~/set_state: refused')
    assert lab.call(Trigger, '/dynamics/reset').success
    lab.spin(0.1)
    assert list(states[-1].position) == [-0.25, 0.5]


def test_reset_state_keeps_the_time(lab):
    _, states = running(lab, start='free')
    lab.wait(lambda: states[-1].position[0] < 1.0, 'the fall')
    before = seconds(states[-1])
    assert lab.call(Trigger, '/dynamics/reset_state').success
    lab.wait(lambda: states[-1].position[0] > 1.5, 'the start position')
    assert seconds(states[-1]) >= before


def test_paused_start_wakes_with_the_first_command(lab):
    _, states = running(lab, start='paused', command_timeout=0.0)
    lab.spin(0.3)
    assert {seconds(state) for state in states} == {0.0}, 'time passed, or the state fell silent'
    commands = lab.publisher(Float64MultiArray, interface.EFFORT_COMMANDS)
    commands.publish(Float64MultiArray(data=[0.0]))
    lab.wait(lambda: states[-1].position[0] < 1.5, 'the fall')


@pytest.mark.parametrize(('action', 'effort'), [('zero', 0.0), ('hold', 20.0)])
def test_timeout_action_sets_the_effort(lab, action, effort):
    _, states = running(lab, timeout_action=action, initial_position=[0.0])
    commands = lab.publisher(Float64MultiArray, interface.EFFORT_COMMANDS)
    commands.publish(Float64MultiArray(data=[20.0]))
    lab.wait_for_line('dynamics', 'no command for 0.1 s')
    lab.spin(0.1)
    assert states[-1].effort[0] == effort


def test_brake_stops_the_arm_and_carries_its_weight(lab):
    _, states = running(lab, timeout_action='brake')
    commands = lab.publisher(Float64MultiArray, interface.EFFORT_COMMANDS)
    commands.publish(Float64MultiArray(data=[0.0]))
    lab.wait_for_line('dynamics', 'braking')
    lab.wait(lambda: abs(states[-1].velocity[0]) < 1e-4, 'the stop')
    stopped = states[-1].position[0]
    lab.spin(0.5)
    assert states[-1].position[0] == pytest.approx(stopped, abs=1e-3)
    assert 0.5 < stopped < math.pi / 2, 'it fell to the bottom instead'


def test_gravity_damping_integrator_and_pace_change_while_it_runs(lab):
    _, states = running(lab, start='free', initial_position=[0.5])
    assert set_parameter(lab, 'gravity', [0.0, 0.0, 0.0]).successful
    assert set_parameter(lab, 'damping', [80.0]).successful
    assert set_parameter(lab, 'integrator', 'semi_implicit_euler').successful
    lab.wait(lambda: abs(states[-1].velocity[0]) < 1e-6, 'the stop by damping')
    assert set_parameter(lab, 'real_time_factor', 4.0).successful
    lab.spin(0.5)
    first, count = seconds(states[-1]), len(states)
    lab.spin(1.0)
    assert seconds(states[-1]) - first > 2.0, len(states) - count


@pytest.mark.parametrize(('name', 'value', 'words'), [
    ('gravity', [0.0, 0.0], 'wants 3 finite numbers'),
    ('gravity', [0.0, 0.0, math.nan], 'wants 3 finite numbers'),
    ('damping', [-1.0], 'negative'),
    ('integrator', 'rk5', 'no integrator "rk5"'),
    ('real_time_factor', -1.0, 'real_time_factor'),
    ('real_time_factor', 1e-300, 'too slow'),
    ('dt', 0.002, 'dt'),
])
def test_bad_change_is_refused_with_the_reason(lab, name, value, words):
    running(lab)
    result = set_parameter(lab, name, value)
    assert not result.successful
    assert words in result.reason


def test_noise_is_repeatable_and_delay_shows_old_states(lab):
    _, states = running(lab, start='free', position_noise=0.01, sensor_delay=5, seed=7)
    lab.wait(lambda: len(states) > 300, 'states')
    first = {seconds(state): state.position[0] for state in states}
    assert np.std(np.diff(list(first.values()))) > 0.005
    assert lab.call(Trigger, '/dynamics/pause').success
    lab.spin(0.2)
    states.clear()
    assert lab.call(Trigger, '/dynamics/reset').success
    assert lab.call(Trigger, '/dynamics/resume').success
    lab.wait(lambda: len(states) > 100, 'states again')
    common = [state for state in states if seconds(state) in first]
    assert common and all(state.position[0] == first[seconds(state)] for state in common)


def test_divergence_stops_at_the_last_good_state_and_reset_recovers(lab):
    _, states = running(lab, 'double_pendulum', integrator='euler', dt=0.05, publish_rate=20.0,
                        clock_rate=20.0, energy_rate=20.0, real_time_factor=0.0, start='free',
                        initial_velocity=[300.0, -300.0])
    line = lab.wait_for_line('dynamics', 'stopped at the last good state', 60.0)
    assert 'joint' in line and 'step' in line
    lab.spin(0.3)
    assert all(np.isfinite(state.position).all() for state in states)
    last = seconds(states[-1])
    lab.spin(0.3)
    assert seconds(states[-1]) == last, 'the clock went on'
    assert lab.call(Trigger, '/dynamics/reset').success
    states.clear()
    lab.wait(lambda: states and seconds(states[-1]) > 0.0, 'time after the reset')


def test_thousand_resets_off_equilibrium_keep_the_node_alive_and_right(lab):
    process, states = running(lab, start='free', initial_position=[1.0])
    client = lab.node.create_client(Trigger, '/dynamics/reset')
    lab.wait(client.service_is_ready, 'the service')
    for _ in range(1000):
        future = client.call_async(Trigger.Request())
        lab.wait(future.done, 'the reset')
    states.clear()
    lab.wait(lambda: states and seconds(states[-1]) > 0.5, 'time')
    assert process.exit_status is None
    simulated = {round(seconds(state) * 1000): state.position[0] for state in states}
    from torque_lab import Simulator, load
    simulator = Simulator(load('pendulum'))
    simulator.reset([1.0])
    simulator.step([0.0], n=400)
    assert simulated[400] == simulator.q[0]


def test_flood_of_bad_and_good_commands_loses_nothing(lab):
    process, states = running(lab, command_timeout=1.0)
    commands = lab.publisher(Float64MultiArray, interface.EFFORT_COMMANDS)
    reports = lab.listen(DiagnosticArray, interface.DIAGNOSTICS)
    rng = np.random.default_rng(5)
    bad = (Float64MultiArray(data=[math.nan]), Float64MultiArray(data=[1.0, 2.0]),
           Float64MultiArray(data=[]))
    for _ in range(300):
        for _ in range(10):
            commands.publish(bad[rng.integers(3)])
        commands.publish(Float64MultiArray(data=[float(rng.normal())]))
        lab.spin(0.002)
    lab.wait(lambda: reports and any(
        pair.key == 'commands refused' and int(pair.value) > 100
        for pair in reports[-1].status[0].values), 'the count')
    assert process.exit_status is None
    assert np.isfinite(states[-1].position).all()
    assert len([line for line in lab.lines('dynamics') if line.startswith('ERROR')]) < 20


def test_motor_takes_volts_and_publishes_torque(lab):
    _, states = running(lab, 'rotary_pendulum', command_timeout=0.0)
    commands = lab.publisher(Float64MultiArray, interface.EFFORT_COMMANDS)
    commands.publish(Float64MultiArray(data=[50.0, 0.0]))
    lab.wait(lambda: states[-1].effort[0] != 0.0, 'torque')
    kt, kr, resistance = 0.00767, 70.0, 2.6
    for state in states:
        if state.effort[0]:
            torque = kt * kr / resistance * (10.0 - kt * kr * state.velocity[0])
            assert state.effort[0] == pytest.approx(torque, rel=1e-9)


def test_free_body_goes_out_as_odometry(lab):
    lab.dynamics('free_body')
    odometry = lab.listen(Odometry, '/dynamics/odometry')
    lab.wait(lambda: odometry and seconds(odometry[-1]) > 0.3, 'odometry')
    turn = odometry[-1].pose.pose.orientation
    assert abs(turn.x ** 2 + turn.y ** 2 + turn.z ** 2 + turn.w ** 2 - 1.0) < 1e-12
    assert abs(turn.w) < 0.99, 'it does not turn'


@pytest.mark.skipif(not simulation_services.STANDARD,
                    reason='simulation_interfaces is not installed; it is not on PyPI')
def test_standard_services_reset_step_and_report(lab):
    from simulation_interfaces.msg import Result, SimulationState
    from simulation_interfaces.srv import (
        GetSimulationState,
        GetSimulatorFeatures,
        ResetSimulation,
        SetSimulationState,
        StepSimulation,
    )
    _, states = running(lab, start='free')
    step = StepSimulation.Request(steps=5)
    answer = lab.call(StepSimulation, '/dynamics/step_simulation', step)
    assert answer.result.result == Result.RESULT_OPERATION_FAILED, 'stepped while playing'
    pause = SetSimulationState.Request(state=SimulationState(state=SimulationState.STATE_PAUSED))
    assert lab.call(SetSimulationState, '/dynamics/set_simulation_state',
                    pause).result.result == Result.RESULT_OK
    assert lab.call(SetSimulationState, '/dynamics/set_simulation_state',
                    pause).result.result == SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    reset = ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_DEFAULT)
    assert lab.call(ResetSimulation, '/dynamics/reset_simulation',
                    reset).result.result == Result.RESULT_OK
    assert lab.call(StepSimulation, '/dynamics/step_simulation',
                    step).result.result == Result.RESULT_OK
    lab.wait(lambda: seconds(states[-1]) == 0.005, 'five steps')
    state = lab.call(GetSimulationState, '/dynamics/get_simulation_state').state.state
    assert state == SimulationState.STATE_PAUSED
    assert lab.call(GetSimulatorFeatures,
                    '/dynamics/get_simulator_features').features.features


def test_nodes_in_one_process_share_an_executor(lab, tmp_path):
    process = lab.together('pendulum_pid', {'robot': 'pendulum', 'lockstep': True,
                                            'real_time_factor': 0.0})
    states = lab.listen(JointState, interface.JOINT_STATES)
    lab.wait(lambda: states and seconds(states[-1]) > 4.0, 'four seconds', seconds=60.0)
    assert abs(states[-1].position[0] + 1.2566370614359172) < np.radians(0.1)
    os.kill(process.pid, signal.SIGINT)
    lab.wait(lambda: process.exit_status is not None, 'the end')
    assert process.exit_status == 0
