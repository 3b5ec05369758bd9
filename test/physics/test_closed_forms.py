"""The recursions on the shipped models give the closed forms, to 1e-12."""

from __future__ import annotations

import closed_forms
import numpy as np
import pytest
from robots import random_states

from torque_lab.physics import (
    bias,
    coriolis_matrix,
    forward_dynamics,
    gravity_torque,
    inverse_dynamics,
    jacobian,
    load,
    mass_matrix,
    operational_inertia,
)
from torque_lab.physics.forces import drive_effort
from torque_lab.physics.free_body import pose_rate, twist_rate
from torque_lab.physics.joints import configuration_rate

CLOSE = {'rtol': 1e-12, 'atol': 1e-12}
FORMS = {
    'pendulum': closed_forms.pendulum,
    'double_pendulum': closed_forms.double_pendulum_relative,
    'rp_arm': closed_forms.rp_arm,
    'n_link': closed_forms.n_link,
    'three_link': closed_forms.three_link,
    'rotary_pendulum': closed_forms.rotary_pendulum,
}


def states(robot, count=100):
    return zip(*random_states(robot, count, seed=1), strict=True)


@pytest.mark.parametrize('name', FORMS)
def test_recursions_give_the_closed_form(name):
    robot = load(name)
    for q, qd in states(robot):
        M, c, g = FORMS[name](q, qd)
        np.testing.assert_allclose(mass_matrix(robot, q), M, **CLOSE)
        np.testing.assert_allclose(gravity_torque(robot, q), g, **CLOSE)
        np.testing.assert_allclose(bias(robot, q, qd), c + g, **CLOSE)
        np.testing.assert_allclose(coriolis_matrix(robot, q, qd) @ qd, c, **CLOSE)


@pytest.mark.parametrize('links', [1, 2, 3, 7])
def test_n_link_gives_the_closed_form_for_any_number_of_links(links):
    robot = load('n_link', links=links)
    for q, qd in states(robot, 10):
        M, c, g = closed_forms.n_link(q, qd)
        np.testing.assert_allclose(mass_matrix(robot, q), M, **CLOSE)
        np.testing.assert_allclose(bias(robot, q, qd), c + g, **CLOSE)


def test_closed_forms_follow_the_parameters_of_the_model():
    robot = load('double_pendulum', mass1=1.3, mass2=0.4, length1=0.7, length2=1.9, gravity=3.7)
    for q, qd in states(robot, 10):
        M, c, g = closed_forms.double_pendulum_relative(q, qd, (1.3, 0.4), (0.7, 1.9), 3.7)
        np.testing.assert_allclose(mass_matrix(robot, q), M, **CLOSE)
        np.testing.assert_allclose(bias(robot, q, qd), c + g, **CLOSE)


def test_double_pendulum_in_absolute_angles():
    """Angles ``α = A q``; what acts on the α is ``A⁻ᵀ τ = (τ1 − τ2, τ2)``."""
    robot, A = load('double_pendulum'), closed_forms.TO_ABSOLUTE
    for q, qd in states(robot):
        M, c, g = closed_forms.double_pendulum_absolute(A @ q, A @ qd)
        np.testing.assert_allclose(mass_matrix(robot, q), A.T @ M @ A, **CLOSE)
        np.testing.assert_allclose(gravity_torque(robot, q), A.T @ g, **CLOSE)
        np.testing.assert_allclose(bias(robot, q, qd), A.T @ (c + g), **CLOSE)
        qdd = np.array([0.7, -1.1])
        tau = inverse_dynamics(robot, q, qd, qdd)
        np.testing.assert_allclose([tau[0] - tau[1], tau[1]], M @ (A @ qdd) + c + g, **CLOSE)


def test_rr_arm_from_the_horizontal():
    """The same arm with its first angle counted from the x axis."""
    robot = load('double_pendulum')
    for q, qd in states(robot):
        M, c, g = closed_forms.rr_arm(q, qd)
        hanging = q + np.array([np.pi / 2, 0])
        np.testing.assert_allclose(mass_matrix(robot, hanging), M, **CLOSE)
        np.testing.assert_allclose(gravity_torque(robot, hanging), g, **CLOSE)
        np.testing.assert_allclose(bias(robot, hanging, qd), c + g, **CLOSE)


def test_rp_arm_tip_jacobian_and_operational_inertia():
    robot = load('rp_arm')
    for q, _ in states(robot, 20):
        J = jacobian(robot, q)
        np.testing.assert_allclose(J[[0, 2]], closed_forms.rp_tip_jacobian(q), **CLOSE)
        level = np.array([0.0, abs(q[1]) + 0.1])
        np.testing.assert_allclose(
            operational_inertia(robot, level, rows=(0, 2)),
            closed_forms.rp_operational_inertia_level(level[1]), rtol=1e-12, atol=1e-12)
    assert np.linalg.matrix_rank(jacobian(robot, np.array([0.3, 0.0]))[[0, 2]]) == 1


def test_rotary_pendulum_in_volts():
    """``M q̈ + c + g + friction = (v, 0)`` in volts has the accelerations of the motor model."""
    robot, rng = load('rotary_pendulum'), np.random.default_rng(4)
    for q, qd in states(robot):
        voltage = rng.uniform(-10, 10)
        M, c, g, friction = closed_forms.rotary_pendulum_in_volts(q, qd)
        in_volts = np.linalg.solve(M, np.array([voltage, 0]) - c - g - friction)
        effort = drive_effort(robot, np.array([voltage, 0.0]), qd) - robot.damping * qd
        in_torques = forward_dynamics(robot, q, qd, effort)
        np.testing.assert_allclose(in_torques, in_volts, rtol=1e-12, atol=1e-10)


def test_slender_rod_is_the_limit_of_a_thin_one():
    """With no radius the pendulum's constant is the textbook's ``a2 = m2 l2²/3``."""
    M, _, _ = closed_forms.rotary_pendulum(np.zeros(2), np.zeros(2), radius=0)
    assert M[1, 1] == pytest.approx(0.14 * 0.3**2 / 3, rel=1e-15)


def test_floating_joint_is_the_free_body():
    """RNEA and forward dynamics of the floating joint are Newton's and Euler's equations."""
    robot, rng = load('free_body'), np.random.default_rng(5)
    inertia = robot.bodies[0].inertia
    for pose, twist in states(robot):
        wrench = rng.normal(size=6)
        rate = twist_rate(inertia, twist, wrench)
        np.testing.assert_allclose(forward_dynamics(robot, pose, twist, wrench), rate,
                                   rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(inverse_dynamics(robot, pose, twist, rate), wrench, **CLOSE)
        np.testing.assert_allclose(configuration_rate(robot, pose, twist), pose_rate(pose, twist),
                                   **CLOSE)
