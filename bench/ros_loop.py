"""
The loop over ROS 2: latency, lost periods, CPU and lockstep speed, beside a bare ping-pong.

    ./lab bench ros [--seconds 60] [--write]
"""

from __future__ import annotations

import argparse
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

from torque_lab.cli.processes import NodeProcess, stop_all
from torque_lab.nodes import interface
from torque_lab.nodes.running import make_executor

TOP = Path(__file__).resolve().parent.parent
GAINS = {f'joint{i}': {'p': p, 'd': d} for i, (p, d) in enumerate(
    ((60.0, 12.0), (30.0, 5.0), (8.0, 0.8)), start=1)}


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def echo() -> None:
    """The other side of the ping-pong, in its own process: answers a state with efforts."""
    rclpy.init()
    node = Node('echo')
    answer = JointState(name=['joint1', 'joint2', 'joint3'], effort=[0.0, 0.0, 0.0])
    publisher = node.create_publisher(JointState, '/pong', interface.NEWEST)

    def on_state(state: JointState) -> None:
        answer.header.stamp = state.header.stamp
        publisher.publish(answer)
    node.create_subscription(JointState, '/ping', on_state, interface.NEWEST)
    executor = make_executor()
    executor.add_node(node)
    while True:
        executor.spin_once(timeout_sec=0.1)


def ping_pong(seconds: float) -> list[float]:
    """Latencies in s of a bare state-and-answer exchange at 1 kHz between two processes."""
    child = subprocess.Popen([sys.executable, '-m', 'bench.ros_loop', '--echo'], cwd=TOP)
    node = Node('ping')
    latencies: list[float] = []
    sent = [0.0]
    message = JointState(name=['joint1', 'joint2', 'joint3'], position=[0.0] * 3,
                         velocity=[0.0] * 3, effort=[0.0] * 3)
    publisher = node.create_publisher(JointState, '/ping', interface.NEWEST)
    node.create_subscription(JointState, '/pong', lambda answer: latencies.append(
        time.monotonic() - sent[0]), interface.NEWEST)

    def send() -> None:
        sent[0] = time.monotonic()
        publisher.publish(message)
    node.create_timer(0.001, send, clock=Clock(clock_type=ClockType.STEADY_TIME))
    executor = make_executor()
    executor.add_node(node)
    end = time.monotonic() + seconds + 2.0
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    child.kill()
    child.wait()
    node.destroy_node()
    return latencies[len(latencies) // 10:]


class Loop:
    """Our nodes as processes, and their diagnostics."""

    def __init__(self, dynamics: dict, one_process: bool = False) -> None:
        sections = {
            'dynamics': {'ros__parameters': {'robot': 'three_link', **dynamics}},
            'controller': {'ros__parameters': {'command': 'stamped', 'goal': [0.5, -0.5, 0.5],
                                               'gains': GAINS}}}
        self.reports: list[dict[str, str]] = []
        self.node = Node(f'watch_{time.monotonic_ns()}')
        self.node.create_subscription(DiagnosticArray, interface.DIAGNOSTICS, self._on_report, 10)
        self._executor = make_executor()
        self._executor.add_node(self.node)
        with tempfile.NamedTemporaryFile('w', suffix='.yaml', delete=False) as file:
            yaml.safe_dump(sections, file)
        names = ['loop'] if one_process else ['dynamics', 'controller']
        self.processes = [NodeProcess(name, f'torque_lab.nodes.{name}_node',
                                      ['--ros-args', '--params-file', file.name], os.environ,
                                      queue.Queue()) for name in names]

    def _on_report(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.startswith('dynamics:'):
                values = {pair.key: pair.value for pair in status.values}
                self.reports.append({**values, 'wall': str(time.monotonic()), 'cpu': str(
                    sum(cpu_seconds(process.pid) for process in self.processes))})

    def run(self, seconds: float) -> tuple[dict[str, float], dict[str, str]]:
        """Differences over the run without its start, and the last report."""
        end = time.monotonic() + seconds + 3.0
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.1)
        stop_all(self.processes)
        self.node.destroy_node()
        first, last = self.reports[2], self.reports[-1]
        keys = [key for key in first if key not in (
            'state to command, median [µs]', 'state to command, 99 % [µs]')]
        return {key: float(last[key]) - float(first[key]) for key in keys}, last


def cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def measure(seconds: float) -> str:
    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)
    rclpy.init()
    say(f'bare ping-pong, {seconds:g} s')
    bare = ping_pong(min(seconds, 20.0))
    say(f'dynamics and controller, two processes, 1 kHz, {seconds:g} s')
    change, last = Loop({}).run(seconds)
    periods = change['simulation time [s]'] * 1000.0
    medians = (statistics.median(bare) * 1e6, float(last['state to command, median [µs]']))
    tails = (percentile(bare, 0.99) * 1e6, float(last['state to command, 99 % [µs]']))
    fate = ' / '.join(f'{change[f"commands {name}"]:.0f}' for name in (
        'applied', 'superseded', 'refused', 'late'))
    answered = 100.0 * change['commands applied'] / periods
    say('lockstep, two processes')
    two, _ = Loop({'lockstep': True, 'real_time_factor': 0.0}).run(10.0)
    say('lockstep, one process')
    one, _ = Loop({'lockstep': True, 'real_time_factor': 0.0}, one_process=True).run(10.0)
    rclpy.try_shutdown()
    return f"""# The loop over ROS 2, measured

Every figure comes from one run of `./lab bench ros --seconds {seconds:g} --write` on
{os.cpu_count()} cores: the 3-link arm, its PID controller, stamped commands, states at 1 kHz.
Trust the ratios, not the absolute times.

| two processes in real time | |
|---|---|
| periods answered by a fresh effort | {answered:.2f} % of {periods:.0f} |
| commands applied / superseded / refused / late | {fate} |
| periods lost to overruns | {change['overruns']:.0f} |
| CPU of both nodes | {100.0 * change['cpu'] / change['wall']:.0f} % of one core |

| state to effort | median, µs | 99 %, µs |
|---|---|---|
| bare rclpy ping-pong of the same messages | {medians[0]:.0f} | {tails[0]:.0f} |
| ours, control law included | {medians[1]:.0f} | {tails[1]:.0f} |
| ratio | {medians[1] / medians[0]:.2f} × | {tails[1] / tails[0]:.2f} × |

| lockstep as fast as possible, every 1 ms step answered | × real time |
|---|---|
| two processes | {two['simulation time [s]'] / two['wall']:.1f} |
| one process | {one['simulation time [s]'] / one['wall']:.1f} |
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog='./lab bench ros', description=__doc__)
    parser.add_argument('--seconds', type=float, default=60.0, help='length of the real-time run')
    parser.add_argument('--write', action='store_true', help='write docs/ros_loop.md')
    parser.add_argument('--echo', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.echo:
        echo()
    text = measure(arguments.seconds)
    print(text)
    if arguments.write:
        (TOP / 'docs' / 'ros_loop.md').write_text(text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
