"""
The guard around a law: limits, faults, and changes without a bump.

Whatever a law does, what leaves here has the right length, is finite and within the limits.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from typing import Any, NamedTuple

import numpy as np

from torque_lab.control.gravity import gravity_compensation
from torque_lab.control.law import Law, Reference
from torque_lab.physics.forces import command_limit
from torque_lab.physics.model import Array, Robot

ZERO, GRAVITY = 'zero', 'gravity'
SAFE_EFFORTS = (ZERO, GRAVITY)

STARVED = 5.0
"""A call that has waited for a busy machine, and not worked, may take this many time limits."""


class Answer(NamedTuple):
    """What goes to the drives."""

    effort: Array
    saturated: Array
    """(nv,) of bool."""


class LawError(Exception):
    """A law did what no law may; the text goes on from its name."""


class Supervisor:
    """Runs one law at a time on a robot."""

    def __init__(self, robot: Robot, safe_effort: str = ZERO, time_limit: float = 0.1,
                 blend_time: float = 0.2) -> None:
        self.robot = robot
        self.safe_effort = safe_effort
        self.time_limit = time_limit
        """Wall time, in s, that one call of a law may take."""
        self.blend_time = blend_time
        """Time, in s, over which a change of law or gains comes in."""
        self.law: Law | None = None
        self.fault = ''
        """Name of the law that was cut off, and why; empty while all is well."""
        self.servo = True
        self.limit = command_limit(robot)
        self._gravity = gravity_compensation(robot)
        self._effort = np.zeros(robot.nv)
        self._offset: Array | None = None
        self._blend_from: Array | None = None
        self._blend_left = 0.0
        self._started = False

    # --- changes ---------------------------------------------------------------------------

    def use(self, law: Law) -> None:
        """Take another law; the effort goes over to it without a jump."""
        self.law, self.fault = law, ''
        law.reset()
        self.changed()

    def changed(self) -> None:
        """Say that the law or its parameters changed: the effort now in force is blended out."""
        if self._started and self.blend_time > 0.0:
            self._blend_from, self._offset = self._effort.copy(), None

    def reset(self) -> None:
        """Time has jumped: forget the past."""
        if self.law is not None:
            self.law.reset()
        self._blend_from = self._offset = None
        self._started = False

    def switch(self, on: bool) -> None:
        """Servo on (which also gives a law that was cut off another chance) or off."""
        self.servo = on
        if on:
            self.fault = ''
            if self.law is not None:
                self.law.reset()
        self._blend_from = self._offset = None

    # --- one state, one answer -------------------------------------------------------------

    def answer(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Answer:
        """Efforts for a state: the law's, or the safe ones."""
        if not self.servo or self.fault or self.law is None:
            return self._finish(self.safe(q, qd))
        try:
            effort = self._checked(self._timed(t, dt, q, qd, reference))
        except Exception as error:
            self._cut_off(error)
            return self._finish(self.safe(q, qd))
        return self._finish(self._blended(effort, dt))

    def safe(self, q: Array, qd: Array) -> Array:
        """Safe effort (nv,): zero, or what carries the arm's weight."""
        if self.safe_effort == GRAVITY:
            return self._gravity(q, qd)
        return np.zeros(self.robot.nv)

    def _finish(self, effort: Array) -> Answer:
        self._effort = np.minimum(np.maximum(effort, -self.limit), self.limit)
        self._started = True
        return Answer(self._effort, np.abs(effort) > self.limit)

    def _blended(self, effort: Array, dt: float) -> Array:
        """Effort of the law plus what is left of the jump at the last change."""
        if self._blend_from is not None:
            bounded = np.clip(effort, -self.limit, self.limit)
            self._offset, self._blend_from = self._blend_from - bounded, None
            self._blend_left = self.blend_time
        elif self._offset is not None:
            self._blend_left -= dt
        if self._offset is None:
            return effort
        if self._blend_left <= 0.0:
            self._offset = None
            return effort
        share = self._blend_left / self.blend_time
        return np.clip(effort, -self.limit, self.limit) + share * self._offset

    # --- faults ----------------------------------------------------------------------------

    def _checked(self, effort: Any) -> Array:
        nv = self.robot.nv
        try:
            array = np.array(effort, dtype=float)
        except (TypeError, ValueError):
            raise LawError(f'returned {_short(effort)}, which is no list of numbers') from None
        if array.shape != (nv,):
            raise LawError(f'returned efforts of shape {array.shape}; the robot has {nv} '
                           + ('joint' if nv == 1 else 'joints'))
        if not math.isfinite(sum(array.tolist())) and not np.isfinite(array).all():
            joint = self.robot.joint_names[int(np.argmin(np.isfinite(array)))]
            raise LawError(f'returned {array[~np.isfinite(array)][0]} for joint "{joint}"')
        return array

    def _timed(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Any:
        assert self.law is not None
        limit = self.time_limit
        with ALARM.within(limit):
            began, worked = time.monotonic(), time.thread_time()
            effort = self.law.effort(t, dt, q, qd, reference)
            took = time.monotonic() - began
        if took > limit and (time.thread_time() - worked > 0.5 * limit or took > STARVED * limit):
            raise LawError(f'took {took:.3g} s; the limit is {limit:g} s')
        return effort

    def _cut_off(self, error: BaseException) -> None:
        assert self.law is not None
        if isinstance(error, LawError):
            reason = str(error)
        else:
            where = _last_line(error)
            reason = f'threw {type(error).__name__}: {error}' + (f' ({where})' if where else '')
        self.fault = f'{self.law.name} {reason}'


class _Alarm:
    """
    Raises `LawError` in a law that does not come back, where that can be done.

    Python runs signal handlers between two instructions of the main thread, so even an endless
    loop is left.  In another thread nothing is raised and the time is only measured afterwards.
    The handler of SIGALRM is set once and stays: setting it anew for every answer costs more
    than many a law.
    """

    def __init__(self) -> None:
        self._inside = self._set = self._possible = False

    def within(self, limit: float) -> _Alarm:
        """Return the alarm, to go off after ``limit`` seconds inside a with statement."""
        self._limit = limit
        return self

    def __enter__(self) -> None:
        self._possible = (hasattr(signal, 'setitimer')
                          and threading.current_thread() is threading.main_thread())
        if self._possible:
            if not self._set:
                signal.signal(signal.SIGALRM, self._ring)
                self._set = True
            self._worked, self._rings, self._inside = time.thread_time(), 0, True
            signal.setitimer(signal.ITIMER_REAL, self._limit, self._limit)

    def __exit__(self, *reason: Any) -> None:
        if self._possible:
            self._inside = False
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def _ring(self, signum: int, frame: Any) -> None:
        self._rings += 1
        worked = time.thread_time() - self._worked
        if self._inside and (worked > 0.5 * self._limit or self._rings >= STARVED):
            self._inside = False
            raise LawError(f'did not come back within {self._rings * self._limit:g} s; the limit '
                           f'is {self._limit:g} s')


ALARM = _Alarm()


def _last_line(error: BaseException) -> str:
    """File and line where an error was raised."""
    trace = error.__traceback__
    if trace is None:
        return ''
    while trace.tb_next is not None:
        trace = trace.tb_next
    name = trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]
    return f'{name}, line {trace.tb_lineno}'


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + '...'
