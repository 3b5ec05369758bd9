"""The robot as its tip feels it: forces, inertia and motion in the space of the task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arguments import vector
from .composite_body import mass_matrix
from .kinematics import jacobian
from .model import Array, Robot

ALL_ROWS = (0, 1, 2, 3, 4, 5)
"""A whole twist: three linear rows, then three angular ones."""

RANK_TOLERANCE = 1e-10
"""A direction is out of reach when its gain is this much smaller than the largest."""


def static_torque(robot: Robot, q: Array, wrench: Array, link: str | None = None) -> Array:
    """
    Joint forces ``τ = Jᵀ F`` (nv,) with which a link exerts a wrench on the world, at rest.

    Gravity comes on top (`gravity_torque`).  To hold a wrench that the world exerts on the arm
    takes the opposite sign.  ``wrench`` (6,): force in N, torque in N m, at the origin of the
    link's frame, in world-aligned axes.  Lynch & Park 2017, section 5.2.
    """
    return jacobian(robot, q, link).T @ vector(robot, 'wrench', wrench, 6)


def operational_inertia(robot: Robot, q: Array, link: str | None = None,
                        rows: Sequence[int] = ALL_ROWS) -> Array:
    """
    Inertia ``Λ = (J M⁻¹ Jᵀ)⁻¹`` (k, k) that a push on a link feels, in world-aligned axes.

    Equals ``J⁻ᵀ M J⁻¹`` where J is square and regular.  ``rows`` picks the k rows of the
    Jacobian that make the task, such as ``(0, 2)`` for the tip of an arm in the x-z plane.

    In a direction that no joint motion reaches (a singular pose, or more rows than joints) the
    inertia is infinite.  Λ then is the inertia within the directions that are reached, and zero
    along the others, which `unreachable_directions` lists.

    With the Cholesky factor ``M = L Lᵀ`` and the singular values σ, directions U of ``J L⁻ᵀ``:
    ``Λ = U σ⁻² Uᵀ``.  Lynch & Park 2017, section 8.6; Khatib 1987.
    """
    J = _task_jacobian(robot, q, link, rows)
    M = mass_matrix(robot, np.asarray(q, dtype=float))
    U, sigma, _ = np.linalg.svd(np.linalg.solve(np.linalg.cholesky(M), J.T).T)
    sigma, U = _reached(sigma, U)
    return (U / sigma**2) @ U.T


def resolved_rate(robot: Robot, q: Array, twist: Array, link: str | None = None,
                  rows: Sequence[int] = ALL_ROWS, damping: float = 0.0) -> Array:
    """
    Joint velocities ``q̇ = J⁻¹ ξ`` (nv,) that move a link with a twist.

    Where J has no inverse: of all joint velocities that come closest to the twist, the smallest
    (the pseudo-inverse); what lies along `unreachable_directions` is given up.  Close to such a
    pose the velocities grow without bound: ``damping`` λ > 0 limits them to ``|ξ| / 2 λ``, at the
    price of a twist not quite met (damped least squares, ``q̇ = Jᵀ (J Jᵀ + λ² 1)⁻¹ ξ``).

    ``twist`` (k,): one entry per row in ``rows``, in world-aligned axes at the origin of the
    link's frame.  Lynch & Park 2017, section 6.3; Nakamura & Hanafusa 1986.
    """
    rows = tuple(rows)
    twist = np.asarray(vector(robot, 'twist', twist, len(rows)), dtype=float)
    U, sigma, Vt = np.linalg.svd(_task_jacobian(robot, q, link, rows))
    sigma, U, V = _reached(sigma, U, Vt.T)
    return V @ (sigma / (sigma**2 + damping**2) * (U.T @ twist))


def unreachable_directions(robot: Robot, q: Array, link: str | None = None,
                           rows: Sequence[int] = ALL_ROWS) -> Array:
    """Unit directions (k, m) of the task in which no joint moves the link: none when regular."""
    U, sigma, _ = np.linalg.svd(_task_jacobian(robot, q, link, rows))
    return U[:, len(_reached(sigma)[0]):]


def _task_jacobian(robot: Robot, q: Array, link: str | None, rows: Sequence[int]) -> Array:
    rows = tuple(rows)
    if not rows or len(set(rows)) != len(rows) or not set(rows) <= set(ALL_ROWS):
        raise ValueError(f'{robot.name}: rows pick different ones of 0 to 5; got {rows}')
    return jacobian(robot, q, link)[list(rows)].astype(float)


def _reached(sigma: Array, *directions: Array) -> tuple[Array, ...]:
    """Singular values well above zero, and the columns that belong to them."""
    rank = int(np.sum(sigma > RANK_TOLERANCE * sigma.max(initial=0.0)))
    return sigma[:rank], *(columns[:, :rank] for columns in directions)
