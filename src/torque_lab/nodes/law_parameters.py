"""The parameters that a law declares, as parameters of a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rclpy.node import Node

from torque_lab.control.law import Law, parameters_from, specifications
from torque_lab.nodes.parameters import declare
from torque_lab.physics.model import Robot


class LawParameters:
    """Declares what laws want, and builds laws from what is set."""

    def __init__(self, node: Node, robot: Robot) -> None:
        self._node, self._robot = node, robot
        self.declaring = False
        """True while parameters are being declared, which runs the node's own checks."""

    def declare(self, law: type[Law]) -> None:
        """Declare the parameters of a law that are not there yet; those in YAML files apply."""
        self.declaring = True
        try:
            for name, specification in specifications(law, self._robot).items():
                if not self._node.has_parameter(name):
                    default = specification.default
                    declare(self._node, name,
                            list(default) if isinstance(default, tuple) else default,
                            specification.description, unit=specification.unit,
                            minimum=specification.minimum, maximum=specification.maximum,
                            choices=specification.choices)
        finally:
            self.declaring = False

    def names(self, law: type[Law]) -> set[str]:
        """Names of a law's parameters."""
        return set(specifications(law, self._robot))

    def make(self, law: type[Law], changes: Mapping[str, Any]) -> Law:
        """Law with its parameters as set, some changed; ValueError if they are no good."""
        parameters = self._read(law, changes)
        with _explained(law):
            return law(self._robot, *parameters)

    def update(self, law: Law) -> None:
        """Hand the parameters as set to a law that runs."""
        parameters = self._read(type(law), {})
        with _explained(type(law)):
            law.set_parameters(*parameters)

    def _read(self, law: type[Law], changes: Mapping[str, Any]) -> tuple[Any, list[Any] | None]:
        values = {name: changes.get(name, self._node.get_parameter(name).value)
                  for name in specifications(law, self._robot)}
        return parameters_from(law, self._robot, values)


@contextmanager
def _explained(law: type[Law]) -> Iterator[None]:
    """Turn whatever a law throws while it is made into a refusal: the law may be anybody's."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f'{law.name} cannot be made: {type(error).__name__}: {error}') from error
