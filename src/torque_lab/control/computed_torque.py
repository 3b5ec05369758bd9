"""Computed torque: the arm's own equation turned round, so that every joint becomes linear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from torque_lab.control.compiled import compiled
from torque_lab.control.drives import command, driving_torque
from torque_lab.control.law import Law, Reference, parameter
from torque_lab.physics.model import Array, Robot
from torque_lab.physics.preparation import prepared


@lru_cache(maxsize=8)
def _law(robot: Robot) -> Callable[..., Array]:
    simple, nv = prepared(robot), robot.nv

    def law(q: Array, qd: Array, position: Array, velocity: Array, acceleration: Array,
            kp: Array, kd: Array, correction: Array) -> Array:
        wanted = acceleration + kd * (velocity - qd) + kp * (position - q) + correction
        return command(robot, driving_torque(simple, q, qd, wanted), qd)

    return compiled(law, *[nv] * 8)


class ComputedTorque(Law):
    """
    ``τ = M(q) (q̈_d + 2 ζ ω ė + ω² e + i ∫e) + C q̇ + g + friction``.

    Inverse dynamics at the measured state, with the reference's acceleration fed forward: the
    error of each joint follows ``ë + 2 ζ ω ė + ω² e = 0`` whatever the others do.  Lynch & Park
    2017, section 11.4.1.3.
    """

    @dataclass(frozen=True)
    class Parameters:
        """Parameters of computed torque."""

        natural_frequency: tuple[float, ...] = parameter(
            (15.0,), 'ω of the error, one number or one per joint', unit='rad/s', minimum=0.0)
        damping_ratio: tuple[float, ...] = parameter(
            (1.0,), 'ζ of the error, one number or one per joint', minimum=0.0)
        integral: tuple[float, ...] = parameter(
            (0.0,), 'Integral gain, against a model that is wrong; below 2 ζ ω³ it is stable',
            unit='1/s³', minimum=0.0)

    def configure(self) -> None:
        """Work out gains per unit of inertia."""
        p = self.parameters
        omega = self.per_joint('natural_frequency', p.natural_frequency)
        zeta = self.per_joint('damping_ratio', p.damping_ratio)
        self._ki = self.per_joint('integral', p.integral)
        self._kp, self._kd = omega**2, 2.0 * zeta * omega
        if np.any((self._ki > 0.0) & (self._ki >= self._kp * self._kd)):
            raise ValueError(f'{self.name}.integral must stay below 2 ζ ω³')
        self._law = _law(self.robot)
        if not hasattr(self, '_integral'):
            self.reset()

    def reset(self) -> None:
        """Forget the integral."""
        self._integral = np.zeros(self.robot.nv)

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """Inverse dynamics of the corrected acceleration."""
        if self._ki.any():
            self._integral = self._integral + self._ki * (reference.position - q) * dt
        return self._law(q, qd, reference.position, reference.velocity, reference.acceleration,
                         self._kp, self._kd, self._integral)
