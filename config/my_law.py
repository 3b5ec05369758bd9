"""
A control law of your own, in one file.

Copy this file to where you like, change what `effort` returns, and run it: ::

    controller_node --ros-args -p controller:=/path/to/my_law.py:MyLaw

docs/tutorial.md goes through it step by step.
"""

from dataclasses import dataclass

import numpy as np

from torque_lab.control import Law, Reference, parameter
from torque_lab.physics import compiled


class MyLaw(Law):
    """A spring and a damper on every joint, with the arm's weight carried."""

    @dataclass(frozen=True)
    class Parameters:
        """What can be set while the law runs: ros2 param set /controller my_law.stiffness 80.0."""

        stiffness: float = parameter(60.0, 'Spring to the goal', unit='N m/rad', minimum=0.0)
        damping: float = parameter(20.0, 'Damper', unit='N m s/rad', minimum=0.0)
        carries_weight: bool = parameter(True, 'Whether the law adds the torque of gravity')

    def configure(self) -> None:
        """Work out once what does not change from state to state (runs again when you set)."""
        self.physics = compiled(self.robot)  # M, C, g, J of the robot, as fast functions

    def reset(self) -> None:
        """Forget the past: time has jumped, or the servo came on.  This law has none."""

    def effort(self, t: float, dt: float, q: np.ndarray, qd: np.ndarray,
               reference: Reference) -> np.ndarray:
        """Torques for the joints, in URDF order; limits and faults are taken care of."""
        p = self.parameters
        torque = p.stiffness * (reference.position - q) + p.damping * (reference.velocity - qd)
        if p.carries_weight:
            torque = torque + self.physics.gravity_torque(q)
        return torque
