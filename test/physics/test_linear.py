"""The linear system close to a state."""

from __future__ import annotations

import numpy as np
import pytest
from robots import random_states, robot_named, some_robots

from torque_lab import physics
from torque_lab.physics.linear import smooth_forces
from torque_lab.physics.model import FLOATING

STEP = 1e-30


def test_pendulum_linearises_to_its_textbook_form():
    m, length, g, angle = 2.0, 2.0, 9.81, 0.4
    A, B = physics.linearise(robot_named('pendulum'), [angle], [0.3])
    assert np.allclose(A, [[0, 1], [-g / length * np.cos(angle), 0]], rtol=1e-12, atol=1e-12)
    assert np.allclose(B, [[0], [1 / (m * length**2)]], rtol=1e-12, atol=0)


def test_rotary_pendulum_linearises_with_friction_and_back_emf():
    """At rest upright: ``M q̈ = a4 g q2 e2 − diag(b1 + kt kv kr²/Ra, b2) q̇ + kt kr/Ra v e1``."""
    robot = robot_named('rotary_pendulum')
    M, constant, ratio, resistance = physics.mass_matrix(robot, [0, 0]), 0.00767, 70, 2.6
    braking = np.diag([0.015 + (constant * ratio)**2 / resistance, 0.002])
    A, B = physics.linearise(robot, [0, 0], [0, 0])
    weight = np.diag([0, 0.14 * 9.81 * 0.15])
    assert np.allclose(M @ A[2:], np.hstack([weight, -braking]), rtol=1e-12, atol=1e-14)
    drive = np.diag([constant * ratio / resistance, 1])
    assert np.allclose(M @ B[2:], drive, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize('name', some_robots())
def test_linearisation_is_the_slope_of_forward_dynamics(name):
    robot = robot_named(name)
    nv, rng = robot.nv, np.random.default_rng(3)
    one_dof = np.array([body.v.start for body in robot.bodies if body.kind != FLOATING], int)
    stiffness = np.zeros(nv)
    stiffness[one_dof] = 3.0
    robot = robot.replace(stiffness=stiffness, damping=rng.uniform(0.1, 1, nv))
    (q,), (qd,) = random_states(robot, 1)
    u = rng.normal(size=nv)

    def acceleration(q, qd, u):
        return physics.forward_dynamics(robot, q, qd, smooth_forces(robot, q, qd, u)).imag / STEP

    A, B = physics.linearise(robot, q, qd, u)
    for k, unit in enumerate(np.eye(nv) * 1j * STEP):
        moved = q + physics.configuration_rate(robot, q, unit)
        scale = 1e-10 * max(1.0, np.linalg.norm(A))
        assert np.allclose(A[nv:, k], acceleration(moved, qd, u), rtol=0, atol=scale)
        assert np.allclose(A[nv:, nv + k], acceleration(q, qd + unit, u), rtol=0, atol=scale)
        assert np.allclose(B[nv:, k], acceleration(q, qd, u + unit), rtol=0, atol=scale)
    assert np.array_equal(A[:nv, nv:], np.eye(nv)) and not B[:nv].any()


@pytest.mark.parametrize('name', ['free_body', 2, 5])
def test_deviations_of_a_floating_joint_drift_with_its_twist(name):
    """``N δ̇ = N δv + ∂N[N δ] v − ∂N[N v] δ`` for ``q̇ = N(q) v``: deviations are positions."""
    robot = robot_named(name)
    (q,), (v,) = random_states(robot, 1)
    A, _ = physics.linearise(robot, q, v)

    def moving(q, v):
        return physics.configuration_rate(robot, q, v)

    for k, deviation in enumerate(np.eye(robot.nv)):
        drift = (moving(q + 1j * STEP * moving(q, deviation), v).imag
                 - moving(q + 1j * STEP * moving(q, v), deviation).imag) / STEP
        assert np.allclose(moving(q, A[:robot.nv, k]), drift, rtol=0, atol=1e-12)
