"""Compiled laws are the plain laws."""

import numpy as np
import pytest
from robots import random_states, robot_named, some_robots

import torque_lab.physics as physics
from torque_lab.physics import CompiledLaws, compiled

pytest.importorskip('llvmlite')


@pytest.mark.parametrize('name', some_robots())
def test_compiled_laws_equal_the_plain_ones(name):
    robot = robot_named(name)
    laws, rng = compiled(robot), np.random.default_rng(4)
    assert compiled(robot) is laws
    for q, qd in zip(*random_states(robot, 3), strict=True):
        tau = rng.normal(size=robot.nv)
        for law, arguments in (('inverse_dynamics', (q, qd, tau)), ('mass_matrix', (q,)),
                               ('forward_dynamics', (q, qd, tau)), ('bias', (q, qd)),
                               ('gravity_torque', (q,)), ('jacobian', (q,))):
            expected = getattr(physics, law)(robot, *arguments)
            np.testing.assert_allclose(getattr(laws, law)(*arguments), expected, rtol=0,
                                       atol=1e-12 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize('name', ['pendulum', 'rotary_pendulum', 'free_body', 'ur5', 2])
def test_compiled_linearisation_equals_the_complex_step(name):
    robot, laws = robot_named(name), compiled(robot_named(name))
    (q,), (qd,) = random_states(robot, 1)
    command = np.random.default_rng(6).normal(size=robot.nv)
    for mine, its in zip(laws.linearise(q, qd, command), physics.linearise(robot, q, qd, command),
                         strict=True):
        np.testing.assert_allclose(mine, its, rtol=0, atol=1e-11 * max(1.0, np.abs(its).max()))


def test_jacobians_of_other_links_and_axes():
    robot, laws = robot_named('ur5'), compiled(robot_named('ur5'))
    q = np.linspace(-1, 1, 6)
    for link in ('forearm_link', 'wrist_2_link'):
        for axes in ('world', 'link'):
            np.testing.assert_allclose(laws.jacobian(q, link, axes),
                                       physics.jacobian(robot, q, link, axes), atol=1e-14)
    with pytest.raises(KeyError, match='no link "hand"'):
        laws.jacobian(q, 'hand')


def test_results_are_new_arrays():
    laws = compiled(robot_named('double_pendulum'))
    first = laws.mass_matrix([0.0, 0.1])
    kept = first.copy()
    laws.mass_matrix([0.0, 1.0])
    assert first.tolist() == kept.tolist()


def test_wrong_arguments_are_named():
    laws = compiled(robot_named('double_pendulum'))
    with pytest.raises(ValueError, match=r'bias takes q \(2,\), qd \(2,\); got shapes'):
        laws.bias([0.0], [1.0, 2.0])
    with pytest.raises(ValueError, match='got shapes'):
        laws.bias([0.0, 0.0])
    with pytest.raises(ValueError, match='mass_matrix takes'):
        laws.mass_matrix(3.0)


def test_the_plain_path_offers_the_same_calls():
    robot = robot_named('rotary_pendulum')
    plain, fast = CompiledLaws(robot, compile_laws=False), compiled(robot)
    q, qd, tau = [0.1, 0.2], [1.0, -1.0], [0.5, 0.0]
    np.testing.assert_allclose(plain.forward_dynamics(q, qd, tau), fast.forward_dynamics(
        q, qd, tau), rtol=1e-12)
    np.testing.assert_allclose(plain.linearise(q, qd).A, fast.linearise(q, qd).A, rtol=1e-11,
                               atol=1e-12)
