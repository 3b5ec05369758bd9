"""Laws that carry the robot's weight: PD or PID with gravity compensation, and weightlessness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from torque_lab.control.compiled import compiled
from torque_lab.control.drives import command
from torque_lab.control.law import Law, Reference, parameter
from torque_lab.control.pid import PIDLaw
from torque_lab.physics.forces import spring_effort
from torque_lab.physics.model import Array, Robot
from torque_lab.physics.newton_euler import gravity_torque
from torque_lab.physics.preparation import prepared


@lru_cache(maxsize=8)
def gravity_compensation(robot: Robot) -> Callable[[Array, Array], Array]:
    """
    Return the compiled function of ``(q, qd)`` that gives the effort (nv,) which carries the arm.

    ``τ = g(q) + k (q − q_rest)``: gravity and springs, in V where a joint has a motor (where the
    voltage also pays the motor's back-EMF).
    """
    simple = prepared(robot)
    return compiled(lambda q, qd: command(
        robot, gravity_torque(simple, q) - spring_effort(robot, q), qd), robot.nq, robot.nv)


class PDGravity(PIDLaw):
    """
    ``u = g(q) + p e + i ∫e dt + d (goal velocity − qd)`` per joint.

    With i = 0, PD with gravity compensation: no steady-state error if the masses are right, and
    stable for any p, d > 0 (Lynch & Park 2017, section 11.4; Takegaki & Arimoto 1981).
    """

    name = 'pd_gravity'

    def configure(self) -> None:
        """Take the gains."""
        super().configure()
        self._gravity = gravity_compensation(self.robot)

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """Gravity and PID; the PID's clamps bound the PID alone."""
        return self._gravity(q, qd) + super().effort(t, dt, q, qd, reference)


class ZeroGravity(Law):
    """``u = g(q) − d q̇``: the arm floats, and a hand can lead it."""

    @dataclass(frozen=True)
    class Parameters:
        """Parameters of zero gravity."""

        damping: tuple[float, ...] = parameter(
            (0.0,), 'Viscous damping, one number or one per joint', unit='effort s/rad or s/m',
            minimum=0.0)

    def configure(self) -> None:
        """Take the damping."""
        self._damping = self.per_joint('damping', self.parameters.damping)
        self._gravity = gravity_compensation(self.robot)

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """Weight and damping; the reference is not asked."""
        return np.asarray(self._gravity(q, qd) - self._damping * qd)
