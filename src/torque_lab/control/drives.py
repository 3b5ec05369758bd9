"""What the drives of a robot take and give, as a control law needs to know it."""

from __future__ import annotations

import numpy as np

from torque_lab.physics.forces import command_limit, damping_effort, spring_effort
from torque_lab.physics.model import REVOLUTE, Array, Robot
from torque_lab.physics.newton_euler import inverse_dynamics


def command(robot: Robot, torque: Array, qd: Array) -> Array:
    """Command (nv,) that yields joint forces (nv,): the same, or V where a joint has a motor."""
    if not any(robot.motors):
        return torque
    return np.array([value if motor is None else motor.voltage(value, speed) for
                     value, speed, motor in zip(torque.tolist(), qd.tolist(), robot.motors,
                                                strict=True)])


def driving_torque(robot: Robot, q: Array, qd: Array, qdd: Array) -> Array:
    """
    Joint forces (nv,) that the drives must give for an acceleration, friction and springs paid.

    ``τ = M q̈ + C q̇ + g + d q̇ + k (q − q_rest)``; Coulomb friction is left to the feedback.
    """
    return (inverse_dynamics(robot, q, qd, qdd) - damping_effort(robot.damping, qd)
            - spring_effort(robot, q))


def driven_joints(robot: Robot, names: tuple[str, ...] = ()) -> list[int]:
    """Indices of the joints that a law may drive: those named, or all that have a drive."""
    limit = command_limit(robot)
    if not names:
        return [k for k in range(robot.nv) if limit[k] > 0.0]
    for name in names:
        if name not in robot.joint_names:
            raise ValueError(f'{robot.name} has no joint "{name}"; its joints are '
                             f'{", ".join(robot.joint_names)}')
        if limit[robot.joint_index(name)] == 0.0:
            raise ValueError(f'joint "{name}" of {robot.name} has no drive')
    return [robot.joint_index(name) for name in names]


def turning_joints(robot: Robot) -> list[bool]:
    """Which joints are the same after a full turn: revolute ones without stops."""
    free = np.zeros(robot.nv, dtype=bool)
    for body in robot.bodies:
        if body.kind == REVOLUTE:
            free[body.v] = np.isinf(robot.lower[body.v]) & np.isinf(robot.upper[body.v])
    return free.tolist()
