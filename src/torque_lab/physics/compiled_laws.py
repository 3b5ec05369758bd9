"""
The laws of one robot as compiled functions, for control loops.

``compiled(robot)`` offers the functions of `torque_lab.physics` under the same names and with the
same results, without the robot as first argument: computed torque on a six-joint arm then costs
microseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from . import linear
from .composite_body import mass_matrix
from .energy import kinetic_energy, potential_energy
from .forward import forward_dynamics
from .joints import configuration_rate
from .kinematics import jacobian
from .linear import Linearisation, smooth_forces
from .model import Array, Robot
from .newton_euler import bias, gravity_torque, inverse_dynamics
from .pending import find_compiler
from .preparation import prepared
from .tree_solve import solve_mass_matrix

Law = Callable[..., Array]


class CompiledLaws:
    """
    Laws of one robot, each compiled when it is first used.

    Arguments are vectors of numbers; results are new arrays.  Without llvmlite the same calls run
    the plain laws.  Safe to use from several threads, one call at a time.
    """

    def __init__(self, robot: Robot, compile_laws: bool | None = None) -> None:
        self.robot = robot
        self._compiles = find_compiler(compile_laws) is not None
        self._jacobians: dict[tuple[str | None, str], Law] = {}

    @cached_property
    def inverse_dynamics(self) -> Law:
        """``inverse_dynamics(q, qd, qdd)``: generalised forces (nv,) for a motion."""
        return self._law('inverse_dynamics', inverse_dynamics, 'q', 'qd', 'qdd')

    @cached_property
    def forward_dynamics(self) -> Law:
        """``forward_dynamics(q, qd, tau)``: accelerations (nv,)."""
        return self._law('forward_dynamics', forward_dynamics, 'q', 'qd', 'tau')

    @cached_property
    def mass_matrix(self) -> Law:
        """``mass_matrix(q)``: M (nv, nv)."""
        return self._law('mass_matrix', mass_matrix, 'q')

    @cached_property
    def bias(self) -> Law:
        """``bias(q, qd)``: Coriolis, centrifugal and gravity forces (nv,)."""
        return self._law('bias', bias, 'q', 'qd')

    @cached_property
    def gravity_torque(self) -> Law:
        """``gravity_torque(q)``: forces (nv,) that hold the robot still."""
        return self._law('gravity_torque', gravity_torque, 'q')

    @cached_property
    def energies(self) -> Law:
        """``energies(q, qd)``: kinetic and potential energy (2,), in J."""
        return self._law('energies', _energies, 'q', 'qd', simplify=False)

    def jacobian(self, q: Array | Sequence[float], link: str | None = None,
                 axes: str = 'world') -> Array:
        """Jacobian (6, nv) of a link (the tip unless named), in world-aligned or link axes."""
        key = link, axes
        if key not in self._jacobians:
            self._jacobians[key] = self._law(
                'jacobian', lambda robot, q: jacobian(robot, q, link, axes), 'q', simplify=False)
        return self._jacobians[key](q)

    def linearise(self, q: Array | Sequence[float], qd: Array | Sequence[float],
                  command: Array | Sequence[float] | None = None) -> Linearisation:
        """Matrices A (2 nv, 2 nv) and B (2 nv, nv) of small deviations from a state."""
        command = np.zeros(self.robot.nv) if command is None else command
        if not self._compiles:
            return linear.linearise(self.robot, np.asarray(q), np.asarray(qd),
                                    np.asarray(command))
        nv = self.robot.nv
        both = self._linearisation(q, qd, command)
        return Linearisation(both[:, :2 * nv].copy(), both[:, 2 * nv:].copy())

    @cached_property
    def _linearisation(self) -> Law:
        return self._law('linearisation', _linearised, 'q', 'qd', 'command', simplify=False)

    def _law(self, name: str, law: Law, *arguments: str, simplify: bool = True) -> Law:
        """Compiled form of ``law(robot, *arguments)``, or the law itself on the plain path."""
        robot = self.robot
        sizes = [robot.nq if argument == 'q' else robot.nv for argument in arguments]
        if not self._compiles:
            return lambda *values: law(robot, *(np.asarray(value, dtype=float)
                                                for value in values))
        return _CompiledLaw(f'{robot.name}: {name}', law, prepared(robot) if simplify else robot,
                            arguments, sizes)


class _CompiledLaw:
    """A law bound to buffers of its own."""

    def __init__(self, label: str, law: Law, robot: Robot, names: Sequence[str],
                 sizes: Sequence[int]) -> None:
        from .tracing.buffers import compile_function
        from .tracing.function import trace
        shapes: list[tuple[int, ...]] = []

        def body(*values: Array) -> Array:
            result = law(robot, *values)
            shapes.append(result.shape)
            return result

        traced = trace('law', body, *sizes)
        self._label, self._names, self._sizes = label, tuple(names), tuple(sizes)
        self._code, self._run, self._block = compile_function(traced)
        ends = np.cumsum(sizes)
        self._slots = [self._block[end - size:end] for end, size in zip(ends, sizes, strict=True)]
        self._result = self._block[traced.inputs:].reshape(shapes[0])
        self._lock = threading.Lock()

    def __call__(self, *values: Array | Sequence[float]) -> Array:
        """Value of the law; a new array."""
        with self._lock:
            try:
                for slot, value, size in zip(self._slots, values, self._sizes, strict=True):
                    if len(value) != size:
                        raise ValueError
                    slot[:] = value
            except (TypeError, ValueError):
                raise ValueError(self._complaint(values)) from None
            self._run(1)
            return self._result.copy()

    def _complaint(self, values: Sequence[Any]) -> str:
        """What is wrong with the arguments."""
        wanted = ', '.join(f'{name} ({size},)' for name, size in zip(self._names, self._sizes,
                                                                     strict=True))
        return f'{self._label} takes {wanted}; got shapes {[np.shape(value) for value in values]}'


def _energies(robot: Robot, q: Array, qd: Array) -> Array:
    return np.array([kinetic_energy(robot, q, qd), potential_energy(robot, q)])


def _linearised(robot: Robot, q: Array, qd: Array, command: Array) -> Array:
    """
    A and B side by side (2 nv, 3 nv), traced: see `torque_lab.physics.linear.linearise`.

    With ``r = joint forces − inverse dynamics`` at the q̈ of the state, held constant,
    ``∂q̈/∂x = M⁻¹ ∂r/∂x``.
    """
    from .tracing.derivative import directional, held
    nv, simple = robot.nv, prepared(robot)
    M = mass_matrix(simple, q)
    forces = smooth_forces(robot, q, qd, command)
    qdd = held(solve_mass_matrix(simple, M, forces - bias(simple, q, qd)))
    missing = forces - inverse_dynamics(simple, q, qd, qdd)
    columns = [directional(missing, q, configuration_rate(robot, q, unit)) for unit in np.eye(nv)]
    columns += [directional(missing, qd, unit) for unit in np.eye(nv)]
    columns += [directional(forces, command, unit) for unit in np.eye(nv)]
    lower = np.array([solve_mass_matrix(simple, M, column) for column in columns],
                     dtype=object).T
    upper = np.hstack([linear.drift(robot, qd), np.eye(nv), np.zeros((nv, nv))])
    return np.vstack([upper, lower])


_LAWS: WeakKeyDictionary[Robot, CompiledLaws] = WeakKeyDictionary()


def compiled(robot: Robot) -> CompiledLaws:
    """Compiled laws of a robot: one set per robot and process."""
    if robot not in _LAWS:
        _LAWS[robot] = CompiledLaws(robot)
    return _LAWS[robot]
