"""Simulation time against wall time: how many periods are due, and how far behind we are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

CATCH_UP = 0.1
"""How far behind, in wall seconds, a simulation may fall before it gives up the lost time."""

BURST = 4
"""Periods made up for at one go: in between, the commands that came in are read."""

SLICE = 0.005
"""How long, in wall seconds, a simulation without pace runs before messages are looked at."""


def whole_ratio(name: str, rate: float, of_name: str, of_rate: float) -> int:
    """
    Return ``of_rate / rate``, which must be a whole number: time is counted in integers.

    Otherwise raise with the nearest rates that are valid.
    """
    ratio = of_rate / rate
    whole = round(ratio)
    if whole >= 1 and abs(ratio - whole) < 1e-6 * ratio:
        return whole
    if ratio < 1.0:
        raise ValueError(f'{name} = {rate:g} Hz is more than the {of_rate:g} Hz of {of_name}; '
                         f'{of_rate:g} Hz is the most')
    below, above = of_rate / (int(ratio) + 1), of_rate / int(ratio)
    raise ValueError(f'{name} = {rate:g} Hz does not divide the {of_rate:g} Hz of {of_name}; '
                     f'the nearest valid rates are {below:.6g} Hz and {above:.6g} Hz')


class Pacer:
    """Says how many periods are due; a real-time factor of 0 means as fast as possible."""

    def __init__(self, period: float, factor: float,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._period, self._factor, self._clock = period, factor, clock
        self.overruns = 0
        """How often the simulation gave up lost time."""
        self.slipped = 0.0
        """Wall time given up so far, in s."""
        self.fell_behind = False
        """Whether the last call of `due` gave up time."""
        self.rest()

    @property
    def free(self) -> bool:
        """Whether time runs as fast as it can."""
        return self._factor == 0.0

    @property
    def wall_period(self) -> float:
        """How often, in wall seconds, somebody must look whether a period is due."""
        return self._period if self.free else self._period / self._factor

    def set_factor(self, factor: float) -> None:
        """Go on at another pace."""
        self._factor = factor
        self.rest()

    def rest(self) -> None:
        """Start counting anew from now: after a pause or a reset nothing is to be caught up."""
        self._epoch = self._clock()
        self._done = 0

    def due(self) -> Iterator[None]:
        """Yield once for every period that is due."""
        self.fell_behind = False
        if self.free:
            end = self._clock() + SLICE
            while self._clock() < end:
                yield
            return
        wall_period = self.wall_period
        # Half a period early: a timer that wakes a little before its time is not a miss.
        count = int((self._clock() - self._epoch) / wall_period + 0.5) - self._done
        lost = (count - 1) * wall_period - CATCH_UP
        if lost > 0.0:
            self.overruns += 1
            self.slipped += lost
            self.fell_behind = True
            self._epoch += lost
            count = int((self._clock() - self._epoch) / wall_period + 0.5) - self._done
        for _ in range(min(count, BURST)):
            self._done += 1
            yield
