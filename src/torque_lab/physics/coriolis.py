"""The matrix C of Coriolis and centrifugal forces, from Christoffel symbols."""

from __future__ import annotations

import numpy as np

from .arguments import vector
from .composite_body import mass_matrix
from .forward import motion_cross
from .joints import configuration_rate
from .model import FLOATING, Array, Body, Robot

STEP = 1e-30
"""Step of complex-step derivatives: it is squared away, so the derivative is exact."""


def mass_matrix_gradient(robot: Robot, q: Array) -> Array:
    """
    Derivatives of the mass matrix (nv, nv, nv): entry ``[i, k, j]`` is ``∂M_kj / ∂q_i``.

    Exact, by complex step: ``∂M/∂q_i = imag M(q + i h e_i) / h``.  A floating joint's positions
    are followed along its body-axes velocities.
    """
    q = np.asarray(vector(robot, 'q', q, robot.nq), dtype=float)
    units = np.eye(robot.nv)
    return np.array([mass_matrix(robot, q + 1j * STEP * configuration_rate(robot, q, unit)).imag
                     for unit in units]) / STEP


def coriolis_matrix(robot: Robot, q: Array, qd: Array) -> Array:
    """
    Matrix C(q, q̇) (nv, nv) with ``C q̇`` the Coriolis and centrifugal forces, for numbers.

    ``C_kj = Σ_i ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k) q̇_i``: with these Christoffel symbols
    ``Ṁ − 2 C`` is skew-symmetric.  A floating joint's velocities are no rates of coordinates; its
    symbols have the terms of the Koszul formula for body axes added, and the law still holds.

    ``q`` (nq,), ``qd`` (nv,).  Lynch & Park 2017, section 8.1.3.
    """
    qd = np.asarray(vector(robot, 'qd', qd, robot.nv), dtype=float)
    gradient = mass_matrix_gradient(robot, q)
    rate = np.einsum('ikj,i->kj', gradient, qd)
    along = np.einsum('jki,i->kj', gradient, qd)
    C = (rate + along - along.T) / 2
    if robot.has_floating_joint:
        C += _body_axes_terms(robot, mass_matrix(robot, np.asarray(q, dtype=float)), qd)
    return C


def _body_axes_terms(robot: Robot, M: Array, qd: Array) -> Array:
    """
    What body axes add to C: ``½ (M [q̇, ·] − [q̇, ·]ᵀ M − B)`` with ``B_kj = (M q̇)·[e_j, e_k]``.

    ``[·, ·]`` is the product of twists, zero between any two joints and for other kinds of joint.
    """
    bracket, momentum = np.zeros_like(M), np.zeros_like(M)
    for body in robot.bodies:
        if body.kind == FLOATING:
            bracket[body.v, body.v] = motion_cross(qd[body.v])
            momentum[body.v, body.v] = _momentum_term(body, M @ qd)
    product = M @ bracket
    return (product - product.T - momentum) / 2


def _momentum_term(body: Body, momentum: Array) -> Array:
    """Matrix (6, 6) with entry kj ``momentum · (e_j × e_k)`` of one floating joint's twists."""
    return np.array([motion_cross(e).T @ momentum[body.v] for e in np.eye(6)]).T
