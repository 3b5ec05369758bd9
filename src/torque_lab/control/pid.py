"""PID on every joint, with clamps and anti-windup; gains carry the names of ros2_control."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torque_lab.control.law import Law, Reference, parameter
from torque_lab.physics.forces import command_limit
from torque_lab.physics.model import Array

NONE = 'none'
CONDITIONAL_INTEGRATION = 'conditional_integration'
BACK_CALCULATION = 'back_calculation'
ANTIWINDUP_STRATEGIES = (NONE, CONDITIONAL_INTEGRATION, BACK_CALCULATION)


@dataclass(frozen=True)
class Gains:
    """
    Gains of one joint.

    ``i_clamp_*`` bound the integral term and ``u_clamp_*`` the sum, both as efforts.
    """

    p: float = parameter(0.0, 'Proportional gain', unit='effort/rad or /m', minimum=0.0)
    i: float = parameter(0.0, 'Integral gain', unit='effort/(rad s) or /(m s)', minimum=0.0)
    d: float = parameter(0.0, 'Derivative gain, on the measured velocity',
                         unit='effort s/rad or s/m', minimum=0.0)
    i_clamp_max: float = parameter(math.inf, 'Upper bound of the integral term', unit='effort')
    i_clamp_min: float = parameter(-math.inf, 'Lower bound of the integral term', unit='effort')
    u_clamp_max: float = parameter(math.inf, 'Upper bound of the effort', unit='effort')
    u_clamp_min: float = parameter(-math.inf, 'Lower bound of the effort', unit='effort')
    antiwindup_strategy: str = parameter(
        CONDITIONAL_INTEGRATION, 'What a saturated joint does with its integral',
        choices=ANTIWINDUP_STRATEGIES)

    def __post_init__(self) -> None:
        for name in ('p', 'i', 'd'):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise ValueError(f'gain {name} = {value}: it must be finite and not negative')
        for name in ('i_clamp', 'u_clamp'):
            low, high = getattr(self, f'{name}_min'), getattr(self, f'{name}_max')
            if not low <= high:
                raise ValueError(f'{name}_min = {low} lies above {name}_max = {high}')
        if self.antiwindup_strategy not in ANTIWINDUP_STRATEGIES:
            raise ValueError(f'antiwindup_strategy "{self.antiwindup_strategy}" is not one of '
                             f'{", ".join(ANTIWINDUP_STRATEGIES)}')


class PID:
    """
    ``u = p e + i ∫e dt + d (goal velocity - qd)`` per joint, clamped.

    The derivative acts on the measured velocity, so a goal that jumps gives no kick.  The
    integral is kept as an effort: a change of the gain i changes its future, not what it holds.
    """

    def __init__(self, gains: Sequence[Gains], effort_limit: Sequence[float]) -> None:
        self._effort_limit = np.asarray(effort_limit, dtype=float)
        self.integral = np.zeros(len(gains))
        self.set_gains(gains)

    def set_gains(self, gains: Sequence[Gains]) -> None:
        """Replace the gains without a bump: the integral term stays as it is."""
        self._p, self._i, self._d = (
            np.array([getattr(gain, name) for gain in gains], dtype=float)
            for name in ('p', 'i', 'd'))
        self._i_low = np.array([gain.i_clamp_min for gain in gains])
        self._i_high = np.array([gain.i_clamp_max for gain in gains])
        self._u_low = np.maximum([gain.u_clamp_min for gain in gains], -self._effort_limit)
        self._u_high = np.minimum([gain.u_clamp_max for gain in gains], self._effort_limit)
        strategies = [gain.antiwindup_strategy for gain in gains]
        self._conditional = np.array([s == CONDITIONAL_INTEGRATION for s in strategies])
        # Back calculation drains the integral with the time constant p / i.
        self._drain = np.array([gain.i / gain.p if gain.p > 0.0
                                and gain.antiwindup_strategy == BACK_CALCULATION else 0.0
                                for gain in gains])
        self._integrates = bool(self._i.any())

    def reset(self) -> None:
        """Forget the integral."""
        self.integral = np.zeros_like(self.integral)

    def effort(self, dt: float, q: np.ndarray, qd: np.ndarray, goal: np.ndarray,
               goal_velocity: np.ndarray | float = 0.0) -> np.ndarray:
        """
        Effort (n,) for a state; ``dt`` in s is the time since the last call (0 at the first).

        ``q``, ``qd``, ``goal`` and ``goal_velocity`` are (n,).
        """
        error = goal - q
        proportional = self._p * error + self._d * (goal_velocity - qd)
        wanted = proportional + self.integral
        effort = np.minimum(np.maximum(wanted, self._u_low), self._u_high)
        if self._integrates:
            self._integrate(dt, error, excess=wanted - effort)
        return effort

    def _integrate(self, dt: float, error: np.ndarray, excess: np.ndarray) -> None:
        growth = self._i * error * dt
        # Conditional: a saturated joint does not integrate further into its limit.
        winding_up = self._conditional & (excess * error > 0.0)
        drain = excess * np.minimum(self._drain * dt, 1.0)
        integral = self.integral + np.where(winding_up, 0.0, growth) - drain
        self.integral = np.minimum(np.maximum(integral, self._i_low), self._i_high)


class PIDLaw(Law):
    """PID on every joint; its gains are ``gains.<joint>.p`` and so on, as in ros2_control."""

    name = 'pid'
    JointParameters = Gains
    pid: PID

    def configure(self) -> None:
        """Take the gains; the integrals stay."""
        if hasattr(self, 'pid'):
            self.pid.set_gains(self.joint_parameters)
        else:
            self.pid = PID(self.joint_parameters, command_limit(self.robot).tolist())

    def reset(self) -> None:
        """Forget the integrals."""
        self.pid.reset()

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """See `PID.effort`."""
        return self.pid.effort(dt, q, qd, reference.position, reference.velocity)
