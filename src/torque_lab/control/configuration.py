"""Controllers from the YAML files in ``config/``, the same that the node reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from torque_lab.control.goals import STEP, Goals
from torque_lab.control.law import Law, parameters_from
from torque_lab.control.registry import find_law
from torque_lab.physics.load import models_folder
from torque_lab.physics.model import Robot


def config_folder() -> Path:
    """Where the shipped configurations are."""
    return models_folder().parent / 'config'


def shipped_configurations() -> list[tuple[str, str]]:
    """Pairs of robot and controller for which there is a file."""
    from torque_lab.physics.load import shipped_models
    robots = sorted(shipped_models(), key=len, reverse=True)
    pairs = []
    for path in sorted(config_folder().glob('*.yaml')):
        robot = next((name for name in robots if path.stem.startswith(f'{name}_')), None)
        if robot is not None:
            pairs.append((robot, path.stem.removeprefix(f'{robot}_')))
    return pairs


@dataclass(frozen=True)
class Configuration:
    """Parameters of a controller node, by their full names."""

    values: Mapping[str, Any]
    start: tuple[float, ...] | None = None
    """Where the file lets the simulation start; None: where the model says."""

    @classmethod
    def read(cls, path: Path) -> Configuration:
        """Read a parameter file of ROS; ValueError if it has no controller."""
        try:
            file = yaml.safe_load(path.read_text())
            tree = file['controller']['ros__parameters']
            start = file.get('dynamics', {}).get('ros__parameters', {}).get('initial_position')
        except (OSError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
            raise ValueError(f'{path}: no parameters under controller: ros__parameters '
                             f'({error})') from None
        return cls(flatten(tree), None if start is None else tuple(start))

    @classmethod
    def shipped(cls, robot: str, controller: str) -> Configuration:
        """Configuration from ``config/<robot>_<controller>.yaml``."""
        path = config_folder() / f'{robot}_{controller}.yaml'
        if not path.is_file():
            known = ', '.join(name for model, name in shipped_configurations() if model == robot)
            raise ValueError(f'there is no tuned {controller} for {robot}; there is '
                             + (known or 'none at all'))
        return cls.read(path)

    def changed(self, changes: Mapping[str, Any]) -> Configuration:
        """Return a copy with some values changed."""
        return Configuration({**self.values, **changes}, self.start)

    def law(self, robot: Robot) -> Law:
        """Law with its parameters."""
        law = find_law(self.values.get('controller', 'pid'))
        return law(robot, *parameters_from(law, robot, self.values))

    def goals(self, robot: Robot) -> Goals:
        """Goals with their limits and with the goal that the file gives, if any."""
        def limit(name: str, default: Any) -> np.ndarray:
            values = self.values.get(name) or default
            return np.broadcast_to(np.array(values, dtype=float), (robot.nv,))

        goals = Goals(limit('velocity_limit', robot.velocity_limit.tolist()),
                      limit('acceleration_limit', [np.inf]),
                      self.values.get('goal_motion', STEP))
        if self.values.get('goal'):
            if len(self.values['goal']) != robot.nv:
                raise ValueError(f'goal is {self.values["goal"]}; {robot.name} has {robot.nv} '
                                 f'joints: {", ".join(robot.joint_names)}')
            goals.go(0.0, self.values['goal'])
        return goals


def flatten(tree: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """Nested mappings as one, with names joined by dots."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f'{prefix}{name}.')
        else:
            flat[f'{prefix}{name}'] = value
    return flat
