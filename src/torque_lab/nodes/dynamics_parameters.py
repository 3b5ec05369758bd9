"""The parameters of the dynamics node: what they mean, and which values make sense."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from torque_lab.nodes.pacing import whole_ratio
from torque_lab.nodes.parameters import declare, numbers, refusal
from torque_lab.nodes.simulation import HELD, STARTS, TIMEOUT_ACTIONS, ZERO
from torque_lab.physics.errors import ModelError
from torque_lab.physics.integrators import INTEGRATORS
from torque_lab.physics.load import load
from torque_lab.physics.model import Robot
from torque_lab.physics.urdf import load_urdf

SLOWEST = 1e-3
"""Smallest real-time factor."""

STOP, CONTINUE = LOCKSTEP_POLICIES = ('stop', 'continue')


def read_robot(node: Node) -> Robot:
    """Declare the parameters that name the robot, and load it."""
    text = declare(node, 'robot_description', '', 'URDF of the robot, xacro expanded', fixed=True)
    name = declare(node, 'robot', '', 'A shipped model or a URDF or xacro file; used when '
                   'robot_description is empty', fixed=True)
    if text:
        return load_urdf(text, 'parameter robot_description')
    if name:
        return load(name)
    raise ModelError('no robot: set the parameter robot_description (URDF text) or robot '
                     '(a shipped name or a file)')


def declare_all(node: Node, robot: Robot) -> None:
    """Declare every other parameter; some may change while the simulation runs."""
    rate: dict[str, Any] = {'unit': 'Hz', 'minimum': 0.1, 'maximum': 1e5, 'fixed': True}
    declare(node, 'dt', 0.001, 'Integration step', unit='s', minimum=1e-6, maximum=0.1,
            fixed=True)
    declare(node, 'publish_rate', 1000.0, 'Joint states per second of simulation time; a period '
            'must be a whole number of steps', **rate)
    declare(node, 'clock_rate', 100.0, '/clock messages per second of simulation time', **rate)
    declare(node, 'energy_rate', 50.0, '~/energy messages per second of simulation time', **rate)
    declare(node, 'start', HELD, 'Until the first command the arm is held in place, falls free, '
            'or time stands still', choices=STARTS, fixed=True)
    declare(node, 'command_timeout', 0.1, 'Age at which a command is no longer trusted, in wall '
            'time (in simulation time in lockstep); 0 trusts it for ever', unit='s', minimum=0.0,
            maximum=1e6, fixed=True)
    declare(node, 'timeout_action', ZERO, 'What acts when commands stop: zero effort, hold (the '
            'last effort stays), or brake (the weight is carried and the motion stopped, within '
            'the limits)', choices=TIMEOUT_ACTIONS, fixed=True)
    declare(node, 'lockstep', False, 'Wait after every state for the stamped command that answers '
            'it', fixed=True)
    declare(node, 'lockstep_timeout', 1.0, 'Wall time to wait for an answer in lockstep',
            unit='s', minimum=0.001, maximum=1e6, fixed=True)
    declare(node, 'lockstep_policy', STOP, 'Without an answer in time: stop until one comes, or '
            'continue as if commands had stopped', choices=LOCKSTEP_POLICIES, fixed=True)
    declare(node, 'publish_description', True, 'Publish /robot_description; false where '
            'robot_state_publisher does', fixed=True)
    declare(node, 'initial_position', robot.start.tolist(), 'Start position, in URDF joint order',
            unit='rad or m', fixed=True)
    declare(node, 'initial_velocity', robot.start_velocity.tolist(), 'Start velocity, in URDF '
            'joint order', unit='rad/s or m/s', fixed=True)
    declare(node, 'push_duration', 0.2, 'Simulation time for which a push or wrench acts',
            unit='s', minimum=0.0, maximum=1e6)
    declare(node, 'position_noise', 0.0, 'Standard deviation of measured positions',
            unit='rad or m', minimum=0.0, maximum=1e3, fixed=True)
    declare(node, 'velocity_noise', 0.0, 'Standard deviation of measured velocities',
            unit='rad/s or m/s', minimum=0.0, maximum=1e3, fixed=True)
    declare(node, 'sensor_delay', 0, 'Age of published states, in periods', minimum=0,
            maximum=1000, fixed=True)
    declare(node, 'seed', 0, 'Seed of the sensor noise', minimum=0, fixed=True)
    declare(node, 'real_time_factor', 1.0, 'Simulated seconds per second; 0 runs as fast as '
            'possible', minimum=0.0, maximum=1e4)
    declare(node, 'integrator', 'rk4', 'Integration scheme; the Verlet pair assumes accelerations '
            'that depend on position alone', choices=tuple(INTEGRATORS))
    declare(node, 'gravity', robot.gravity.tolist(), 'Acceleration of free fall in world axes',
            unit='m/s²')
    declare(node, 'damping', robot.damping.tolist(), 'Viscous friction, in URDF joint order',
            unit='N m s/rad or N s/m')


def read_rates(node: Node) -> tuple[int, int, int]:
    """Steps per period, periods per clock message and per energy message; all whole."""
    dt, rate, clock, energy = (node.get_parameter(name).value for name in (
        'dt', 'publish_rate', 'clock_rate', 'energy_rate'))
    return (whole_ratio('publish_rate', rate, 'dt', 1.0 / dt),
            whole_ratio('clock_rate', min(clock, rate), 'publish_rate', rate),
            whole_ratio('energy_rate', min(energy, rate), 'publish_rate', rate))


def check_changes(robot: Robot, parameters: list[Parameter]) -> SetParametersResult:
    """Say whether values may replace those in force."""
    lengths: dict[str, int] = {'gravity': 3, 'damping': robot.nv}
    for parameter in parameters:
        name, value = parameter.name, parameter.value
        try:
            if name in lengths:
                entries = numbers(name, value, lengths[name])
                if name == 'damping' and min(entries, default=0.0) < 0.0:
                    return refusal(f'damping {entries} is negative somewhere')
            elif name == 'real_time_factor':
                check_factor(value)
            elif name == 'integrator' and value not in INTEGRATORS:
                return refusal(f'no integrator "{value}"; choose one of {", ".join(INTEGRATORS)}')
        except ValueError as error:
            return refusal(str(error))
    return SetParametersResult(successful=True)


def check_factor(factor: float) -> float:
    """Return a real-time factor that can be kept, or raise."""
    if factor != 0.0 and factor < SLOWEST:
        raise ValueError(f'real_time_factor = {factor:g} is too slow: 0 (as fast as possible) or '
                         f'{SLOWEST:g} and more')
    return factor


def value_of(node: Node, name: str) -> Any:
    """Return the value of a parameter."""
    return node.get_parameter(name).value
