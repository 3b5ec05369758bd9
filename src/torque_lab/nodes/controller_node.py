"""The controller node: reads joint states by name and answers each with efforts."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from torque_lab.control.pid import ANTIWINDUP_STRATEGIES, PID, Gains
from torque_lab.nodes import interface, running
from torque_lab.nodes.parameters import declare, numbers, refusal
from torque_lab.physics.errors import ModelError
from torque_lab.physics.model import Robot
from torque_lab.physics.urdf import load_urdf

ARRAY, STAMPED = 'array', 'stamped'

GAIN_DESCRIPTIONS = {
    'p': 'Proportional gain',
    'i': 'Integral gain',
    'd': 'Derivative gain, on the measured velocity',
    'i_clamp_max': 'Upper bound of the integral term, an effort',
    'i_clamp_min': 'Lower bound of the integral term, an effort',
    'u_clamp_max': 'Upper bound of the effort',
    'u_clamp_min': 'Lower bound of the effort',
    'antiwindup_strategy': 'What a saturated joint does with its integral',
}


class ControllerNode(Node):
    """
    PID on every joint of whatever robot ``/robot_description`` describes.

    The node works on the stamps of the states alone: it needs no clock of its own, and it gives
    one answer to one state.  Until the description and the first state are there it is silent.
    """

    def __init__(self) -> None:
        super().__init__('controller')
        declare(self, 'controller', 'pid', 'Control law', choices=('pid',), fixed=True)
        declare(self, 'command', ARRAY, 'Effort commands as an array on '
                f'{interface.EFFORT_COMMANDS} (what ros2_control listens to) or stamped and named '
                f'on {interface.JOINT_COMMAND} (what lockstep wants)', choices=(ARRAY, STAMPED),
                fixed=True)
        declare(self, 'state_timeout', 0.5, 'Silence of the joint states, in wall time, that is '
                'reported', unit='s', minimum=0.01, maximum=1e6, fixed=True)
        declare(self, 'goal', [], 'Desired positions in URDF joint order; empty holds the first '
                'state', unit='rad or m')
        self.robot: Robot | None = None
        self._law: PID | None = None
        self._goal: np.ndarray | None = None
        self._order: list[int] = []
        self._names: Sequence[str] = ()
        self._stamp: int | None = None
        self._effort = np.zeros(0)
        self._last_arrival = time.monotonic()
        self._silent = False
        self._make_publishers()
        self.create_subscription(String, interface.ROBOT_DESCRIPTION, self._on_description,
                                 interface.LATCHED)
        self.create_subscription(JointState, interface.JOINT_STATES, self._on_state,
                                 interface.NEWEST)
        self.create_subscription(Float64MultiArray, '~/goal', self._on_goal, interface.NEWEST)
        self.create_timer(0.1, self._watch, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _make_publishers(self) -> None:
        self._stamped = self.get_parameter('command').value == STAMPED
        if self._stamped:
            self._named_command = JointState()
            self._publisher = self.create_publisher(
                JointState, interface.JOINT_COMMAND, interface.NEWEST)
        else:
            self._array_command = Float64MultiArray()
            self._publisher = self.create_publisher(
                Float64MultiArray, interface.EFFORT_COMMANDS, interface.NEWEST)

    # --- the robot and the law -------------------------------------------------------------

    def _on_description(self, message: String) -> None:
        if self.robot is not None:
            if message.data != self.robot.urdf:
                self.get_logger().error('another robot_description came; the first one stays: '
                                        'restart the controller for another robot')
            return
        try:
            robot = load_urdf(message.data, interface.ROBOT_DESCRIPTION)
            self._start(robot)
        except (ModelError, ValueError) as error:
            self.get_logger().error(f'cannot control this robot: {error}')

    def _start(self, robot: Robot) -> None:
        for joint in robot.joint_names:
            self._declare_gains(joint)
        goal = self.get_parameter('goal').value
        if len(goal):
            self._goal = np.array(numbers('goal', goal, robot.nv))
        self._law = PID([self._gains(joint, {}) for joint in robot.joint_names],
                        [_limit(robot, i) for i in range(robot.nv)])
        self.robot = robot
        if self._stamped:
            self._named_command.name = list(robot.joint_names)
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._apply_parameters)
        self.get_logger().info(f'{robot.name}: pid on {", ".join(robot.joint_names)}, '
                               + (f'goal {_list(self._goal)}' if self._goal is not None
                                  else 'holding the first state'))

    def _declare_gains(self, joint: str) -> None:
        defaults = Gains()
        for name, description in GAIN_DESCRIPTIONS.items():
            declare(self, f'gains.{joint}.{name}', getattr(defaults, name),
                    f'{description}, of joint {joint}',
                    minimum=0.0 if name in ('p', 'i', 'd') else None,
                    choices=ANTIWINDUP_STRATEGIES if name == 'antiwindup_strategy' else ())

    def _gains(self, joint: str, changes: dict[str, Any]) -> Gains:
        names = {name: f'gains.{joint}.{name}' for name in GAIN_DESCRIPTIONS}
        return Gains(**{name: changes.get(full, self.get_parameter(full).value)
                        for name, full in names.items()})

    def _check_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        assert self.robot is not None
        changes = {parameter.name: parameter.value for parameter in parameters}
        try:
            for joint in self.robot.joint_names:
                self._gains(joint, changes)
            if 'goal' in changes:
                numbers('goal', changes['goal'], self.robot.nv)
        except ValueError as error:
            return refusal(str(error))
        return SetParametersResult(successful=True)

    def _apply_parameters(self, parameters: list[Parameter]) -> None:
        assert self.robot is not None and self._law is not None
        self._law.set_gains([self._gains(joint, {}) for joint in self.robot.joint_names])
        for parameter in parameters:
            if parameter.name == 'goal':
                self._goal = np.array(numbers('goal', parameter.value, self.robot.nv))

    def _on_goal(self, message: Float64MultiArray) -> None:
        if self.robot is None:
            return
        try:
            self._goal = np.array(numbers('~/goal', message.data, self.robot.nv))
        except ValueError as error:
            self.get_logger().error(f'goal refused: {error}', throttle_duration_sec=1.0)

    # --- one state, one answer -------------------------------------------------------------

    def _on_state(self, message: JointState) -> None:
        self._last_arrival = time.monotonic()
        if self._silent:
            self._silent = False
            self.get_logger().info('joint states are back')
        if self.robot is None or self._law is None:
            return
        try:
            q, qd = self._read(message)
        except ValueError as error:
            self.get_logger().error(f'{interface.JOINT_STATES}: state refused: {error}',
                                    throttle_duration_sec=1.0)
            return
        stamp = message.header.stamp.sec * interface.NANOSECONDS + message.header.stamp.nanosec
        dt = self._elapsed(stamp)
        if dt is not None:  # a repeated state gets the same answer again
            if self._goal is None:
                self._goal = q
            self._effort = self._law.effort(dt, q, qd, self._goal)
        self._publish(message)

    def _read(self, message: JointState) -> tuple[np.ndarray, np.ndarray]:
        assert self.robot is not None
        if message.name != self._names:
            missing = [name for name in self.robot.joint_names if name not in message.name]
            if missing:
                raise ValueError(f'joint "{missing[0]}" is missing')
            self._order = [message.name.index(name) for name in self.robot.joint_names]
            self._names = list(message.name)
        if not len(message.position) == len(message.velocity) == len(message.name):
            raise ValueError(f'{len(message.name)} names, {len(message.position)} positions, '
                             f'{len(message.velocity)} velocities')
        q = np.array(message.position)[self._order]
        qd = np.array(message.velocity)[self._order]
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):
            raise ValueError('a position or velocity is not finite')
        return q, qd

    def _elapsed(self, stamp: int) -> float | None:
        """Time since the last state in s; 0 at the first one or after a jump; None if none."""
        assert self._law is not None
        last, self._stamp = self._stamp, stamp
        if last is None:
            return 0.0
        if stamp < last:
            self.get_logger().info('time jumped back: the controller starts anew')
            self._law.reset()
            return 0.0
        return None if stamp == last else (stamp - last) / interface.NANOSECONDS

    def _publish(self, state: JointState) -> None:
        if self._stamped:
            self._named_command.header.stamp = state.header.stamp
            self._named_command.effort = array('d', self._effort)
            self._publisher.publish(self._named_command)
        else:
            self._array_command.data = array('d', self._effort)
            self._publisher.publish(self._array_command)

    def _watch(self) -> None:
        silence = time.monotonic() - self._last_arrival
        if silence > self.get_parameter('state_timeout').value and not self._silent:
            self._silent = True
            self.get_logger().warning(f'no joint states for {silence:.1f} s; is the dynamics '
                                      'node (or Gazebo, or the robot) running?')


def _limit(robot: Robot, index: int) -> float:
    """Largest command of a joint: its voltage where it has a motor, else its effort limit."""
    motor = robot.motors[index]
    return float(robot.effort_limit[index]) if motor is None else motor.voltage_limit


def _list(values: np.ndarray | None) -> str:
    return '' if values is None else ', '.join(f'{value:.4g}' for value in values)


def main() -> None:
    """Run the node as a program."""
    running.main('controller', ControllerNode)


if __name__ == '__main__':
    main()
