"""The launch file under the real `ros2 launch`."""

import os
import shutil
import signal
import subprocess
import time

import pytest
from sensor_msgs.msg import JointState

pytest.importorskip('launch_ros', reason='launch_ros is not installed: it comes with a ROS 2 '
                    'installation, not with the wheels on PyPI')
if shutil.which('ros2') is None:
    pytest.skip('the ros2 command is not installed', allow_module_level=True)

READY = 'pid on joint1'


def start(lab, *arguments):
    return subprocess.Popen(
        ['ros2', 'launch', 'torque_lab', 'sim.launch.py', *arguments], env=lab.environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def read_until(process, text, seconds=30.0):
    lines = []
    end = time.monotonic() + seconds
    while not any(text in line for line in lines) and time.monotonic() < end:
        line = process.stdout.readline()
        if not line:
            break
        lines.append(line)
    assert any(text in line for line in lines), ''.join(lines)
    return ''.join(lines)


@pytest.fixture
def launch(lab):
    started = []

    def begin(*arguments):
        started.append(start(lab, *arguments))
        return started[-1]
    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize('robot', ['pendulum', 'double_pendulum'])
def test_launch_comes_up_without_rviz_and_ends_cleanly_on_interrupt(launch, robot):
    process = launch(f'robot:={robot}', 'rviz:=false')
    read_until(process, READY)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert output.count('process has finished cleanly') == 2, output
    assert 'Traceback' not in output
    assert process.returncode == 0


def test_nodes_are_seen_by_ros2_cli(lab, launch):
    process = launch('rviz:=false')
    read_until(process, READY)
    topics = subprocess.run(['ros2', 'topic', 'list', '--no-daemon', '--spin-time', '2'],
                            env=lab.environment, capture_output=True, text=True).stdout.split()
    assert {'/joint_states', '/clock', '/effort_controller/commands', '/robot_description',
            '/dynamics/energy', '/diagnostics'} <= set(topics)


def test_end_of_the_simulator_ends_the_launch_with_a_clear_message(launch):
    process = launch('rviz:=false')
    output = read_until(process, READY)
    pid = next(int(line.rpartition('[')[2].rstrip(']\n')) for line in output.splitlines()
               if 'dynamics_node-1' in line and 'pid' in line)
    os.kill(pid, signal.SIGKILL)
    rest, _ = process.communicate(timeout=20)
    assert 'the simulator has ended; stopping the launch' in rest


@pytest.mark.parametrize('argument', ['robot:=pendulums', 'simulator:=magic', 'rviz:=perhaps'])
def test_wrong_argument_names_the_choices(launch, argument):
    output, _ = launch(argument).communicate(timeout=20)
    assert 'Valid options are' in output and 'Traceback' not in output


def test_unknown_controller_names_the_tuned_ones(launch):
    output, _ = launch('robot:=ur5', 'controller:=swing_up').communicate(timeout=20)
    assert 'no tuned controller "swing_up" for ur5; choose one of computed_torque' in output


def test_lockstep_holds_the_ur5(launch, lab):
    process = launch('robot:=ur5', 'controller:=computed_torque', 'lockstep:=true', 'rviz:=false')
    read_until(process, 'computed_torque on shoulder_pan_joint')
    states = lab.listen(JointState, '/joint_states')
    lab.wait(lambda: states and states[-1].header.stamp.sec >= 2, 'two seconds')
    assert abs(states[-1].position[0] - 0.5) < 1e-3


def test_every_argument_is_described(lab):
    output = subprocess.run(['ros2', 'launch', 'torque_lab', 'sim.launch.py', '--show-args'],
                            env=lab.environment, capture_output=True, text=True).stdout
    for name in ('robot', 'controller', 'simulator', 'lockstep', 'real_time_factor', 'rviz'):
        assert f"'{name}':" in output
    assert 'no description given' not in output
