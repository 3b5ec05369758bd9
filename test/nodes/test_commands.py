"""The command contract, without ROS."""

import math

import numpy as np
import pytest

from torque_lab.nodes.commands import CommandBox, CommandRefusedError


@pytest.fixture
def box():
    return CommandBox(['shoulder', 'elbow'], timeout=0.1)


def test_there_is_no_effort_before_the_first_command(box):
    assert box.current(0.0) is None
    assert not box.commanded


def test_newest_command_wins_and_the_unread_one_is_superseded(box):
    box.offer_array([1.0, 2.0], 0.0)
    box.offer_array([3.0, 4.0], 0.0)
    assert list(box.current(0.0)) == [3.0, 4.0]
    assert (box.counters.applied, box.counters.superseded) == (1, 1)


def test_command_read_in_many_periods_counts_once(box):
    box.offer_array([1.0, 2.0], 0.0)
    for _ in range(5):
        box.current(0.01)
    assert box.counters.applied == 1


def test_command_times_out_once_and_comes_back(box):
    box.offer_array([1.0, 2.0], 0.0)
    assert box.current(0.1) is not None
    assert box.current(0.11) is None
    assert box.current(0.12) is None
    assert box.counters.timeouts == 1
    box.offer_array([1.0, 2.0], 0.2)
    assert box.current(0.2) is not None


def test_no_timeout_keeps_the_last_command():
    box = CommandBox(['shoulder'], timeout=0.0)
    box.offer_array([1.0], 0.0)
    assert list(box.current(1e9)) == [1.0]


def test_command_that_never_times_out_can_be_expired_until_the_next_one():
    box = CommandBox(['shoulder'], timeout=0.0)
    box.offer_array([1.0], 0.0)
    box.expire()
    assert box.current(0.0) is None
    box.offer_array([2.0], 0.0)
    assert list(box.current(0.0)) == [2.0]


def test_named_command_is_ordered_by_name(box):
    box.offer_named(['elbow', 'shoulder'], [2.0, 1.0], stamp=5, now=0.0, newest_state=9)
    assert list(box.current(0.0)) == [1.0, 2.0]


def test_answer_to_an_older_state_is_late(box):
    box.offer_named(['elbow', 'shoulder'], [2.0, 1.0], stamp=5, now=0.0, newest_state=9)
    with pytest.raises(CommandRefusedError, match='too late'):
        box.offer_named(['elbow', 'shoulder'], [9.0, 9.0], stamp=4, now=0.0, newest_state=9)
    assert list(box.current(0.0)) == [1.0, 2.0]
    assert (box.counters.late, box.counters.refused) == (1, 0)


def test_answer_to_a_state_that_lockstep_has_left_behind_is_late(box):
    with pytest.raises(CommandRefusedError, match='too late'):
        box.offer_named(['elbow', 'shoulder'], [1.0, 1.0], 7, 0.0, newest_state=9, oldest_state=9)
    assert not box.commanded


def test_answer_to_a_state_that_is_yet_to_come_is_refused(box):
    with pytest.raises(CommandRefusedError, match='the newest state is of'):
        box.offer_named(['elbow', 'shoulder'], [1.0, 1.0], 10, 0.0, newest_state=9)
    assert box.counters.refused == 1


@pytest.mark.parametrize(('offer', 'words'), [
    (lambda box: box.offer_array([1.0], 0.0), r'1 efforts for 2 joints \(shoulder, elbow\)'),
    (lambda box: box.offer_array([1.0, math.inf], 0.0), 'inf for joint "elbow" is not finite'),
    (lambda box: box.offer_named(['shoulder', 'knee'], [1.0, 2.0], 0, 0.0, 9), 'unknown joint'),
    (lambda box: box.offer_named(['elbow', 'elbow'], [1.0, 2.0], 0, 0.0, 9), 'named twice'),
    (lambda box: box.offer_named(['elbow'], [1.0], 0, 0.0, 9), 'no effort for joint "shoulder"'),
    (lambda box: box.offer_named(['elbow', 'shoulder'], [1.0], 0, 0.0, 9), '2 names but'),
    (lambda box: box.offer_named(['elbow', 'shoulder'], [1.0, math.nan], 0, 0.0, 9), 'not finite'),
])
def test_bad_command_is_refused_and_the_good_one_stays(box, offer, words):
    box.offer_array([1.0, 2.0], 0.0)
    with pytest.raises(CommandRefusedError, match=words):
        offer(box)
    assert list(box.current(0.0)) == [1.0, 2.0]
    assert box.counters.refused == 1


def test_every_command_is_accounted_for():
    rng = np.random.default_rng(3)
    box = CommandBox(['a', 'b'], timeout=0.05)
    offered = 0
    for step in range(2000):
        kind = rng.integers(5)
        offered += kind != 4
        try:
            if kind == 0:
                box.offer_array(rng.normal(size=2), step * 0.01)
            elif kind == 1:
                box.offer_array([math.nan, 0.0], step * 0.01)
            elif kind == 2:
                box.offer_named(['b', 'a'], [0.0, 1.0], int(rng.integers(1000)), step * 0.01,
                                newest_state=800, oldest_state=200)
            elif kind == 3:
                box.offer_array(rng.normal(size=3), step * 0.01)
            else:
                box.current(step * 0.01)
        except CommandRefusedError:
            pass
    box.clear()
    assert box.counters.received == offered
