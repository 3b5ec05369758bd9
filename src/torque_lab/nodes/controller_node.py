"""The controller node: runs a control law against whatever publishes joint states."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from torque_lab.control.goals import CALM, MINIMUM_JERK, STEP, Goals
from torque_lab.control.law import Law, Reference
from torque_lab.control.registry import LAWS, find_law
from torque_lab.control.sources import UserEffort
from torque_lab.control.supervisor import SAFE_EFFORTS, ZERO, Answer, Supervisor
from torque_lab.nodes import interface, running
from torque_lab.nodes.controller_report import ControllerReport
from torque_lab.nodes.joint_reader import JointReader
from torque_lab.nodes.law_parameters import LawParameters
from torque_lab.nodes.parameters import declare, numbers, refusal
from torque_lab.nodes.trajectories import read_trajectory
from torque_lab.physics.errors import ModelError
from torque_lab.physics.forces import drive_effort
from torque_lab.physics.model import Robot
from torque_lab.physics.urdf import load_urdf

ARRAY, STAMPED = 'array', 'stamped'
BACKEND, CONTROLLER = 'backend', 'controller'
FIRST_STATE = 3.0
"""How long, in s, the first state may take: nodes must find each other first."""

GAP = 1.0
"""States further apart than this, in s, are taken for a jump of time."""


class ControllerNode(Node):
    """
    A control law on whatever robot ``/robot_description`` describes.

    The node works on the stamps of the states alone: it needs no clock of its own, and it gives
    one answer to one state.  Until the description and the first state are there it is silent.
    """

    def __init__(self) -> None:
        super().__init__('controller')
        self._declare_parameters()
        self.robot: Robot | None = None
        self._pending: list[Callable[[], None]] = []
        self._stamp: int | None = None
        self._last_state: JointState | None = None
        self._answer: Answer | None = None
        self._last_arrival = time.monotonic()
        self._silent = False
        self._make_publishers()
        self.create_subscription(String, interface.ROBOT_DESCRIPTION, self._on_description,
                                 interface.LATCHED)
        self.create_subscription(JointState, interface.JOINT_STATES, self._on_state,
                                 interface.NEWEST)
        self.create_subscription(Float64MultiArray, '~/goal', self._on_goal, interface.NEWEST)
        self.create_subscription(JointTrajectory, '~/joint_trajectory', self._on_trajectory,
                                 interface.NEWEST)
        self.create_subscription(Float64MultiArray, '~/user_effort', self._on_user_effort,
                                 interface.NEWEST)
        for name, act in (('servo_on', lambda on: True), ('servo_off', lambda on: False),
                          ('servo_toggle', lambda on: not on)):
            self.create_service(Trigger, f'~/{name}', self._servo_service(act))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(0.1, self._watch, clock=steady)
        self.create_timer(1.0, self._publish_diagnostics, clock=steady)

    def _declare_parameters(self) -> None:
        declare(self, 'controller', 'pid', f'Control law: one of {", ".join(LAWS)}, or your own '
                'as package.module:Class or /path/to/file.py:Class')
        declare(self, 'command', ARRAY, 'Effort commands as an array on '
                f'{interface.EFFORT_COMMANDS} (what ros2_control listens to) or stamped and named '
                f'on {interface.JOINT_COMMAND} (what lockstep wants)', choices=(ARRAY, STAMPED),
                fixed=True)
        declare(self, 'state_timeout', 0.5, 'Silence of the joint states, in wall time, that is '
                'reported and answered with the safe effort', unit='s', minimum=0.01, maximum=1e6,
                fixed=True)
        declare(self, 'goal', [], 'Desired positions in URDF joint order; empty holds the first '
                'state', unit='rad or m')
        declare(self, 'goal_motion', STEP, 'How a new goal is approached: at once, or along a '
                'motion of minimum jerk within the limits', choices=(STEP, MINIMUM_JERK))
        declare(self, 'velocity_limit', [], 'Largest speeds of goal motions and trajectories, one '
                'number or one per joint; empty takes those of the URDF', unit='rad/s or m/s')
        declare(self, 'acceleration_limit', [], 'Largest accelerations of goal motions and '
                'trajectories, one number or one per joint; empty sets none (goal motions then '
                f'keep to {CALM:g})', unit='rad/s² or m/s²')
        declare(self, 'safe_effort', ZERO, 'Effort with the servo off, after a law was cut off, '
                'or when states stop: zero, or what carries the weight', choices=SAFE_EFFORTS)
        declare(self, 'law_time_limit', 0.1, 'Wall time that a law may take for one answer',
                unit='s', minimum=1e-4, maximum=1e3)
        declare(self, 'blend_time', 0.2, 'Time over which a change of law or gains comes in',
                unit='s', minimum=0.0, maximum=1e3)
        declare(self, 'servo', True, 'Whether the law drives the arm from the start', fixed=True)
        declare(self, 'motors', BACKEND, 'Who turns volts into torque where a joint has a motor: '
                'the backend (the dynamics node), or the controller (Gazebo knows no motors)',
                choices=(BACKEND, CONTROLLER), fixed=True)
        declare(self, 'state_rate', 50.0, '~/controller_state messages per second of the states\' '
                'time; 0 for none', unit='Hz', minimum=0.0, maximum=1e5, fixed=True)

    def _make_publishers(self) -> None:
        self._stamped = self._value('command') == STAMPED
        self._converts_volts = self._value('motors') == CONTROLLER
        if self._stamped:
            self._named_command = JointState()
            self._publisher = self.create_publisher(
                JointState, interface.JOINT_COMMAND, interface.NEWEST)
        else:
            self._array_command = Float64MultiArray()
            self._publisher = self.create_publisher(
                Float64MultiArray, interface.EFFORT_COMMANDS, interface.NEWEST)

    def _value(self, name: str, changes: dict[str, Any] | None = None) -> Any:
        if changes and name in changes:
            return changes[name]
        return self.get_parameter(name).value

    # --- the robot and the law -------------------------------------------------------------

    def _on_description(self, message: String) -> None:
        if self.robot is not None:
            if message.data != self.robot.urdf:
                self.get_logger().error('another robot_description came; the first one stays: '
                                        'restart the controller for another robot')
            return
        try:
            robot = load_urdf(message.data, interface.ROBOT_DESCRIPTION)
            if robot.has_floating_joint:
                raise ModelError(f'{robot.name} has a floating joint, which no effort drives')
            self._start(robot)
        except (ModelError, ValueError) as error:
            raise running.StartError(f'cannot control this robot: {error}') from error

    def _start(self, robot: Robot) -> None:
        self._reader = JointReader(robot.joint_names)
        self._law_parameters = LawParameters(self, robot)
        self._supervisor = Supervisor(robot)
        self._supervisor.servo = self._value('servo')
        self._goals = Goals(robot.velocity_limit, np.full(robot.nv, np.inf))
        self._read_settings(robot, {})
        goal = self._value('goal')
        if len(goal):
            self._goals.go(0.0, numbers('goal', goal, robot.nv))
        law = self._make_law(self._value('controller'), {})
        self._report = ControllerReport(self, robot, self._value('state_rate'))
        self._supervisor.use(law)
        self.robot = robot
        if self._stamped:
            self._named_command.name = list(robot.joint_names)
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._apply_parameters)
        self.get_logger().info(f'{robot.name}: {law.name} on {", ".join(robot.joint_names)}, '
                               + (f'goal {_list(self._goals.goal)}'
                                  if self._goals.goal is not None else 'holding the first state'))

    def _make_law(self, name: str, changes: dict[str, Any]) -> Law:
        law = find_law(name)
        parameters = self._law_parameters
        parameters.declare(law)
        return parameters.make(law, changes)

    def _read_settings(self, robot: Robot, changes: dict[str, Any]) -> Callable[[], None]:
        """Check the node's own settings, some changed; the result applies them."""
        speed = self._limits(robot, 'velocity_limit', robot.velocity_limit, changes)
        acceleration = self._limits(robot, 'acceleration_limit', np.full(robot.nv, np.inf),
                                    changes)
        for name, choices in (('goal_motion', (STEP, MINIMUM_JERK)),
                              ('safe_effort', SAFE_EFFORTS)):
            if self._value(name, changes) not in choices:
                raise ValueError(f'parameter "{name}" is "{self._value(name, changes)}"; choose '
                                 f'one of {", ".join(choices)}')

        def apply() -> None:
            goals, supervisor = self._goals, self._supervisor
            goals.velocity_limit, goals.acceleration_limit = speed, acceleration
            goals.motion = self._value('goal_motion')
            supervisor.safe_effort = self._value('safe_effort')
            supervisor.time_limit = self._value('law_time_limit')
            supervisor.blend_time = self._value('blend_time')

        if not changes:
            apply()
        return apply

    def _limits(self, robot: Robot, name: str, default: np.ndarray, changes: dict[str, Any],
                ) -> np.ndarray:
        value = self._value(name, changes)
        if not len(value):
            return default
        limits = np.array(numbers(name, value, 1 if len(value) == 1 else robot.nv))
        if not (limits > 0.0).all():
            raise ValueError(f'parameter "{name}" is {limits.tolist()}; limits must be positive')
        return np.broadcast_to(limits, (robot.nv,))

    def _check_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        assert self.robot is not None
        if self._law_parameters.declaring:
            return SetParametersResult(successful=True)
        changes = {parameter.name: parameter.value for parameter in parameters}
        self._pending = []
        try:
            self._read_settings(self.robot, changes)
            if 'goal' in changes:
                numbers('goal', changes['goal'], self.robot.nv)
            self._check_law(changes)
        except ValueError as error:
            self._pending = []
            return refusal(str(error))
        return SetParametersResult(successful=True)

    def _check_law(self, changes: dict[str, Any]) -> None:
        """Try the law with its changes; note what to do when they are set."""
        current = self._supervisor.law
        assert current is not None
        if 'controller' in changes:
            law = self._make_law(changes['controller'], changes)
            self._pending.append(lambda: self._use(law))
        elif self._law_parameters.names(type(current)) & changes.keys():
            self._law_parameters.make(type(current), changes)
            self._pending.append(lambda: self._update(current))

    def _use(self, law: Law) -> None:
        self._supervisor.use(law)
        self.get_logger().info(f'{law.name} takes over')

    def _update(self, law: Law) -> None:
        self._law_parameters.update(law)
        self._supervisor.changed()

    def _apply_parameters(self, parameters: list[Parameter]) -> None:
        assert self.robot is not None
        if self._law_parameters.declaring:
            return
        pending, self._pending = self._pending, []
        for act in pending:
            act()
        self._read_settings(self.robot, {})
        for parameter in parameters:
            if parameter.name == 'goal':
                self._goals.go(self._time, numbers('goal', parameter.value, self.robot.nv))

    # --- goals -----------------------------------------------------------------------------

    @property
    def _time(self) -> float:
        """Stamp of the last state, in s."""
        return (self._stamp or 0) / interface.NANOSECONDS

    def _on_goal(self, message: Float64MultiArray) -> None:
        if self.robot is None:
            return
        try:
            self._goals.go(self._time, numbers('~/goal', message.data, self.robot.nv))
        except ValueError as error:
            self.get_logger().error(f'goal refused: {error}', throttle_duration_sec=1.0)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        if self.robot is None:
            return
        try:
            delay, times, points = read_trajectory(message, self.robot.joint_names, self._time)
            factor = self._goals.follow(self._time, [delay + time for time in times], points)
        except ValueError as error:
            self.get_logger().error(f'trajectory refused: {error}')
            return
        if factor > 1.0:
            self.get_logger().warning(f'trajectory breaks the limits: it is followed '
                                      f'{factor:.2f} times slower')

    def _on_user_effort(self, message: Float64MultiArray) -> None:
        if self.robot is None or not isinstance(self._supervisor.law, UserEffort):
            self.get_logger().warning('~/user_effort is for the controller user_effort',
                                      throttle_duration_sec=5.0)
            return
        results = self.set_parameters([Parameter('user_effort.effort', value=list(message.data))])
        if not results[0].successful:
            self.get_logger().error(f'user effort refused: {results[0].reason}',
                                    throttle_duration_sec=1.0)

    # --- one state, one answer -------------------------------------------------------------

    def _on_state(self, message: JointState) -> None:
        self._last_arrival = time.monotonic()
        if self._silent:
            self._silent = False
            self.get_logger().info('joint states are back')
        if self.robot is None:
            return
        try:
            q, qd = self._reader.read(message)
        except ValueError as error:
            self._report.refused_states += 1
            self.get_logger().error(f'{interface.JOINT_STATES}: state refused: {error}',
                                    throttle_duration_sec=1.0)
            return
        began = time.perf_counter()
        stamp = message.header.stamp.sec * interface.NANOSECONDS + message.header.stamp.nanosec
        dt = self._elapsed(stamp, q)
        if dt is None and self._answer is not None:  # a repeated state gets the same answer again
            self._publish(message, self._answer.effort, qd)
            return
        t = self._time
        reference = self._goals.at(t)
        self._answer = self._answer_state(t, dt or 0.0, q, qd, reference)
        self._publish(message, self._answer.effort, qd)
        self._last_state = message
        self._report.count(self._answer, time.perf_counter() - began)
        self._report.publish_state(t, q, qd, reference, self._answer)

    def _answer_state(self, t: float, dt: float, q: np.ndarray, qd: np.ndarray,
                      reference: Reference) -> Answer:
        supervisor = self._supervisor
        healthy = not supervisor.fault
        answer = supervisor.answer(t, dt, q, qd, reference)
        if supervisor.fault and healthy:
            self._report.cut_offs += 1
            self.get_logger().error(
                f'control law cut off: {supervisor.fault}; the arm gets the safe effort '
                f'({supervisor.safe_effort}) until ~/servo_on is called or another controller '
                'is set')
        return answer

    def _elapsed(self, stamp: int, q: np.ndarray) -> float | None:
        """Time since the last state in s; 0 at the first one or after a jump; None if none."""
        last, self._stamp = self._stamp, stamp
        if last is None:
            self._goals.begin(self._time, q)
            return 0.0
        elapsed = (stamp - last) / interface.NANOSECONDS
        if 0.0 < elapsed <= GAP:
            return elapsed
        if elapsed == 0.0:
            return None
        self.get_logger().info('time jumped back: the controller starts anew' if elapsed < 0.0
                               else f'time jumped by {elapsed:.3f} s: the controller starts anew')
        self._supervisor.reset()
        self._goals.begin(self._time, q)
        self._report.reset()
        return 0.0

    def _publish(self, state: JointState, effort: np.ndarray, qd: np.ndarray) -> None:
        assert self.robot is not None
        if self._converts_volts:
            effort = drive_effort(self.robot, effort, qd)
        if self._stamped:
            self._named_command.header.stamp = state.header.stamp
            self._named_command.effort = array('d', effort)
            self._publisher.publish(self._named_command)
        else:
            self._array_command.data = array('d', effort)
            self._publisher.publish(self._array_command)

    def _watch(self) -> None:
        silence = time.monotonic() - self._last_arrival
        patience = self._value('state_timeout')
        if silence <= (patience if self._stamp is not None else max(patience, FIRST_STATE)):
            return
        if not self._silent:
            self._silent = True
            self.get_logger().warning(f'no joint states for {silence:.1f} s; is the dynamics '
                                      'node (or Gazebo, or the robot) running?')
        # A stamped command carries the age of its state: the backend knows.  An array does not.
        if self._last_state is not None and not self._stamped:
            q, qd = self._reader.read(self._last_state)
            self._publish(self._last_state, self._supervisor.safe(q, np.zeros_like(qd)),
                          np.zeros_like(qd))

    # --- services and diagnostics ----------------------------------------------------------

    def _servo_service(self, wanted: Callable[[bool], bool]) -> Callable[..., Any]:
        def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            if self.robot is None:
                response.success, response.message = False, 'no robot yet'
                return response
            supervisor = self._supervisor
            supervisor.switch(wanted(supervisor.servo))
            response.success = True
            response.message = f'servo {"on" if supervisor.servo else "off"}'
            self.get_logger().info(response.message)
            return response
        return serve

    def _publish_diagnostics(self) -> None:
        if self.robot is not None and self._last_state is not None:
            self._report.publish_diagnostics(self._last_state.header.stamp, self._supervisor,
                                             self._silent)


def _list(values: Any) -> str:
    return '[' + ', '.join(f'{value:.4g}' for value in values) + ']'


def main() -> None:
    """Run the node as a program."""
    running.main('controller', ControllerNode)


if __name__ == '__main__':
    main()
