"""The tip as a spring, and the tip along its way."""

import numpy as np
import pytest

from torque_lab.control import Reference
from torque_lab.control.closed_loop import simulate
from torque_lab.control.configuration import Configuration
from torque_lab.control.goals import Goals
from torque_lab.control.impedance import (
    Impedance,
    OperationalSpace,
    orientation_error,
    reached_rows,
    tip_function,
)
from torque_lab.physics import forward_kinematics, jacobian, load
from torque_lab.physics.simulator import Simulator

UR5_REGULAR = np.array([0.0, -1.2, 1.5, -0.5, 1.0, 0.3])


def hold(robot):
    return Goals(np.full(robot.nv, np.inf), np.full(robot.nv, np.inf))


def displacement(law, start, force, seconds=4.0, delay=1):
    """Where a constant force on the tip moves it, in m."""
    tip = tip_function(law.robot, law.robot.tip)
    wrench = np.concatenate([force, np.zeros(3)])
    loop = simulate(law, hold(law.robot), seconds, q=start, delay=delay,
                    push=lambda t, q: tip(q).J.T @ wrench)
    assert not loop.fault
    return tip(loop.q[-1]).position - tip(loop.q[0]).position


@pytest.mark.parametrize(('name', 'start', 'directions'), [
    ('three_link', None, [0, 2]), ('ur5', None, [0, 1, 2]), ('ur5', UR5_REGULAR, [0, 1, 2])])
def test_stiffness_felt_by_a_push_of_5_n_is_the_commanded_one(name, start, directions):
    robot = load(name)
    law = Configuration.shipped(name, 'impedance').law(robot)
    for direction in directions:
        force = 5.0 * np.eye(3)[direction]
        moved = displacement(law, robot.start if start is None else start, force)
        assert moved == pytest.approx(force / law.parameters.stiffness, abs=0.05 * 5.0 /
                                      law.parameters.stiffness)


def test_orientation_is_held_too_when_asked_for():
    robot = load('ur5')
    law = Impedance(robot, Impedance.Parameters(orientation=True))
    assert law.rows == [0, 1, 2, 3, 4, 5]
    tip = tip_function(robot, robot.tip)
    turned = UR5_REGULAR + np.array([0.0, 0.0, 0.0, 0.1, -0.1, 0.2])
    way = hold(robot)
    way.go(0.0, UR5_REGULAR)
    loop = simulate(law, way, 4.0, q=turned)
    assert np.abs(orientation_error(tip(UR5_REGULAR).rotation,
                                    tip(loop.q[-1]).rotation)).max() < 0.01


def test_stretched_arm_is_no_danger():
    robot = load('three_link')
    law = Configuration.shipped('three_link', 'impedance').law(robot)
    straight = np.array([np.pi / 2, 0.0, 0.0])
    moved = displacement(law, straight, np.array([5.0, 0.0, 0.0]), seconds=2.0)
    assert np.abs(moved).max() < 0.03
    for other in (law, Configuration.shipped('three_link', 'operational_space').law(robot)):
        simulator = Simulator(robot, track_energy=False)
        simulator.reset(straight)
        beyond = Reference(np.array([np.pi / 2, 0.3, 0.3]), np.zeros(3), np.zeros(3))
        for _ in range(3000):
            effort = other.effort(0.0, 1e-3, simulator.q, simulator.qd, beyond)
            assert np.isfinite(effort).all()
            simulator.step(effort)
        assert np.abs(simulator.qd).max() < 0.2


@pytest.mark.parametrize(('name', 'start'), [('three_link', [0.5, -0.5, 0.9]),
                                             ('ur5', UR5_REGULAR.tolist())])
def test_tip_follows_its_way_in_operational_space(name, start):
    robot = load(name)
    law = Configuration.shipped(name, 'operational_space').law(robot)
    tip = tip_function(robot, robot.tip)

    class Way(Goals):
        def begin(self, t, q):
            super().begin(t, q)
            self.follow(t, [2.0], [q + 0.4])

    loop = simulate(law, Way(np.full(robot.nv, np.inf), np.full(robot.nv, np.inf)), 2.5,
                    q=np.array(start))
    errors = [tip(q).position - tip(wanted).position
              for q, wanted in zip(loop.q[::20], loop.reference[::20], strict=True)]
    assert np.abs(errors).max() < 1e-4


def test_tip_function_is_the_kinematics():
    robot = load('ur5')
    q = np.random.default_rng(3).normal(size=6)
    R, p = forward_kinematics(robot, q)
    now = tip_function(robot, robot.tip)(q)
    assert now.rotation == pytest.approx(R.astype(float), abs=1e-12)
    assert now.position == pytest.approx(p.astype(float), abs=1e-12)
    assert pytest.approx(jacobian(robot, q).astype(float), abs=1e-12) == now.J


def test_rows_are_those_that_the_joints_reach():
    planar, ur5 = load('three_link'), load('ur5')
    assert reached_rows(planar, planar.tip, orientation=False) == [0, 2]
    assert reached_rows(planar, planar.tip, orientation=True) == [0, 2, 4]
    assert reached_rows(ur5, ur5.tip, orientation=False) == [0, 1, 2]


def test_unknown_link_is_refused():
    with pytest.raises(ValueError, match='no link "hand"'):
        OperationalSpace(load('ur5'), OperationalSpace.Parameters(link='hand'))
