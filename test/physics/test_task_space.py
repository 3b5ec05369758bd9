"""Inertia and motion in the space of the task, singular poses included."""

from __future__ import annotations

import numpy as np
import pytest
from robots import random_states, robot_named, some_robots

from torque_lab import physics

IN_PLANE = (0, 2)


@pytest.mark.parametrize('extension', [0.2, 0.8, 1.5])
def test_operational_inertia_of_the_rp_arm(extension):
    """``Λ(0, θ2) = diag(m2, (m1 L1² + I1 + I2)/θ2² + m2)``."""
    m1, m2, L1, I1, I2 = 2.0, 1.0, 0.5, 0.05, 0.02
    inertia = physics.operational_inertia(robot_named('rp_arm'), [0, extension], rows=IN_PLANE)
    turning = (m1 * L1**2 + I1 + I2) / extension**2 + m2
    assert np.allclose(inertia, np.diag([m2, turning]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('angle', [0.0, 0.7])
def test_rp_arm_drawn_in_has_inertia_along_its_slide_alone(angle):
    robot, along = robot_named('rp_arm'), np.array([np.cos(angle), np.sin(angle)])
    inertia = physics.operational_inertia(robot, [angle, 0], rows=IN_PLANE)
    assert np.allclose(inertia, np.outer(along, along), rtol=0, atol=1e-12)
    blocked = physics.unreachable_directions(robot, [angle, 0], rows=IN_PLANE)
    assert blocked.shape == (2, 1)
    assert abs(along @ blocked[:, 0]) < 1e-12
    assert physics.unreachable_directions(robot, [angle, 0.5], rows=IN_PLANE).shape == (2, 0)


def test_operational_inertia_is_the_mass_matrix_in_task_coordinates():
    """``Λ = J⁻ᵀ M J⁻¹`` where J is square and regular."""
    robot = robot_named('ur5')
    for q in random_states(robot, 20)[0]:
        J = physics.jacobian(robot, q)
        inverse = np.linalg.inv(J)
        expected = inverse.T @ physics.mass_matrix(robot, q) @ inverse
        error = np.linalg.norm(physics.operational_inertia(robot, q) - expected)
        assert error < 1e-13 * np.linalg.cond(J)**2 * np.linalg.norm(expected)


@pytest.mark.parametrize('name', some_robots())
def test_operational_inertia_inverts_the_mobility_within_reach(name):
    """``Λ P Λ = Λ`` and ``P Λ P = P`` for ``P = J M⁻¹ Jᵀ``, regular or not."""
    robot = robot_named(name)
    for q in random_states(robot, 3)[0]:
        J, inertia = physics.jacobian(robot, q), physics.operational_inertia(robot, q)
        mobility = J @ np.linalg.solve(physics.mass_matrix(robot, q), J.T)
        again = mobility @ inertia @ mobility
        assert np.linalg.norm(again - mobility) < 1e-9 * np.linalg.norm(mobility)
        assert np.allclose(inertia, inertia.T)
        blocked = physics.unreachable_directions(robot, q)
        assert np.allclose(inertia @ blocked, 0, atol=1e-9 * max(1, np.linalg.norm(inertia)))


def test_resolved_rate_moves_the_tip_as_asked():
    robot = robot_named('ur5')
    twist = np.array([0.1, -0.2, 0.05, 0.3, 0.1, -0.4])
    for q in random_states(robot, 20)[0]:
        J = physics.jacobian(robot, q)
        qd = physics.resolved_rate(robot, q, twist)
        assert np.linalg.norm(J @ qd - twist) < 1e-13 * np.linalg.cond(J)


def test_resolved_rate_gives_up_what_no_joint_reaches():
    robot = robot_named('rp_arm')
    qd = physics.resolved_rate(robot, [0, 0], [0.3, 0.4], rows=IN_PLANE)
    assert np.allclose(qd, [0, 0.3], rtol=0, atol=1e-14)


def test_resolved_rate_of_a_redundant_arm_is_the_smallest():
    robot = robot_named('n_link')
    q, twist = robot.start, np.array([0.2, -0.1])
    qd = physics.resolved_rate(robot, q, twist, rows=IN_PLANE)
    J = physics.jacobian(robot, q)[list(IN_PLANE)]
    assert np.allclose(J @ qd, twist, rtol=0, atol=1e-13)
    assert np.allclose(qd, np.linalg.lstsq(J, twist, rcond=None)[0], rtol=0, atol=1e-12)


def test_damping_bounds_the_rate_close_to_a_singular_pose():
    robot, twist, damping = robot_named('rp_arm'), np.array([0.0, 1.0]), 0.1
    for extension in (1e-1, 1e-3, 1e-6, 0.0):
        q = [0, extension]
        J = physics.jacobian(robot, q)[list(IN_PLANE)]
        qd = physics.resolved_rate(robot, q, twist, rows=IN_PLANE, damping=damping)
        assert np.linalg.norm(qd) <= np.linalg.norm(twist) / (2 * damping)
        expected = J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(2), twist)
        assert np.allclose(qd, expected, rtol=0, atol=1e-7)


def test_rows_and_twists_that_do_not_fit_are_refused():
    robot = robot_named('rp_arm')
    with pytest.raises(ValueError, match='rows pick different ones of 0 to 5'):
        physics.operational_inertia(robot, [0, 1], rows=(0, 6))
    with pytest.raises(ValueError, match='rp_arm: twist needs 2 entries'):
        physics.resolved_rate(robot, [0, 1], [1, 2, 3], rows=IN_PLANE)
