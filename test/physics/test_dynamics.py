"""The algorithms: every kind of scalar, shapes of arguments, and corners."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy
from lanes import lanes, unlaned
from robots import random_states, robot_named, some_robots

from torque_lab import ModelError, physics
from torque_lab.physics import load_urdf
from torque_lab.physics.model import Inertia
from torque_lab.physics.tree_solve import carriers, solve_positive

LAWS = {
    'inverse_dynamics': lambda robot, q, v: physics.inverse_dynamics(robot, q, v, v),
    'mass_matrix': lambda robot, q, v: physics.mass_matrix(robot, q),
    'forward_dynamics': lambda robot, q, v: physics.forward_dynamics(robot, q, v, v),
    'articulated_body': lambda robot, q, v: physics.articulated_body(robot, q, v, v),
    'bias': lambda robot, q, v: physics.bias(robot, q, v),
    'gravity_torque': lambda robot, q, v: physics.gravity_torque(robot, q),
    'jacobian': lambda robot, q, v: physics.jacobian(robot, q),
    'configuration_rate': lambda robot, q, v: physics.configuration_rate(robot, q, v),
    'kinetic_energy': lambda robot, q, v: physics.kinetic_energy(robot, q, v),
    'potential_energy': lambda robot, q, v: physics.potential_energy(robot, q),
    'hamiltonian': lambda robot, q, v: physics.hamiltonian(robot, q, v),
    'lagrangian': lambda robot, q, v: physics.lagrangian(robot, q, v),
    'momentum': lambda robot, q, v: np.array(physics.momentum(robot, q, v)),
    'centre_of_mass': lambda robot, q, v: physics.centre_of_mass(robot, q),
}


@pytest.fixture(params=LAWS)
def law(request):
    return LAWS[request.param]


@pytest.mark.parametrize('name', some_robots())
def test_numbers_and_lanes_agree(law, name):
    robot = robot_named(name)
    q, qd = random_states(robot, 2)
    expected = np.array([law(robot, *state) for state in zip(q, qd, strict=True)])
    ours = unlaned(law(robot, lanes(q), lanes(qd)), 2)
    assert expected.dtype == float
    assert np.linalg.norm(ours - expected) < 1e-11 * max(1, np.linalg.norm(expected))


def test_complex_states_give_complex_results_with_the_same_real_part(law):
    robot = robot_named('ur5')
    (q,), (qd,) = random_states(robot, 1)
    ours = law(robot, q + 0j, qd + 0j)
    assert np.iscomplexobj(ours)
    assert np.allclose(ours, law(robot, q, qd), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('name', ['rp_arm', 'rotary_pendulum'])
def test_symbols_give_equations_with_the_same_values(law, name):
    robot = robot_named(name)
    (q,), (qd,) = random_states(robot, 1)
    symbols = sympy.symbols('q1 q2 v1 v2')
    equation = law(robot, list(symbols[:2]), list(symbols[2:]))
    values = dict(zip(symbols, (*q, *qd), strict=True))
    ours = [float(sympy.sympify(entry).subs(values)) for entry in np.ravel(equation)]
    assert np.allclose(ours, np.ravel(law(robot, q, qd)), rtol=1e-11, atol=1e-11)


def test_lists_and_whole_numbers_are_welcome(law):
    robot = robot_named('double_pendulum')
    assert np.array_equal(law(robot, [1, 2], [3, 4]),
                          law(robot, np.array([1.0, 2.0]), np.array([3.0, 4.0])))


@pytest.mark.parametrize('call', [
    lambda robot: physics.inverse_dynamics(robot, [0], [0, 0], [0, 0]),
    lambda robot: physics.mass_matrix(robot, np.zeros((2, 1))),
    lambda robot: physics.jacobian(robot, [0]),
    lambda robot: physics.potential_energy(robot, [0, 0, 0]),
    lambda robot: physics.linearise(robot, [0], [0, 0]),
    lambda robot: physics.coriolis_matrix(robot, [0], [0, 0]),
    lambda robot: physics.forward_kinematics(robot, 0),
])
def test_positions_of_a_wrong_length_are_refused_by_name(call):
    with pytest.raises(ValueError, match='double_pendulum: q needs 2 entries, in one row; got'):
        call(robot_named('double_pendulum'))


@pytest.mark.parametrize(('call', 'argument'), [
    (lambda robot: physics.bias(robot, [0, 0], [0]), 'qd'),
    (lambda robot: physics.inverse_dynamics(robot, [0, 0], [0, 0], [0]), 'qdd'),
    (lambda robot: physics.forward_dynamics(robot, [0, 0], [0, 0], [0]), 'tau'),
    (lambda robot: physics.articulated_body(robot, [0, 0], [0, 0], [0]), 'tau'),
    (lambda robot: physics.linearise(robot, [0, 0], [0, 0], [0]), 'command'),
    (lambda robot: physics.kinetic_energy(robot, [0, 0], [0]), 'qd'),
    (lambda robot: physics.configuration_rate(robot, [0, 0], [0]), 'qd'),
    (lambda robot: physics.coriolis_matrix(robot, [0, 0], [0]), 'qd'),
])
def test_other_arguments_of_a_wrong_length_are_refused_by_name(call, argument):
    with pytest.raises(ValueError, match=f'double_pendulum: {argument} needs 2 entries'):
        call(robot_named('double_pendulum'))


def test_arguments_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError, match='double_pendulum: q needs numbers'):
        physics.mass_matrix(robot_named('double_pendulum'), ['a', 'b'])


def test_wrenches_of_a_wrong_length_or_on_unknown_links_are_refused():
    robot = robot_named('double_pendulum')
    with pytest.raises(ValueError, match='double_pendulum: wrench on tip needs 6 entries'):
        physics.bias(robot, [0, 0], [0, 0], {'tip': [1, 2, 3]})
    with pytest.raises(KeyError, match='double_pendulum has no link "hand"'):
        physics.bias(robot, [0, 0], [0, 0], {'hand': np.zeros(6)})


def test_a_force_on_the_tip_turns_the_joint_by_its_lever():
    """A pendulum of 2 m, held level: 3 N upwards at the tip take 6 N m off the joint."""
    robot = robot_named('pendulum')
    lifted = physics.bias(robot, [np.pi / 2], [0], {'tip': [0, 0, 3, 0, 0, 0]})
    assert np.allclose(physics.gravity_torque(robot, [np.pi / 2]) - lifted, 6, rtol=1e-13)


def test_a_wrench_on_the_base_changes_nothing():
    robot = robot_named('ur5')
    q, qd = robot.start, np.ones(6)
    assert np.array_equal(physics.bias(robot, q, qd, {'base_link': np.ones(6)}),
                          physics.bias(robot, q, qd))


def test_joints_on_different_branches_share_no_mass():
    """Exact zeros in M, and none filled in by the factorisation over the tree."""
    robot = robot_named(0)
    couples = {k: {k, *above} for k, above in carriers(robot).items()}
    M = physics.mass_matrix(robot, random_states(robot, 1)[0][0])
    apart = [(i, j) for i in couples for j in couples
             if i not in couples[j] and j not in couples[i]]
    assert apart
    assert all(M[i, j] == 0 for i, j in apart)


@pytest.mark.parametrize('name', some_robots())
def test_factorisation_over_the_tree_solves_as_lapack_does(name):
    robot = robot_named(name)
    M = physics.mass_matrix(robot, random_states(robot, 1)[0][0])
    force = np.random.default_rng(0).normal(size=robot.nv)
    expected = np.linalg.solve(M, force)
    for ours in (solve_positive(M, force, carriers(robot)), solve_positive(M, force)):
        assert np.linalg.norm(ours - expected) < 1e-11 * np.linalg.norm(expected)


@pytest.mark.parametrize('forward', [physics.forward_dynamics, physics.articulated_body])
def test_a_joint_that_moves_no_inertia_is_refused_by_name(forward):
    robot = robot_named('pendulum')
    nothing = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    robot = robot.replace(bodies=(replace(robot.bodies[0], inertia=nothing),))
    with pytest.raises(ModelError, match='pendulum: the mass matrix is singular'):
        forward(robot, [0], [0], [1])


def test_a_robot_without_joints_has_empty_laws():
    robot = load_urdf('<robot name="table"><link name="top"/></robot>')
    nothing: list[float] = []
    assert physics.inverse_dynamics(robot, nothing, nothing, nothing).shape == (0,)
    assert physics.mass_matrix(robot, nothing).shape == (0, 0)
    assert physics.jacobian(robot, nothing, 'top').shape == (6, 0)
    assert physics.forward_dynamics(robot, nothing, nothing, nothing).shape == (0,)
    assert physics.articulated_body(robot, nothing, nothing, nothing).shape == (0,)
    assert physics.hamiltonian(robot, nothing, nothing) == 0
