"""The dynamics node: integrates the manipulator equation and publishes joint states."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import WrenchStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.timer import Timer
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from torque_lab.nodes import dynamics_parameters, interface, running, simulation_services
from torque_lab.nodes.commands import CommandBox, CommandLateError, CommandRefusedError
from torque_lab.nodes.dynamics_parameters import CONTINUE, value_of
from torque_lab.nodes.pacing import Pacer
from torque_lab.nodes.parameters import numbers
from torque_lab.nodes.sensors import Sensors
from torque_lab.nodes.simulation import Simulation
from torque_lab.nodes.state_publisher import StatePublisher
from torque_lab.physics.simulator import Simulator

REPEAT = 0.1
"""While time stands still, the state is published again after so many seconds: whoever joins late
must get it, and silence would look like a fault."""

LOOK = 0.01
"""Seconds between two looks for silence in lockstep without pace."""


class DynamicsNode(Node):
    """
    A simulator that speaks the interface of a ros2_control effort robot.

    One period is the time between two joint states: a whole number of integration steps.  The
    command in force is read once per period and held over its steps.  In lockstep, a period
    passes when the stamped command that answers the last state is there.
    """

    def __init__(self) -> None:
        super().__init__('dynamics')
        robot = dynamics_parameters.read_robot(self)
        dynamics_parameters.declare_all(self, robot)
        steps, self._periods_per_clock, self._periods_per_energy = (
            dynamics_parameters.read_rates(self))
        dt = value_of(self, 'dt')
        simulator = Simulator(robot, integrator=value_of(self, 'integrator'), dt=dt)
        self._commands = CommandBox(robot.joint_names, value_of(self, 'command_timeout'))
        self.simulation = Simulation(
            simulator, steps, self._commands, value_of(self, 'start'),
            value_of(self, 'timeout_action'), value_of(self, 'push_duration'))
        self._sensors = Sensors(
            value_of(self, 'position_noise'), value_of(self, 'velocity_noise'),
            value_of(self, 'sensor_delay'), value_of(self, 'seed'))
        self._lockstep = value_of(self, 'lockstep')
        self._patience = value_of(self, 'lockstep_timeout')
        self._goes_on = value_of(self, 'lockstep_policy') == CONTINUE
        self._answered = False
        self._published_at = 0.0
        self._waiting_since = 0.0
        self._newest_stamp = 0
        self._unanswered = 0
        self._latencies: deque[float] = deque(maxlen=1000)
        self._silent = False
        self._started = False
        self._pacer = Pacer(dt * steps, dynamics_parameters.check_factor(
            value_of(self, 'real_time_factor')))
        self._apply_physics()
        self._read_initial_state()
        self._messages = StatePublisher(self, self.simulation,
                                        value_of(self, 'publish_description'))
        self._make_inputs()
        self.simulation.reset()
        self._publish_all()
        self._greet()

    def _read_initial_state(self) -> None:
        robot = self.simulation.robot
        self.simulation.initial = (
            np.array(numbers('initial_position', value_of(self, 'initial_position'), robot.nq)),
            np.array(numbers('initial_velocity', value_of(self, 'initial_velocity'), robot.nv)))

    def _make_inputs(self) -> None:
        self.create_subscription(Float64MultiArray, interface.EFFORT_COMMANDS,
                                 self._on_array_command, interface.NEWEST)
        self.create_subscription(JointState, interface.JOINT_COMMAND, self._on_named_command,
                                 interface.NEWEST)
        self.create_subscription(WrenchStamped, '~/wrench', self._on_wrench, QoSProfile(depth=10))
        self.create_subscription(Float64MultiArray, '~/push', self._on_push, QoSProfile(depth=10))
        self.create_subscription(JointState, '~/set_state', self._on_set_state,
                                 QoSProfile(depth=10))
        self._diagnostics_publisher = self.create_publisher(
            DiagnosticArray, interface.DIAGNOSTICS, QoSProfile(depth=10))
        simulation_services.offer(self, self)
        self.add_on_set_parameters_callback(
            lambda changes: dynamics_parameters.check_changes(self.simulation.robot, changes))
        self.add_post_set_parameters_callback(self._on_parameters)
        # Steady clock: with use_sim_time the node's own clock would wait for itself.
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self._make_timer()
        self.create_timer(1.0, self._publish_diagnostics, clock=self._steady)

    def _make_timer(self) -> Timer:
        # In lockstep without pace, answers turn the crank; the timer only looks for silence.
        idle = self._lockstep and self._pacer.free
        return self.create_timer(LOOK if idle else self._pacer.wall_period, self._tick,
                                 clock=self._steady)

    def _greet(self) -> None:
        robot, simulator = self.simulation.robot, self.simulation.simulator
        mode = 'in lockstep' if self._lockstep else 'running'
        if robot.joint_names and not self._lockstep:
            mode = f'{self.simulation.start} until the first command'
        self.get_logger().info(
            f'{robot.name}: {", ".join(robot.joint_names) or "no driven joints"}; '
            f'{simulator.integrator} at {simulator.dt * 1e3:g} ms, states at '
            f'{1e9 / self.simulation.period_ns:g} Hz, {mode}'
            + ('' if simulator.compiled else '; not compiled: install llvmlite for speed'))

    # --- time ------------------------------------------------------------------------------

    def _tick(self) -> None:
        if not (self.simulation.running and self._started):
            self._started = True  # nothing to catch up from before the first tick
            self._pacer.rest()
            if time.monotonic() - self._published_at > REPEAT:
                self._publish_state()
        elif self._lockstep:
            self._tick_in_lockstep()
        else:
            for _ in self._pacer.due():
                if not self._advance(time.monotonic()):
                    return
            self._report_delay()

    def _tick_in_lockstep(self) -> None:
        """Pass a period if it is answered and due; repeat the state, or go on without answer."""
        now = time.monotonic()
        if self._answered:
            for _ in self._pacer.due():
                self._advance(self.simulation.time)
                return
        elif self._goes_on and now - self._waiting_since > self._patience:
            self._unanswered += 1
            self._commands.expire()
            self._advance(self.simulation.time)
        elif now - self._published_at > REPEAT:
            if now - self._waiting_since > self._patience:
                self.get_logger().warning(
                    f'lockstep: no answer to the state of {self.simulation.time:.3f} s; waiting',
                    throttle_duration_sec=5.0)
            self._publish_state()

    def _advance(self, now: float) -> bool:
        self._answered = False
        if not self.simulation.advance(now):
            self.get_logger().error(f'stopped at the last good state: {self.simulation.diverged}; '
                                    'call ~/reset to go on')
            return False
        if self._commands.timed_out != self._silent:
            self._report_silence()
        self._waiting_since = time.monotonic()
        self._publish_all()
        return True

    def _report_silence(self) -> None:
        self._silent = self._commands.timed_out
        if self._silent:
            action = {'zero': 'effort set to zero', 'hold': 'the last effort stays',
                      'brake': 'braking'}[self.simulation.timeout_action]
            self.get_logger().warning(f'no command for {self._commands.timeout:g} s: {action}; '
                                      'is the controller running?')
        else:
            self.get_logger().info('commands are back')

    def _report_delay(self) -> None:
        if self._pacer.fell_behind:
            self.get_logger().warning(
                f'cannot keep up with real time: {self._pacer.slipped:.3f} s behind so far',
                throttle_duration_sec=5.0)

    # --- what goes out ---------------------------------------------------------------------

    def _publish_all(self) -> None:
        simulation = self.simulation
        simulator = simulation.simulator
        self._measured = self._sensors.measure(
            simulation.stamp, simulator.q, simulator.qd, simulation.joint_effort)
        self._publish_state()
        if simulation.periods % self._periods_per_clock == 0:
            self._messages.clock()
        if simulation.periods % self._periods_per_energy == 0:
            self._messages.energy()

    def _publish_state(self) -> None:
        self._newest_stamp = self._measured.stamp
        self._published_at = self._messages.state(self._measured)

    def _publish_diagnostics(self) -> None:
        latencies = sorted(self._latencies) or [float('nan')]
        values = {'simulation time [s]': f'{self.simulation.time:.3f}',
                  'overruns': str(self._pacer.overruns),
                  'behind real time [s]': f'{self._pacer.slipped:.3f}',
                  'state to command, median [µs]': f'{latencies[len(latencies) // 2]:.0f}',
                  'state to command, 99 % [µs]': f'{latencies[len(latencies) * 99 // 100]:.0f}',
                  'unanswered in lockstep': str(self._unanswered),
                  **{f'commands {name}': str(count)
                     for name, count in asdict(self._commands.counters).items()}}
        level, message = DiagnosticStatus.OK, 'running'
        if self.simulation.diverged:
            level, message = DiagnosticStatus.ERROR, self.simulation.diverged
        elif self.simulation.paused:
            message = 'paused'
        elif self._silent:
            level, message = DiagnosticStatus.WARN, 'no commands'
        status = DiagnosticStatus(
            name=f'{self.get_name()}: simulation', hardware_id='simulation', level=level,
            message=message,
            values=[KeyValue(key=key, value=value) for key, value in values.items()])
        report = DiagnosticArray(status=[status])
        stamp = report.header.stamp
        stamp.sec, stamp.nanosec = divmod(self.simulation.stamp, interface.NANOSECONDS)
        self._diagnostics_publisher.publish(report)

    # --- what comes in ---------------------------------------------------------------------

    def _command_time(self) -> float:
        """Time that commands age on: simulation time in lockstep, else steady wall time."""
        return self.simulation.time if self._lockstep else time.monotonic()

    def _on_array_command(self, message: Float64MultiArray) -> None:
        arrival = time.monotonic()
        if self._lockstep and self._goes_on:
            self._report_refusal(interface.EFFORT_COMMANDS, 'in lockstep an array, which has no '
                                 'stamp, needs the policy stop')
            return
        try:
            self._commands.offer_array(message.data, self._command_time())
        except CommandRefusedError as reason:
            self._report_refusal(interface.EFFORT_COMMANDS, reason)
        else:
            self._on_answer(arrival)

    def _on_named_command(self, message: JointState) -> None:
        arrival = time.monotonic()
        stamp = message.header.stamp.sec * interface.NANOSECONDS + message.header.stamp.nanosec
        try:
            self._commands.offer_named(
                message.name, message.effort, stamp, self._command_time(), self._newest_stamp,
                self._newest_stamp if self._lockstep else 0)
        except CommandLateError:
            pass  # counted; late answers are no fault of their sender
        except CommandRefusedError as reason:
            self._report_refusal(interface.JOINT_COMMAND, reason)
        else:
            self._on_answer(arrival)

    def _on_answer(self, arrival: float) -> None:
        self._answered = True
        self.simulation.wake()
        self._latencies.append(1e6 * (arrival - self._published_at))
        if self._lockstep and self._pacer.free and self.simulation.running:
            self._advance(self.simulation.time)

    def _report_refusal(self, topic: str, reason: object) -> None:
        self.get_logger().error(f'{topic}: command refused: {reason}', throttle_duration_sec=1.0)

    def _on_wrench(self, message: WrenchStamped) -> None:
        force, torque = message.wrench.force, message.wrench.torque
        self._try('~/wrench', lambda: self.simulation.pushes.wrench(
            message.header.frame_id,
            [force.x, force.y, force.z, torque.x, torque.y, torque.z], self.simulation.time))

    def _on_push(self, message: Float64MultiArray) -> None:
        self._try('~/push', lambda: self.simulation.pushes.push(
            message.data, self.simulation.time))

    def _on_set_state(self, message: JointState) -> None:
        self._try('~/set_state', lambda: self._set_state(message))

    def _set_state(self, message: JointState) -> None:
        robot = self.simulation.robot
        q, qd = self.simulation.simulator.q, np.zeros(robot.nv)
        joints = {body.joint: body for body in robot.bodies if body.joint in robot.joint_names}
        if len(set(message.name)) != len(message.name):
            raise ValueError('a joint is named twice')
        velocity = message.velocity or [0.0] * len(message.name)
        if not len(message.name) == len(message.position) == len(velocity):
            raise ValueError(f'{len(message.name)} names, {len(message.position)} positions, '
                             f'{len(message.velocity)} velocities')
        for name, position, speed in zip(message.name, message.position, velocity, strict=True):
            if name not in joints:
                raise ValueError(f'unknown joint "{name}"; the joints are '
                                 f'{", ".join(robot.joint_names)}')
            q[joints[name].q], qd[joints[name].v] = position, speed
        self.simulation.set_state(q, qd)
        self._publish_all()

    def _try(self, topic: str, act: Callable[[], None]) -> None:
        try:
            act()
        except ValueError as reason:
            self.get_logger().error(f'{topic}: refused: {reason}', throttle_duration_sec=1.0)

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        names = {parameter.name for parameter in parameters}
        if 'real_time_factor' in names:
            self._pacer.set_factor(value_of(self, 'real_time_factor'))
            self._timer.cancel()
            self.destroy_timer(self._timer)
            self._timer = self._make_timer()
        if 'integrator' in names:
            self.simulation.simulator.integrator = value_of(self, 'integrator')
        if names & {'gravity', 'damping'}:
            self._apply_physics()
        self.simulation.pushes.duration = value_of(self, 'push_duration')

    def _apply_physics(self) -> None:
        robot = self.simulation.robot
        # Without waiting: a kernel that must be compiled comes in when it is ready.
        self.simulation.simulator.set_parameters(
            gravity=numbers('gravity', value_of(self, 'gravity'), 3),
            damping=numbers('damping', value_of(self, 'damping'), robot.nv), wait=False)

    # --- actions of the services -----------------------------------------------------------

    @property
    def paused(self) -> bool:
        """Whether time stands still by request."""
        return self.simulation.paused

    def pause(self) -> tuple[bool, str]:
        """Let time stand still."""
        self.simulation.pause(True)
        return True, f'paused at {self.simulation.time:.3f} s'

    def resume(self) -> tuple[bool, str]:
        """Let time pass."""
        self.simulation.pause(False)
        self._commands.renew(self._command_time())
        self._pacer.rest()
        return True, f'running from {self.simulation.time:.3f} s'

    def step(self, periods: int) -> tuple[bool, str]:
        """Pass some periods while paused."""
        if not self.simulation.paused:
            return False, 'step works while paused; call ~/pause first'
        for _ in range(periods):
            if self.simulation.diverged or not self._advance(self._command_time()):
                return False, self.simulation.diverged
        return True, f'stepped to {self.simulation.time:.3f} s'

    def reset(self, state: bool = True, time: bool = True) -> tuple[bool, str]:
        """Go back to the initial state, to time zero, or both."""
        self.simulation.reset(state, time)
        self._sensors.reset()
        self._pacer.rest()
        self._silent = self._answered = False
        self._publish_all()
        self._messages.clock()
        return True, f'reset; the time is {self.simulation.time:.3f} s'

    def quit(self) -> tuple[bool, str]:
        """End the node, after the answer has gone out."""
        self.create_timer(REPEAT, rclpy.try_shutdown, clock=self._steady)
        return True, 'ending'


def main() -> None:
    """Run the node as a program."""
    running.main('dynamics', DynamicsNode)


if __name__ == '__main__':
    main()
