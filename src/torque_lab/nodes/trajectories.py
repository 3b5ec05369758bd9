"""``trajectory_msgs/JointTrajectory`` read by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from torque_lab.control.law import Reference
from torque_lab.nodes import interface
from torque_lab.nodes.joint_reader import JointReader


def read_trajectory(message: JointTrajectory, joint_names: Sequence[str], now: float,
                    ) -> tuple[float, list[float], list[Reference | np.ndarray]]:
    """
    Delay until the start in s, times after it (N,) and waypoints in the robot's joint order.

    Waypoints are positions (nv,), or whole states of motion if every point has velocities.  A
    stamp of zero means now.  ValueError says why a trajectory is refused.
    """
    names = list(message.joint_names)
    order = JointReader(joint_names).order(names)
    if len(names) != len(joint_names):
        unknown = next(name for name in names if name not in joint_names)
        raise ValueError(f'unknown joint "{unknown}"; the joints are {", ".join(joint_names)}')
    if not message.points:
        raise ValueError('it has no points')
    stamp = message.header.stamp.sec + message.header.stamp.nanosec / interface.NANOSECONDS
    delay = stamp - now if stamp else 0.0
    if delay < 0.0:
        raise ValueError(f'it should have started {-delay:.3f} s ago; a stamp of zero means now')
    times: list[float] = []
    points: list[Reference | np.ndarray] = []
    moving = all(len(point.velocities) for point in message.points)
    for k, point in enumerate(message.points):
        times.append(point.time_from_start.sec
                     + point.time_from_start.nanosec / interface.NANOSECONDS)
        position = _column(point.positions, order, f'positions of point {k}')
        if not moving:
            points.append(position)
            continue
        acceleration = (_column(point.accelerations, order, f'accelerations of point {k}')
                        if len(point.accelerations) else np.zeros_like(position))
        points.append(Reference(
            position, _column(point.velocities, order, f'velocities of point {k}'), acceleration))
    if len(times) > 1 and not (np.diff(times) > 0.0).all():
        raise ValueError('time_from_start must increase from point to point')
    return delay, times, points


def _column(values: Sequence[float], order: list[int], what: str) -> np.ndarray:
    if len(values) != len(order) or not np.isfinite(values).all():
        raise ValueError(f'{what} are {list(values)}; it wants {len(order)} finite numbers')
    return np.array(values, dtype=float)[order]
