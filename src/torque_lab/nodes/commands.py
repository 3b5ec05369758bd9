"""
The command contract, apart from ROS: which effort acts now, and what became of every command.

Both kinds of command end here: an *array command* has no stamp and is valid until replaced; a
*stamped command* names its joints and echoes the stamp of the state that it answers.  A newer
command replaces an unread one.  Every command is accounted for: applied, superseded, refused or
late.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass
class Counters:
    """What became of the commands, and how often they stopped coming."""

    applied: int = 0
    superseded: int = 0
    refused: int = 0
    late: int = 0
    timeouts: int = 0

    @property
    def received(self) -> int:
        """All commands that came in and were settled."""
        return self.applied + self.superseded + self.refused + self.late


class CommandRefusedError(ValueError):
    """A command that was not taken; the text says why."""


class CommandLateError(CommandRefusedError):
    """A command that answers a state that is past."""


class CommandBox:
    """
    Holds the newest valid command for a list of joints.

    Nothing here reads a clock: the caller passes ``now`` in seconds of the time that the
    time-out runs on (steady wall time in real time, simulation time in lockstep).
    """

    def __init__(self, joint_names: Sequence[str], timeout: float) -> None:
        self.joint_names = tuple(joint_names)
        self.timeout = timeout
        self.counters = Counters()
        self.timed_out = False
        self._expired = False
        self._usual_names = list(self.joint_names)
        self._index = {name: i for i, name in enumerate(self.joint_names)}
        self._effort: np.ndarray | None = None
        self._unread = False
        self._arrival = 0.0
        self._last_stamp: int | None = None

    @property
    def commanded(self) -> bool:
        """Whether any command has come since the last `clear`."""
        return self._effort is not None

    def clear(self) -> None:
        """Forget the command in force; the counters stay."""
        if self._unread:
            self.counters.superseded += 1
        self._effort, self._unread, self._last_stamp = None, False, None
        self.timed_out = False

    def renew(self, now: float) -> None:
        """Trust the command in force anew: it did not age while time stood still."""
        self._arrival = now

    def expire(self) -> None:
        """Stop trusting the command in force before its time."""
        self._expired = True

    def offer_array(self, effort: Sequence[float], now: float) -> None:
        """Take an array command, or refuse it with the reason; the old one then stays."""
        if len(effort) != len(self.joint_names):
            self._refuse(f'{len(effort)} efforts for {len(self.joint_names)} joints '
                         f'({", ".join(self.joint_names)})')
        self._check_finite(self.joint_names, effort)
        self._accept(np.array(effort, dtype=float), now)

    def offer_named(self, names: Sequence[str], effort: Sequence[float], stamp: int,
                    now: float, newest_state: int, oldest_state: int = 0) -> None:
        """
        Take a stamped command, or refuse it with the reason; the old one then stays.

        ``stamp`` is the echoed stamp, ``newest_state`` the last one published and
        ``oldest_state`` the oldest that may still be answered, all in ns.  An answer to an older
        state, or to one older than the last answered, is late.
        """
        if len(names) != len(effort):
            self._refuse(f'{len(names)} names but {len(effort)} efforts')
        ordered = np.array(effort, dtype=float)
        if names != self._usual_names:  # the usual case costs one comparison
            self._check_names(names)
            ordered[[self._index[name] for name in names]] = effort
        self._check_finite(names, effort)
        if stamp > newest_state:
            self._refuse(f'answers a state of {stamp * 1e-9:.6f} s, but the newest state is of '
                         f'{newest_state * 1e-9:.6f} s')
        if stamp < oldest_state or (self._last_stamp is not None and stamp < self._last_stamp):
            self.counters.late += 1
            raise CommandLateError(f'answers the state of {stamp * 1e-9:.6f} s too late')
        self._last_stamp = stamp
        self._accept(ordered, now)

    def current(self, now: float) -> np.ndarray | None:
        """
        Effort in force, or None: no command yet, or the last one is older than the time-out.

        Reading counts the command as applied.
        """
        if self._effort is None:
            return None
        if self._expired or (self.timeout > 0.0 and now - self._arrival > self.timeout):
            if not self.timed_out:
                self.timed_out = True
                self.counters.timeouts += 1
            return None
        if self._unread:
            self._unread = False
            self.counters.applied += 1
        return self._effort

    def _accept(self, effort: np.ndarray, now: float) -> None:
        if self._unread:
            self.counters.superseded += 1
        self._effort, self._unread, self._arrival = effort, True, now
        self._expired = False
        self.timed_out = False

    def _check_names(self, names: Sequence[str]) -> None:
        if len(set(names)) != len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            self._refuse(f'joint "{twice}" is named twice')
        unknown = [name for name in names if name not in self._index]
        if unknown:
            self._refuse(f'unknown joint "{unknown[0]}"; the joints are '
                         f'{", ".join(self.joint_names)}')
        missing = [name for name in self.joint_names if name not in names]
        if missing:
            self._refuse(f'no effort for joint "{missing[0]}"')

    def _check_finite(self, names: Sequence[str], effort: Sequence[float]) -> None:
        if math.isfinite(sum(effort)):  # a sum of finite numbers that overflows is looked at below
            return
        for name, value in zip(names, effort, strict=True):
            if not math.isfinite(value):
                self._refuse(f'effort {value} for joint "{name}" is not finite')

    def _refuse(self, reason: str) -> None:
        self.counters.refused += 1
        raise CommandRefusedError(reason)
