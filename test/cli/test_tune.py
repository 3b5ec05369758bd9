"""``torque-lab tune``: what it prints, and what it refuses."""

import argparse

import pytest

from torque_lab.cli import tune
from torque_lab.cli.errors import CommandError


def run(*arguments):
    parser = argparse.ArgumentParser()
    tune.configure(parser)
    return tune.run(parser.parse_args(arguments))


def test_change_stands_beside_what_is(capsys, tmp_path):
    picture = tmp_path / 'tune.png'
    assert run('pendulum', 'pid', '--set', 'gains.joint1.d=60', '--duration', '3',
               '--output', str(picture)) == 0
    text = capsys.readouterr().out
    assert 'now' in text and 'changed' in text
    settled = next(line for line in text.splitlines() if 'of the goal after' in line)
    assert settled.split()[-2:] == ['2.28', 'never']
    assert picture.stat().st_size > 1000


def test_wrong_masses_and_a_file_of_ones_own(capsys, tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text('controller: {ros__parameters: {controller: pd_gravity, goal: [1.0], '
                    'gains: {joint1: {p: 500.0, d: 120.0}}}}')
    assert run('pendulum', str(file), '--mass-factor', '1.2', '--duration', '2') == 0
    assert 'masses × 1.2' in capsys.readouterr().out


@pytest.mark.parametrize(('arguments', 'text'), [
    (['pendulum', 'fuzzy'], 'no tuned fuzzy for pendulum'),
    (['pendulum', 'pid', '--set', 'gains.joint7.p=1'], 'write NAME=VALUE'),
    (['pendulum', 'pid', '--set', 'gains.joint1.p'], 'write NAME=VALUE'),
    (['pendulum', 'pid', '--set', 'gains.joint1.p=-1'], 'gains.joint1.p = -1'),
    (['pendulum', 'pid', '--duration', '0'], 'must be positive'),
    (['pendulum', 'pid', '--set', 'goal=[1.0, 2.0]'], 'pendulum has 1 joint'),
    (['pendulum', 'nothing.yaml'], 'nothing.yaml')])
def test_bad_request_is_one_clear_line(arguments, text):
    with pytest.raises(CommandError, match=text) as error:
        run(*arguments)
    assert '\n' not in str(error.value)
