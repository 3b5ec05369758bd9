"""A simulator under commands, without ROS."""

import numpy as np
import pytest

from torque_lab.nodes.commands import CommandBox
from torque_lab.nodes.pushes import Pushes
from torque_lab.nodes.sensors import Sensors
from torque_lab.nodes.simulation import BRAKE, FREE, HELD, HOLD, ZERO, Simulation
from torque_lab.physics import load
from torque_lab.physics.kinematics import forward_kinematics, jacobian
from torque_lab.physics.simulator import Simulator


def simulation(robot='pendulum', timeout=0.1, **options):
    model = load(robot)
    return Simulation(Simulator(model, dt=1e-3), 1, CommandBox(model.joint_names, timeout),
                      **options)


def test_held_arm_stays_while_time_goes_on():
    held = simulation(start=HELD)
    for _ in range(100):
        assert held.advance(0.0)
    assert held.time == pytest.approx(0.1)
    assert (held.simulator.q == held.robot.start).all()
    assert held.simulator.energy.work == 0.0


def test_free_arm_falls():
    free = simulation(start=FREE)
    for _ in range(100):
        free.advance(0.0)
    assert free.simulator.q[0] < free.robot.start[0]


@pytest.mark.parametrize(('action', 'effort'), [(ZERO, 0.0), (HOLD, 7.0)])
def test_effort_after_the_timeout(action, effort):
    arm = simulation(timeout_action=action)
    arm.commands.offer_array([7.0], 0.0)
    arm.advance(0.05)
    assert arm.joint_effort[0] == 7.0
    arm.advance(0.2)
    assert arm.joint_effort[0] == effort


@pytest.mark.parametrize('robot', ['double_pendulum', 'three_link', 'ur5'])
def test_brake_brings_any_arm_to_rest_and_carries_it(robot):
    arm = simulation(robot, timeout_action=BRAKE)
    arm.commands.offer_array(np.zeros(arm.robot.nv), 0.0)
    for step in range(3000):
        arm.advance(step * 1e-3)
    assert np.abs(arm.simulator.qd).max() < 1e-3
    before = arm.simulator.q
    for step in range(1000):
        arm.advance(3.0 + step * 1e-3)
    assert np.abs(arm.simulator.q - before).max() < 1e-3


def test_brake_of_a_motor_stops_its_joint_while_the_passive_one_swings_out():
    arm = simulation('rotary_pendulum', timeout_action=BRAKE)
    arm.commands.offer_array([6.0, 0.0], 0.0)
    speeds = []
    for step in range(10_000):
        arm.advance(step * 1e-3)
        speeds.append(np.abs(arm.simulator.qd))
    assert np.max(speeds[-1000:], axis=0)[0] < 0.01 * np.max(speeds, axis=0)[0]
    assert np.max(speeds[-1000:], axis=0)[1] < 0.5 * np.max(speeds, axis=0)[1]


def test_reset_restores_state_and_time_or_one_of_them():
    arm = simulation(start=FREE)
    for _ in range(50):
        arm.advance(0.0)
    arm.reset(time=False)
    assert arm.periods == 50 and (arm.simulator.q == arm.robot.start).all()
    for _ in range(50):
        arm.advance(0.0)
    moved = arm.simulator.q
    arm.reset(state=False)
    assert arm.periods == 0 and (arm.simulator.q == moved).all()


def test_reset_of_time_alone_leaves_no_force_acting():
    arm = simulation(timeout=0.0)
    arm.commands.offer_array([100.0], 0.0)
    arm.pushes.push([5.0], now=0.0)
    arm.advance(0.0)
    arm.reset(state=False)
    arm.advance(0.0)
    assert arm.joint_effort[0] == 0.0
    assert not arm.pushes.active(arm.time)


def test_bad_state_is_refused_and_nothing_moves():
    arm = simulation(start=FREE)
    arm.advance(0.0)
    before = arm.simulator.q
    with pytest.raises(ValueError, match='finite'):
        arm.set_state([np.nan], [0.0])
    assert (arm.simulator.q == before).all()
    assert np.isfinite(arm.initial[0]).all()


def test_divergence_keeps_the_last_good_state_and_reset_recovers():
    arm = simulation('double_pendulum', start=FREE)
    arm.simulator.integrator = 'euler'
    arm.set_state([0.0, 1.0], [1e5, -1e5])
    while arm.advance(0.0):
        assert arm.periods < 100_000
    assert 'joint' in arm.diverged
    assert np.isfinite(arm.simulator.q).all()
    assert not arm.running
    arm.initial = (np.zeros(2), np.zeros(2))
    arm.reset()
    assert arm.running and arm.advance(0.0)


def test_wrench_does_the_work_of_its_force():
    arm = simulation('three_link', start=FREE, push_duration=10.0)
    arm.simulator.set_parameters(gravity=[0.0, 0.0, 0.0])
    force = np.array([2.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    arm.pushes.wrench('tip', force, 0.0)
    start = forward_kinematics(arm.robot, arm.simulator.q)[1]
    for _ in range(300):
        arm.advance(0.0)
    moved = forward_kinematics(arm.robot, arm.simulator.q)[1] - start
    # J^T F is held over a period: the work agrees to first order in the period.
    assert arm.simulator.energy.kinetic == pytest.approx(force[:3] @ moved, rel=5e-3)


def test_pushes_add_up_and_end():
    robot = load('double_pendulum')
    pushes = Pushes(robot, duration=0.5)
    q = np.array([0.3, -0.2])
    assert pushes.generalised(q, 0.0) is None
    pushes.push([1.0, -2.0], now=0.0)
    pushes.wrench('tip', [3.0, 0.0, 0.0, 0.0, 0.0, 0.0], now=0.2)
    expected = np.array([1.0, -2.0]) + jacobian(robot, q, 'tip').T @ [3.0, 0, 0, 0, 0, 0]
    assert pushes.generalised(q, 0.3) == pytest.approx(expected)
    assert pushes.generalised(q, 0.6) == pytest.approx(expected - [1.0, -2.0])
    assert pushes.generalised(q, 0.7) is None


@pytest.mark.parametrize(('act', 'words'), [
    (lambda pushes: pushes.push([1.0], 0.0), '2 finite numbers'),
    (lambda pushes: pushes.push([1.0, np.inf], 0.0), '2 finite numbers'),
    (lambda pushes: pushes.wrench('knee', np.zeros(6), 0.0), 'no link "knee"; the links are'),
    (lambda pushes: pushes.wrench('tip', np.zeros(3), 0.0), '6 finite numbers'),
])
def test_bad_push_is_refused(act, words):
    pushes = Pushes(load('double_pendulum'), duration=0.5)
    with pytest.raises(ValueError, match=words):
        act(pushes)
    assert not pushes.active(0.0)


def test_noise_has_its_standard_deviation_and_repeats_from_a_reset_on():
    sensors = Sensors(position_noise=0.1, velocity_noise=0.2, seed=4)
    truth = np.zeros(500), np.zeros(500), np.zeros(500)
    first = sensors.measure(0, *truth)
    assert np.std(first.q) == pytest.approx(0.1, rel=0.15)
    assert np.std(first.qd) == pytest.approx(0.2, rel=0.15)
    sensors.reset()
    assert (sensors.measure(0, *truth).q == first.q).all()


def test_delay_shows_the_state_of_so_many_periods_ago_with_its_stamp():
    sensors = Sensors(delay=3)
    shown = [sensors.measure(k, np.array([float(k)]), np.zeros(1), np.zeros(1)) for k in range(8)]
    assert [measurement.stamp for measurement in shown] == [0, 0, 0, 0, 1, 2, 3, 4]
    assert [measurement.q[0] for measurement in shown] == [0, 0, 0, 0, 1, 2, 3, 4]
