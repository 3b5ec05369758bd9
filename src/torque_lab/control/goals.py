"""Where the robot should be: goals and trajectories turned into a reference for every instant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torque_lab.control.law import Reference
from torque_lab.control.trajectory import Motion, minimum_jerk, through, through_states, within
from torque_lab.physics.model import Array

STEP, MINIMUM_JERK = 'step', 'minimum_jerk'

CALM = 4.0
"""Acceleration, in rad/s² or m/s², of motions to a goal where no limit is set."""


class Goals:
    """
    The goal in force, and the way to it.

    ``motion`` says how a new goal is approached: at once (``step``), or along a motion of minimum
    jerk within the limits, which goes on from the reference as it is: position, velocity and
    acceleration have no jump.  Trajectories are always followed smoothly.
    """

    def __init__(self, velocity_limit: Array, acceleration_limit: Array, motion: str = STEP,
                 ) -> None:
        self.velocity_limit = velocity_limit
        self.acceleration_limit = acceleration_limit
        self.motion = motion
        self.goal: Array | None = None
        """Position (n,) to end at; None until a state or a goal came."""
        self._way: Motion | None = None
        self._last: Reference | None = None
        self._held: Array | None = None  # the goal that `_last` holds, if it holds one

    def begin(self, t: float, q: Array) -> None:
        """Start (again) from a state at rest; a goal that was there stays the goal."""
        self._way, self._last = None, Reference.hold(q)
        if self.goal is None:
            self.goal = np.array(q)
        self.go(t, self.goal)

    def go(self, t: float, goal: Sequence[float] | Array) -> None:
        """Take a new goal (n,); before the first state it is only noted."""
        self.goal = np.array(goal, dtype=float)
        self._way = None
        if self._last is not None and self.motion == MINIMUM_JERK and (
                self._last.velocity.any() or (self._last.position != self.goal).any()):
            acceleration = np.where(np.isinf(self.acceleration_limit), CALM,
                                    self.acceleration_limit)
            self._way = minimum_jerk(t, self._last, self.goal, None, self.velocity_limit,
                                     acceleration)

    def follow(self, t: float, times: Sequence[float], points: Sequence[Reference | Array],
               ) -> float:
        """
        Follow waypoints at times (N,) after t; return how much slower it must be than asked for.

        Waypoints with velocity and acceleration are met with them; positions alone are joined by
        the motion of minimum jerk.  One waypoint at time zero is a goal.
        """
        if self._last is None:
            raise ValueError('no joint state has come yet')
        whole = all(isinstance(point, Reference) for point in points)
        positions = [p.position if isinstance(p, Reference) else np.asarray(p) for p in points]
        if len(times) == 1 and times[0] <= 0.0:
            self.go(t, positions[0])
            return 1.0
        instants = [t + time for time in times]
        if times[0] > 0.0:
            instants, positions = [t, *instants], [self._last.position, *positions]
            points = [self._last, *points]
        if whole:
            way = through_states(instants, points)  # type: ignore[arg-type]
        else:
            start = self._last if times[0] > 0.0 else None
            way = through(instants, np.array(positions), start)
        self._way, factor = within(way, self.velocity_limit, self.acceleration_limit)
        self.goal = self._way.goal
        return factor

    def at(self, t: float) -> Reference:
        """Reference at a time; times must not go back without `begin`."""
        assert self.goal is not None
        if self._way is not None and t >= self._way.end:
            self._way = None
        if self._way is not None:
            self._last, self._held = self._way.at(t), None
        elif self._held is not self.goal or self._last is None:
            self._last, self._held = Reference.hold(self.goal), self.goal
        return self._last

    @property
    def moving(self) -> bool:
        """Whether a motion is under way."""
        return self._way is not None
