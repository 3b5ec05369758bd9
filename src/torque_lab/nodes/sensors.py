"""What the joint states say of the truth: late, and with noise, both repeatable."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np


class Measurement(NamedTuple):
    """What the sensors show."""

    stamp: int
    """Simulation time of the measured state, in ns."""
    q: np.ndarray
    qd: np.ndarray
    effort: np.ndarray


class Sensors:
    """
    Sensors with white noise (standard deviations) and a delay of whole periods.

    The same seed gives the same noise from every reset on.
    """

    def __init__(self, position_noise: float = 0.0, velocity_noise: float = 0.0, delay: int = 0,
                 seed: int = 0) -> None:
        self._noise = (position_noise, velocity_noise)
        self._noisy = any(self._noise)
        self._delay, self._seed = delay, seed
        self.reset()

    def reset(self) -> None:
        """Forget the past and start the noise anew."""
        self._random = np.random.default_rng(self._seed)
        self._past: deque[Measurement] = deque(maxlen=self._delay + 1)

    def measure(self, stamp: int, q: np.ndarray, qd: np.ndarray,
                effort: np.ndarray) -> Measurement:
        """Take in the true state and return what shows now: the oldest one until enough came."""
        if self._noisy:
            q = q + self._noise[0] * self._random.standard_normal(len(q))
            qd = qd + self._noise[1] * self._random.standard_normal(len(qd))
        self._past.append(Measurement(stamp, q, qd, effort))
        return self._past[0]
