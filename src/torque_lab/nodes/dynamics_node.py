"""The dynamics node: integrates the manipulator equation and publishes joint states."""

from __future__ import annotations

import time
from array import array
from dataclasses import asdict
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String
from std_srvs.srv import Trigger

from torque_lab.nodes import interface, running
from torque_lab.nodes.commands import CommandBox, CommandRefusedError
from torque_lab.nodes.pacing import Pacer, whole_ratio
from torque_lab.nodes.parameters import declare, numbers
from torque_lab.physics.errors import Divergence, ModelError
from torque_lab.physics.integrators import INTEGRATORS
from torque_lab.physics.load import load
from torque_lab.physics.model import Robot
from torque_lab.physics.simulator import Simulator
from torque_lab.physics.urdf import load_urdf

HELD, FREE, PAUSED = 'held', 'free', 'paused'


class DynamicsNode(Node):
    """
    A simulator that speaks the interface of a ros2_control effort robot.

    One period is the time between two joint states: a whole number of integration steps.  The
    command in force is read once per period and held over its steps.
    """

    def __init__(self) -> None:
        super().__init__('dynamics')
        self.robot = self._read_robot()
        self._declare_parameters()
        self.simulator = Simulator(
            self.robot, integrator=self._value('integrator'), dt=self._value('dt'))
        self._read_timing()
        self._commands = CommandBox(self.robot.joint_names, self._value('command_timeout'))
        self._paused = self._value('start') == PAUSED
        self._diverged = ''
        self._waiting_for_commands = False
        self._periods = 0
        self._effort = np.zeros(self.robot.nv)
        self._make_messages()
        self._make_publishers()
        self._make_subscriptions()
        self._reset_state()
        self._pacer = Pacer(self._period, self._value('real_time_factor'))
        self._publish_state()
        self.get_logger().info(
            f'{self.robot.name}: {", ".join(self.robot.joint_names)}; '
            f'{self._value("integrator")} at {self._value("dt") * 1e3:g} ms, states at '
            f'{1.0 / self._period:g} Hz, {self._value("start")} until the first command')

    # --- start -----------------------------------------------------------------------------

    def _read_robot(self) -> Robot:
        text = declare(self, 'robot_description', '', 'URDF of the robot, xacro expanded',
                       fixed=True)
        name = declare(self, 'robot', '', 'A shipped model or a URDF or xacro file; used when '
                       'robot_description is empty', fixed=True)
        if text:
            robot = load_urdf(text, 'parameter robot_description')
        elif name:
            robot = load(name)
        else:
            raise ModelError('no robot: set the parameter robot_description (URDF text) or robot '
                             '(a shipped name or a file)')
        if robot.has_floating_joint:
            raise ModelError(f'{robot.name} has a floating joint, which no effort drives; '
                             'simulate it with torque_lab.Simulator')
        return robot

    def _declare_parameters(self) -> None:
        robot = self.robot
        declare(self, 'integrator', 'rk4', 'Integration scheme', choices=tuple(INTEGRATORS),
                fixed=True)
        declare(self, 'dt', 0.001, 'Integration step', unit='s', minimum=1e-6, maximum=0.1,
                fixed=True)
        declare(self, 'publish_rate', 1000.0, 'Joint states per second of simulation time; a '
                'period must be a whole number of steps', unit='Hz', minimum=0.1, maximum=1e5,
                fixed=True)
        declare(self, 'clock_rate', 100.0, '/clock messages per second of simulation time',
                unit='Hz', minimum=0.1, maximum=1e5, fixed=True)
        declare(self, 'energy_rate', 50.0, '~/energy messages per second of simulation time',
                unit='Hz', minimum=0.1, maximum=1e5, fixed=True)
        declare(self, 'real_time_factor', 1.0, 'Simulated seconds per second; 0 runs as fast as '
                'possible', minimum=0.0, maximum=1e4, fixed=True)
        declare(self, 'start', HELD, 'Until the first command the arm is held in place, falls '
                'free, or time stands still', choices=(HELD, FREE, PAUSED), fixed=True)
        declare(self, 'command_timeout', 0.1, 'Age of a command, in wall time, at which the '
                'effort drops to zero; 0 keeps the last effort for ever', unit='s', minimum=0.0,
                maximum=1e6, fixed=True)
        declare(self, 'publish_description', True, 'Publish /robot_description; false where '
                'robot_state_publisher does', fixed=True)
        declare(self, 'initial_position', robot.start.tolist(), 'Start position, in URDF joint '
                'order', unit='rad or m', fixed=True)
        declare(self, 'initial_velocity', robot.start_velocity.tolist(), 'Start velocity, in '
                'URDF joint order', unit='rad/s or m/s', fixed=True)

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _read_timing(self) -> None:
        dt, rate = self._value('dt'), self._value('publish_rate')
        self._steps_per_period = whole_ratio('publish_rate', rate, 'dt', 1.0 / dt)
        self._periods_per_clock = whole_ratio('clock_rate', self._value('clock_rate'),
                                              'publish_rate', rate)
        self._periods_per_energy = whole_ratio('energy_rate', self._value('energy_rate'),
                                               'publish_rate', rate)
        self._period = self._steps_per_period * dt
        self._period_ns = round(self._period * interface.NANOSECONDS)

    def _make_messages(self) -> None:
        # Built once and reused: building a message costs more than publishing it.
        self._state_message = JointState(name=list(self.robot.joint_names))
        self._state_message.header.frame_id = 'world'  # rviz's effort display wants one
        self._clock_message = ClockMessage()
        self._energy_message = Float64MultiArray()
        self._energy_message.layout.dim = [MultiArrayDimension(
            label=','.join(interface.ENERGY_FIELDS), size=len(interface.ENERGY_FIELDS),
            stride=len(interface.ENERGY_FIELDS))]

    def _make_publishers(self) -> None:
        self._state_publisher = self.create_publisher(
            JointState, interface.JOINT_STATES, interface.NEWEST)
        self._clock_publisher = self.create_publisher(
            ClockMessage, interface.CLOCK, interface.NEWEST)
        self._energy_publisher = self.create_publisher(
            Float64MultiArray, '~/energy', interface.NEWEST)
        self._diagnostics_publisher = self.create_publisher(
            DiagnosticArray, interface.DIAGNOSTICS, QoSProfile(depth=10))
        if self._value('publish_description'):
            self._description_publisher = self.create_publisher(
                String, interface.ROBOT_DESCRIPTION, interface.LATCHED)
            self._description_publisher.publish(String(data=self.robot.urdf))

    def _make_subscriptions(self) -> None:
        self.create_subscription(Float64MultiArray, interface.EFFORT_COMMANDS,
                                 self._on_array_command, interface.NEWEST)
        self.create_subscription(JointState, interface.JOINT_COMMAND,
                                 self._on_named_command, interface.NEWEST)
        for name, act in (('pause', self._pause), ('resume', self._resume),
                          ('reset', self._reset), ('step', self._step)):
            self.create_service(Trigger, f'~/{name}', act)
        # Steady clock: with use_sim_time the node's own clock would wait for itself.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        factor = self._value('real_time_factor')
        self.create_timer(self._period / factor if factor else self._period, self._tick,
                          clock=steady)
        self.create_timer(1.0, self._publish_diagnostics, clock=steady)

    # --- time ------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulation time in s."""
        return self._periods * self._period_ns / interface.NANOSECONDS

    def _tick(self) -> None:
        if self._paused or self._diverged:
            self._pacer.rest()
            return
        for _ in self._pacer.due():
            self._advance()
            if self._diverged:
                return
        if self._pacer.fell_behind:
            self.get_logger().warning(
                f'cannot keep up with real time: {self._pacer.slipped:.3f} s behind so far',
                throttle_duration_sec=5.0)

    def _advance(self) -> None:
        effort = self._commands.current(time.monotonic())
        self._report_command_flow(effort)
        if effort is not None:
            self._effort = effort
        elif self._commands.commanded or self._value('start') != HELD:
            self._effort = np.zeros(self.robot.nv)
        else:  # held: time goes on, the arm stays
            self._finish_period()
            return
        try:
            self.simulator.step(self._effort, n=self._steps_per_period)
        except Divergence as divergence:
            self._diverged = str(divergence)
            self.get_logger().error(f'stopped at the last good state: {divergence}; '
                                    'call ~/reset to go on')
            return
        self._finish_period()

    def _finish_period(self) -> None:
        self._periods += 1
        self._publish_state()

    def _report_command_flow(self, effort: np.ndarray | None) -> None:
        if effort is None and self._commands.commanded and not self._waiting_for_commands:
            self._waiting_for_commands = True
            self.get_logger().warning(
                f'no command for {self._commands.timeout:g} s: effort set to zero; is the '
                'controller running?')
        elif effort is not None and self._waiting_for_commands:
            self._waiting_for_commands = False
            self.get_logger().info('commands are back')

    # --- messages --------------------------------------------------------------------------

    def _publish_state(self) -> None:
        stamp = self._periods * self._period_ns
        seconds, nanoseconds = divmod(stamp, interface.NANOSECONDS)
        state = self._state_message
        state.header.stamp.sec, state.header.stamp.nanosec = seconds, nanoseconds
        state.position = array('d', self.simulator.q)
        state.velocity = array('d', self.simulator.qd)
        state.effort = array('d', self.simulator.applied_effort)
        self._state_publisher.publish(state)
        if self._periods % self._periods_per_clock == 0:
            clock = self._clock_message.clock
            clock.sec, clock.nanosec = seconds, nanoseconds
            self._clock_publisher.publish(self._clock_message)
        if self._periods % self._periods_per_energy == 0:
            self._publish_energy()

    def _publish_energy(self) -> None:
        energy = self.simulator.energy
        self._energy_message.data = array('d', [getattr(energy, name)
                                        for name in interface.ENERGY_FIELDS])
        self._energy_publisher.publish(self._energy_message)

    def _publish_diagnostics(self) -> None:
        counters = self._commands.counters
        values = {'simulation time [s]': f'{self.time:.3f}',
                  'overruns': str(self._pacer.overruns),
                  'behind real time [s]': f'{self._pacer.slipped:.3f}',
                  **{f'commands {name}': str(count) for name, count in asdict(counters).items()}}
        status = DiagnosticStatus(name=f'{self.get_name()}: simulation', hardware_id='simulation',
                                  level=DiagnosticStatus.OK, message='running')
        if self._diverged:
            status.level, status.message = DiagnosticStatus.ERROR, self._diverged
        elif self._paused:
            status.message = 'paused'
        elif self._waiting_for_commands:
            status.level, status.message = DiagnosticStatus.WARN, 'no commands'
        status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._state_message.header.stamp
        self._diagnostics_publisher.publish(message)

    def _on_array_command(self, message: Float64MultiArray) -> None:
        try:
            self._commands.offer_array(message.data, time.monotonic())
        except CommandRefusedError as reason:
            self._report_refusal(interface.EFFORT_COMMANDS, reason)

    def _on_named_command(self, message: JointState) -> None:
        stamp = message.header.stamp
        try:
            self._commands.offer_named(message.name, message.effort,
                                       stamp.sec * interface.NANOSECONDS + stamp.nanosec,
                                       time.monotonic())
        except CommandRefusedError as reason:
            self._report_refusal(interface.JOINT_COMMAND, reason)

    def _report_refusal(self, topic: str, reason: CommandRefusedError) -> None:
        self.get_logger().error(f'{topic}: command refused: {reason}', throttle_duration_sec=1.0)

    # --- services --------------------------------------------------------------------------

    def _pause(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._paused = True
        return self._answer(response, True, f'paused at {self.time:.3f} s')

    def _resume(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._paused = False
        return self._answer(response, True, f'running from {self.time:.3f} s')

    def _step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self._paused:
            return self._answer(response, False, 'step works while paused; call ~/pause first')
        self._advance()
        return self._answer(response, not self._diverged, self._diverged or
                            f'stepped to {self.time:.3f} s')

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._reset_state()
        self._commands.clear()
        self._waiting_for_commands = False
        self._diverged, self._periods = '', 0
        self._pacer.rest()
        self._publish_state()
        return self._answer(response, True, 'back at the start')

    def _reset_state(self) -> None:
        robot = self.robot
        self.simulator.reset(
            numbers('initial_position', self._value('initial_position'), robot.nq),
            numbers('initial_velocity', self._value('initial_velocity'), robot.nv))

    @staticmethod
    def _answer(response: Trigger.Response, success: bool, message: str) -> Trigger.Response:
        response.success, response.message = success, message
        return response


def main() -> None:
    """Run the node as a program."""
    running.main('dynamics', DynamicsNode)


if __name__ == '__main__':
    main()
