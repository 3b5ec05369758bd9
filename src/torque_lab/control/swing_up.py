"""
Swing-up by energy shaping, and an LQR that catches and balances.

For a pendulum that is driven itself, and for two joints of which one is driven: the rotary
pendulum (arm driven, in volts), the acrobot (second joint driven) and the pendubot (first joint
driven).

*Pumping.*  Partial feedback linearisation turns the driven joint into a double integrator,
``q̈_d = v`` (Spong 1994).  The energy of the other joint, ``E = ½ M_uu q̇_u² + V(q)``, then follows
``Ė = −M_ud q̇_u v``, so that ::

    v = k_E (E − E*) M_ud q̇_u − k_p (q_d − q_d*) − k_d q̇_d

brings E to that of rest at the equilibrium, E*, while the driven joint comes back to its place
(Åström & Furuta 2000; Tedrake, Underactuated Robotics, section 3.5).

*Catching.*  Where the cost still to come, ``xᵀ S x``, is below a level, the regulator takes over.
The level is such that the regulator just reaches the limit of the drive: within, it does not
saturate, and as far as the robot is linear there the cost falls.  Where it is not (the rim of the
region, see the basins in docs/controllers.md), the pump gets another try.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from torque_lab.control.angles import wrapped
from torque_lab.control.compiled import compiled
from torque_lab.control.drives import command, driven_joints
from torque_lab.control.law import Law, Reference, parameter
from torque_lab.control.lqr import LQR, Regulator, deviation, regulator
from torque_lab.physics.composite_body import mass_matrix
from torque_lab.physics.energy import potential_energy
from torque_lab.physics.forces import command_limit, damping_effort, spring_effort
from torque_lab.physics.model import Array
from torque_lab.physics.newton_euler import bias
from torque_lab.physics.scalar import clamp, select

NUDGE = 0.02
"""Speed, in rad/s, that stands for rest: a pendulum that hangs still is pushed off."""


class SwingUp(Law):
    """Energy shaping far from the equilibrium, a regulator close to it."""

    @dataclass(frozen=True)
    class Parameters(LQR.Parameters):
        """Parameters of the regulator, and of the pump."""

        energy_gain: float = parameter(
            1.0, 'k_E: how hard energy is pumped; 1/(J² s²) for two joints, 1/(J s) for one',
            minimum=0.0)
        position_gain: float = parameter(10.0, 'k_p that brings the driven joint back',
                                         unit='1/s²', minimum=0.0)
        velocity_gain: float = parameter(5.0, 'k_d that brings the driven joint back',
                                         unit='1/s', minimum=0.0)
        effort_limit: float = parameter(
            0.0, 'Largest effort of the driven joint; 0: the limit of its drive',
            unit='effort', minimum=0.0)
        catch_level: float = parameter(
            1.0, 'Size of the region where the regulator takes over, as a multiple of the largest '
            'in which it does not saturate', minimum=0.0)

    def configure(self) -> None:
        """Solve for the regulator and compile the law."""
        p, robot = self.parameters, self.robot
        self.driven = driven_joints(robot, p.driven_joints)
        if len(self.driven) != 1 or robot.nv > 2:
            raise ValueError(f'{self.name} wants one or two joints of which one is driven; '
                             f'{robot.name} has {robot.nv}, driven: {len(self.driven)}; name it '
                             f'in {self.name}.driven_joints')
        self.regulator = regulator(
            robot, self.per_joint('equilibrium', p.equilibrium),
            self.per_joint('position_cost', p.position_cost),
            self.per_joint('velocity_cost', p.velocity_cost),
            self.per_joint('effort_cost', p.effort_cost), self.driven)
        self.limit = float(min(command_limit(robot)[self.driven[0]], p.effort_limit or np.inf))
        self.level = p.catch_level * unsaturated_level(self.regulator, self.driven[0], self.limit)
        self._law: Callable[..., Array] = compiled(self.feedback, robot.nq, robot.nv)

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """Pump or balance; the reference is not asked."""
        return self._law(q, qd)

    def caught(self, q: Array, qd: Array) -> bool:
        """Whether the regulator is at work in a state."""
        x = deviation(self.robot, self.regulator.equilibrium, q, qd)
        return bool(x @ self.regulator.S @ x < self.level)

    def feedback(self, q: Array, qd: Array) -> Any:
        """Effort (nv,) of a state, of any scalar."""
        r = self.regulator
        x = deviation(self.robot, r.equilibrium, q, qd)
        close = x @ (r.S @ x) < self.level
        balance = r.command - r.K @ x
        pump = self._pump(q, qd)
        return np.array([self._bounded(k, select(close, balance[k], pump[k]))
                         for k in range(self.robot.nv)])

    def _bounded(self, joint: int, effort: Any) -> Any:
        return clamp(effort, -self.limit, self.limit) if joint == self.driven[0] else 0.0

    def _pump(self, q: Array, qd: Array) -> Array:
        """Effort (nv,) that pumps energy."""
        torque = self._pump_one(q, qd) if self.robot.nv == 1 else self._pump_two(q, qd)
        return command(self.robot, torque, qd)

    def _pump_one(self, q: Array, qd: Array) -> Array:
        excess = self._energy(q, qd, 0) - self._energy(self.regulator.equilibrium, np.zeros(1), 0)
        return np.array([-self.parameters.energy_gain * excess * _pushed_off(qd[0])])

    def _pump_two(self, q: Array, qd: Array) -> Array:
        """Joint forces (2,) by partial feedback linearisation; none at the passive joint."""
        p, robot, r = self.parameters, self.robot, self.regulator
        d, u = self.driven[0], 1 - self.driven[0]
        excess = self._energy(q, qd, u) - self._energy(r.equilibrium, np.zeros(2), u)
        M = mass_matrix(robot, q)
        v = (p.energy_gain * excess * M[u, d] * _pushed_off(qd[u])
             - p.position_gain * wrapped(q[d] - r.equilibrium[d]) - p.velocity_gain * qd[d])
        h = bias(robot, q, qd) - damping_effort(robot.damping, qd) - spring_effort(robot, q)
        swing = -(M[u, d] * v + h[u]) / M[u, u]
        force = M[d, d] * v + M[d, u] * swing + h[d]
        return np.array([force if k == d else 0.0 for k in (0, 1)], dtype=np.asarray(qd).dtype)

    def _energy(self, q: Array, qd: Array, joint: int) -> Any:
        """Energy of one joint's motion, and the robot's weight, in J."""
        M = mass_matrix(self.robot, q)
        return 0.5 * M[joint, joint] * qd[joint] ** 2 + potential_energy(self.robot, q)


def unsaturated_level(r: Regulator, joint: int, limit: float) -> float:
    """
    Largest ρ for which the regulator stays within a limit wherever ``xᵀ S x ≤ ρ``.

    The largest ``|K x|`` there is ``√(ρ K S⁻¹ Kᵀ)``.
    """
    row = r.K[joint]
    spare = limit - abs(r.command[joint])
    return float(spare**2 / (row @ np.linalg.solve(r.S, row)))


def _pushed_off(speed: Any) -> Any:
    """Speed, but never slower than a nudge; its sign stays, so that a rest is always left."""
    return select(speed < 0.0, clamp(speed, -np.inf, -NUDGE), clamp(speed, NUDGE, np.inf))


