"""
Every misprint of the errata page breaks a law that the right formula keeps.

One test for each entry of docs/errata.md.  ``printed`` is the formula of the lecture material,
``right`` the correct one.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from closed_forms import (
    DAMPING,
    GRAVITY,
    rotary_pendulum,
    rotary_pendulum_in_volts,
    rp_arm,
    rr_arm,
)
from numpy import cos, sin
from scipy.integrate import RK45

from torque_lab.physics.free_body import angular_momentum, kinetic_energy, twist_rate
from torque_lab.physics.model import Inertia
from torque_lab.physics.spatial import (
    quaternion_rate,
    rotation_about,
    rotation_of_quaternion,
    skew,
)

H = 1e-30  # complex step: derivatives without rounding
STATES = np.random.default_rng(20).uniform(0.3, 1.2, (10, 3, 2))  # q, q̇, q̈; no symmetric ones


def rate(function, at, along):
    """Derivative of a function of arrays along a direction."""
    moved = [x + 1j * H * dx for x, dx in zip(at, along, strict=True)]
    return np.asarray(function(*moved)).imag / H


def energy_gap(equation, energy, q, qd, qdd):
    """``d/dt (T + V) − τᵀ q̇``: zero if the equation of motion and the energy belong together."""
    return float(rate(energy, (q, qd), (qd, qdd)) - equation(q, qd, qdd) @ qd)


def keeps_energy(equation, energy):
    return all(abs(energy_gap(equation, energy, *state)) < 1e-12 for state in STATES)


def matrix_of(equation):
    """Read the mass matrix off an equation of motion, by unit accelerations."""
    q, qd, _ = STATES[0]
    return np.array([equation(q, qd, e) - equation(q, qd, 0 * e) for e in np.eye(2)]).T


def is_symmetric(matrix):
    return bool(np.allclose(matrix, matrix.T, rtol=0, atol=1e-12))


# The arms, and energies straight from the positions of their masses

M1, M2, L1, L2 = 2.0, 1.5, 0.7, 0.4


def rr_energy(q, qd):
    def height_and_speed():
        joint1 = L1 * np.array([cos(q[0]), sin(q[0])])
        across1 = np.array([-joint1[1], joint1[0]]) * qd[0]
        link2 = L2 * np.array([cos(q[0] + q[1]), sin(q[0] + q[1])])
        across2 = np.array([-link2[1], link2[0]]) * (qd[0] + qd[1])
        return (joint1[1], across1), (joint1[1] + link2[1], across1 + across2)
    return sum(m * (v @ v / 2 + GRAVITY * z)
               for m, (z, v) in zip((M1, M2), height_and_speed(), strict=True))


def rr_terms(q, qd):
    return rr_arm(q, qd, (M1, M2), (L1, L2))


def rr_right(q, qd, qdd):
    M, c, g = rr_terms(q, qd)
    return M @ qdd + c + g


RP_INERTIA = (0.05, 0.02)


def rp_energy(q, qd, gravity=GRAVITY):
    (angle, reach), (turning, sliding) = q, qd
    moving = ((2.0 * 0.5**2 + reach**2 + sum(RP_INERTIA)) * turning**2 + sliding**2) / 2
    return moving + (2.0 * 0.5 + reach) * gravity * sin(angle)


def rp_right(q, qd, qdd):
    M, c, g = rp_arm(q, qd)
    return M @ qdd + c + g


def rotary_right(q, qd, qdd):
    M, c, g = rotary_pendulum(q, qd)
    return M @ qdd + c + g


def rotary_energy(q, qd):
    M, _, _ = rotary_pendulum(q, qd)
    return qd @ M @ qd / 2 + 0.14 * 0.15 * GRAVITY * cos(q[1])


def test_the_right_equations_keep_energy():
    """Up to the 1e-12 kg m² of the model's point masses."""
    assert keeps_energy(rp_right, rp_energy)
    assert keeps_energy(rotary_right, rotary_energy)
    assert all(abs(energy_gap(rr_right, rr_energy, *state)) < 1e-10 for state in STATES)


# RP arm


def test_rp_centrifugal_term_with_the_wrong_velocity_makes_energy():
    def printed(q, qd, qdd):
        M, c, g = rp_arm(q, qd)
        return M @ qdd + np.array([c[0], -q[1] * qd[1]**2]) + g
    assert not keeps_energy(printed, rp_energy)
    assert keeps_energy(rp_right, rp_energy)


def test_rp_factorisations_with_the_wrong_term_do_work():
    """``q̇ᵀ (Ṁ − 2C) q̇ = 0`` for every C with the right product C q̇, whatever its entries."""
    for q, qd, _ in STATES:
        mass_rate = rate(lambda q: rp_arm(q, np.zeros(2))[0], (q,), (qd,))
        right = np.array([[q[1] * qd[1], q[1] * qd[0]], [-q[1] * qd[0], 0]])
        printed = np.array([[q[1] * qd[1], q[1] * qd[0]], [0, -q[1] * qd[1]]])
        np.testing.assert_allclose(right @ qd, rp_arm(q, qd)[1], atol=1e-14)
        assert abs(qd @ (mass_rate - 2 * right) @ qd) < 1e-13
        assert abs(qd @ (mass_rate - 2 * printed) @ qd) > 1e-2


def test_rp_cross_terms_need_their_factor_two():
    """A square is a square; in the sum ẋ² + ẏ² the cross terms cancel and hide the misprint."""
    for (angle, reach), (turning, sliding), _ in STATES:
        s, c = sin(angle), cos(angle)
        velocity = rate(lambda q: q[1] * np.array([cos(q[0]), sin(q[0])]),
                        (np.array([angle, reach]),), (np.array([turning, sliding]),))
        plain = np.array([sliding**2 * c**2 + reach**2 * turning**2 * s**2,
                          sliding**2 * s**2 + reach**2 * turning**2 * c**2])
        cross = reach * turning * sliding * s * c * np.array([-1, 1])
        np.testing.assert_allclose(plain + 2 * cross, velocity**2, atol=1e-14)
        assert np.abs(plain + cross - velocity**2).min() > 1e-3
        assert (plain + cross).sum() == pytest.approx((velocity**2).sum(), rel=1e-14)


def test_rp_moment_arm_is_a_length_not_an_angle():
    """A gravity torque is the slope of the potential energy."""
    for q, _, _ in STATES:
        slope = [float(rate(lambda q: rp_energy(q, np.zeros(2)), (q,), (e,))) for e in np.eye(2)]
        printed = (2.0 * 0.5 + q[0]) * GRAVITY * cos(q[0])
        assert rp_arm(q, np.zeros(2))[2] == pytest.approx(slope, rel=1e-14)
        assert abs(printed - slope[0]) > 1e-2


def test_rp_mass_matrix_is_definite():
    """Not merely semi-definite: no motion is free of kinetic energy, not even at reach 0."""
    for reach in (0.0, *STATES[:, 0, 1]):
        M, _, _ = rp_arm(np.array([0.4, reach]), np.zeros(2))
        assert np.linalg.eigvalsh(M).min() > 0.1


# RR arm


def test_rr_gravity_with_c2_is_no_gradient():
    """``∂g1/∂q2 = ∂g2/∂q1``, or lifting the arm around a loop would yield work."""
    def right(q):
        return rr_terms(q, np.zeros(2))[2]

    def printed_in_the_first(q):
        return np.array([(M1 + M2) * GRAVITY * L1 * cos(q[0]) + M2 * GRAVITY * L2 * cos(q[1]),
                         right(q)[1]])

    def printed_in_both(q):
        return np.array([printed_in_the_first(q)[0], M2 * GRAVITY * L2 * cos(q[1])])

    def slopes(gravity, q):
        return np.array([rate(gravity, (q,), (e,)) for e in np.eye(2)])
    for q, _, _ in STATES:
        assert is_symmetric(slopes(right, q))
        assert not is_symmetric(slopes(printed_in_the_first, q))
        assert not is_symmetric(slopes(printed_in_both, q))


def test_rr_gravity_must_carry_the_second_mass_at_the_elbow():
    """Without ``m2 g l1 c1`` lifting the second mass would cost nothing."""
    def printed(q, qd, qdd):
        return rr_right(q, qd, qdd) - np.array([M2 * GRAVITY * L1 * cos(q[0]), 0])
    assert all(abs(energy_gap(printed, rr_energy, *state)) > 0.1 for state in STATES)


def test_rr_inertia_term_has_the_unit_of_a_torque():
    """In centimetres all torques are 100² times as many kg cm²/s²; ``m2 l2 θ̈2`` is not."""
    def second_row(power):
        def torque(scale):
            lengths, g = (scale * L1, scale * L2), scale * GRAVITY
            q, qd, qdd = STATES[0]
            M, c, gravity = rr_arm(q, qd, (M1, M2), lengths, g)
            return M[1, 0] * qdd[0] + M2 * lengths[1]**power * qdd[1] + c[1] + gravity[1]
        return torque
    right, printed = second_row(2), second_row(1)
    assert right(100.0) == pytest.approx(100**2 * right(1.0), rel=1e-12)
    assert printed(100.0) != pytest.approx(100**2 * printed(1.0), rel=1e-2)


def test_rr_second_equation_needs_both_accelerations():
    """With θ̈2 in place of θ̈1 the mass matrix is not symmetric."""
    def printed(q, qd, qdd):
        M, c, g = rr_terms(q, qd)
        return np.array([M[0] @ qdd, (M[1, 0] + M[1, 1]) * qdd[1]]) + c + g
    assert is_symmetric(matrix_of(rr_right))
    assert not is_symmetric(matrix_of(printed))


def test_rr_kinetic_energy_of_the_stretched_arm():
    """Stretched and turning as one, the second mass moves at ``(l1 + l2) θ̇1``."""
    def energy(wave):
        link1, link2 = M1 * L1**2, M2 * (L1**2 + L2**2 + 2 * L1 * L2 * wave(0.0))
        return (link1 + link2) / 2
    expected = (M1 * L1**2 + M2 * (L1 + L2)**2) / 2
    assert energy(cos) == pytest.approx(expected, rel=1e-14)
    assert energy(sin) < 0.8 * expected


# Rotary pendulum


def test_rotary_equation_three_needs_the_acceleration_of_the_arm():
    """With q̇1 for q̈1 the arm pushes the pendulum but does not feel it: M is not symmetric."""
    def printed(q, qd, qdd):
        M, c, g = rotary_pendulum(q, qd)
        return np.array([M[0] @ qdd, M[1, 0] * qd[0] + M[1, 1] * qdd[1]]) + c + g
    assert is_symmetric(matrix_of(rotary_right))
    assert not is_symmetric(matrix_of(printed))
    assert not keeps_energy(printed, rotary_energy)


def rotary_coriolis(q, qd):
    """Christoffel matrix C of the pendulum with a slender rod."""
    a2, a3 = 0.14 * 0.3**2 / 3, 0.14 * 0.2 * 0.15
    s, half = sin(q[1]), a2 * sin(q[1]) * cos(q[1])
    return np.array([[half * qd[1], half * qd[0] - a3 * s * qd[1]], [-half * qd[0], 0]])


def test_rotary_coriolis_matrix_is_linear_in_the_velocities():
    """Twice as fast means four times the forces ``C q̇``; an extra q̇1 in C makes it more."""
    def printed(q, qd):
        C = rotary_coriolis(q, qd)
        C[0, 0] *= qd[0]
        return C

    def is_quadratic(matrix):
        return all(np.allclose(matrix(q, 2 * qd) @ (2 * qd), 4 * matrix(q, qd) @ qd, rtol=1e-12)
                   for q, qd, _ in STATES)
    assert is_quadratic(rotary_coriolis)
    assert not is_quadratic(printed)


def test_rotary_gravity_sign_belongs_to_the_angle_from_upright():
    """Counted from upright, q2 = 0 is unstable: gravity drives the pendulum away from it."""
    def printed(q, qd, qdd):
        M, c, g = rotary_pendulum(q, qd)
        return M @ qdd + c - g

    def falls_away(equation):
        lean, still = np.array([0.0, 1e-3]), np.zeros(2)
        fall = np.linalg.solve(rotary_pendulum(lean, still)[0], -equation(lean, still, still))
        return fall[1] > 0
    assert falls_away(rotary_right) and keeps_energy(rotary_right, rotary_energy)
    assert not falls_away(printed) and not keeps_energy(printed, rotary_energy)


def test_rotary_friction_in_volts_is_scaled_by_the_torque_constant():
    """In volts every term is ``Ra/(kr kt)`` times that in torques; kt and kv differ in general."""
    q, qd, _ = STATES[0]
    motor = {'kt': 0.008, 'kv': 0.007, 'kr': 70.0, 'Ra': 2.6}
    M, c, g, friction = rotary_pendulum_in_volts(q, qd, **motor)
    printed = friction.copy()
    printed[1] = DAMPING[1] * motor['Ra'] / (motor['kr'] * motor['kv']) * qd[1]
    torque = motor['kt'] * motor['kr'] / motor['Ra'] * (1.0 - motor['kv'] * motor['kr'] * qd[0])
    in_torques = np.linalg.solve(
        rotary_pendulum(q, qd)[0],
        np.array([torque, 0]) - DAMPING * qd - sum(rotary_pendulum(q, qd)[1:]))

    def in_volts(friction):
        return np.linalg.solve(M, np.array([1.0, 0]) - c - g - friction)
    np.testing.assert_allclose(in_volts(friction), in_torques, rtol=1e-12)
    assert np.abs(in_volts(printed) - in_torques).max() > 1e-3


def test_friction_inside_the_coriolis_matrix_breaks_skew_symmetry():
    for q, qd, _ in STATES:
        right = rotary_coriolis(q, qd)
        mass_rate = rate(lambda q: rotary_pendulum(q, np.zeros(2), radius=0)[0], (q,), (qd,))
        np.testing.assert_allclose(right @ qd, rotary_pendulum(q, qd, radius=0)[1], atol=1e-15)

        def is_skew(C, mass_rate=mass_rate):
            difference = mass_rate - 2 * C
            return np.allclose(difference, -difference.T, rtol=0, atol=1e-15)
        assert is_skew(right)
        assert not is_skew(right + np.diag(DAMPING))


# Rigid bodies

BODY = Inertia(1.3, np.zeros(3), np.diag([0.2, 0.5, 0.6]))


def test_rotational_energy_is_a_quadratic_form_of_the_tensor():
    """The power ``N·ω`` of a torque is its rate; one number for the inertia does not do."""
    w, torque = np.array([0.3, 1.1, -0.7]), np.array([0.2, -0.4, 0.9])
    wd = np.linalg.solve(BODY.about_com, torque - np.cross(w, BODY.about_com @ w))

    def right(w):
        return w @ BODY.about_com @ w / 2

    def one_number(w):
        return np.trace(BODY.about_com) / 3 * (w @ w) / 2
    assert float(rate(right, (w,), (wd,))) == pytest.approx(torque @ w, rel=1e-14)
    assert float(rate(one_number, (w,), (wd,))) != pytest.approx(torque @ w, rel=1e-2)


def test_potential_energy_is_weight_times_height():
    """``m g z``: its slope is the weight, upwards; along x and y there is none."""
    position = np.array([0.3, -0.2, 0.7])
    slope = [float(rate(lambda r: 1.3 * GRAVITY * r[2], (position,), (e,))) for e in np.eye(3)]
    assert slope == pytest.approx([0, 0, 1.3 * GRAVITY])


def test_potential_energy_has_a_minus_before_gravity_as_a_vector():
    """Falling freely, ``T + V`` stays with ``V = −m g·r`` and grows with ``V = +m g·r``."""
    g, m = np.array([0, 0, -GRAVITY]), 1.3

    def energy(sign):
        return lambda r, v: m * (v @ v) / 2 + sign * m * (g @ r)
    r, v = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0, -0.7])
    assert abs(rate(energy(-1), (r, v), (v, g))) < 1e-14
    assert abs(rate(energy(+1), (r, v), (v, g))) > 1


def test_forces_between_two_bodies_are_opposite():
    """Newton's third law keeps the sum of momenta; ``f12 = f21`` would push both the same way."""
    f12 = np.array([0.3, -1.2, 0.4])
    momentum_rate_right, momentum_rate_printed = f12 + (-f12), f12 + f12
    np.testing.assert_array_equal(momentum_rate_right, 0)
    assert np.abs(momentum_rate_printed).max() > 1


def test_moment_of_a_force_is_arm_times_force_in_that_order():
    """About a hinge, ``I_c α + r × m a`` is ``(I_c + m r²) α``; the other way round it is less."""
    I_c, m, r, alpha = 0.1, 1.3, np.array([0.8, 0, 0]), 2.0
    a = np.cross([0, 0, alpha], r)
    right = I_c * alpha + np.cross(r, m * a)[2]
    printed = I_c * alpha + np.cross(m * a, r)[2]
    assert right == pytest.approx((I_c + m * r @ r) * alpha)
    assert printed < 0  # a torque that turns against the motion it causes


def test_euler_equation_in_space_needs_the_gyroscopic_term():
    """Without ``ω × I ω`` a free body would change its angular momentum by itself."""
    quaternion, w = np.array([0.0, 0, 0, 1.0]), np.array([0.3, 1.1, -0.7])

    def momentum(quaternion, w):
        return angular_momentum(BODY, rotation_of_quaternion(quaternion), w)
    turning = quaternion_rate(quaternion, w)
    right = twist_rate(BODY, np.array([0, 0, 0, *w]), np.zeros(6))[3:]
    assert np.abs(rate(momentum, (quaternion, w), (turning, right))).max() < 1e-15
    assert np.abs(rate(momentum, (quaternion, w), (turning, np.zeros(3)))).max() > 0.01
    twist = np.array([0, 0, 0, *w])
    assert abs(rate(lambda t: kinetic_energy(BODY, t), (twist,), (np.array([0, 0, 0, *right]),))
               ) < 1e-15


def test_rotation_is_updated_by_a_matrix_times_a_matrix():
    """``Ṙ = R [ω]×``: a matrix, with ``Rᵀ Ṙ`` skew, so that R stays a rotation; ``R ω`` is not."""
    R, w = rotation_about(np.array([0.6, 0, 0.8]), 0.7), np.array([0.3, 1.1, -0.7])
    right, printed = R @ skew(w), R @ w
    assert right.shape == (3, 3)
    np.testing.assert_allclose(R.T @ right, -(R.T @ right).T, atol=1e-15)
    assert printed.shape == (3,)
    added = R + 1e-3 * printed  # numpy adds it to every row; what comes out is no rotation
    assert np.abs(added.T @ added - np.eye(3)).max() > 1e-4
    kept = R + 1e-3 * right
    assert np.abs(kept.T @ kept - np.eye(3)).max() < 1e-5


# Integration


def test_stages_of_a_runge_kutta_method_are_not_its_order():
    """Dormand and Prince's method has six stages; its error falls with the fifth power."""
    def solve(steps):
        t, y, h = 0.0, 1.0, 2.0 / steps
        for _ in range(steps):
            k = []
            for a, c in zip(RK45.A, RK45.C, strict=True):
                k.append(cos(t + c * h) * (y + h * sum(x * s for x, s in zip(a, k, strict=False))))
            t, y = t + h, y + h * (RK45.B @ k)
        return y
    exact = np.exp(sin(2.0))
    order = np.log2(abs(solve(20) - exact) / abs(solve(40) - exact))
    assert len(RK45.B) == 6
    assert order == pytest.approx(5, abs=0.3)


def test_integration_advances_by_time_not_by_angle():
    """Turning evenly at 3 rad/s for 1 s makes 3 rad, in any number of steps."""
    def turned(steps, advance):
        angle, speed, dt = 0.0, 3.0, 1.0 / steps
        for _ in range(steps):
            angle += speed * advance(speed, dt)
        return angle
    for steps in (1, 10, 1000):
        assert turned(steps, lambda speed, dt: dt) == pytest.approx(3.0)
        assert turned(steps, lambda speed, dt: speed * dt) == pytest.approx(9.0)


def test_verlet_velocity_starts_from_the_velocity():
    """Newton's first law: without force the velocity stays; from ÿ in place of ẏ it is lost."""
    def velocity(steps, start_from):
        v, h, a = 1.5, 0.01, 0.0
        for _ in range(steps):
            v = start_from(v, a) + h * (a + a) / 2
        return v
    assert velocity(100, lambda v, a: v) == 1.5
    assert velocity(100, lambda v, a: a) == 0.0


def test_every_entry_of_the_errata_page_has_its_test():
    page = (Path(__file__).parents[2] / 'docs' / 'errata.md').read_text(encoding='utf-8')
    named = set(re.findall(r'`(test_\w+)`', page))
    entries = {line for line in page.splitlines()
               if line.startswith('|') and not line.startswith(('|---', '| printed'))}
    assert len(entries) == len(named) == 25
    assert named <= set(globals())
