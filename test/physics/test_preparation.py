"""Preparation for kernels changes the numbers of a robot but not its motion."""

import numpy as np
import pytest
from robots import random_states, robot_named, some_robots

from torque_lab.physics import forward_dynamics, inverse_dynamics, mass_matrix
from torque_lab.physics.preparation import (
    align_axes,
    prepared,
    regroup_inertias,
    slide_frames,
)
from torque_lab.physics.tracing.function import trace


@pytest.mark.parametrize('name', some_robots())
@pytest.mark.parametrize('change', [
    align_axes, slide_frames, lambda robot: regroup_inertias(align_axes(robot)), prepared])
def test_preparation_keeps_the_equation_of_motion(name, change):
    robot = robot_named(name)
    other = change(robot)
    rng = np.random.default_rng(11)
    for q, qd in zip(*random_states(robot, 4), strict=True):
        qdd = rng.normal(size=robot.nv)
        M, tau = mass_matrix(robot, q), inverse_dynamics(robot, q, qd, qdd)
        np.testing.assert_allclose(mass_matrix(other, q), M, rtol=0, atol=1e-12 * np.abs(M).max())
        np.testing.assert_allclose(inverse_dynamics(other, q, qd, qdd), tau, rtol=0,
                                   atol=1e-12 * max(1.0, np.abs(tau).max()))


def test_preparation_points_every_axis_along_z():
    for body in prepared(robot_named(1)).bodies:
        np.testing.assert_allclose(body.axis, [0, 0, 1], atol=1e-15)


def test_preparation_saves_operations_on_the_ur5():
    robot = robot_named('ur5')

    def operations(model):
        return trace('f', lambda q, qd, tau: forward_dynamics(model, q, qd, tau), 6, 6,
                     6).operations

    assert operations(prepared(robot)) < 0.85 * operations(robot)
