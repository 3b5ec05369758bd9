"""Linear equations with a mass matrix, for every kind of scalar and without fill-in on a tree."""

from __future__ import annotations

import numpy as np

from .errors import ModelError
from .joints import ancestors
from .model import Array, Robot
from .spatial import settled


def solve_mass_matrix(robot: Robot, M: Array, force: Array) -> Array:
    """
    Acceleration (nv,) with ``M q̈ = force``, for a mass matrix (nv, nv) and a force (nv,).

    Numbers go to LAPACK; other scalars through ``M = Lᵀ D L``, eliminated from the leaves to the
    root: entries of M that are zero because two joints lie on different branches stay zero.
    Featherstone 2008, section 6.4 and table 6.3.
    """
    if M.dtype == object or force.dtype == object:
        return solve_positive(M, force, carriers(robot))
    try:
        return np.linalg.solve(M, force)
    except np.linalg.LinAlgError:
        raise singular(robot) from None


def singular(robot: Robot) -> ModelError:
    """What to say when a joint has nothing to accelerate."""
    return ModelError(f'{robot.name}: the mass matrix is singular: a joint moves no mass and no '
                      'inertia; give the link that it carries a mass')


def carriers(robot: Robot) -> dict[int, list[int]]:
    """For every degree of freedom, root first: those between it and the root, nearest first."""
    found = {}
    for index in range(len(robot.bodies)):
        above = [k for i in ancestors(robot, index)[1:]
                 for k in reversed(_freedoms(robot, i))]
        own = _freedoms(robot, index)
        found.update({k: own[:place][::-1] + above for place, k in enumerate(own)})
    return found


def _freedoms(robot: Robot, index: int) -> list[int]:
    """Degrees of freedom of one body's joint."""
    return list(range(robot.bodies[index].v.start, robot.bodies[index].v.stop))


def solve_positive(A: Array, b: Array, above: dict[int, list[int]] | None = None) -> Array:
    """
    Solution (n,) of ``A x = b`` for a symmetric positive definite A (n, n), by ``A = Lᵀ D L``.

    ``above`` lists for every row, in order, the earlier rows that it couples to; all by default.
    """
    above = above or {k: list(range(k))[::-1] for k in range(len(A))}
    H, x, inverse = A.astype(object), b.astype(object), {}
    for k in reversed(above):
        inverse[k] = 1 / H[k, k]
        for place, i in enumerate(above[k]):
            factor = H[k, i] * inverse[k]
            for j in above[k][place:]:
                H[i, j] = H[i, j] - factor * H[k, j]
            x[i] = x[i] - factor * x[k]
            H[k, i] = factor
    for k in above:
        x[k] = x[k] * inverse[k]
        for i in above[k]:
            x[k] = x[k] - H[k, i] * x[i]
    return settled(x)
