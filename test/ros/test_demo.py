"""The demo as a newcomer runs it."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed; ./lab test brings it')


def demo(tmp_path, *arguments):
    environment = {**os.environ, 'ROS_DOMAIN_ID': str(1 + (os.getpid() + 50) % 100)}
    return subprocess.Popen(
        [sys.executable, '-m', 'torque_lab.cli.main', 'demo', *arguments], cwd=tmp_path,
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize('robot', ['pendulum', 'double_pendulum'])
def test_demo_reaches_the_goal_and_leaves_a_plot(tmp_path, robot):
    process = demo(tmp_path, '--robot', robot, '--duration', '8')
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert 'goal reached' in output and 'steady-state error' in output
    picture = tmp_path / 'runs' / f'demo_{robot}_pid.png'
    assert picture.read_bytes().startswith(b'\x89PNG')


def test_demo_that_has_no_time_to_arrive_fails_honestly(tmp_path):
    process = demo(tmp_path, '--duration', '1.1')
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert 'goal NOT reached' in output


def test_interrupt_ends_both_nodes_without_a_traceback(tmp_path):
    process = demo(tmp_path, '--duration', '100')
    assert process.stdout is not None
    lines = []
    while not any('pid on joint1' in line for line in lines):
        lines.append(process.stdout.readline())
        assert lines[-1], ''.join(lines)
    children = _children(process.pid)
    assert len(children) == 2
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=10)
    assert process.returncode == 130
    assert 'Traceback' not in output
    time.sleep(0.1)
    assert not [pid for pid in children if os.path.exists(f'/proc/{pid}')]


def test_killed_demo_leaves_no_node_behind(tmp_path):
    process = demo(tmp_path, '--duration', '100')
    deadline = time.monotonic() + 15
    while len(children := _children(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1.0)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(_alive(pid) for pid in children):
        time.sleep(0.1)
    assert not [pid for pid in children if _alive(pid)]


@pytest.mark.parametrize(('arguments', 'words'), [
    (['--robot', 'pendulums'], 'neither a file nor a shipped model'),
    (['--robot', 'ur5', '--controller', 'pid', '--duration', '-1'], 'too short'),
    (['--duration', 'long'], 'invalid float value'),
])
def test_wrong_argument_gives_one_clear_line(tmp_path, arguments, words):
    process = demo(tmp_path, *arguments)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 2
    assert words in output and 'Traceback' not in output


def _children(pid: int) -> list[int]:
    with open(f'/proc/{pid}/task/{pid}/children') as file:
        return [int(child) for child in file.read().split()]


def _alive(pid: int) -> bool:
    try:
        with open(f'/proc/{pid}/stat') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False
