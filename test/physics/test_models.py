"""The shipped models: their numbers, their poses, and that everyone can read them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from torque_lab.physics import forward_kinematics, load, mass_matrix, shipped_models
from torque_lab.physics.load import check_model, models_folder

DOWN = np.array([0, 0, -1.0])
STARTS = {
    'pendulum': [np.pi / 2],
    'double_pendulum': [np.pi / 2, 0],
    'rp_arm': [0, 0.8],
    'n_link': [0.3] * 4,
    'three_link': [0.5, -0.5, 0.5],
    'rotary_pendulum': [0, np.pi],
    'free_body': [0, 0, 0, 0, 0, 0, 1],
    'ur5': [0, -np.pi / 2, np.pi / 2, 0, 0, 0],
}
EFFORTS = {
    'pendulum': [300],
    'double_pendulum': [300, 150],
    'rp_arm': [60, 60],
    'n_link': [60] * 4,
    'three_link': [60, 30, 10],
    'rotary_pendulum': [np.inf, 0],  # the voltage is what is limited; the pendulum has no drive
    'free_body': [np.inf] * 6,
    'ur5': [150, 150, 150, 28, 28, 28],
}
LENGTHS = {'pendulum': [2], 'double_pendulum': [2, 2], 'n_link': [0.5] * 4,
           'three_link': [0.6, 0.5, 0.3]}
MODELS = sorted(STARTS)


def tip(robot, q):
    return forward_kinematics(robot, np.asarray(q, dtype=float))[1]


def test_the_eight_models_are_shipped():
    assert list(shipped_models()) == MODELS


@pytest.mark.parametrize('name', MODELS)
def test_a_shipped_model_passes_its_own_check(name):
    assert check_model(name) == []


@pytest.mark.parametrize('name', MODELS)
def test_defaults_are_the_documented_ones(name):
    robot = load(name)
    assert robot.name == name
    np.testing.assert_array_equal(robot.start, STARTS[name])
    np.testing.assert_array_equal(robot.effort_limit, EFFORTS[name])
    np.testing.assert_array_equal(robot.gravity, [0, 0, 0 if name == 'free_body' else -9.81])
    assert next(iter(robot.frames)) == 'world'


@pytest.mark.parametrize('name', MODELS)
def test_pinocchio_and_mujoco_read_the_model(name):
    pinocchio = pytest.importorskip('pinocchio')
    mujoco = pytest.importorskip('mujoco')
    robot = load(name)
    assert pinocchio.buildModelFromXML(robot.urdf).nv == robot.nv
    assert mujoco.MjModel.from_xml_string(robot.urdf).nv == robot.nv


@pytest.mark.parametrize('name', MODELS)
def test_the_text_does_not_depend_on_where_the_model_is_installed(name):
    assert str(models_folder()) not in load(name).urdf


@pytest.mark.parametrize('name', MODELS)
def test_every_argument_does_something(name):
    text = (models_folder() / f'{name}.urdf.xacro').read_text()
    before = load(name).urdf
    arguments = re.findall(r'<xacro:arg name="(\w+)"', text)
    assert arguments
    for argument in arguments:
        value = {'links': 3, 'upper': 1.25}.get(argument, 0.25)
        assert load(name, **{argument: value}).urdf != before, argument


@pytest.mark.parametrize('name', LENGTHS)
def test_planar_arms_hang_at_zero_and_positive_angles_swing_towards_x(name):
    robot = load(name)
    reach = sum(LENGTHS[name])
    assert robot.tip == 'tip'
    np.testing.assert_allclose(tip(robot, np.zeros(robot.nq)), reach * DOWN, atol=1e-15)
    first = np.zeros(robot.nq)
    first[0] = 0.3
    np.testing.assert_allclose(tip(robot, first),
                               [reach * np.sin(0.3), 0, -reach * np.cos(0.3)], atol=1e-14)


def test_the_rp_arm_is_horizontal_at_zero_and_extends_along_itself():
    robot = load('rp_arm')
    np.testing.assert_allclose(tip(robot, [0, 0.8]), [0.8, 0, 0], atol=1e-15)
    np.testing.assert_allclose(tip(robot, [0.5, 1.2]), [1.2 * np.cos(0.5), 0, 1.2 * np.sin(0.5)],
                               atol=1e-15)
    np.testing.assert_array_equal((robot.lower[1], robot.upper[1]), (0.2, 1.5))
    np.testing.assert_allclose(
        mass_matrix(robot, np.array([0.3, 0.8])),
        np.diag([2 * 0.5**2 + 1 * 0.8**2 + 0.05 + 0.02, 1]), rtol=1e-14)


@pytest.mark.parametrize('links', [1, 2, 3, 7, 40])
def test_the_chain_has_any_number_of_links(links):
    robot = load('n_link', links=links)
    assert robot.joint_names == tuple(f'joint{number + 1}' for number in range(links))
    assert robot.parents == tuple(range(-1, links - 1))
    np.testing.assert_allclose(tip(robot, np.zeros(links)), 0.5 * links * DOWN, atol=1e-13)


def test_two_links_of_the_chain_are_the_double_pendulum():
    chain = load('n_link', links=2, mass=2, length=2)
    q = np.array([0.4, -1.1])
    np.testing.assert_allclose(mass_matrix(chain, q), mass_matrix(load('double_pendulum'), q),
                               rtol=1e-15)


def test_rods_have_the_inertia_of_the_cylinder_that_is_drawn():
    for body, mass, length in zip(load('three_link').bodies, (1.5, 1, 0.5), (0.6, 0.5, 0.3),
                                  strict=True):
        across = mass * (3 * 0.02**2 + length**2) / 12
        np.testing.assert_allclose(body.inertia.about_com,
                                   np.diag([across, across, mass * 0.02**2 / 2]), rtol=1e-14)


def test_the_rotary_pendulum_has_the_arm_inertia_that_was_asked_for():
    robot = load('rotary_pendulum')
    arm, pendulum = robot.bodies
    about_axis = arm.inertia.about_com[2, 2] + arm.inertia.mass * arm.inertia.com[0]**2
    assert about_axis == pytest.approx(0.0044, rel=1e-14)
    # M = [[a1 + a2 sin² + i cos², a3 cos], [·, a2]], i the rod's inertia about its own axis
    own = pendulum.inertia.about_com[2, 2]
    a2 = pendulum.inertia.about_com[0, 0] + 0.14 * 0.15**2
    for q2 in (0.0, 0.7, np.pi):
        s, c = np.sin(q2), np.cos(q2)
        coupling = 0.14 * 0.2 * 0.15 * c
        np.testing.assert_allclose(
            mass_matrix(robot, np.array([0.3, q2])),
            [[0.0044 + 0.14 * 0.2**2 + a2 * s * s + own * c * c, coupling], [coupling, a2]],
            rtol=1e-12)
    np.testing.assert_array_equal(robot.damping, [0.015, 0.002])
    motor = robot.motors[0]
    assert (motor.voltage_limit, robot.motors[1]) == (10, None)
    assert motor.torque(1.0, 2.0) == pytest.approx(
        0.00767 * 70 / 2.6 * (1 - 0.00767 * 70 * 2), rel=1e-15)


def test_the_pendulum_stands_upright_at_zero():
    robot = load('rotary_pendulum', height=0)
    np.testing.assert_allclose(tip(robot, [0, 0]), [0.2, 0, 0.3], atol=1e-15)
    np.testing.assert_allclose(tip(robot, [0, 0.1]),
                               [0.2, 0.3 * np.sin(0.1), 0.3 * np.cos(0.1)], atol=1e-15)


def test_the_free_body_spins_about_its_middle_axis():
    robot = load('free_body')
    moments = np.diag(robot.bodies[0].inertia.about_com)
    np.testing.assert_allclose(moments, np.array([4 + 9, 1 + 9, 1 + 4]) / 1200, rtol=1e-14)
    np.testing.assert_array_equal(robot.start_velocity, [0, 0, 0, 1e-3, 2 * np.pi, 0])
    assert np.argsort(moments)[1] == 1


def test_the_ur5_has_the_published_kinematics():
    """Denavit-Hartenberg products, from a base turned by half a turn as the maker does."""
    robot = load('ur5')
    rows = [(0, 0.089159, np.pi / 2), (-0.425, 0, 0), (-0.39225, 0, 0), (0, 0.10915, np.pi / 2),
            (0, 0.09465, -np.pi / 2), (0, 0.0823, 0)]
    random = np.random.default_rng(8)
    for q in random.uniform(-np.pi, np.pi, (20, 6)):
        expected = np.diag([-1.0, -1, 1, 1])
        for (a, d, twist), angle in zip(rows, q, strict=True):
            c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
            expected = expected @ [[c, -s * ct, s * st, a * c], [s, c * ct, -c * st, a * s],
                                   [0, st, ct, d], [0, 0, 0, 1]]
        rotation, translation = forward_kinematics(robot, q, 'tool0')
        np.testing.assert_allclose(rotation, expected[:3, :3], atol=1e-14)
        np.testing.assert_allclose(translation, expected[:3, 3], atol=1e-14)


def test_the_ur5_has_the_published_masses_and_limits():
    robot = load('ur5')
    assert robot.joint_names == (
        'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
        'wrist_2_joint', 'wrist_3_joint')
    assert [body.inertia.mass for body in robot.bodies] == [3.7, 8.393, 2.33, 1.219, 1.219,
                                                            0.1879]
    np.testing.assert_array_equal(robot.velocity_limit, np.pi)
    np.testing.assert_array_equal(robot.upper / np.pi, [2, 2, 1, 2, 2, 2])
    # Upper arm and forearm lie along x: their cylinders are pitched by a quarter turn.
    for body, along, across in ((robot.bodies[1], 0.0151074, 0.1338858354),
                                (robot.bodies[2], 0.004095, 0.0312168035)):
        np.testing.assert_array_equal(body.inertia.about_com, np.diag([along, across, across]))


@pytest.mark.parametrize('name', MODELS)
def test_the_documentation_lists_every_argument_and_its_default(name):
    page = models_folder().parent / 'docs' / 'models.md'
    if not page.is_file():
        pytest.skip('not in the source tree')
    section = page.read_text(encoding='utf-8').split(f'\n### {name}\n')[1].split('\n#')[0]
    listed = re.findall(r'`(\w+)` ([^,\s]+?)[,.](?=\s|$)', section.split('Arguments:')[1])
    source = (models_folder() / f'{name}.urdf.xacro').read_text(encoding='utf-8')
    declared = re.findall(r'<xacro:arg name="(\w+)" default="([^"]*)"', source)
    plain = str.maketrans({'$': '', '{': '', '}': '', '*': ''})
    assert listed == [(argument, default.translate(plain).replace('pi', 'π'))
                      for argument, default in declared]
