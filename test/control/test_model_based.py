"""Gravity compensation, computed torque and LQR against the physics they are made of."""

from dataclasses import replace

import numpy as np
import pytest

from torque_lab.control import LAWS, Reference
from torque_lab.control.closed_loop import simulate
from torque_lab.control.computed_torque import ComputedTorque
from torque_lab.control.configuration import Configuration, shipped_configurations
from torque_lab.control.goals import Goals
from torque_lab.control.gravity import ZeroGravity, gravity_compensation
from torque_lab.control.law import parameters_from, specifications
from torque_lab.control.lqr import LQR
from torque_lab.control.registry import find_law
from torque_lab.physics import forward_dynamics, gravity_torque, load
from torque_lab.physics.forces import drive_effort

RNG = np.random.default_rng(11)
ARMS = ['three_link', 'ur5']


def wrong_masses(robot, factor):
    """Return the same robot with every mass and inertia scaled."""
    return robot.replace(bodies=tuple(
        replace(body, inertia=replace(body.inertia, mass=body.inertia.mass * factor,
                                      about_com=body.inertia.about_com * factor))
        for body in robot.bodies))


def goals(robot, duration=None, goal=None):
    made = Goals(np.full(robot.nv, np.inf), np.full(robot.nv, np.inf))
    made.begin(0.0, robot.start)
    if duration is None:
        made.go(0.0, goal)
    else:
        made.follow(0.0, [duration], [goal])
    return made


class Move(Goals):
    """A 2 s motion of minimum jerk by 1 rad per joint, from the start."""

    def __init__(self, robot):
        super().__init__(np.full(robot.nv, np.inf), np.full(robot.nv, np.inf))
        self._by = np.ones(robot.nv)

    def begin(self, t, q):
        super().begin(t, q)
        self.follow(t, [2.0], [q + self._by])


@pytest.mark.parametrize('name', ['pendulum', 'rp_arm', 'three_link', 'ur5', 'rotary_pendulum'])
def test_computed_torque_gives_the_wanted_acceleration(name):
    robot = load(name)
    law = ComputedTorque(robot, ComputedTorque.Parameters(natural_frequency=(3.0,),
                                                          damping_ratio=(0.7,)))
    for _ in range(5):
        q, qd, position, velocity, acceleration = RNG.normal(size=(5, robot.nv))
        effort = law.effort(0.0, 0.0, q, qd, Reference(position, velocity, acceleration))
        torque = drive_effort(robot, effort, qd) - robot.damping * qd
        expected = acceleration + 4.2 * (velocity - qd) + 9.0 * (position - q)
        assert forward_dynamics(robot, q, qd, torque) == pytest.approx(expected, abs=1e-8)


def test_gravity_compensation_holds_every_pose_without_feedback():
    robot = load('ur5')
    for _ in range(5):
        q = RNG.uniform(-2.0, 2.0, 6)
        effort = gravity_compensation(robot)(q, np.zeros(6))
        assert effort == pytest.approx(gravity_torque(robot, q).astype(float), abs=1e-10)
    law = ZeroGravity(robot)
    loop = simulate(law, goals(robot, goal=robot.start), 1.0)
    assert np.abs(loop.q - robot.start).max() < 1e-9


@pytest.mark.parametrize('name', ARMS)
def test_computed_torque_follows_a_minimum_jerk_move(name):
    robot = load(name)
    law = Configuration.shipped(name, 'computed_torque').law(robot)
    assert simulate(law, Move(robot), 2.0).rms_error.max() < 1e-4  # as in lockstep
    assert simulate(law, Move(robot), 2.0, delay=2).rms_error.max() < 5e-4  # as in real time


@pytest.mark.parametrize('name', ARMS)
def test_pd_with_gravity_has_no_steady_state_error(name):
    robot = load(name)
    law = Configuration.shipped(name, 'pd_gravity').law(robot)
    loop = simulate(law, Move(robot), 4.0, delay=1)
    assert np.abs(loop.error[-1]).max() < 1e-3


@pytest.mark.parametrize('factor', [0.8, 1.2])
@pytest.mark.parametrize('controller', ['computed_torque', 'pd_gravity'])
@pytest.mark.parametrize('name', ARMS)
def test_wrong_masses_leave_the_loop_stable(name, controller, factor, record_property):
    robot = load(name)
    law = Configuration.shipped(name, controller).law(robot)
    loop = simulate(law, Move(robot), 5.0, plant=wrong_masses(robot, factor), delay=1)
    record_property('steady-state error [rad]', np.abs(loop.error[-1]).max())
    assert np.abs(loop.error).max() < 0.2
    assert np.abs(loop.qd[-500:]).max() < 1e-3  # at rest, if not quite at the goal


def test_integral_of_computed_torque_takes_the_error_of_wrong_masses_away():
    robot = load('three_link')
    law = ComputedTorque(robot, ComputedTorque.Parameters(natural_frequency=(30.0,),
                                                          integral=(8000.0,)))
    loop = simulate(law, Move(robot), 6.0, plant=wrong_masses(robot, 1.2))
    assert np.abs(loop.error[-1]).max() < 1e-5
    with pytest.raises(ValueError, match='below 2 ζ ω³'):
        ComputedTorque(robot, ComputedTorque.Parameters(integral=(1e6,)))


def test_lqr_closed_loop_is_stable_and_no_other_gain_costs_less():
    robot = load('rotary_pendulum')
    law = Configuration.shipped('rotary_pendulum', 'lqr').law(robot)
    r = law.regulator
    assert np.linalg.eigvals(r.closed_loop).real.max() < 0.0

    def cost(K):
        """Cost of a gain from a random start, by the Lyapunov equation."""
        from scipy.linalg import solve_continuous_lyapunov
        Q = np.diag([1.0, 1.0, 0.01, 0.01]) + 0.05 * np.outer(K[0], K[0])
        closed = r.A - r.B @ K
        return np.trace(solve_continuous_lyapunov(closed.T, -Q))

    assert cost(r.K) == pytest.approx(np.trace(r.S))
    for _ in range(5):
        other = r.K * (1.0 + 0.05 * RNG.normal(size=r.K.shape))
        assert cost(other) > cost(r.K)


def test_lqr_refuses_poses_that_cannot_be_held():
    with pytest.raises(ValueError, match='does not balance'):
        LQR(load('double_pendulum'), LQR.Parameters(
            equilibrium=(1.0, 0.0), driven_joints=('joint2',)))
    with pytest.raises(ValueError, match='cannot be held'):
        weak = load('pendulum')
        LQR(weak.replace(effort_limit=np.array([10.0])), LQR.Parameters(equilibrium=(1.0,)))
    with pytest.raises(ValueError, match='no joint "elbow"'):
        LQR(load('pendulum'), LQR.Parameters(driven_joints=('elbow',)))
    with pytest.raises(ValueError, match='has no drive'):
        LQR(load('rotary_pendulum'), LQR.Parameters(driven_joints=('pendulum_joint',)))


def test_lqr_goes_the_short_way_round():
    robot = load('pendulum')
    law = Configuration.shipped('pendulum', 'lqr').law(robot)
    at_rest = Reference.hold([0.0])
    near = law.effort(0.0, 0.0, np.array([np.pi + 0.1]), np.zeros(1), at_rest)
    around = law.effort(0.0, 0.0, np.array([np.pi + 0.1 - 6 * np.pi]), np.zeros(1), at_rest)
    assert around == pytest.approx(near)


@pytest.mark.parametrize(('robot_name', 'controller'), shipped_configurations())
def test_shipped_configuration_is_known_in_every_name_and_runs(robot_name, controller):
    robot = load(robot_name)
    configuration = Configuration.shipped(robot_name, controller)
    law_class = find_law(configuration.values.get('controller', 'pid'))
    node = {'controller', 'goal', 'goal_motion', 'velocity_limit', 'acceleration_limit',
            'safe_effort', 'command'}
    assert set(configuration.values) <= node | set(specifications(law_class, robot))
    assert len(configuration.values['goal']) == robot.nv
    parameters_from(law_class, robot, configuration.values)
    loop = simulate(configuration.law(robot), configuration.goals(robot), 0.2, delay=1)
    assert not loop.fault


@pytest.mark.parametrize(('robot_name', 'controller'), [
    pair for pair in shipped_configurations()
    if pair[1] in ('pid', 'pd_gravity', 'computed_torque', 'lqr', 'impedance',
                   'operational_space')])
def test_shipped_controller_reaches_its_goal_over_three_steps_of_delay(robot_name, controller):
    robot = load(robot_name)
    configuration = Configuration.shipped(robot_name, controller)
    law, way = configuration.law(robot), configuration.goals(robot)
    start = None if configuration.start is None else np.array(configuration.start)
    loop = simulate(law, way, 6.0, delay=3, q=start)
    assert np.abs(loop.q[-100:] - way.goal).max() < np.radians(0.1)


def test_every_shipped_law_runs_on_every_fixed_robot_that_it_fits():
    for name in ('pendulum', 'double_pendulum', 'rp_arm', 'rotary_pendulum', 'ur5'):
        robot = load(name)
        for law in LAWS.values():
            try:
                made = law(robot)
            except ValueError:
                continue  # it says why
            effort = made.effort(0.0, 0.0, robot.start, np.zeros(robot.nv),
                                 Reference.hold(robot.start))
            assert np.shape(effort) == (robot.nv,)
            assert np.isfinite(effort).all()
