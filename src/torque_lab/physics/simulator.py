"""The simulator: a robot, its state, and time that passes in equal steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .compiled_laws import CompiledLaws
from .errors import Divergence
from .integrators import Adaptive, Integrator
from .integrators import integrator as find_integrator
from .model import Array, Robot
from .pending import Kernel, Pending, find_compiler
from .plain import Layout, PlainKernel
from .stepping import normalise
from .trajectory import Trajectory

Controller = Callable[[float, Array, Array], 'Array | Sequence[float]']
"""``effort = controller(t, q, qd)``."""


@dataclass(frozen=True)
class Energy:
    """Where the energy of a simulation is, in J; work and dissipated count since the reset."""

    kinetic: float
    potential: float
    work: float
    """Put in by the drives and by external forces."""
    dissipated: float
    """Taken out by friction, by damping and in stops."""

    @property
    def total(self) -> float:
        """Mechanical energy ``T + V``, in J; ``total − work + dissipated`` is constant."""
        return self.kinetic + self.potential


class Simulator:
    """
    A robot that moves.

    - ``integrator``: a name (`torque_lab.physics.integrators.INTEGRATORS`) or an integrator.
      ``'verlet'`` and ``'velocity_verlet'`` assume acceleration to depend on position alone.
    - ``dt``: step, in s.
    - ``compiled``: use the compiled path; None takes it if llvmlite is there.
    - ``track_energy``: integrate work and dissipation along with the state (see `energy`).

    Efforts are held over a call of `step`.  They are saturated at the model's effort limits, and
    are volts where a joint has a motor.  Inside the step act damping, springs, Coulomb friction
    that sticks, and the stops of the joints.  The velocity limits of the model are not enforced.
    The same calls give the same states, to the bit.
    """

    def __init__(self, robot: Robot, integrator: str | Integrator = 'rk4', dt: float = 1e-3,
                 compiled: bool | None = None, track_energy: bool = True) -> None:
        if not (np.isfinite(dt) and dt > 0):
            raise ValueError(f'{robot.name}: dt must be a positive time in s, not {dt}')
        self._energy_key: tuple[Any, ...] = ()
        self._robot = robot
        self._dt = float(dt)
        self._compile = find_compiler(compiled)
        self._track_energy = track_energy
        self._integrator = find_integrator(integrator)
        self._nv = robot.nv
        self._layout = layout = Layout(robot)
        self._block = np.zeros(layout.size)
        self._x, self._u = self._block[layout.x], self._block[layout.u]
        self._command, self._external = self._u[layout.command], self._u[layout.external]
        self._u[layout.damping] = robot.damping
        self._u[layout.friction] = robot.friction
        self._u[layout.gravity] = robot.gravity
        self._u[layout.step_length] = dt
        self._pushed = False
        self._first = True
        self._pending: Pending | None = None
        self._use(self._find_kernel(robot, self._u))
        self.reset()

    @property
    def robot(self) -> Robot:
        """The robot, with gravity, damping and friction as they are now."""
        return self._robot.replace(gravity=self.gravity, damping=self.damping,
                                   friction=self.friction)

    @property
    def dt(self) -> float:
        """Length of a step, in s."""
        return self._dt

    @property
    def q(self) -> Array:
        """Positions (nq,), a copy."""
        return self._x[self._layout.q].copy()

    @property
    def qd(self) -> Array:
        """Velocities (nv,), a copy."""
        return self._x[self._layout.qd].copy()

    @property
    def state(self) -> Array:
        """Positions and velocities (nq + nv,), a copy."""
        return self._x[:self._layout.qd.stop].copy()

    @property
    def steps(self) -> int:
        """Steps made since the reset."""
        return self._steps

    @property
    def time(self) -> float:
        """Time since the reset, in s: steps times dt, so that no rounding adds up."""
        return self._steps * self._dt

    @property
    def applied_effort(self) -> Array:
        """Last command (nv,) after saturation: N m or N, or V where a joint has a motor."""
        return self._block[self._layout.applied].copy()

    @property
    def integrator(self) -> str:
        """Name of the integrator; assign a name or an integrator to change it between steps."""
        return self._integrator.name

    @integrator.setter
    def integrator(self, value: str | Integrator) -> None:
        self._integrator = find_integrator(value)
        self._first = True
        self._use(self._find_kernel(self._robot, self._u))

    @property
    def compiled(self) -> bool:
        """Whether steps run as compiled code."""
        return not isinstance(self._kernel, PlainKernel)

    @property
    def gravity(self) -> Array:
        """Acceleration of free fall (3,), in m/s^2, in world axes."""
        return self._u[self._layout.gravity].copy()

    @property
    def damping(self) -> Array:
        """Viscous friction (nv,) now in force."""
        return self._u[self._layout.damping].copy()

    @property
    def friction(self) -> Array:
        """Coulomb friction (nv,) now in force."""
        return self._u[self._layout.friction].copy()

    def set_parameters(self, gravity: Array | Sequence[float] | None = None,
                       damping: Array | Sequence[float] | None = None,
                       friction: Array | Sequence[float] | None = None,
                       robot: Robot | None = None, wait: bool = True) -> None:
        """
        Change gravity (3,), damping (nv,) or Coulomb friction (nv,) between two steps.

        They are inputs of the compiled kernel, so the next step uses them.  Only where zeros come
        or go (gravity tilted, friction where there was none), or with another ``robot`` of the
        same joints (a mass changed), another kernel is compiled.  With ``wait=False`` that happens
        in a thread of its own: steps go on as before and the change comes in when it is ready.
        """
        if robot is not None and (robot.nq, robot.nv) != (self._robot.nq, self._nv):
            raise ValueError(f'{self._robot.name}: {robot.name} has other joints; start a new '
                             f'simulator for it')
        before, inputs = self._robot, self._u.copy()
        if self._pending is not None:  # overtaken by this change, which includes it
            before, inputs = self._pending.robot, self._pending.inputs.copy()
        for name, value in (('gravity', gravity), ('damping', damping), ('friction', friction)):
            if value is None and robot is not None:
                value = getattr(robot, name)
            if value is not None:
                entries = self._vector(name, value, 3 if name == 'gravity' else self._nv)
                if name != 'gravity' and (entries < 0).any():
                    raise ValueError(f'{self._robot.name}: {name} must not be negative')
                inputs[getattr(self._layout, name)] = entries
        after = robot or before
        if wait or (after is self._robot and self._kernel.serves(inputs)):
            self._pending = None
            self._change(after, inputs, self._find_kernel(after, inputs))
        else:
            self._pending = Pending(after, inputs, self._find_kernel)

    def _take_pending(self, pending: Pending) -> None:
        """Let a change of parameters come in, if it is ready."""
        if pending.ready:
            self._pending = None
            self._change(pending.robot, pending.inputs, pending.result())

    def _change(self, robot: Robot, inputs: Array, kernel: Kernel) -> None:
        """Go on with other parameters from the next step."""
        self._robot = robot
        parameters = slice(self._layout.external.stop, None)
        self._u[parameters] = inputs[parameters]
        self._use(kernel)

    def reset(self, q: Array | Sequence[float] | None = None,
              qd: Array | Sequence[float] | None = None) -> None:
        """Go back to time zero, at a state or at the robot's default start."""
        robot, layout = self._robot, self._layout
        position = self._vector('q', robot.start if q is None else q, robot.nq)
        start_velocity = robot.start_velocity if q is None else np.zeros(robot.nv)
        velocity = self._vector('qd', start_velocity if qd is None else qd, robot.nv)
        with np.errstate(all='ignore'):
            position = normalise(robot, position)
        if not np.isfinite(position).all():
            raise ValueError(f'{robot.name}: a quaternion in q has length zero')
        self._x[:] = 0.0
        self._x[layout.q] = position
        self._x[layout.qd] = velocity
        self._block[layout.applied] = 0.0
        self._steps = 0
        self._first = True
        self._advance = self._bound.first

    def step(self, effort: Array | Sequence[float], n: int = 1,
             external: Array | Sequence[float] | None = None) -> None:
        """
        Make n steps under a constant effort (nv,), in N m or N, or V where a joint has a motor.

        ``external`` (nv,) is a further generalised force over this call, not saturated: a push by
        hand, or ``Jᵀ F``.  Raises `Divergence` if the state leaves the finite or the reasonable,
        and ValueError, with the state untouched, if an argument is no good.
        """
        if self._pending is not None:
            self._take_pending(self._pending)
        if type(n) is not int or n < 1:
            n = self._count(n)
        try:
            if len(effort) != self._nv:
                raise ValueError
            self._command[:] = effort
        except (TypeError, ValueError):
            raise ValueError(self._complaint('effort', effort, self._nv)) from None
        if external is not None:
            self._external[:] = self._vector('external', external, self._nv)
            self._pushed = True
        elif self._pushed:
            self._external[:] = 0.0
            self._pushed = False
        done = self._advance(n)
        if done != n:
            self._stopped(done, effort)
        self._steps += done
        if self._first:
            self._first = False
            self._advance = self._bound.later

    def _stopped(self, done: int, effort: Array | Sequence[float]) -> None:
        """Say why a call ended early."""
        if done < 0:
            raise ValueError(self._complaint('effort', effort, self._nv))
        self._steps += done
        raise self._divergence()

    def _use(self, kernel: Kernel) -> None:
        """Take a kernel for the next steps."""
        self._kernel = kernel
        self._bound = kernel.bind(self._block)
        self._advance = self._bound.first if self._first else self._bound.later

    def _find_kernel(self, robot: Robot, inputs: Array) -> Kernel:
        """Kernel for a robot and its parameters: compiled, or plain where that cannot be."""
        if self._compile is None or isinstance(self._integrator, Adaptive):
            return PlainKernel(robot, self._integrator, self._track_energy)
        return self._compile(robot, self._integrator, inputs, self._track_energy)

    def _count(self, n: int) -> int:
        """Return a number of steps as an int, or refuse it."""
        try:
            count = operator.index(n)
        except TypeError:
            count = 0
        if count < 1:
            raise ValueError(f'{self._robot.name}: n must be a whole number of steps, 1 or more, '
                             f'not {n}')
        return count

    @property
    def energy(self) -> Energy:
        """Energies of the state; work and dissipation are zero unless tracked."""
        state = self._layout.state(self._x)
        gravity = self._u[self._layout.gravity]
        # Another robot or another gravity makes another law.
        key = (self._robot, gravity.tobytes(), self.compiled)
        if key != self._energy_key:
            self._energy_key = key
            self._energies = CompiledLaws(self._robot.replace(gravity=gravity.copy()),
                                          self.compiled).energies
        kinetic, potential = self._energies(state.q, state.qd).tolist()
        return Energy(kinetic, potential, float(state.work), float(state.dissipated))

    def run(self, duration: float, controller: Controller | None = None,
            control_period: float | None = None) -> Trajectory:
        """
        Simulate a duration, in s, and return states and efforts at every control instant.

        ``controller(t, q, qd)`` gives the effort that is held for ``control_period`` (dt unless
        stated; a multiple of dt).  Without a controller the drives give nothing.  If the motion
        diverges, the error carries what was recorded as ``trajectory``.
        """
        every = self._multiple('control_period', control_period or self._dt)
        count = self._multiple('duration', duration, every * self._dt) // every
        rows = count + 1
        t, q = np.zeros(rows), np.zeros((rows, self._robot.nq))
        qd, effort = np.zeros((rows, self._nv)), np.zeros((rows, self._nv))
        rest = np.zeros(self._nv)
        for k in range(rows):
            t[k], q[k], qd[k] = self.time, self.q, self.qd
            if k < count:
                command = rest if controller is None else controller(t[k], q[k].copy(),
                                                                     qd[k].copy())
                try:
                    self.step(command, every)
                except Divergence as error:
                    error.trajectory = Trajectory(t[:k + 1], q[:k + 1], qd[:k + 1],
                                                  effort[:k + 1])
                    raise
            effort[k] = self.applied_effort
        return Trajectory(t, q, qd, effort)

    def _multiple(self, name: str, value: float, unit: float | None = None) -> int:
        """How many steps of dt a time is; refused unless it is a whole number of units."""
        unit = unit or self._dt
        count = round(value / unit) if np.isfinite(value) else 0
        if count < 1 or abs(value - count * unit) > 1e-6 * unit:
            raise ValueError(f'{self._robot.name}: {name} must be a positive multiple of '
                             f'{unit:g} s, not {value:g} s')
        return round(count * unit / self._dt)

    def _vector(self, name: str, value: Array | Sequence[float], length: int) -> Array:
        """Finite numbers (length,) of an argument, or one clear line."""
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(self._complaint(name, value, length)) from None
        if array.shape != (length,) or not np.isfinite(array).all():
            raise ValueError(self._complaint(name, value, length))
        return array

    def _complaint(self, name: str, value: Array | Sequence[float], length: int) -> str:
        """What is wrong with a vector."""
        shape = np.shape(value)
        wrong = f'got {value}' if shape == (length,) else f'got shape {shape}'
        return f'{self._robot.name}: {name} needs {length} finite numbers; {wrong}'

    def _divergence(self) -> Divergence:
        """Error that names the joint, the step and the time."""
        rejected = self._layout.state(self._block[self._layout.rejected])
        what, index = _worst(rejected.q, rejected.qd)
        return Divergence(self._robot.name, self._entry_name(what, index), self._steps + 1,
                          self.time + self._dt, f'its {what} became '
                          f'{(rejected.q if what == "position" else rejected.qd)[index]:.3g}',
                          self._integrator.name, self._dt)

    def _entry_name(self, what: str, index: int) -> str:
        """Joint that an entry of q or of qd belongs to."""
        for body in self._robot.bodies:
            place = body.q if what == 'position' else body.v
            if place.start <= index < place.stop:
                return body.joint
        raise IndexError(index)


def _worst(q: Array, qd: Array) -> tuple[str, int]:
    """The entry of a bad state to name: the first not finite, velocities first, or the largest."""
    both = np.concatenate([qd, q])
    bad = ~np.isfinite(both)
    index = int(np.argmax(bad)) if bad.any() else int(np.argmax(np.abs(both)))
    return ('velocity', index) if index < len(qd) else ('position', index - len(qd))
