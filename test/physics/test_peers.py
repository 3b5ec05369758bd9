"""
The laws against Pinocchio and MuJoCo on the same URDF text.

The measure is ``|ours − theirs| / max(1, |theirs|)`` with the Euclidean norm over all entries of
a result: entries that cancel to nothing are judged by the size of the whole.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from lanes import lanes, unlaned
from peers import Answers, Mujoco, Pinocchio
from robots import TREES, random_states, robot_named

from torque_lab import physics

STATES = 100
TOLERANCE = 1e-11
REAL_ROBOTS = (
    'ur_description/urdf/ur3_robot.urdf',
    'ur_description/urdf/ur5_robot.urdf',
    'ur_description/urdf/ur10_robot.urdf',
    'kinova_description/robots/kinova.urdf',
    'xarm_description/urdf/xarm7.urdf',
    'z1_description/urdf/z1.urdf',
    'so_arm_description/urdf/so101.urdf',
    'talos_data/robots/talos_left_arm.urdf',
    'tiago_description/robots/tiago_no_hand.urdf',  # its wheels and torso as well: 12 joints
    'allegro_hand_description/urdf/allegro_right_hand.urdf',  # four branches
    'bolt_description/robots/bolt.urdf',  # links with inertia but no mass
)
MUJOCO_REFUSES = {
    'tiago_description/robots/tiago_no_hand.urdf': 'a fixed link whose inertia is zero',
    'allegro_hand_description/urdf/allegro_right_hand.urdf': 'an unbalanced inertia',
}


def our_answers(robot, link, q, qd, qdd, tau, forward=physics.forward_dynamics):
    """Every law at one state, of any kind of scalar."""
    return Answers(
        inverse_dynamics=physics.inverse_dynamics(robot, q, qd, qdd),
        forward_dynamics=forward(robot, q, qd, tau),
        mass_matrix=physics.mass_matrix(robot, q),
        bias=physics.bias(robot, q, qd),
        gravity_torque=physics.gravity_torque(robot, q),
        jacobian=physics.jacobian(robot, q, link),
        placement=np.column_stack(physics.forward_kinematics(robot, q, link)),
        kinetic_energy=physics.kinetic_energy(robot, q, qd),
        potential_energy=physics.gravitational_energy(robot, q))


def relative_error(ours, theirs):
    return np.linalg.norm(ours - theirs) / max(1.0, np.linalg.norm(theirs))


def worst_errors(robot, peer, link, count=STATES):
    """Largest relative error of each law over random states, floats and lanes."""
    q, qd = random_states(robot, count)
    rng = np.random.default_rng(1)
    qdd, tau = rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nv))
    states = list(zip(q, qd, qdd, tau, strict=True))
    theirs = [peer.answers(*state) for state in states]
    batched = our_answers(robot, link, *(lanes(x) for x in (q, qd, qdd, tau)))
    single = our_answers(robot, link, *states[0])
    articulated = physics.articulated_body(robot, *states[0][:2], states[0][3])
    worst = {'articulated_body': relative_error(articulated, theirs[0].forward_dynamics)}
    for name in (field.name for field in fields(Answers)):
        ours = unlaned(getattr(batched, name), count)
        expected = np.array([getattr(answers, name) for answers in theirs])
        if name == 'potential_energy':  # up to a constant: links that do not move weigh, too
            ours, expected = ours - ours[0], expected - expected[0]
        else:
            ours = np.concatenate([ours, [getattr(single, name)]])
            expected = np.concatenate([expected, expected[:1]])
        worst[name] = max(map(relative_error, ours, expected))
    return worst


def some_link(robot):
    """A link that moves: the last one in the file."""
    return [name for name, frame in robot.frames.items() if frame.body >= 0][-1]


def assert_agreement(errors):
    assert not {name: error for name, error in errors.items() if not error < TOLERANCE}


@pytest.fixture(params=[Pinocchio, Mujoco], ids=['pinocchio', 'mujoco'])
def peer(request):
    pytest.importorskip(request.param.__name__.lower())
    return request.param


@pytest.mark.parametrize('seed', TREES)
def test_random_trees_agree(peer, seed):
    robot = robot_named(seed)
    link = some_link(robot)
    assert_agreement(worst_errors(robot, peer(robot, link), link))


@pytest.mark.parametrize('name', physics.shipped_models())
def test_shipped_models_agree(peer, name):
    robot = robot_named(name)
    link = some_link(robot)
    assert_agreement(worst_errors(robot, peer(robot, link), link))


def real_robot(file):
    """A robot of the PyPI package example-robot-data, which nobody here wrote."""
    try:
        package = metadata.distribution('example-robot-data')
    except metadata.PackageNotFoundError:
        pytest.skip('example-robot-data is not installed')
    folder = package.locate_file('cmeel.prefix/share/example-robot-data/robots')
    return physics.load(Path(folder, file))


@pytest.mark.parametrize('file', REAL_ROBOTS)
def test_real_robots_agree(peer, file):
    if peer is Mujoco and file in MUJOCO_REFUSES:
        pytest.skip(f'MuJoCo refuses {file}: {MUJOCO_REFUSES[file]}')
    robot = real_robot(file)
    link = some_link(robot)
    assert_agreement(worst_errors(robot, peer(robot, link), link))
