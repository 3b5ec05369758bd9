"""
A rigid body that floats freely: Newton-Euler with a quaternion, or with 1-2-3 Euler angles.

The translation is ``m v̇ = F``, the rotation ``I_b ω̇ = N_b − ω × (I_b ω)`` in body axes.  The two
forms differ only in how they keep the orientation:

- a unit quaternion (x, y, z, w) with ``q̇ = ½ q ∘ ω``: four numbers, no singularity.  This is also
  the floating joint of `torque_lab.physics.inverse_dynamics`;
- three angles (roll φ, pitch θ, yaw ψ) with ``R = Rz(ψ) Ry(θ) Rx(φ)``, the ``rpy`` of a URDF:
  three numbers, but their rates grow without bound towards pitch ±π/2, where roll and yaw turn
  about the same axis and no rates of the angles can follow the body.

Every law takes any kind of scalar.  Featherstone 2008, section 2.14; Lynch & Park 2017, section
8.2; Diebel, "Representing attitude", 2006, for quaternions and the Euler angles (1, 2, 3).
"""

from __future__ import annotations

import math

import numpy as np

from .model import Array, Inertia, Scalar
from .scalar import cos, sin
from .spatial import cross, quaternion_rate, rotate_symmetric, rotation_about, skew

SMALLEST_COSINE_OF_PITCH = 1e-6
"""Closer to pitch ±π/2 than this, angle rates are refused: they would exceed ω a million times."""


class SingularAnglesError(ArithmeticError):
    """The 1-2-3 Euler angles cannot follow a body at pitch ±π/2."""


def twist_rate(inertia: Inertia, twist: Array, wrench: Array) -> Array:
    """
    Newton's and Euler's laws: the rate (6,) of a free body's twist, in body axes.

    ``I_b ω̇ = N_b − ω × (I_b ω)`` about the centre of mass c, ``m a_c = F``, and back to the body
    origin: ``v̇ = a_c − ω̇ × c − ω × (ω × c) − ω × v``, the last term because body axes turn.

    - ``twist`` (6,): velocity of the body origin in m/s, angular velocity in rad/s, body axes.
    - ``wrench`` (6,): force in N and torque about the body origin in N m, body axes; weight is a
      force like any other (see `weight`).
    """
    velocity, omega = twist[:3], twist[3:]
    force, torque = wrench[:3], wrench[3:]
    about_com = torque - cross(inertia.com, force) - cross(omega, inertia.about_com @ omega)
    angular = solve3(inertia.about_com, about_com)
    of_com = force / inertia.mass
    linear = (of_com - cross(angular, inertia.com) - cross(omega, cross(omega, inertia.com))
              - cross(omega, velocity))
    return np.array([*linear, *angular])


def solve3(matrix: Array, right: Array) -> Array:
    """Solution (3,) of three linear equations by Cramer's rule, for every kind of scalar."""
    first, second, third = matrix.T
    minors = np.array([cross(second, third), cross(third, first), cross(first, second)])
    return minors @ right / (first @ minors[0])


def weight(inertia: Inertia, rotation: Array, gravity: Array) -> Array:
    """Wrench (6,) of gravity (3,), given in world axes, about the body origin in body axes."""
    force = inertia.mass * (rotation.T @ gravity)
    return np.array([*force, *cross(inertia.com, force)])


def pose_rate(pose: Array, twist: Array) -> Array:
    """
    Quaternion form: rate (7,) of position and orientation; ``ṗ = R v``, ``q̇ = ½ q ∘ ω``.

    ``pose`` (7,) is the position in m in world axes and the unit quaternion (x, y, z, w);
    ``twist`` (6,) as in `twist_rate`.
    """
    quaternion = pose[3:]
    return np.array([*rotate(quaternion, twist[:3]), *quaternion_rate(quaternion, twist[3:])])


def rotate(quaternion: Array, vector: Array) -> Array:
    """Vector (3,) from body into world axes by a unit quaternion: ``x + 2 u × (w x + u × x)``."""
    axis, real = quaternion[:3], quaternion[3]
    return vector + 2 * cross(axis, real * vector + cross(axis, vector))


def normalised(quaternion: Array) -> Array:
    """The quaternion (4,) at unit length, as it must be kept while integrating."""
    return quaternion / math.sqrt(quaternion @ quaternion)


def angular_velocity_matrix(angles: Array) -> Array:
    """
    Matrix (3, 3) from the rates of the 1-2-3 Euler angles to ω in body axes: ``ω = E(φ, θ) ė``.

    Its determinant is cos θ: at pitch ±π/2 it loses a rank.  ``angles`` is (roll, pitch, yaw).
    """
    roll, pitch = angles[0], angles[1]
    return np.array([[1, 0, -sin(pitch)],
                     [0, cos(roll), cos(pitch) * sin(roll)],
                     [0, -sin(roll), cos(pitch) * cos(roll)]])


def rate_matrix(angles: Array) -> Array:
    """
    Matrix (3, 3) from ω in body axes to the rates of the 1-2-3 Euler angles: ``ė = E⁻¹ ω``.

    Divides by cos θ, so it has no value at pitch ±π/2; `angle_rates` says so, this one does not.
    """
    roll, pitch = angles[0], angles[1]
    tangent = sin(pitch) / cos(pitch)
    return np.array([[1, sin(roll) * tangent, cos(roll) * tangent],
                     [0, cos(roll), -sin(roll)],
                     [0, sin(roll) / cos(pitch), cos(roll) / cos(pitch)]])


def condition_number(angles: Array) -> float:
    """
    How much worse the 1-2-3 Euler angles see some rotations than others, at a pitch.

    The singular values of E are 1 and √(1 ± sin θ), so the condition number is
    ``√((1 + |sin θ|) / (1 − |sin θ|))``: 1 when level, 23 at 85°, infinite at 90°.
    """
    half = abs(math.remainder(angles[1], math.pi)) / 2
    # (1 + sin 2h) / (1 - sin 2h) = ((cos h + sin h) / (cos h - sin h))^2, without cancellation
    lost = math.cos(half) - math.sin(half)
    return math.inf if lost <= 1e-16 else (math.cos(half) + math.sin(half)) / lost


def angle_rates(angles: Array, omega: Array) -> Array:
    """
    Euler-angle form: rates (3,) of (roll, pitch, yaw) for ω (3,) in body axes, in rad/s.

    Raises `SingularAnglesError` at pitch ±π/2 instead of returning rates without meaning.
    """
    if abs(math.cos(angles[1])) < SMALLEST_COSINE_OF_PITCH:
        raise SingularAnglesError(
            f'1-2-3 Euler angles are singular at pitch {angles[1]:+.6f} rad (±π/2): roll and yaw '
            'turn about the same axis there; use the quaternion form')
    return rate_matrix(angles) @ omega


def rotation_of_angles(angles: Array) -> Array:
    """Rotation matrix ``Rz(ψ) Ry(θ) Rx(φ)`` (3, 3) from body into world axes."""
    x, y, z = np.eye(3, dtype=int)
    roll, pitch, yaw = angles
    return rotation_about(z, yaw) @ rotation_about(y, pitch) @ rotation_about(x, roll)


def angles_of_rotation(rotation: Array) -> Array:
    """
    Roll, pitch and yaw (3,) of a rotation matrix (3, 3), pitch within ±π/2.

    At pitch ±π/2 only the sum or difference of roll and yaw is defined; yaw is then put to 0.
    """
    R = np.asarray(rotation, dtype=float)
    cosine = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], cosine)
    if cosine < SMALLEST_COSINE_OF_PITCH:
        return np.array([math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0])
    return np.array([math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])])


def quaternion_of_angles(angles: Array) -> Array:
    """Unit quaternion (x, y, z, w) of roll, pitch and yaw (3,)."""
    (sr, cr), (sp, cp), (sy, cy) = ((sin(angle / 2), cos(angle / 2)) for angle in angles)
    return np.array([sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
                     cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy])


def quaternion_of_rotation(rotation: Array) -> Array:
    """
    Unit quaternion (x, y, z, w) of a rotation matrix (3, 3), with w ≥ 0.

    Of the four ways to read it off, the one that divides by the largest component (Shepperd 1978).
    """
    R = np.asarray(rotation, dtype=float)
    xx, yy, zz = R.diagonal()
    products = np.array([  # 4 (x, y, z, w) (x, y, z, w)ᵀ
        [1 + xx - yy - zz, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]],
        [R[0, 1] + R[1, 0], 1 - xx + yy - zz, R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]],
        [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 - xx - yy + zz, R[1, 0] - R[0, 1]],
        [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 1 + xx + yy + zz]])
    row = products[np.argmax(products.diagonal())]
    return normalised(math.copysign(1.0, row[3]) * row)


def inertia_in_world(inertia: Inertia, rotation: Array) -> Array:
    """``I_world = R I_b Rᵀ`` (3, 3) about the centre of mass, in kg m²."""
    return rotate_symmetric(rotation, inertia.about_com)


def angular_momentum(inertia: Inertia, rotation: Array, omega: Array) -> Array:
    """``L = R I_b ω`` (3,) about the centre of mass, in world axes; constant without torque."""
    return rotation @ (inertia.about_com @ omega)


def kinetic_energy(inertia: Inertia, twist: Array) -> Scalar:
    """``T = ½ m |v_c|² + ½ ωᵀ I ω`` in J, for a twist (6,) in body axes."""
    omega = twist[3:]
    of_com = twist[:3] + cross(omega, inertia.com)
    return (inertia.mass * (of_com @ of_com) + omega @ inertia.about_com @ omega) / 2


def rotation_rate(rotation: Array, omega: Array) -> Array:
    """``Ṙ = R [ω]×`` (3, 3) for ω (3,) in body axes: a matrix times a matrix."""
    return rotation @ skew(omega)
