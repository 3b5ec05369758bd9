"""Frames in frames, as a URDF's ``<origin>`` places them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Pose:
    """A frame in another one."""

    rotation: Array
    translation: Array


def compose(outer: Pose, inner: Pose) -> Pose:
    """Return the inner frame as seen from where the outer one is seen."""
    return Pose(clean(outer.rotation @ inner.rotation),
                outer.rotation @ inner.translation + outer.translation)


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """
    Rotation matrix ``Rz(yaw) Ry(pitch) Rx(roll)`` of URDF's fixed-axis angles.

    Quarter turns come out exact: entries that differ from 0 or ±1 by rounding alone are
    cleaned, so that the symbolic equations and the compiled code stay free of noise.
    """
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return clean(np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr]]))


def clean(rotation: Array) -> Array:
    """Round the entries of a rotation that are 0 or ±1 but for rounding errors."""
    nearest = np.rint(rotation)
    return np.where(abs(rotation - nearest) < 1e-15, nearest, rotation) + 0.0
