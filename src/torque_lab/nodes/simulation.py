"""
A simulator under commands, apart from ROS: held until told, timed out, braked, pushed, reset.

Time is counted in whole periods; a period is a whole number of integration steps.  Whoever turns
the crank (a timer, a service, a command in lockstep) calls `Simulation.advance`.
"""

from __future__ import annotations

import numpy as np

from torque_lab.nodes.commands import CommandBox
from torque_lab.nodes.pushes import Pushes
from torque_lab.physics.compiled_laws import compiled
from torque_lab.physics.errors import Divergence
from torque_lab.physics.forces import command_limit, drive_effort
from torque_lab.physics.model import FLOATING
from torque_lab.physics.simulator import Simulator

NANOSECONDS = 1_000_000_000

HELD, FREE, PAUSED = STARTS = ('held', 'free', 'paused')
ZERO, HOLD, BRAKE = TIMEOUT_ACTIONS = ('zero', 'hold', 'brake')

BRAKING_TIME = 0.1
"""Time constant, in s, with which the brake stops the arm."""


class Simulation:
    """One robot, the command in force, and the time that has passed in periods."""

    def __init__(self, simulator: Simulator, steps_per_period: int, commands: CommandBox,
                 start: str = HELD, timeout_action: str = ZERO,
                 push_duration: float = 0.2) -> None:
        self.simulator, self.commands = simulator, commands
        self.robot = simulator.robot
        self.pushes = Pushes(self.robot, push_duration)
        # Nothing to command, nothing to wait for: a free body starts free.
        self.start = FREE if start == HELD and not self.robot.joint_names else start
        self.timeout_action = timeout_action
        self.paused = start == PAUSED
        self._sleeping = self.paused
        self.diverged = ''
        """Why the simulation stopped, if it did; reset clears it."""
        self.periods = 0
        self.period_ns = round(simulator.dt * steps_per_period * NANOSECONDS)
        self._steps_per_period = steps_per_period
        self._driven = np.array([body.v.start for body in self.robot.bodies
                                 if body.kind != FLOATING], dtype=int)
        self._driven = self._driven[np.argsort(self._driven)]
        self._has_motor = any(self.robot.motors)
        self._has_floating_joint = self.robot.has_floating_joint
        self._effort = np.zeros(self.robot.nv)
        self._released = False
        self.initial = (self.robot.start.copy(), self.robot.start_velocity.copy())
        """Position and velocity that reset goes back to."""

    @property
    def stamp(self) -> int:
        """Simulation time in ns."""
        return self.periods * self.period_ns

    @property
    def time(self) -> float:
        """Simulation time in s."""
        return self.stamp / NANOSECONDS

    @property
    def running(self) -> bool:
        """Whether time passes."""
        return not (self.paused or self.diverged)

    @property
    def joint_effort(self) -> np.ndarray:
        """Efforts of the joints in N m or N as they really act: saturated, behind the motor."""
        applied = self.simulator.applied_effort
        if self._has_motor:
            applied = drive_effort(self.robot, applied, self.simulator.qd)
        return applied[self._driven] if self._has_floating_joint else applied

    @property
    def driven(self) -> np.ndarray:
        """Indices in qd of the joints that take efforts, in URDF order."""
        return self._driven

    def wake(self) -> None:
        """Let time pass if it only waited for the first command."""
        if self._sleeping:
            self.paused = self._sleeping = False

    def pause(self, paused: bool) -> None:
        """Stop time or let it pass, by request."""
        self.paused, self._sleeping = paused, False

    def advance(self, now: float) -> bool:
        """
        Pass one period under the command in force; False if the motion diverged instead.

        ``now`` is the time on which commands time out, in s.  The state stays at its last good
        value when the motion diverges.
        """
        command = self._command(now)
        if command is not None:
            external = self.pushes.generalised(self.simulator.q, self.time)
            try:
                self.simulator.step(command, self._steps_per_period, external)
            except Divergence as divergence:
                self.diverged = str(divergence)
                return False
        self.periods += 1
        return True

    def reset(self, state: bool = True, time: bool = True) -> None:
        """Go back to the initial state, to time zero, or both; commands in force are forgotten."""
        if state:
            self.simulator.reset(*self.initial)
            self._released = False
        self._effort = np.zeros(self.robot.nv)
        self.pushes.clear()
        if time:
            self.periods = 0
        self.commands.clear()
        self.diverged = ''

    def set_state(self, q: np.ndarray, qd: np.ndarray) -> None:
        """Move the arm; reset goes back there from now on.  Bad numbers leave everything as is."""
        self.simulator.reset(q, qd)
        self.initial = (np.array(q, dtype=float), np.array(qd, dtype=float))
        self.diverged = ''

    def _command(self, now: float) -> np.ndarray | None:
        """Command (nv,) for the next period, or None while the arm is held."""
        command = self.commands.current(now)
        if command is not None:
            self._released = True
            self._effort[self._driven] = command
        elif self.commands.commanded:
            self._effort = self._timed_out()
        elif not self._released:
            if self.start == HELD and not self.pushes.active(self.time):
                return None
            self._released = True
        return self._effort

    def _timed_out(self) -> np.ndarray:
        if self.timeout_action == HOLD:
            return self._effort
        if self.timeout_action == BRAKE:
            return self._brake()
        return np.zeros(self.robot.nv)

    def _brake(self) -> np.ndarray:
        """
        Efforts that carry the weight and stop the joints that have a drive, within the limits.

        Joints without a drive move as they must: ``M_pp q̈_p = −h_p − M_pd q̈_d``.
        """
        q, qd = self.simulator.q, self.simulator.qd
        laws, acceleration = compiled(self.robot), -qd / BRAKING_TIME
        passive = command_limit(self.robot) == 0.0
        if passive.any():
            M, h = laws.mass_matrix(q), laws.bias(q, qd)
            acceleration[passive] = np.linalg.solve(
                M[np.ix_(passive, passive)],
                -h[passive] - M[np.ix_(passive, ~passive)] @ acceleration[~passive])
        effort = laws.inverse_dynamics(q, qd, acceleration)
        return np.array([value if motor is None else motor.voltage(value, speed)
                         for value, speed, motor in zip(effort, qd, self.robot.motors,
                                                        strict=True)])
