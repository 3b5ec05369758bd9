"""Arms from URDF files: their physics, their simulation and their control."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from torque_lab.physics.errors import Divergence, ModelError
from torque_lab.physics.load import load, shipped_models
from torque_lab.physics.model import Robot
from torque_lab.physics.urdf import load_urdf

if TYPE_CHECKING:
    from torque_lab.physics.rollout import rollout
    from torque_lab.physics.simulator import Simulator

__all__ = ['Divergence', 'ModelError', 'Robot', 'Simulator', 'load', 'load_urdf', 'rollout',
           'shipped_models']

_ON_DEMAND = {'Simulator': 'simulator', 'rollout': 'rollout'}


def __getattr__(name: str) -> Any:
    """Import what takes longer to import when it is first asked for."""
    if name not in _ON_DEMAND:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(f'torque_lab.physics.{_ON_DEMAND[name]}'), name)
