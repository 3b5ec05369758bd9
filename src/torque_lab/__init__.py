"""Arms from URDF files: their physics, their simulation and their control."""

from torque_lab.physics.errors import ModelError
from torque_lab.physics.load import load, shipped_models
from torque_lab.physics.urdf import load_urdf

__all__ = ['ModelError', 'load', 'load_urdf', 'shipped_models']
