"""The free-floating body: both forms, their agreement, and what they keep."""

from __future__ import annotations

import math

import numpy as np
import pytest

from torque_lab.physics import free_body, load, momentum
from torque_lab.physics.model import Inertia
from torque_lab.physics.simulator import Simulator
from torque_lab.physics.spatial import quaternion_rate, rotation_about, rotation_of_quaternion

MASS = 1.0
SIDES = np.array([0.1, 0.2, 0.3])
BOX = Inertia(MASS, np.zeros(3), np.diag(MASS / 12 * (SIDES @ SIDES - SIDES**2)))
SPIN = 2 * math.pi


def random_inertia(rng: np.random.Generator) -> Inertia:
    moments = rng.uniform(0.1, 1.0, 3)
    axes = rotation_of_quaternion(free_body.normalised(rng.normal(size=4)))
    about_com = axes @ np.diag(moments.sum() - moments) @ axes.T
    return Inertia(rng.uniform(0.5, 3.0), rng.normal(size=3), about_com)


def runge_kutta_4(rate, state, step):
    k1 = rate(state)
    k2 = rate(state + step / 2 * k1)
    k3 = rate(state + step / 2 * k2)
    k4 = rate(state + step * k3)
    return state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@pytest.fixture(scope='module')
def tumbling():
    """60 s of torque-free tumbling about the intermediate axis: quaternions and ω every 10 ms."""
    moments, no_force = BOX.about_com, np.zeros(6)
    assert moments[2, 2] < moments[1, 1] < moments[0, 0]  # y is the intermediate axis

    def rate(state):
        twist = np.array([0.0, 0.0, 0.0, *state[4:].tolist()])
        turned = quaternion_rate(state[:4], state[4:])
        return np.array([*turned.tolist(), *free_body.twist_rate(BOX, twist, no_force)[3:]])

    state = np.array([0.0, 0.0, 0.0, 1.0, 1e-3, SPIN, 1e-3])
    history = [state]
    for step in range(60_000):
        state = runge_kutta_4(rate, state, 1e-3)
        state[:4] = free_body.normalised(state[:4])
        if step % 10 == 9:
            history.append(state)
    return np.array(history)


def test_tumbling_keeps_energy(tumbling):
    energy = [free_body.kinetic_energy(BOX, np.array([0, 0, 0, *state[4:]])) for state in tumbling]
    assert np.ptp(energy) < 1e-9 * energy[0]


def test_tumbling_keeps_angular_momentum_in_the_world(tumbling):
    momentum = np.array([free_body.angular_momentum(
        BOX, rotation_of_quaternion(state[:4]), state[4:]) for state in tumbling])
    drift = np.linalg.norm(momentum - momentum[0], axis=1)
    assert drift.max() < 1e-9 * np.linalg.norm(momentum[0])


def test_intermediate_axis_flips(tumbling):
    """The body turns over again and again: ω about its middle axis changes sign and size stays."""
    about_middle = tumbling[:, 5]
    flips = np.count_nonzero(np.diff(np.sign(about_middle)))
    assert flips >= 8
    assert about_middle.min() < -0.999 * SPIN


def test_other_axes_do_not_flip():
    """Spin about the axis of the smallest or of the largest moment stays there."""
    for axis in (0, 2):
        omega = np.full(3, 1e-3)
        omega[axis] = SPIN
        twist = np.array([0.0, 0.0, 0.0, *omega])
        for _ in range(5_000):
            twist = runge_kutta_4(
                lambda twist: free_body.twist_rate(BOX, twist, np.zeros(6)), twist, 4e-3)
            assert twist[3 + axis] > 0.99 * SPIN


def test_twist_rate_keeps_momentum_without_force():
    """d/dt of linear momentum and of angular momentum about a world point vanish."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        inertia, twist = random_inertia(rng), rng.normal(size=6)
        rate = free_body.twist_rate(inertia, twist, np.zeros(6))
        omega, h = twist[3:], 1e-30

        def momentum(twist, inertia=inertia):
            linear = inertia.mass * (twist[:3] + np.cross(twist[3:], inertia.com))
            return linear, np.cross(inertia.com, linear) + inertia.about_com @ twist[3:]
        linear_rate, angular_rate = (part.imag / h for part in momentum(twist + 1j * h * rate))
        linear, angular = momentum(twist)
        np.testing.assert_allclose(linear_rate + np.cross(omega, linear), 0, atol=1e-12)
        np.testing.assert_allclose(
            angular_rate + np.cross(omega, angular) + np.cross(twist[:3], linear), 0, atol=1e-11)


def test_power_of_a_wrench_is_the_rate_of_kinetic_energy():
    rng = np.random.default_rng(2)
    for _ in range(20):
        inertia, twist, wrench = random_inertia(rng), rng.normal(size=6), rng.normal(size=6)
        moving = twist + 1e-30j * free_body.twist_rate(inertia, twist, wrench)
        power = free_body.kinetic_energy(inertia, moving).imag / 1e-30
        assert power == pytest.approx(wrench @ twist, abs=1e-12)


def test_weight_makes_the_centre_of_mass_fall_freely():
    rng = np.random.default_rng(3)
    gravity = np.array([0, 0, -9.81])
    for _ in range(10):
        inertia, rotation = random_inertia(rng), rotation_of_quaternion(rng.normal(size=4))
        rate = free_body.twist_rate(
            inertia, np.zeros(6), free_body.weight(inertia, rotation, gravity))
        np.testing.assert_allclose(rotation @ rate[:3], gravity, atol=1e-12)
        np.testing.assert_allclose(rate[3:], 0, atol=1e-12)


def test_angle_rates_and_quaternion_rate_turn_the_body_alike():
    """Ṙ from the angles, by complex step, is R [ω]×; so is Ṙ from the quaternion."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        angles, omega = rng.uniform(-1.5, 1.5, 3), rng.normal(size=3)
        rotation = free_body.rotation_of_angles(angles)
        expected = free_body.rotation_rate(rotation, omega)
        moving = angles + 1e-30j * free_body.angle_rates(angles, omega)
        np.testing.assert_allclose(
            free_body.rotation_of_angles(moving).imag / 1e-30, expected, atol=1e-12)
        quaternion = free_body.quaternion_of_angles(angles)
        turning = quaternion + 1e-30j * quaternion_rate(quaternion, omega)
        np.testing.assert_allclose(
            rotation_of_quaternion(turning).imag / 1e-30, expected, atol=1e-12)


def test_rate_matrix_is_the_inverse_of_angular_velocity_matrix():
    rng = np.random.default_rng(5)
    for angles in rng.uniform(-1.4, 1.4, (20, 3)):
        product = free_body.rate_matrix(angles) @ free_body.angular_velocity_matrix(angles)
        np.testing.assert_allclose(product, np.eye(3), atol=1e-13)


def test_both_forms_follow_the_same_tumble():
    """Two seconds away from the singularity: the same orientation from angles and quaternion."""
    moments = random_inertia(np.random.default_rng(6)).about_com
    inertia = Inertia(1.0, np.zeros(3), moments)

    def with_quaternion(state):
        twist = np.array([0, 0, 0, *state[4:]])
        return np.array([*quaternion_rate(state[:4], state[4:]),
                         *free_body.twist_rate(inertia, twist, np.zeros(6))[3:]])

    def with_angles(state):
        twist = np.array([0, 0, 0, *state[3:]])
        return np.array([*free_body.angle_rates(state[:3], state[3:]),
                         *free_body.twist_rate(inertia, twist, np.zeros(6))[3:]])

    angles, omega = np.array([0.2, 0.1, -0.3]), np.array([0.3, 0.1, 1.0])
    one = np.array([*free_body.quaternion_of_angles(angles), *omega])
    other = np.array([*angles, *omega])
    for _ in range(1000):
        one = runge_kutta_4(with_quaternion, one, 2e-3)
        other = runge_kutta_4(with_angles, other, 2e-3)
    assert abs(other[1]) < 1.4
    np.testing.assert_allclose(free_body.rotation_of_angles(other[:3]),
                               rotation_of_quaternion(one[:4]), atol=1e-10)


@pytest.mark.parametrize('pitch', [math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-8])
def test_euler_angles_refuse_pitch_of_a_right_angle(pitch):
    with pytest.raises(free_body.SingularAnglesError, match='use the quaternion form'):
        free_body.angle_rates(np.array([0.1, pitch, 0.2]), np.ones(3))


def test_angle_rates_grow_without_bound_towards_the_singularity():
    """For the same ω, ten times closer to pitch π/2 means ten times faster roll and yaw."""
    omega = np.array([0.0, 0.0, 1.0])
    fastest = [np.abs(free_body.angle_rates(np.array([0, math.pi / 2 - gap, 0]), omega)).max()
               for gap in (1e-2, 1e-3, 1e-4)]
    np.testing.assert_allclose(fastest, [1e2, 1e3, 1e4], rtol=1e-4)


def test_condition_number_is_that_of_the_matrix():
    for pitch in np.linspace(-1.57, 1.57, 21):
        matrix = free_body.angular_velocity_matrix(np.array([0.7, pitch, 0.3]))
        expected = np.linalg.cond(matrix)
        assert free_body.condition_number([0.7, pitch, 0.3]) == pytest.approx(expected, rel=1e-9)
    assert free_body.condition_number([0, math.pi / 2, 0]) > 1e15


def test_conversions_return_to_where_they_came_from():
    rng = np.random.default_rng(7)
    for _ in range(50):
        quaternion = free_body.normalised(rng.normal(size=4))
        rotation = rotation_of_quaternion(quaternion)
        back = free_body.quaternion_of_rotation(rotation)
        np.testing.assert_allclose(back * np.sign(back[3]), quaternion * np.sign(quaternion[3]),
                                   atol=1e-14)
        angles = free_body.angles_of_rotation(rotation)
        np.testing.assert_allclose(free_body.rotation_of_angles(angles), rotation, atol=1e-14)
        np.testing.assert_allclose(rotation_of_quaternion(free_body.quaternion_of_angles(angles)),
                                   rotation, atol=1e-14)
        vector = rng.normal(size=3)
        np.testing.assert_allclose(free_body.rotate(quaternion, vector), rotation @ vector,
                                   atol=1e-14)


@pytest.mark.parametrize('axis', np.eye(3))
def test_half_turns_have_a_quaternion(axis):
    """w = 0, where the usual formula divides by zero."""
    rotation = rotation_about(axis, math.pi)
    quaternion = free_body.quaternion_of_rotation(rotation)
    np.testing.assert_allclose(rotation_of_quaternion(quaternion), rotation, atol=1e-15)


@pytest.mark.parametrize('pitch', [math.pi / 2, -math.pi / 2])
def test_angles_of_a_rotation_at_the_singularity(pitch):
    rotation = free_body.rotation_of_angles(np.array([0.4, pitch, 0.9]))
    angles = free_body.angles_of_rotation(rotation)
    assert angles[2] == 0
    np.testing.assert_allclose(free_body.rotation_of_angles(angles), rotation, atol=1e-14)


def test_inertia_in_world_turns_with_the_body():
    rng = np.random.default_rng(8)
    inertia, rotation = random_inertia(rng), rotation_of_quaternion(rng.normal(size=4))
    in_world, omega = free_body.inertia_in_world(inertia, rotation), rng.normal(size=3)
    np.testing.assert_allclose(in_world @ (rotation @ omega),
                               free_body.angular_momentum(inertia, rotation, omega), atol=1e-12)


def test_simulated_free_body_keeps_energy_and_angular_momentum():
    """The shipped model in the simulator: a floating joint under RNEA, RK4, 1 ms, 60 s."""
    robot = load('free_body')
    simulator = Simulator(robot, integrator='rk4', dt=1e-3)
    if not simulator.compiled:
        pytest.skip('60 000 steps take minutes without llvmlite')
    start, energy = momentum(robot, simulator.q, simulator.qd)[1], simulator.energy.total
    about_middle = []
    for _ in range(600):
        simulator.step(np.zeros(6), n=100)
        now = momentum(robot, simulator.q, simulator.qd)[1]
        assert np.linalg.norm(now - start) < 1e-9 * np.linalg.norm(start)
        assert simulator.energy.total == pytest.approx(energy, rel=1e-9)
        about_middle.append(simulator.qd[4])
    assert min(about_middle) < -0.99 * SPIN and max(about_middle) > 0.99 * SPIN
