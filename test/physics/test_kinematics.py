"""Where links are and how they move."""

from __future__ import annotations

import numpy as np
import pytest
from robots import random_states, robot_named, some_robots

from torque_lab import physics

STEP = 1e-30


@pytest.fixture(params=some_robots(), ids=str)
def robot(request):
    return robot_named(request.param)


def position(robot):
    return random_states(robot, 1, seed=2)[0][0]


def test_jacobian_is_the_slope_of_forward_kinematics(robot):
    q = position(robot)
    for link in robot.frames:
        J, R = physics.jacobian(robot, q, link), physics.forward_kinematics(robot, q, link)[0]
        for k, unit in enumerate(np.eye(robot.nv)):
            moved = q + 1j * STEP * physics.configuration_rate(robot, q, unit)
            R_rate, p_rate = (x.imag / STEP
                              for x in physics.forward_kinematics(robot, moved, link))
            turning = R_rate @ R.T
            w = [turning[2, 1], turning[0, 2], turning[1, 0]]
            assert np.allclose(J[:, k], [*p_rate, *w], rtol=0, atol=1e-13)


def test_jacobian_in_link_axes_is_the_one_in_world_axes_turned(robot):
    q, link = position(robot), robot.tip
    R = physics.forward_kinematics(robot, q, link)[0]
    world, own = physics.jacobian(robot, q), physics.jacobian(robot, q, axes='link')
    assert np.allclose(np.vstack([R @ own[:3], R @ own[3:]]), world, rtol=0, atol=1e-13)


def test_rotations_are_proper(robot):
    q = position(robot)
    for link in robot.frames:
        R, _ = physics.forward_kinematics(robot, q, link)
        assert np.allclose(R @ R.T, np.eye(3), rtol=0, atol=1e-13)
        assert np.linalg.det(R) > 0


def test_quaternion_of_any_length_gives_the_same_rotation():
    robot = robot_named('free_body')
    q = position(robot)
    longer = q * [1, 1, 1, 3, 3, 3, 3]
    for ours, expected in zip(physics.forward_kinematics(robot, longer),
                              physics.forward_kinematics(robot, q), strict=True):
        assert np.allclose(ours, expected, rtol=0, atol=1e-14)


def test_configuration_rate_keeps_the_quaternion_at_unit_length():
    robot = robot_named('free_body')
    (q,), (qd,) = random_states(robot, 1)
    assert abs(physics.configuration_rate(robot, q, qd)[3:] @ q[3:]) < 1e-15


def test_links_fixed_to_the_world_do_not_move():
    robot = robot_named('ur5')
    assert not physics.jacobian(robot, position(robot), 'base_link').any()


def test_unknown_links_and_axes_are_refused_by_name():
    robot = robot_named('ur5')
    with pytest.raises(KeyError, match='ur5 has no link "hand"; its links are'):
        physics.forward_kinematics(robot, robot.start, 'hand')
    with pytest.raises(ValueError, match='"world" or "link", not "body"'):
        physics.jacobian(robot, robot.start, axes='body')
