"""
Equations of motion in closed form, as a textbook has them: plain functions of numbers.

Each returns the terms of ``M(q) q̈ + c(q, q̇) + g(q) = τ``.  Rods and point masses have the
inertia that they have in the shipped models: a rod that of a cylinder with its radius, a point
mass 1e-12 kg m², since URDF readers want a positive one.
"""

from __future__ import annotations

import numpy as np
from numpy import cos, pi, sin

GRAVITY = 9.81
SPECK = 1e-12  # inertia of a point mass


def across(mass, length, radius):
    """Inertia of a round rod about an axis across it, through its centre."""
    return mass * (3 * radius**2 + length**2) / 12


def along(mass, radius):
    """Inertia of a round rod about its own axis."""
    return mass * radius**2 / 2


def pendulum(q, qd, m=2.0, l=2.0, g=GRAVITY):  # noqa: E741 - the letters of the textbook
    """``m l² θ̈ + m g l sin θ = τ``, θ from hanging."""
    return np.array([[m * l**2 + SPECK]]), np.zeros(1), np.array([m * g * l * sin(q[0])])


def double_pendulum_absolute(a, ad, m=(2.0, 2.0), l=(2.0, 2.0), g=GRAVITY):  # noqa: E741
    """Angles α of both links from hanging."""
    (m1, m2), (l1, l2) = m, l
    coupling = m2 * l1 * l2
    M = np.array([[(m1 + m2) * l1**2 + SPECK, coupling * cos(a[0] - a[1])],
                  [coupling * cos(a[0] - a[1]), m2 * l2**2 + SPECK]])
    c = coupling * sin(a[0] - a[1]) * np.array([ad[1]**2, -ad[0]**2])
    return M, c, np.array([(m1 + m2) * g * l1 * sin(a[0]), m2 * g * l2 * sin(a[1])])


TO_ABSOLUTE = np.array([[1.0, 0.0], [1.0, 1.0]])  # α = A q: q1 = α1, q2 = α2 − α1


def double_pendulum_relative(q, qd, m=(2.0, 2.0), l=(2.0, 2.0), g=GRAVITY):  # noqa: E741
    """First angle from hanging, second from the first link."""
    M, c, gravity = rr_arm(np.array([q[0] - pi / 2, q[1]]), qd, m, l, g)
    return M, c, gravity


def rr_arm(q, qd, m=(2.0, 2.0), l=(2.0, 2.0), g=GRAVITY):  # noqa: E741
    """First angle from the horizontal x axis, second from the first link."""
    (m1, m2), (l1, l2) = m, l
    c1, c2, s2, c12 = cos(q[0]), cos(q[1]), sin(q[1]), cos(q[0] + q[1])
    M11 = m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * c2) + 2 * SPECK
    M12 = m2 * (l2**2 + l1 * l2 * c2) + SPECK
    M = np.array([[M11, M12], [M12, m2 * l2**2 + SPECK]])
    c = m2 * l1 * l2 * s2 * np.array([-(2 * qd[0] * qd[1] + qd[1]**2), qd[0]**2])
    return M, c, np.array([(m1 + m2) * g * l1 * c1 + m2 * g * l2 * c12, m2 * g * l2 * c12])


def rp_arm(q, qd, m=(2.0, 1.0), L1=0.5, I=(0.05, 0.02), g=GRAVITY):  # noqa: E741
    """Angle from the horizontal, then the extension."""
    (m1, m2), (angle, reach) = m, q
    M = np.diag([m1 * L1**2 + m2 * reach**2 + I[0] + I[1], m2 + 0 * reach])
    c = np.array([2 * m2 * reach * qd[0] * qd[1], -m2 * reach * qd[0]**2])
    return M, c, np.array([(m1 * L1 + m2 * reach) * g * cos(angle), m2 * g * sin(angle)])


def rp_tip_jacobian(q):
    """Velocity (x, z) of the tip of the RP arm."""
    angle, reach = q
    return np.array([[-reach * sin(angle), cos(angle)], [reach * cos(angle), sin(angle)]])


def rp_operational_inertia_level(reach, m=(2.0, 1.0), L1=0.5, I=(0.05, 0.02)):  # noqa: E741
    """Λ(0, θ2) of the RP arm, for (x, z)."""
    return np.diag([m[1], (m[0] * L1**2 + I[0] + I[1]) / reach**2 + m[1]])


def n_link(q, qd, mass=1.0, length=0.5, g=GRAVITY):
    """Planar chain of point masses: ``D = Σ m J_vᵀ J_v``, Christoffel symbols, ``g = ∂P/∂q``."""
    n = len(q)

    def jacobian(q, i):
        angles = np.cumsum(q)
        J = np.zeros((2, n), dtype=q.dtype)
        for k in range(i + 1):  # rod k swings with every joint up to its own
            J[:, :k + 1] += length * np.array([[cos(angles[k])], [sin(angles[k])]])
        return J

    def inertia(q):
        turning = [np.r_[np.ones(i + 1), np.zeros(n - i - 1)] for i in range(n)]
        return sum(mass * jacobian(q, i).T @ jacobian(q, i)
                   + SPECK * np.outer(turning[i], turning[i]) for i in range(n))

    step = 1e-30
    slope = np.array([inertia(q + 1j * step * e).imag / step for e in np.eye(n)])  # [i, k, j]
    c = np.einsum('ikj,i,j->k', slope, qd, qd) - np.einsum('kij,i,j->k', slope, qd, qd) / 2
    return inertia(q), c, sum(mass * g * jacobian(q, i)[1] for i in range(n))


MASSES, LENGTHS = (1.5, 1.0, 0.5), (0.6, 0.5, 0.3)
RODS = tuple(across(mass, length, 0.02) for mass, length in zip(MASSES, LENGTHS, strict=True))


def three_link(q, qd, m=MASSES, l=LENGTHS, I=RODS, g=GRAVITY):  # noqa: E741
    """Rods with their centres of mass at half their length; first angle from hanging."""
    (m1, m2, m3), (l1, l2, l3), (I1, I2, I3) = m, l, I
    a, b, d = (m2 / 2 + m3) * l1 * l2, m3 * l2 * l3 / 2, m3 * l1 * l3 / 2
    c2, c3, c23 = cos(q[1]), cos(q[2]), cos(q[1] + q[2])
    s2, s3, s23 = sin(q[1]), sin(q[2]), sin(q[1] + q[2])
    M33 = I3 + m3 * l3**2 / 4
    M23 = M33 + b * c3
    M22 = I2 + m2 * l2**2 / 4 + m3 * l2**2 + M33 + 2 * b * c3
    M13 = M23 + d * c23
    M12 = M22 + a * c2 + d * c23
    M11 = I1 + m1 * l1**2 / 4 + (m2 + m3) * l1**2 + M22 + 2 * a * c2 + 2 * d * c23
    M = np.array([[M11, M12, M13], [M12, M22, M23], [M13, M23, M33]])
    w1, w2, w3 = qd
    elbow, wrist = a * s2, b * s3 * w3 * (2 * w1 + 2 * w2 + w3)
    c = np.array([
        -elbow * w2 * (2 * w1 + w2) - wrist - d * s23 * (w2 + w3) * (2 * w1 + w2 + w3),
        elbow * w1**2 - wrist + d * s23 * w1**2,
        b * s3 * (w1 + w2)**2 + d * s23 * w1**2])
    g3 = m3 * g * l3 / 2 * sin(q[0] + q[1] + q[2])
    g2 = g3 + (m2 / 2 + m3) * g * l2 * sin(q[0] + q[1])
    return M, c, np.array([g2 + (m1 / 2 + m2 + m3) * g * l1 * sin(q[0]), g2, g3])


PENDULUM_RADIUS = 0.006
DAMPING = np.array([0.015, 0.002])


def rotary_pendulum(q, qd, r=0.2, J1=0.0044, m2=0.14, l2=0.3, radius=PENDULUM_RADIUS, g=GRAVITY):
    """Arm about the vertical, pendulum from upright; a slender rod has ``a2 = m2 l2²/3``."""
    own = along(m2, radius)
    a1, a2 = J1 + m2 * r**2, m2 * l2**2 / 4 + across(m2, l2, radius)
    a3, a4 = m2 * r * l2 / 2, m2 * l2 / 2
    s, c = sin(q[1]), cos(q[1])
    M = np.array([[a1 + a2 * s**2 + own * c**2, a3 * c], [a3 * c, a2 + 0 * c]])
    velocity = np.array([2 * (a2 - own) * s * c * qd[0] * qd[1] - a3 * s * qd[1]**2,
                         -(a2 - own) * s * c * qd[0]**2])
    return M, velocity, np.array([0 * s, -a4 * g * s])


def rotary_pendulum_in_volts(q, qd, kt=0.00767, kv=0.00767, kr=70.0, Ra=2.6):
    """M, c, g and the friction terms of the same system with the motor's voltage as input."""
    per_torque = Ra / (kr * kt)
    M, c, g = (per_torque * term for term in rotary_pendulum(q, qd))
    friction = np.array([DAMPING[0] * per_torque + kr * kv, DAMPING[1] * per_torque])
    return M, c, g, friction * qd
