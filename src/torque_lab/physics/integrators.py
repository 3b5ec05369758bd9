"""
Integrators: how a state moves on by one step, apart from what moves it.

Each is written once, for every kind of scalar: with floats it is the plain path, with tracing
scalars the same lines become the compiled loop.  An integrator sees the robot as a
:class:`System`, which answers with accelerations.

The Runge-Kutta kinds act on the whole state ``(q, q̇)``, because the acceleration of a robot
depends on both.  The Verlet pair comes from mechanics where acceleration depends on position
**alone**; see `Verlet` and `VelocityVerlet` for what that means on a robot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from .model import Array, Scalar


class State(NamedTuple):
    """What an integrator moves on."""

    q: Array
    """Positions (nq,)."""
    qd: Array
    """Velocities (nv,)."""
    memory: Array
    """Acceleration of the step before (nv,), for an integrator that needs it; else (0,)."""
    work: Scalar = 0.0
    """Energy put in by the drives and by external forces, in J."""
    dissipated: Scalar = 0.0
    """Energy taken out by friction and by stops, in J."""


class System(Protocol):
    """What an integrator asks of a robot during one step."""

    def acceleration(self, q: Array, qd: Array) -> Array:
        """Acceleration (nv,) at a state."""

    def rate(self, q: Array, qd: Array) -> Array:
        """Rate of the position entries (nq,) at a state."""

    def power(self, q: Array, qd: Array) -> tuple[Scalar, Scalar]:
        """Power put in and power dissipated, in W."""

    def normalise(self, q: Array) -> Array:
        """Positions with every quaternion brought back to unit length."""


class Integrator(Protocol):
    """One step of a method of numerical integration."""

    name: str
    order: int
    """The error after a fixed time falls with this power of the step."""
    has_memory: bool
    """Whether a step uses the acceleration of the step before."""

    def __hash__(self) -> int: ...

    def start(self, system: System, state: State, h: Scalar) -> State:
        """First step of length h, in s, from a state without a past."""

    def step(self, system: System, state: State, h: Scalar) -> State:
        """Any later step."""


@dataclass(frozen=True)
class RungeKutta:
    """
    Explicit Runge-Kutta method, given by its Butcher tableau.

    With stages ``k_i = f(x + h Σ_j a_ij k_j)`` the step is ``x + h Σ_i b_i k_i``.  The number of
    stages is the length of ``b``; it is not the order.  Hairer, Nørsett & Wanner 1993, II.1.
    """

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]
    """Row i holds the i coefficients of stage i; the first row is empty."""
    b: tuple[float, ...]
    """Weights of the stages."""
    has_memory: bool = False

    def __post_init__(self) -> None:
        if len(self.a) != len(self.b) or any(len(row) != i for i, row in enumerate(self.a)):
            raise ValueError(f'{self.name}: row i of an explicit tableau has i entries, from none '
                             f'to {len(self.b) - 1}; got {[len(row) for row in self.a]}')
        if not np.isclose(sum(self.b), 1.0, rtol=0, atol=1e-12):
            raise ValueError(f'{self.name}: the weights add up to {sum(self.b)}; they must to 1')

    def step(self, system: System, state: State, h: Scalar) -> State:
        """State after a step of length h, in s."""
        rates: list[Array] = []
        accelerations: list[Array] = []
        powers: list[Array] = []
        for row in self.a:
            q, qd = _add(state.q, h, row, rates), _add(state.qd, h, row, accelerations)
            rates.append(system.rate(q, qd))
            accelerations.append(system.acceleration(q, qd))
            powers.append(np.array(system.power(q, qd)))
        energy = _add(np.array([state.work, state.dissipated]), h, self.b, powers)
        return State(system.normalise(_add(state.q, h, self.b, rates)),
                     _add(state.qd, h, self.b, accelerations), state.memory, *energy)

    start = step


ButcherTableau = RungeKutta


def _add(start: Array, h: Scalar, coefficients: Sequence[float], slopes: list[Array]) -> Array:
    """``start + h Σ c_i slope_i``, the oldest slope first so that the newest waits for nothing."""
    for coefficient, slope in zip(coefficients, slopes, strict=True):
        if coefficient:
            start = start + (coefficient * h) * slope
    return start


def _trapezoid(system: System, before: State, q: Array, qd: Array, memory: Array, h: Scalar,
               ) -> State:
    """State after a step; its energies by the trapezoidal rule over the step."""
    work_0, dissipated_0 = system.power(before.q, before.qd)
    work_1, dissipated_1 = system.power(q, qd)
    return State(q, qd, memory, before.work + (0.5 * h) * (work_0 + work_1),
                 before.dissipated + (0.5 * h) * (dissipated_0 + dissipated_1))


@dataclass(frozen=True)
class SemiImplicitEuler:
    """
    Euler with the new velocity: ``q̇' = q̇ + h a(q, q̇)``, ``q' = q + h q̇'``.

    One evaluation, order 1 and, where the acceleration depends on position alone, symplectic: the
    energy wobbles but does not drift.  Hairer, Lubich & Wanner 2006, section I.1.
    """

    name: str = 'semi_implicit_euler'
    order: int = 1
    has_memory: bool = False

    def step(self, system: System, state: State, h: Scalar) -> State:
        """State after a step of length h, in s."""
        qd = state.qd + h * system.acceleration(state.q, state.qd)
        q = system.normalise(state.q + h * system.rate(state.q, qd))
        return _trapezoid(system, state, q, qd, state.memory, h)

    start = step


@dataclass(frozen=True)
class Verlet:
    """
    Störmer-Verlet: ``q_{n+1} = 2 q_n − q_{n−1} + h² a(q_n)``.

    The starting step is ``q_1 = q_0 + h q̇_0 + ½ h² a_0``.  Written here with the backward
    difference ``u_n = (q_n − q_{n−1})/h`` as ``u' = u + h a``, ``q' = q + h u'``: the same
    positions without the loss of digits.  The velocity reported is ``q̇' = u' + ½ h a``, so that
    ``u = q̇ − ½ h a_{n−1}`` and the acceleration of the step before is all the memory it takes.

    It **assumes that acceleration depends on position alone**.  Where it depends on velocity too
    (friction, Coriolis forces: any arm of two joints) the velocity at hand is u, half a step old,
    and the order falls from 2 to 1.  Hairer, Lubich & Wanner 2006, section I.1.4.
    """

    name: str = 'verlet'
    order: int = 2
    has_memory: bool = True

    def start(self, system: System, state: State, h: Scalar) -> State:
        """State after the first step, of length h, in s."""
        a = system.acceleration(state.q, state.qd)
        return self._advance(system, state, state.qd - (0.5 * h) * a, a, h)

    def step(self, system: System, state: State, h: Scalar) -> State:
        """State after a step of length h, in s."""
        u = state.qd - (0.5 * h) * state.memory
        return self._advance(system, state, u, system.acceleration(state.q, u), h)

    def _advance(self, system: System, state: State, u: Array, a: Array, h: Scalar) -> State:
        u = u + h * a
        q = system.normalise(state.q + h * system.rate(state.q, u))
        return _trapezoid(system, state, q, u + (0.5 * h) * a, a, h)


@dataclass(frozen=True)
class VelocityVerlet:
    """
    Velocity Verlet: ``q' = q + h q̇ + ½ h² a``, ``q̇' = q̇ + ½ h (a + a')``.

    The textbook form **assumes that acceleration depends on position alone**, so that a' = a(q').
    Here a' is taken at the predicted velocity ``q̇ + h a``, which keeps order 2 on robots, whose
    acceleration depends on velocity too; what is lost there is the exact symplecticity.
    Swope et al. 1982; Hairer, Lubich & Wanner 2006, section I.1.4.
    """

    name: str = 'velocity_verlet'
    order: int = 2
    has_memory: bool = False

    def step(self, system: System, state: State, h: Scalar) -> State:
        """State after a step of length h, in s."""
        a = system.acceleration(state.q, state.qd)
        middle = state.qd + (0.5 * h) * a
        q = system.normalise(state.q + h * system.rate(state.q, middle))
        qd = middle + (0.5 * h) * system.acceleration(q, state.qd + h * a)
        return _trapezoid(system, state, q, qd, state.memory, h)

    start = step


@dataclass(frozen=True)
class Hold:
    """No integration: time passes, the state stays."""

    name: str = 'none'
    order: int = 0
    has_memory: bool = False

    def step(self, system: System, state: State, h: Scalar) -> State:
        """State after a step of length h, in s."""
        return state

    start = step


@dataclass(frozen=True)
class Adaptive:
    """
    Dormand-Prince of order 8 with step control (SciPy's DOP853) within each step: the reference.

    For numbers only: how many evaluations it takes depends on the state, so it does not trace.
    Hairer, Nørsett & Wanner 1993, II.10.
    """

    relative: float = 1e-12
    absolute: float = 1e-12
    name: str = 'adaptive'
    order: int = 8
    has_memory: bool = False

    def step(self, system: System, state: State, h: Scalar) -> State:
        """State after a step of length h, in s."""
        from scipy.integrate import solve_ivp
        ends = np.cumsum([len(state.q), len(state.qd)])

        def slope(_: float, x: Array) -> Array:
            q, qd, _energy = np.split(x, ends)
            return np.concatenate([system.rate(q, qd), system.acceleration(q, qd),
                                   system.power(q, qd)])

        x = np.concatenate([state.q, state.qd, [state.work, state.dissipated]])
        with np.errstate(all='ignore'):  # what overflows is reported as divergence
            solution = solve_ivp(slope, (0.0, h), x, 'DOP853', rtol=self.relative,
                                 atol=self.absolute)
        q, qd, energy = np.split(solution.y[:, -1], ends)
        if not solution.success:
            qd = np.full_like(qd, np.nan)
        return State(system.normalise(q), qd, state.memory, *energy)

    start = step


EULER = RungeKutta('euler', 1, ((),), (1.0,))
HEUN = RungeKutta('heun', 2, ((), (1.0,)), (0.5, 0.5))
MIDPOINT = RungeKutta('midpoint', 2, ((), (0.5,)), (0.0, 1.0))
RK4 = RungeKutta('rk4', 4, ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))

INTEGRATORS: Mapping[str, Any] = {
    method.name: method for method in (
        EULER, HEUN, SemiImplicitEuler(), Verlet(), VelocityVerlet(), MIDPOINT, RK4, Adaptive(),
        Hold())}
"""Every integrator by its name."""


def integrator(name: str | Integrator) -> Integrator:
    """Integrator of a name (or the given one itself, such as a tableau of your own)."""
    if not isinstance(name, str):
        return name
    if name not in INTEGRATORS:
        raise ValueError(f'no integrator "{name}"; there are {", ".join(INTEGRATORS)}')
    return INTEGRATORS[name]
