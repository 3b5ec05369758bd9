"""Margins and basins, against simulation."""

import numpy as np
import pytest

from torque_lab.control.basin import balances, plane
from torque_lab.control.closed_loop import simulate
from torque_lab.control.configuration import Configuration
from torque_lab.control.lqr import LQR
from torque_lab.control.margins import feedback_gain, margins, spectral_radius
from torque_lab.physics import load

GOAL = np.array([-1.2566370614359172])


def pendulum(**gains):
    robot = load('pendulum')
    changes = {'controller': 'pd_gravity', 'goal': GOAL.tolist(),
               **{f'gains.joint1.{name}': value for name, value in gains.items()}}
    return Configuration(changes).law(robot)


def test_gain_of_a_law_is_found_by_differences():
    K = feedback_gain(pendulum(p=700.0, d=90.0), GOAL)
    weight = 2.0 * 9.81 * 2.0 * np.cos(GOAL[0])  # d/dq of the compensation
    assert pytest.approx(np.array([[700.0 - weight, 90.0]]), rel=1e-6) == K


def test_decay_is_that_of_the_textbook():
    found = margins(pendulum(p=8.0 * 25.0, d=8.0 * 10.0), GOAL, delay=0)  # ω = 5, ζ = 1
    assert found.decay == pytest.approx(5.0, rel=0.1)


@pytest.mark.parametrize('kd', [220.0, 900.0])
def test_loop_is_stable_just_inside_its_delay_margin_and_not_outside(kd):
    law = pendulum(p=1500.0, d=kd)
    most = margins(law, GOAL, delay=1).delay

    def growth(delay):
        """Error at the end, relative to that of the first instants."""
        way = Configuration({'goal': [GOAL[0]]}).goals(law.robot)
        error = np.abs(simulate(law, way, 4.0, delay=delay, q=GOAL + 0.001).error)
        return error[-300:].max() / error[:300].max()

    assert growth(1 + most - 1) < 0.5
    assert growth(1 + most + 2) > 1.0


def test_unstable_loop_has_no_margins():
    assert margins(pendulum(p=0.0, d=0.0), GOAL).decay is None
    assert spectral_radius((np.eye(1) * 1.1, np.ones((1, 1))), np.zeros((1, 1)), 3) == (
        pytest.approx(1.1))


def test_balance_succeeds_close_by_and_fails_far_away():
    law = Configuration.shipped('rotary_pendulum', 'lqr').law(load('rotary_pendulum'))
    _, _, near = plane(law, 1, 3, (0.1, 0.5), 9)
    assert balances(law, near).all()
    _, _, far = plane(law, 1, 3, (1.5, 60.0), 9)
    good = balances(law, far).reshape(9, 9)
    assert good[4, 4]
    assert not good.all()


def test_regulator_balances_from_where_the_swing_up_hands_over():
    """The region is that of the linear loop: its rim may lie outside the true basin."""
    swing_up = Configuration.shipped('rotary_pendulum', 'swing_up').law(load('rotary_pendulum'))
    p = swing_up.parameters
    law = LQR(swing_up.robot, LQR.Parameters(p.equilibrium, p.position_cost, p.velocity_cost,
                                             p.effort_cost))
    rng = np.random.default_rng(9)
    half = np.linalg.cholesky(law.regulator.S)
    directions = rng.normal(size=(200, 4))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    rim = np.linalg.solve(half.T, directions.T).T * np.sqrt(swing_up.level)
    assert balances(law, rim, seconds=8.0).mean() > 0.85
    assert balances(law, np.sqrt(0.5) * rim, seconds=8.0).all()
