"""The manipulator equation as pure functions of a robot and its state: numpy, no ROS."""

# ruff: noqa: F401 -- this file is the list of public names

from .compiled_laws import CompiledLaws, compiled
from .composite_body import mass_matrix
from .coriolis import coriolis_matrix
from .energy import (
    gravitational_energy,
    hamiltonian,
    kinetic_energy,
    lagrangian,
    momentum,
    potential_energy,
    spring_energy,
)
from .errors import Finding, ModelError
from .forward import articulated_body, forward_dynamics
from .joints import configuration_rate
from .kinematics import centre_of_mass, forward_kinematics, jacobian
from .linear import Linearisation, linearise
from .load import check_model, load, shipped_models
from .newton_euler import bias, gravity_torque, inverse_dynamics
from .task_space import operational_inertia, resolved_rate, static_torque, unreachable_directions
from .urdf import load_urdf
