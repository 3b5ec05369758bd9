"""
Vectors and rotations in space, for every kind of scalar.

Constants are whole numbers where they can be: an integer 0 or 1 stays exact in a printed equation
and folds away in a trace.
"""

from __future__ import annotations

import numpy as np

from .model import Array, Scalar
from .scalar import cos, sin


def identity(size: int = 3) -> Array:
    """Identity matrix (size, size) of exact ones and zeros."""
    return np.eye(size, dtype=int)


def zeros(*shape: int) -> Array:
    """Exact zeros of a shape."""
    return np.zeros(shape, dtype=int)


def settled(entries: Array) -> Array:
    """Array of objects as an array of numbers, where all of them are numbers."""
    return np.array(entries.tolist()).reshape(entries.shape)


def cross(a: Array, b: Array) -> Array:
    """Vector product ``a × b`` (3,)."""
    ax, ay, az = a.tolist()
    bx, by, bz = b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def skew(a: Array) -> Array:
    """Matrix ``[a]×`` (3, 3) of the vector product: ``[a]× b = a × b``."""
    x, y, z = a.tolist()
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotation_about(axis: Array, angle: Scalar) -> Array:
    """
    Rotation matrix (3, 3) about a unit axis (Rodrigues).

    ``R = c (1 − a aᵀ) + a aᵀ + s [a]×``.  In this grouping an axis along x, y or z leaves nothing
    but c, s, 0 and 1.  Lynch & Park 2017, section 3.2.3.
    """
    along = np.outer(axis, axis)
    return cos(angle) * (identity() - along) + along + sin(angle) * skew(axis)


def rotation_of_quaternion(quaternion: Array) -> Array:
    """
    Rotation matrix (3, 3) of a quaternion (x, y, z, w).

    ``R = 1 + 2 (w [u]× + [u]× [u]×) / |quaternion|²`` with the vector part u: a rotation whatever
    the quaternion's length, so that the small drift of an integration step does not stretch space.
    Featherstone 2008, section 4.5.
    """
    vector, real = skew(quaternion[:3]), quaternion[3]
    twice = 2 / (quaternion @ quaternion)
    return identity() + twice * (real * vector + vector @ vector)


def quaternion_rate(quaternion: Array, angular_velocity: Array) -> Array:
    """Rate ``½ q ∘ ω`` (4,) of a quaternion (x, y, z, w); ω (3,) in body axes, in rad/s."""
    vector, real = quaternion[:3], quaternion[3]
    turned = real * angular_velocity + cross(vector, angular_velocity)
    return np.array([*turned, -(vector @ angular_velocity)]) / 2


def rotate_symmetric(rotation: Array, matrix: Array) -> Array:
    """``R A Rᵀ`` (3, 3) of a symmetric A: six entries computed, three mirrored."""
    left = rotation @ matrix
    xx, yy, zz = (left[i] @ rotation[i] for i in range(3))
    xy, xz, yz = left[0] @ rotation[1], left[0] @ rotation[2], left[1] @ rotation[2]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
