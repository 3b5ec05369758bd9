"""The plain path: steps in Python and numpy, for every integrator, no compiler needed."""

from __future__ import annotations

import numpy as np

from .composite_body import mass_matrix
from .forces import saturate
from .forward import forward_dynamics
from .integrators import Integrator, State
from .model import Array, Robot
from .stepping import Drive, Dynamics, is_sane, step


class Layout:
    """Where things stand in the two buffers that a kernel works on: state and inputs."""

    def __init__(self, robot: Robot) -> None:
        nq, nv = robot.nq, robot.nv
        self.q = slice(0, nq)
        self.qd = slice(nq, nq + nv)
        self.memory = slice(nq + nv, nq + 2 * nv)
        self.work = nq + 2 * nv
        self.dissipated = self.work + 1
        self.state_size = self.work + 2

        self.command = slice(0, nv)
        self.external = slice(nv, 2 * nv)
        self.damping = slice(2 * nv, 3 * nv)
        self.friction = slice(3 * nv, 4 * nv)
        self.gravity = slice(4 * nv, 4 * nv + 3)
        self.step_length = 4 * nv + 3
        self.input_size = self.step_length + 1

    def state(self, x: Array) -> State:
        """State in a buffer (state_size,)."""
        return State(x[self.q], x[self.qd], x[self.memory], x[self.work], x[self.dissipated])

    def pack(self, state: State) -> Array:
        """Buffer (state_size,) of a state."""
        return np.concatenate([state.q, state.qd, state.memory, [state.work, state.dissipated]])


class PlainKernel:
    """Steps of one robot with one integrator, in Python."""

    def __init__(self, robot: Robot, integrator: Integrator, track_energy: bool) -> None:
        self.layout = Layout(robot)
        self.rejected = np.zeros(self.layout.state_size)
        """The state that was no good, after a call that ended early."""
        self._robot = robot
        self._integrator = integrator
        self._track_energy = track_energy

    def run(self, x: Array, u: Array, n: int, first: bool) -> int:
        """Advance the buffer x by n steps with the inputs u; return how many were good."""
        layout = self.layout
        robot = self._robot.replace(gravity=u[layout.gravity].copy())
        dynamics = Dynamics(lambda q: mass_matrix(robot, q),
                            lambda q, qd, tau: forward_dynamics(robot, q, qd, tau))
        drive = Drive(saturate(robot, u[layout.command]), u[layout.external].copy(),
                      u[layout.damping].copy(), u[layout.friction].copy())
        state, h = layout.state(x.copy()), float(u[layout.step_length])
        for k in range(n):
            new = self._step(robot, dynamics, drive, state, h, first and k == 0)
            if not is_sane(new):
                self.rejected[:] = layout.pack(new)
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
