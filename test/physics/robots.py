"""Robots and states that the tests of the laws share."""

from __future__ import annotations

from functools import cache

import numpy as np
from random_trees import random_tree

from torque_lab.physics import load, load_urdf, shipped_models
from torque_lab.physics.model import FLOATING, Robot

TREES = range(50)


@cache
def robot_named(name) -> Robot:
    """A shipped model by its name, or a random tree by its number."""
    return load_urdf(random_tree(name)) if isinstance(name, int) else load(name)


def some_robots():
    """Every shipped model and a few random trees, floating ones among them."""
    return [*shipped_models(), 0, 1, 2, 5, 8, 13]


def random_states(robot: Robot, count: int, seed: int = 0):
    """Positions (count, nq), with unit quaternions, and velocities (count, nv)."""
    rng = np.random.default_rng([7, seed])
    q, qd = rng.uniform(-1.5, 1.5, (count, robot.nq)), rng.normal(size=(count, robot.nv))
    for body in robot.bodies:
        if body.kind == FLOATING:
            quaternions = rng.normal(size=(count, 4))
            q[:, body.q.start + 3:body.q.stop] = (
                quaternions / np.linalg.norm(quaternions, axis=1)[:, None])
    return q, qd
