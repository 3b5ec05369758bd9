"""
The laws that a reader trusts, at random states of shipped models and random trees.

Each test is named after its law.  Rates are taken by complex step along the motion: exact, and
free of any difference quotient.
"""

from __future__ import annotations

import numpy as np
import pytest
from robots import random_states, robot_named, some_robots

from torque_lab import physics
from torque_lab.physics.forces import damping_effort, spring_effort
from torque_lab.physics.model import FLOATING

STEP = 1e-30
NO_GRAVITY = np.zeros(3)


@pytest.fixture(params=some_robots(), ids=str)
def robot(request):
    return robot_named(request.param)


def states(robot, count=3):
    return zip(*random_states(robot, count, seed=11), strict=True)


def random_efforts(robot):
    return np.random.default_rng(5).normal(size=robot.nv)


def with_springs(robot):
    """The robot with a spring at every joint that has one degree of freedom."""
    rng = np.random.default_rng(8)
    single = np.zeros(robot.nv)
    single[[body.v.start for body in robot.bodies if body.kind != FLOATING]] = 1
    return robot.replace(stiffness=single * rng.uniform(1, 9, robot.nv),
                         spring_rest=rng.normal(size=robot.nv))


def some_wrenches(robot):
    """One wrench on the first and one on the last link that moves."""
    moving = [name for name, frame in robot.frames.items() if frame.body >= 0]
    rng = np.random.default_rng(6)
    return {moving[0]: rng.normal(size=6), moving[-1]: rng.normal(size=6)}


def close(ours, expected, tolerance=1e-11):
    """Agreement relative to the size of the whole result, or to one."""
    return np.linalg.norm(ours - expected) <= tolerance * max(1.0, np.linalg.norm(expected))


def rate(robot, function, q, qd, qdd):
    """Time derivative of a function of the state along a motion."""
    moved = q + 1j * STEP * physics.configuration_rate(robot, q, qd)
    return np.imag(function(moved, qd + 1j * STEP * qdd)) / STEP


def test_mass_matrix_is_symmetric_and_positive_definite(robot):
    for q, _ in states(robot):
        M = physics.mass_matrix(robot, q)
        assert np.array_equal(M, M.T)
        assert np.linalg.eigvalsh(M)[0] > 0


def test_mass_matrix_depends_on_position_alone(robot):
    qdd = random_efforts(robot)
    for q, qd in states(robot):
        difference = (physics.inverse_dynamics(robot, q, qd, qdd)
                      - physics.inverse_dynamics(robot, q, qd, np.zeros(robot.nv)))
        assert close(difference, physics.mass_matrix(robot, q) @ qdd)


def test_gravity_depends_on_position_alone(robot):
    weightless = robot.replace(gravity=NO_GRAVITY)
    for q, qd in states(robot):
        weight = physics.bias(robot, q, qd) - physics.bias(weightless, q, qd)
        assert close(weight, physics.gravity_torque(robot, q))


def test_coriolis_forces_vanish_at_rest(robot):
    rest = np.zeros(robot.nv)
    for q, _ in states(robot):
        assert not physics.coriolis_matrix(robot, q, rest).any()
        assert not physics.bias(robot.replace(gravity=NO_GRAVITY), q, rest).any()


def test_mass_rate_minus_twice_coriolis_is_skew(robot):
    for q, qd in states(robot):
        M_rate = rate(robot, lambda q, qd: physics.mass_matrix(robot, q), q, qd, 0 * qd)
        N = M_rate - 2 * physics.coriolis_matrix(robot, q, qd)
        assert close(N, -N.T)


def test_coriolis_matrix_times_velocity_plus_gravity_is_bias(robot):
    for q, qd in states(robot):
        ours = physics.coriolis_matrix(robot, q, qd) @ qd + physics.gravity_torque(robot, q)
        assert close(ours, physics.bias(robot, q, qd))


def test_inverse_dynamics_of_forward_dynamics_returns_the_torque(robot):
    tau, wrenches = random_efforts(robot), some_wrenches(robot)
    for q, qd in states(robot):
        for forward in (physics.forward_dynamics, physics.articulated_body):
            qdd = forward(robot, q, qd, tau, wrenches)
            size = np.linalg.norm(physics.mass_matrix(robot, q)) * np.linalg.norm(qdd)
            error = physics.inverse_dynamics(robot, q, qd, qdd, wrenches) - tau
            assert np.linalg.norm(error) < 1e-11 * max(1.0, size)


def test_newton_euler_composite_and_articulated_bodies_agree(robot):
    qdd, wrenches = random_efforts(robot), some_wrenches(robot)
    for q, qd in states(robot):
        tau = physics.inverse_dynamics(robot, q, qd, qdd, wrenches)
        M, bias = physics.mass_matrix(robot, q), physics.bias(robot, q, qd, wrenches)
        assert close(M @ qdd + bias, tau)
        assert close(physics.articulated_body(robot, q, qd, tau, wrenches), qdd, 1e-9)
        assert close(physics.forward_dynamics(robot, q, qd, tau, wrenches), qdd, 1e-9)


def test_newton_euler_and_euler_lagrange_agree(robot):
    """``τ = d/dt ∂L/∂q̇ − ∂L/∂q`` from the energies alone; T is quadratic in q̇."""
    if robot.has_floating_joint:
        pytest.skip('the velocities of a floating joint are no rates of coordinates')
    robot, units = without_springs(robot), np.eye(robot.nv)
    qdd = random_efforts(robot)

    def generalised_momentum(q, qd):
        T = physics.kinetic_energy
        return np.array([T(robot, q, qd + e) - T(robot, q, qd) - T(robot, q, e) for e in units])

    for q, qd in states(robot):
        slope = np.array([physics.lagrangian(robot, q + 1j * STEP * e, qd).imag / STEP
                          for e in units])
        tau = rate(robot, generalised_momentum, q, qd, qdd) - slope
        assert close(tau, physics.inverse_dynamics(robot, q, qd, qdd))


def without_springs(robot):
    return robot.replace(stiffness=np.zeros(robot.nv))


def test_mass_matrix_column_is_inverse_dynamics_of_a_unit_acceleration(robot):
    weightless, rest = robot.replace(gravity=NO_GRAVITY), np.zeros(robot.nv)
    for q, _ in states(robot, 1):
        columns = [physics.inverse_dynamics(weightless, q, rest, e) for e in np.eye(robot.nv)]
        assert close(np.array(columns).T, physics.mass_matrix(robot, q))


def test_gravity_torque_is_the_slope_of_potential_energy(robot):
    for q, _ in states(robot):
        slope = [rate(robot, lambda q, qd: physics.gravitational_energy(robot, q), q, e, 0 * e)
                 for e in np.eye(robot.nv)]
        assert close(np.array(slope), physics.gravity_torque(robot, q))


def test_spring_force_is_the_slope_of_spring_energy(robot):
    sprung = with_springs(robot)
    for q, qd in states(robot):
        power = rate(robot, lambda q, qd: physics.spring_energy(sprung, q), q, qd, 0 * qd)
        assert close(power, -spring_effort(sprung, q) @ qd)


def test_kinetic_energy_is_half_the_mass_matrix_squared_in_velocity(robot):
    for q, qd in states(robot):
        assert close(physics.kinetic_energy(robot, q, qd),
                     qd @ physics.mass_matrix(robot, q) @ qd / 2)


def test_power_balance(robot):
    """``d/dt (T + V) = τᵀ q̇ + Fᵀ J q̇ − f(q̇)ᵀ q̇``, springs in V, damping in f."""
    damping = np.random.default_rng(9).uniform(0.1, 1, robot.nv)
    robot = with_springs(robot).replace(damping=damping)
    tau, wrenches = random_efforts(robot), some_wrenches(robot)
    for q, qd in states(robot):
        friction = -damping_effort(robot.damping, qd)
        net = tau - friction + spring_effort(robot, q)
        qdd = physics.forward_dynamics(robot, q, qd, net, wrenches)
        pushed = sum(wrench @ physics.jacobian(robot, q, link) @ qd
                     for link, wrench in wrenches.items())
        energy_rate = rate(robot, lambda q, qd: physics.hamiltonian(robot, q, qd), q, qd, qdd)
        size = np.linalg.norm(physics.mass_matrix(robot, q) @ qdd) * np.linalg.norm(qd)
        balance = tau @ qd + pushed - friction @ qd
        assert abs(energy_rate - balance) < 1e-11 * max(1.0, size)


def test_undriven_frictionless_energy_is_constant(robot):
    for q, qd in states(robot):
        qdd = physics.forward_dynamics(robot, q, qd, spring_effort(robot, q))
        energy_rate = rate(robot, lambda q, qd: physics.hamiltonian(robot, q, qd), q, qd, qdd)
        size = np.linalg.norm(physics.mass_matrix(robot, q) @ qdd) * np.linalg.norm(qd)
        assert abs(energy_rate) < 1e-11 * max(1.0, size)


@pytest.mark.parametrize('name', ['free_body', 2, 5, 8])
def test_joint_torques_leave_the_momentum_of_a_floating_robot_alone(name):
    robot = robot_named(name).replace(gravity=NO_GRAVITY)
    tau = random_efforts(robot)
    tau[robot.bodies[0].v] = 0
    for q, qd in states(robot):
        qdd = physics.forward_dynamics(robot, q, qd, tau)
        momentum_rate = rate(
            robot, lambda q, qd: np.concatenate(physics.momentum(robot, q, qd)), q, qd, qdd)
        assert np.linalg.norm(momentum_rate) < 1e-11 * max(1.0, np.linalg.norm(qdd))


def test_momentum_is_mass_times_velocity_of_the_centre_of_mass(robot):
    mass = sum(body.inertia.mass for body in robot.bodies)
    for q, qd in states(robot):
        velocity = rate(robot, lambda q, qd: physics.centre_of_mass(robot, q), q, qd, 0 * qd)
        assert close(physics.momentum(robot, q, qd)[0], mass * velocity)


def test_static_torque_exerts_a_force_on_the_world(robot):
    """At rest the world pushes back with ``−F``: ``τ = g + Jᵀ F``."""
    rest = np.zeros(robot.nv)
    for q, _ in states(robot):
        for link, wrench in some_wrenches(robot).items():
            held = physics.bias(robot, q, rest, {link: -wrench})
            ours = physics.gravity_torque(robot, q) + physics.static_torque(robot, q, wrench, link)
            assert close(ours, held)


def test_wrenches_enter_by_the_transposed_jacobian(robot):
    wrenches, qdd = some_wrenches(robot), random_efforts(robot)
    for q, qd in states(robot):
        pushed = sum(physics.jacobian(robot, q, link).T @ wrench
                     for link, wrench in wrenches.items())
        assert close(physics.inverse_dynamics(robot, q, qd, qdd, wrenches),
                     physics.inverse_dynamics(robot, q, qd, qdd) - pushed)
