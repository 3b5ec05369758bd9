"""The plain path: steps in Python and numpy, for every integrator, no compiler needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .composite_body import mass_matrix
from .forces import saturate
from .forward import forward_dynamics
from .integrators import Integrator, State
from .model import Array, Robot
from .stepping import Drive, Dynamics, is_sane, step


class Layout:
    """Where things stand in the block of numbers that a kernel works on."""

    def __init__(self, robot: Robot) -> None:
        nq, nv = robot.nq, robot.nv
        self.q = slice(0, nq)
        self.qd = slice(nq, nq + nv)
        self.memory = slice(nq + nv, nq + 2 * nv)
        self.work = nq + 2 * nv
        self.dissipated = self.work + 1
        self.state_size = self.work + 2

        # the inputs, counted from their own start
        self.command = slice(0, nv)
        self.external = slice(nv, 2 * nv)
        self.damping = slice(2 * nv, 3 * nv)
        self.friction = slice(3 * nv, 4 * nv)
        self.gravity = slice(4 * nv, 4 * nv + 3)
        self.step_length = 4 * nv + 3
        self.input_size = self.step_length + 1

        # one block for all: state, inputs, a rejected state, the command after saturation
        self.x = slice(0, self.state_size)
        self.u = slice(self.state_size, self.state_size + self.input_size)
        self.rejected = slice(self.u.stop, self.u.stop + self.state_size)
        self.applied = slice(self.rejected.stop, self.rejected.stop + nv)
        self.size = self.applied.stop

    def state(self, x: Array) -> State:
        """State in a buffer (state_size,)."""
        return State(x[self.q], x[self.qd], x[self.memory], x[self.work], x[self.dissipated])

    def pack(self, state: State) -> Array:
        """Buffer (state_size,) of a state."""
        return np.concatenate([state.q, state.qd, state.memory, [state.work, state.dissipated]])


class Bound(NamedTuple):
    """
    Functions that make n steps on a block of numbers and return how many were good.

    They return −1 and change nothing if a command or an external force is not finite.
    """

    first: Callable[[int], int]
    """For a state without a past."""
    later: Callable[[int], int]
    """For a state that the same kernel left."""


class PlainKernel:
    """Steps of one robot with one integrator, in Python."""

    def __init__(self, robot: Robot, integrator: Integrator, track_energy: bool) -> None:
        self._layout = Layout(robot)
        self._robot = robot
        self._integrator = integrator
        self._track_energy = track_energy

    def bind(self, block: Array) -> Bound:
        """Functions that make steps on a block of numbers; see `Bound`."""
        return Bound(lambda n: self._run(block, n, True), lambda n: self._run(block, n, False))

    def serves(self, inputs: Array) -> bool:
        """Whether the kernel is right for these parameters too: always."""
        return True

    def _run(self, block: Array, n: int, first: bool) -> int:
        layout = self._layout
        x, u = block[layout.x], block[layout.u]
        if not np.isfinite(u[:layout.external.stop]).all():
            return -1
        robot = self._robot.replace(gravity=u[layout.gravity].copy())
        dynamics = Dynamics(lambda q: mass_matrix(robot, q),
                            lambda q, qd, tau: forward_dynamics(robot, q, qd, tau))
        drive = Drive(saturate(robot, u[layout.command]), u[layout.external].copy(),
                      u[layout.damping].copy(), u[layout.friction].copy())
        block[layout.applied] = drive.command
        state, h = layout.state(x.copy()), float(u[layout.step_length])
        for k in range(n):
            new = self._step(robot, dynamics, drive, state, h, first and k == 0)
            if not is_sane(new):
                block[layout.rejected] = layout.pack(new)
                x[:] = layout.pack(state)
                return k
            state = new
        x[:] = layout.pack(state)
        return n

    def _step(self, robot: Robot, dynamics: Dynamics, drive: Drive, state: State, h: float,
              first: bool) -> State:
        """One step; what numpy cannot compute comes back as not-a-number."""
        try:
            with np.errstate(all='ignore'):  # what overflows is reported as divergence
                return step(robot, dynamics, drive, self._integrator, state, h, first,
                            self._track_energy)
        except np.linalg.LinAlgError:
            return state._replace(qd=np.full(robot.nv, np.nan))
