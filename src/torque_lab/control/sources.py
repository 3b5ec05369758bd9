"""Efforts that ask no state: a sinusoid, and whatever the user orders."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from torque_lab.control.law import Law, Reference, parameter
from torque_lab.physics.model import Array


class Sinusoid(Law):
    """``u = offset + amplitude sin(2π f t + phase)`` per joint."""

    @dataclass(frozen=True)
    class Parameters:
        """Parameters of the sinusoid, each one number or one per joint."""

        amplitude: tuple[float, ...] = parameter((1.0,), 'Amplitude', unit='effort')
        frequency: tuple[float, ...] = parameter((0.5,), 'Frequency', unit='Hz', minimum=0.0)
        phase: tuple[float, ...] = parameter((0.0,), 'Phase', unit='rad')
        offset: tuple[float, ...] = parameter((0.0,), 'Mean', unit='effort')

    def configure(self) -> None:
        """Read the four lists."""
        p = self.parameters
        self._amplitude = self.per_joint('amplitude', p.amplitude)
        self._rate = 2.0 * math.pi * self.per_joint('frequency', p.frequency)
        self._phase = self.per_joint('phase', p.phase)
        self._offset = self.per_joint('offset', p.offset)

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """Value of the sinusoid at time t."""
        return self._offset + self._amplitude * np.sin(self._rate * t + self._phase)


class UserEffort(Law):
    """A constant effort that the user sets: by parameter, or on the topic ``~/user_effort``."""

    @dataclass(frozen=True)
    class Parameters:
        """Parameters of the user's effort."""

        effort: tuple[float, ...] = parameter((0.0,), 'Effort, one number or one per joint',
                                              unit='effort')

    def configure(self) -> None:
        """Read the effort."""
        self._effort = self.per_joint('effort', self.parameters.effort)

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """Return the effort that was ordered."""
        return self._effort
