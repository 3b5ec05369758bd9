"""Simulation time against wall time, with a clock that the test turns."""

import pytest

from torque_lab.nodes.pacing import BURST, CATCH_UP, Pacer, whole_ratio


class Wall:
    """A clock that moves when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_periods_come_due_with_the_wall_clock_and_no_rounding_adds_up():
    wall = Wall()
    pacer = Pacer(0.001, 1.0, wall)
    count = 0
    for tick in range(1, 10_001):
        wall.now = 100.0 + tick * 0.001 + (-1) ** tick * 0.0004  # a timer that jitters
        count += len(list(pacer.due()))
    assert count == 10_000
    assert pacer.overruns == 0


@pytest.mark.parametrize('factor', [0.5, 2.0, 10.0])
def test_real_time_factor_scales_time(factor):
    wall = Wall()
    pacer = Pacer(0.001, factor, wall)
    count = 0
    for _ in range(1000):
        wall.now += 0.001 / factor
        count += len(list(pacer.due()))
    assert count == 1000


def test_short_delay_is_caught_up_in_bursts():
    wall = Wall()
    pacer = Pacer(0.001, 1.0, wall)
    wall.now += 0.05
    assert len(list(pacer.due())) == BURST
    for _ in range(20):
        list(pacer.due())
    wall.now += 0.001
    assert len(list(pacer.due())) == 1
    assert pacer.overruns == 0


def test_long_delay_is_given_up_counted_and_told():
    wall = Wall()
    pacer = Pacer(0.001, 1.0, wall)
    wall.now += 3.0
    list(pacer.due())
    assert pacer.fell_behind
    assert pacer.overruns == 1
    assert pacer.slipped == pytest.approx(3.0 - CATCH_UP, abs=0.002)


def test_nothing_is_caught_up_after_a_rest():
    wall = Wall()
    pacer = Pacer(0.001, 1.0, wall)
    wall.now += 5.0
    pacer.rest()
    assert list(pacer.due()) == []


def test_whole_ratios_pass_and_others_name_their_neighbours():
    assert whole_ratio('publish_rate', 250.0, 'dt', 1000.0) == 4
    assert whole_ratio('publish_rate', 1000.0, 'dt', 1.0 / 0.001) == 1
    with pytest.raises(ValueError, match=r'250 Hz and 333\.333 Hz'):
        whole_ratio('publish_rate', 300.0, 'dt', 1000.0)
    with pytest.raises(ValueError, match='1000 Hz is the most'):
        whole_ratio('publish_rate', 2000.0, 'dt', 1000.0)
