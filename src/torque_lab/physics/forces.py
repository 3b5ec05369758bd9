"""
Forces at the joints other than those of rigid-body motion: drives, dampers and springs.

All are functions of the kind ``force(robot, q, qd, ...)`` and generic in the scalar.  Friction
that sticks and stops that hold are found for a whole step at once, in `physics.contact`.
"""

from __future__ import annotations

import numpy as np

from .model import FLOATING, Array, Robot
from .scalar import clamp


def joint_positions(robot: Robot, q: Array) -> Array:
    """Position of every degree of freedom (nv,); zero for those of a floating joint."""
    positions = np.zeros(robot.nv, dtype=q.dtype)
    for body in robot.bodies:
        if body.kind != FLOATING:
            positions[body.v] = q[body.q]
    return positions


def command_limit(robot: Robot) -> Array:
    """Largest command (nv,): the effort limit, or the voltage limit where a joint has a motor."""
    return np.array([limit if motor is None else motor.voltage_limit
                     for limit, motor in zip(robot.effort_limit, robot.motors, strict=True)],
                    dtype=float)


def saturate(robot: Robot, command: Array) -> Array:
    """Command (nv,), in N m, N or V, kept within what the joint's drive can give."""
    limits = command_limit(robot).tolist()
    return np.array([clamp(value, -limit, limit)
                     for value, limit in zip(command.tolist(), limits, strict=True)])


def drive_effort(robot: Robot, command: Array, qd: Array) -> Array:
    """
    Generalised force of the drives (nv,), in N m or N.

    The command itself (nv,), or where a joint has a motor the torque of that many volts at this
    speed (see `Motor.torque`).  The command has been saturated before.
    """
    if not any(robot.motors):
        return command
    return np.array([value if motor is None else motor.torque(value, speed)
                     for value, speed, motor in zip(command.tolist(), qd.tolist(), robot.motors,
                                                    strict=True)])


def spring_effort(robot: Robot, q: Array) -> Array:
    """Force of the joint springs ``−k (q − q_rest)`` (nv,), in N m or N."""
    return np.array([-k * (position - rest) if k else 0.0 for k, position, rest in zip(
        robot.stiffness.tolist(), joint_positions(robot, q).tolist(), robot.spring_rest.tolist(),
        strict=True)])


def damping_effort(damping: Array, qd: Array) -> Array:
    """Viscous friction ``−d q̇`` (nv,), in N m or N."""
    return -damping * qd
