"""A law and a simulator in one loop, in process: for tests, tuning and pictures."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torque_lab.control.goals import Goals
from torque_lab.control.law import Law
from torque_lab.control.supervisor import Supervisor
from torque_lab.physics.model import Array, Robot
from torque_lab.physics.simulator import Simulator


@dataclass(frozen=True, eq=False)
class Loop:
    """What a closed loop did, row k at time ``t[k]``."""

    t: Array
    q: Array
    qd: Array
    reference: Array
    """Desired positions."""
    effort: Array
    """As commanded at that instant."""
    fault: str

    @property
    def error(self) -> Array:
        """Desired minus actual positions (N, nv)."""
        return self.reference - self.q

    @property
    def rms_error(self) -> Array:
        """Root mean square of the error (nv,)."""
        return np.sqrt(np.mean(self.error**2, axis=0))

    def settling_time(self, goal: Array, tolerance: float) -> float | None:
        """First time from which all joints stay within a tolerance of the goal; None if never."""
        outside = np.flatnonzero((np.abs(self.q - goal) > tolerance).any(axis=1))
        if not len(outside):
            return float(self.t[0])
        return None if outside[-1] + 1 >= len(self.t) else float(self.t[outside[-1] + 1])


def simulate(law: Law, goals: Goals, duration: float, *, plant: Robot | None = None,
             period: float = 1e-3, delay: int = 0, q: Array | None = None,
             qd: Array | None = None, push: Callable[[float, Array], Array] | None = None) -> Loop:
    """
    Run a law on a simulated robot, as the two nodes do.

    - ``plant``: the robot that moves, if it is not the one that the law believes in.
    - ``period``: of the control loop, in s; ``delay``: periods from a state to its answer (0 as
      in lockstep, 1 to 2 as over ROS in real time).
    - ``push(t, q)``: external generalised force (nv,).
    """
    simulator = Simulator(plant or law.robot, dt=period, track_energy=False)
    if q is not None:
        simulator.reset(q, qd)
    supervisor = Supervisor(law.robot)
    supervisor.use(law)
    goals.begin(0.0, simulator.q)
    waiting = deque([np.zeros(law.robot.nv)] * delay)
    rows: list[tuple[float, Array, Array, Array, Array]] = []
    for k in range(round(duration / period)):
        now, q, qd = simulator.time, simulator.q, simulator.qd
        reference = goals.at(now)
        answer = supervisor.answer(now, period if k else 0.0, q, qd, reference)
        waiting.append(answer.effort)
        rows.append((now, q, qd, reference.position, answer.effort))
        simulator.step(waiting.popleft(), external=None if push is None else push(now, q))
    t, state, velocity, position, effort = (np.array(c) for c in zip(*rows, strict=True))
    return Loop(t, state, velocity, position, effort, supervisor.fault)
