"""``torque-lab demo``: two real ROS 2 nodes hold an arm, and you watch."""

from __future__ import annotations

import argparse
import bisect
import importlib.util
import os
import queue
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from torque_lab.cli.errors import CommandError
from torque_lab.cli.processes import NodeProcess, stop_all
from torque_lab.physics.load import load, models_folder, shipped_models
from torque_lab.physics.model import Robot

HELP = 'hold an arm with two real ROS 2 nodes, in two processes, and watch it'
HELD_TIME = 3.0
"""Without --duration the demo ends when the goal has been held for so many seconds."""

LONGEST = 60.0

LOOK_AGAIN = 0.25
"""Seconds between two looks whether the goal is held: looking costs time."""

BALANCING = ('swing_up', 'lqr')
"""Laws that hold an unstable point: whole turns do not count."""

PATIENCE = 20.0
"""How long, in s, the nodes may take to find each other."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument('--robot', default='pendulum', metavar='NAME',
                        help='shipped model (default: pendulum)')
    parser.add_argument('--controller', metavar='NAME',
                        help='control law (default: pid, or swing_up where there is no pid)')
    parser.add_argument('--duration', type=float, metavar='S',
                        help='simulated seconds from the first command on (default: until the '
                             f'goal is reached and held for {HELD_TIME:g} s, at most '
                             f'{LONGEST:g} s)')
    parser.add_argument('--list', action='store_true',
                        help='list the robots and the controllers that are tuned for them')
    parser.add_argument('--output', type=Path, metavar='PNG',
                        help='where the plot goes (default: runs/demo_ROBOT_CONTROLLER.png)')


def run(args: argparse.Namespace) -> int:
    """Run the demo; the status is 0 only if every joint ended at its goal."""
    if importlib.util.find_spec('rclpy') is None:
        raise CommandError('needs ROS 2: run ./lab demo, or source your ROS 2 first')
    if args.list:
        for name, controllers in _tuned().items():
            print(f'{name:<16} {", ".join(controllers)}')
        return 0
    if args.duration is not None and not args.duration > 1.0:
        raise CommandError(f'--duration {args.duration:g} is too short; give more than 1 s')
    if args.output is not None and args.output.suffix.lower() != '.png':
        raise CommandError(f'--output {args.output}: the plot is a PNG; name it so')
    robot = load(args.robot)
    args.controller = args.controller or _default_controller(args.robot)
    config = _config_file(args.robot, args.controller)
    parameters = yaml.safe_load(config.read_text())['controller']['ros__parameters']
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    return _Demo(args, robot, config, parameters).run()


def _tuned() -> dict[str, list[str]]:
    """Controllers that have a tuned configuration, by robot."""
    folder = models_folder().parent / 'config'
    return {robot: sorted(path.stem.removeprefix(f'{robot}_')
                          for path in folder.glob(f'{robot}_*.yaml'))
            for robot in shipped_models()}


def _default_controller(robot: str) -> str:
    controllers = _tuned().get(robot, [])
    return next((name for name in ('pid', 'swing_up') if name in controllers), 'pid')


def _config_file(robot: str, controller: str) -> Path:
    path = models_folder().parent / 'config' / f'{robot}_{controller}.yaml'
    if not path.is_file():
        tuned = ', '.join(_tuned().get(robot, [])) or 'nothing'
        raise CommandError(f'no tuned {controller} for {robot}; there is {tuned} '
                           '(--list shows all)')
    return path


class _Demo:
    """One run: start, watch, stop, sum up."""

    def __init__(self, args: argparse.Namespace, robot: Robot, config: Path,
                 parameters: dict[str, Any]) -> None:
        from torque_lab.cli.live_view import LiveView
        self._args, self._robot, self._config = args, robot, config
        self._goal = parameters['goal']
        self._balances = parameters.get('controller') in BALANCING
        self._view = LiveView(robot, self._goal)
        self._lines: queue.Queue[tuple[str, str]] = queue.Queue()
        self._interrupted = False
        self._next_look = HELD_TIME
        self._parameters = Path(tempfile.gettempdir()) / f'torque_lab_demo_{os.getpid()}.yaml'

    def run(self) -> int:
        import rclpy
        from rclpy.signals import SignalHandlerOptions

        from torque_lab.cli.observer import Observer
        from torque_lab.nodes.running import make_executor
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._interrupt)
        self._announce()
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        processes: list[NodeProcess] = []
        try:
            observer = Observer(self._robot.joint_names)
            executor = make_executor()
            executor.add_node(observer)
            failure = self._watch(executor, observer, processes)
        finally:
            stop_all(processes)
            self._parameters.unlink(missing_ok=True)
            rclpy.try_shutdown()
        if not self._interrupted:  # a node that was stopped while it started has nothing to say
            self._show_lines()
        self._view.finish()
        if self._interrupted:
            print('stopped; both nodes have ended')
            return 130
        if failure:
            print(f'torque-lab demo: {failure}', file=sys.stderr)
            return 1
        return self._sum_up(observer.recording)

    def _interrupt(self, signum: int, frame: Any) -> None:
        self._interrupted = True

    def _announce(self) -> None:
        domain = os.environ['ROS_DOMAIN_ID']
        self._view.say(f'{self._args.robot} held by {self._args.controller}: two processes, '
                       f'ROS domain {domain}, this machine only')
        if shutil.which('ros2'):
            self._view.say(f'look in from another terminal: ROS_DOMAIN_ID={domain} '
                           'ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ros2 topic echo /joint_states')
        self._view.say('')

    def _start_dynamics(self) -> NodeProcess:
        with self._parameters.open('w') as file:
            yaml.safe_dump({'dynamics': {'ros__parameters': {
                'robot_description': self._robot.urdf}}}, file)
        return self._start('dynamics', self._config, self._parameters)

    def _start(self, name: str, *parameters: Path) -> NodeProcess:
        environment = {**os.environ, 'RCUTILS_CONSOLE_OUTPUT_FORMAT': '{severity}: {message}',
                       'PYTHONUNBUFFERED': '1'}
        files = [word for path in parameters for word in ('--params-file', str(path))]
        return NodeProcess(name, f'torque_lab.nodes.{name}_node', ['--ros-args', *files],
                           environment, self._lines)

    def _watch(self, executor: Any, observer: Any, processes: list[NodeProcess]) -> str:
        """
        Start the nodes and spin until the time is up; return what went wrong, if anything did.

        The controller starts when the held arm has been seen, so that the whole motion is.
        """
        began = time.monotonic()
        recording = observer.recording
        processes.append(self._start_dynamics())
        while not self._interrupted:
            executor.spin_once(timeout_sec=0.02)
            self._show_lines()
            self._view.update(recording)
            for process in processes:
                if process.exit_status is not None:
                    return (f'the {process.name} node ended before its time '
                            f'(exit status {process.exit_status})')
            if recording.time and len(processes) == 1:
                processes.append(self._start('controller', self._config))
            if observer.released is not None and self._is_over(observer):
                return ''
            if observer.released is None and time.monotonic() - began > PATIENCE:
                missing = 'commands' if recording.time else 'joint states'
                return (f'no {missing} in {PATIENCE:g} s; is UDP on this machine blocked by a '
                        'firewall?')
        return ''

    def _is_over(self, observer: Any) -> bool:
        from torque_lab.cli.summary import distances
        recording = observer.recording
        elapsed = recording.time[-1] - observer.released
        if self._args.duration is not None:
            return elapsed >= self._args.duration
        if elapsed >= LONGEST:
            return True
        if elapsed < self._next_look:
            return False
        self._next_look = max(elapsed, HELD_TIME) + LOOK_AGAIN
        begin = bisect.bisect_left(recording.time, recording.time[-1] - HELD_TIME)
        distance, tolerance = distances(self._robot, np.array(recording.position[begin:]),
                                        self._goal, self._balances)
        return bool((distance <= tolerance).all())

    def _show_lines(self) -> None:
        while not self._lines.empty():
            name, line = self._lines.get()
            self._view.say(f'[{name}] {line}')

    def _sum_up(self, recording: Any) -> int:
        from torque_lab.cli.figure import draw
        from torque_lab.cli.summary import energy_residual, summarise
        times, position, _, effort = recording.arrays()
        joints = summarise(self._robot, times, position, effort, self._goal, self._balances)
        print('\nsummary')
        for joint in joints:
            settled = ('never settled' if joint.settling_time is None
                       else f'settled in {joint.settling_time:.2f} s')
            print(f'  {joint.name}: {joint.start * joint.scale:.1f}{joint.unit} to '
                  f'{joint.goal * joint.scale:.1f}{joint.unit}, {settled}, steady-state error '
                  f'{joint.error * joint.scale:.4f}{joint.unit} (wanted: below '
                  f'{joint.tolerance * joint.scale:g}{joint.unit}), largest effort '
                  f'{joint.largest_effort:.1f} {joint.effort_unit}')
        wall = max(recording.wall_end - recording.wall_start, 1e-9)
        print(f'  energy: change - work + dissipated = {energy_residual(recording.energy):.1e} J '
              'at most (0 would be perfect)')
        print(f'  rates: {len(times) / wall:.0f} states/s seen, '
              f'{recording.commands_per_second():.0f} commands applied per simulated second, '
              f'{(times[-1] - times[0]) / wall:.3f} × real time')
        name = f'demo_{self._args.robot}_{self._args.controller}.png'
        path = self._args.output or Path('runs') / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f'no plot: {error}') from None
        draw(path, f'{self._robot.name}: {self._args.controller} over ROS 2', recording, joints)
        print(f'  plot: {path}')
        reached = all(joint.reached for joint in joints)
        print('goal reached' if reached else 'goal NOT reached')
        return 0 if reached else 1
