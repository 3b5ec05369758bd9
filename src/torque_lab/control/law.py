"""
What a control law is: a class with parameters that say what they are, and one method.

A law is pure: no ROS, no clock of its own.  It gets a state and a reference and returns efforts;
whoever runs it (the controller node, a simulation, a test) takes care of time, limits and faults.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from torque_lab.physics.model import Array, Robot


@dataclass(frozen=True, eq=False)
class Reference:
    """Where the robot should be now, each (nv,)."""

    position: Array
    """In rad or m."""
    velocity: Array
    """In rad/s or m/s."""
    acceleration: Array
    """In rad/s² or m/s²."""

    @classmethod
    def hold(cls, position: Sequence[float] | Array) -> Reference:
        """Rest at a position."""
        position = np.array(position, dtype=float)
        return cls(position, np.zeros_like(position), np.zeros_like(position))


def parameter(default: Any, description: str, *, unit: str = '', minimum: float | None = None,
              maximum: float | None = None, choices: Sequence[str] = ()) -> Any:
    """
    Field of a law's dataclass of parameters, with what a user should know about it.

    A default that is a tuple stands for a list of numbers (or of names).
    """
    return dataclasses.field(default=default, metadata={'specification': Specification(
        default, description, unit, minimum, maximum, tuple(choices))})


@dataclass(frozen=True)
class Specification:
    """One parameter as a user sees it."""

    default: Any
    description: str
    unit: str = ''
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> Any:
        """Return the value as the law wants it, or raise ValueError with the reason."""
        if isinstance(self.default, tuple):
            value = tuple(value) if isinstance(value, Sequence) and not isinstance(
                value, str) else tuple(np.atleast_1d(value).tolist())
            for entry in value:
                self._check_number(name, entry)
            return tuple(float(x) if isinstance(x, int) and not isinstance(x, bool) else x
                         for x in value)
        if self.choices and value not in self.choices:
            raise ValueError(f'{name} = "{value}"; choose one of {", ".join(self.choices)}')
        if isinstance(self.default, float) and not isinstance(value, bool):
            try:
                value = float(value)
            except (TypeError, ValueError):
                raise ValueError(f'{name} = {value!r}: it wants a number') from None
        self._check_number(name, value)
        return value

    def _check_number(self, name: str, value: Any) -> None:
        if isinstance(value, (str, bool)):
            return
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        if not low <= value <= high:  # a NaN fails as well
            raise ValueError(f'{name} = {value}: it must lie between {low:g} and {high:g}')


@dataclass(frozen=True)
class NoParameters:
    """For a law without parameters."""


class Law:
    """
    Base of every control law.

    A subclass gives ``effort`` and, if it has parameters, a frozen dataclass ``Parameters`` whose
    fields are made by `parameter`.  The controller node offers them as ROS parameters
    ``<name>.<field>`` and sets them while the law runs.  What differs from joint to joint can be a
    list, or a dataclass ``JointParameters``, offered as ``gains.<joint>.<field>``.
    """

    name: ClassVar[str] = ''
    """What a user calls it; the class name in small letters unless stated."""
    Parameters: ClassVar[type] = NoParameters
    JointParameters: ClassVar[type | None] = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if 'name' not in cls.__dict__:
            cls.name = re.sub(r'(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])', '_',
                              cls.__name__).lower()

    def __init__(self, robot: Robot, parameters: Any = None,
                 joint_parameters: Sequence[Any] | None = None) -> None:
        self.robot = robot
        self.set_parameters(parameters, joint_parameters)

    def set_parameters(self, parameters: Any = None,
                       joint_parameters: Sequence[Any] | None = None) -> None:
        """Take new parameters; what the law remembers of the past stays."""
        self.parameters = self.Parameters() if parameters is None else parameters
        if joint_parameters is None:
            joint_parameters = ([] if self.JointParameters is None else
                                [self.JointParameters() for _ in self.robot.joint_names])
        self.joint_parameters = list(joint_parameters)
        self.configure()

    def configure(self) -> None:
        """Work out what follows from the parameters; raise ValueError if they are no good."""

    def reset(self) -> None:
        """Forget the past: time has jumped, or the law is switched on."""

    def effort(self, t: float, dt: float, q: Array, qd: Array, reference: Reference) -> Array:
        """
        Effort (nv,), in N m or N, in V where a joint has a motor.

        - ``t``: time of the state, in s.
        - ``dt``: time since the last call, in s; 0 at the first one and after a reset.
        - ``q``, ``qd`` (nv,): the state; ``reference``: where it should be.
        """
        raise NotImplementedError

    def per_joint(self, name: str, values: Sequence[float]) -> Array:
        """Numbers (nv,) from a list with one entry per joint, or with one for all."""
        if len(values) not in (1, self.robot.nv):
            raise ValueError(f'{self.name}.{name} has {len(values)} entries; it wants one, or one '
                             f'for each of {", ".join(self.robot.joint_names)}')
        return np.broadcast_to(np.array(values, dtype=float), (self.robot.nv,)).copy()


def specifications(law: type[Law], robot: Robot) -> dict[str, Specification]:
    """Every parameter of a law on a robot, by the name that a user writes."""
    found = {f'{law.name}.{name}': specification
             for name, specification in _fields(law.Parameters).items()}
    if law.JointParameters is not None:
        for joint in robot.joint_names:
            found |= {f'gains.{joint}.{name}': specification
                      for name, specification in _fields(law.JointParameters).items()}
    return found


def parameters_from(law: type[Law], robot: Robot, values: Mapping[str, Any],
                    ) -> tuple[Any, list[Any] | None]:
    """Parameters of a law from values by name, defaults elsewhere; ValueError if one is bad."""
    known = specifications(law, robot)

    def fill(kind: type, prefix: str) -> Any:
        return kind(**{name: known[prefix + name].check(prefix + name, values[prefix + name])
                       for name in _fields(kind) if prefix + name in values})

    joints = None if law.JointParameters is None else [
        fill(law.JointParameters, f'gains.{joint}.') for joint in robot.joint_names]
    return fill(law.Parameters, f'{law.name}.'), joints


def _fields(kind: type) -> dict[str, Specification]:
    if not dataclasses.is_dataclass(kind):
        raise ValueError(f'{kind.__qualname__} must be a dataclass: put @dataclass(frozen=True) '
                         'above it')
    return {field.name: field.metadata.get('specification') or Specification(field.default, '')
            for field in dataclasses.fields(kind)}
