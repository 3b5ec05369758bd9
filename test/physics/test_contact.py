"""Friction sticks and slides as Coulomb said; stops are inelastic; neither creates energy."""

import numpy as np
import pytest
from robots import robot_named

from torque_lab import Simulator
from torque_lab.physics import load_urdf

pytest.importorskip('llvmlite')

BRICK = '''<robot name="brick"><link name="slope"/>
  <link name="brick"><inertial><mass value="2.0"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="slope"/><child link="brick"/>
    <origin rpy="0 {angle} 0"/><axis xyz="1 0 0"/>
    <limit lower="-{reach}" upper="{reach}" effort="1000" velocity="100"/></joint></robot>'''


def brick(angle=0.3, friction=0.0, reach=1000.0):
    """A brick of 2 kg that slides down along +x for a positive angle."""
    robot = load_urdf(BRICK.format(angle=angle, reach=reach))
    return robot.replace(friction=np.array([friction]))


def on_both_paths(robot, method='rk4', dt=1e-3):
    return [Simulator(robot, method, dt, compiled=compiled) for compiled in (False, True)]


@pytest.mark.parametrize('method', ['euler', 'rk4', 'verlet', 'semi_implicit_euler'])
def test_a_brick_on_a_slope_sticks_and_does_not_creep(method):
    pull = 2.0 * 9.81 * np.sin(0.3)
    simulator = Simulator(brick(friction=1.01 * pull), method)
    simulator.reset([0.5])
    simulator.step([0.0], 10_000)
    assert simulator.q[0] == pytest.approx(0.5, abs=1e-14)
    assert abs(simulator.qd[0]) < 1e-15


def test_a_sliding_brick_follows_the_closed_form():
    pull, friction = 2.0 * 9.81 * np.sin(0.3), 3.0
    for simulator in on_both_paths(brick(friction=friction)):
        simulator.reset([0.0])
        simulator.step([0.0], 300)
        acceleration = (pull - friction) / 2.0
        assert simulator.qd[0] == pytest.approx(acceleration * 0.3, rel=1e-12)
        assert simulator.q[0] == pytest.approx(acceleration * 0.3**2 / 2, rel=1e-12)
        assert simulator.energy.dissipated == pytest.approx(friction * simulator.q[0], rel=1e-12)


def test_a_brick_thrown_on_the_level_stops_where_it_should_and_stays():
    friction, speed = 4.0, 1.2345
    simulator = Simulator(brick(angle=0.0, friction=friction))
    simulator.reset([0.0], [speed])
    simulator.step([0.0], 3000)
    assert simulator.q[0] == pytest.approx(2.0 * speed**2 / (2 * friction), rel=1e-6)
    assert abs(simulator.qd[0]) < 1e-15
    assert simulator.energy.dissipated == pytest.approx(0.5 * 2.0 * speed**2, rel=1e-6)


def test_an_arm_whose_joints_all_stick_does_not_move():
    robot = robot_named('double_pendulum').replace(friction=np.array([60.0, 30.0]))
    simulator = Simulator(robot)
    simulator.reset([0.3, 0.2])
    simulator.step([0.0, 0.0], 10_000)
    np.testing.assert_allclose(simulator.q, [0.3, 0.2], rtol=0, atol=1e-13)


def test_friction_does_not_chatter():
    robot = robot_named('double_pendulum').replace(friction=np.array([20.0, 10.0]))
    simulator = Simulator(robot)
    simulator.reset([1.0, 0.5])
    for _ in range(200):  # let it come to rest
        simulator.step([0.0, 0.0], 100)
    speeds = []
    for _ in range(100):
        simulator.step([0.0, 0.0])
        speeds.append(np.abs(simulator.qd).max())
    assert max(speeds) < 1e-12


def test_friction_takes_what_the_energy_loses():
    robot = robot_named('double_pendulum').replace(friction=np.array([5.0, 3.0]))
    simulator = Simulator(robot)
    simulator.reset([1.5, 0.2])
    before, last = simulator.energy.total, np.inf
    for _ in range(500):
        simulator.step([0.0, 0.0], 10)
        energy = simulator.energy
        assert energy.total <= last + 1e-9
        assert energy.total + energy.dissipated == pytest.approx(before, abs=1e-8)
        last = energy.total


@pytest.mark.parametrize('method', ['euler', 'rk4', 'velocity_verlet'])
def test_a_stop_stops(method):
    simulator = Simulator(brick(angle=0.5, reach=1.0), method)
    simulator.reset([0.0], [3.0])
    deepest = 0.0
    for _ in range(2000):
        simulator.step([0.0])
        deepest = max(deepest, simulator.q[0])
    assert deepest < 1.0 + 1e-5
    assert simulator.q[0] == pytest.approx(1.0, abs=1e-9)
    assert abs(simulator.qd[0]) < 1e-9


def test_a_joint_leaves_its_stop_freely():
    for simulator in on_both_paths(brick(angle=0.5, reach=1.0)):
        simulator.reset([1.0])
        simulator.step([-100.0], 100)
        acceleration = (2.0 * 9.81 * np.sin(0.5) - 100.0) / 2.0
        assert simulator.qd[0] == pytest.approx(acceleration * 0.1, rel=1e-9)


@pytest.mark.parametrize('seed', range(6))
def test_stops_and_friction_never_create_energy(seed):
    rng = np.random.default_rng(seed)
    robot = robot_named('three_link')
    robot = robot.replace(lower=np.full(3, -0.6), upper=np.array([0.5, 0.4, 0.3]),
                          friction=np.array([0.2, 0.0, 0.05]) * (seed % 2))
    simulator = Simulator(robot)
    simulator.reset(rng.uniform(-0.5, 0.3, 3), 4 * rng.normal(size=3))
    last = simulator.energy.total
    for _ in range(1500):
        simulator.step(np.zeros(3))
        total = simulator.energy.total
        assert total <= last + 1e-6
        last = total
        assert (simulator.q > robot.lower - 1e-3).all()
        assert (simulator.q < robot.upper + 1e-3).all()


def test_contact_is_the_same_on_both_paths():
    robot = robot_named('ur5')
    robot = robot.replace(upper=np.array([0.01, np.inf, 1.6, 0.02, np.inf, 0.01]),
                          friction=np.array([0.0, 3.0, 0.0, 1.0, 0.2, 0.0]))
    plain, fast = on_both_paths(robot)
    for simulator in (plain, fast):
        simulator.reset(robot.start, np.array([1.0, -0.5, 2.0, 3.0, -1.0, 2.0]))
        simulator.step(np.zeros(6), 40)
    np.testing.assert_allclose(fast.state, plain.state, rtol=1e-11, atol=1e-11)
    assert plain.energy.dissipated > 0.1
    assert fast.energy.dissipated == pytest.approx(plain.energy.dissipated, rel=1e-10)


def test_joints_without_limits_or_friction_pay_nothing():
    from torque_lab.physics.integrators import RK4
    from torque_lab.physics.kernel import Pattern, trace_pieces
    robot = robot_named('double_pendulum')
    pieces = trace_pieces(robot, RK4, Pattern((False, False, True), (False, False)), False, False)
    assert pieces.near is None
    assert pieces.settle is None
