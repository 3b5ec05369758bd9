"""Parameters that laws declare about themselves, and laws by name."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from torque_lab.control import LAWS, Law, Reference, find_law, parameter
from torque_lab.control.law import parameters_from, specifications
from torque_lab.control.pid import PIDLaw
from torque_lab.control.sources import Sinusoid, UserEffort
from torque_lab.physics import load


class SpringAndDamper(Law):
    @dataclass(frozen=True)
    class Parameters:
        stiffness: tuple[float, ...] = parameter((2.0,), 'Spring', unit='N m/rad', minimum=0.0)
        mode: str = parameter('soft', 'How', choices=('soft', 'hard'))
        plain: float = 1.0

    def effort(self, t, dt, q, qd, reference):
        return self.per_joint('stiffness', self.parameters.stiffness) * (reference.position - q)


def test_parameters_carry_the_name_of_their_law_and_gains_that_of_their_joint():
    robot = load('double_pendulum')
    assert list(specifications(SpringAndDamper, robot)) == [
        'spring_and_damper.stiffness', 'spring_and_damper.mode', 'spring_and_damper.plain']
    assert {'gains.joint1.p', 'gains.joint2.antiwindup_strategy'} <= set(
        specifications(PIDLaw, robot))


def test_every_shipped_parameter_is_described_and_every_law_has_defaults():
    robot = load('pendulum')
    for law in LAWS.values():
        for name, specification in specifications(law, robot).items():
            assert specification.description, name
        parameters, joints = parameters_from(law, robot, {})
        assert parameters == law.Parameters()
        assert (joints is None) == (law.JointParameters is None)


def test_list_of_one_is_for_all_joints_and_other_lengths_are_refused():
    robot = load('three_link')
    law = SpringAndDamper(robot, SpringAndDamper.Parameters(stiffness=(3.0,)))
    assert law.effort(0.0, 0.0, np.zeros(3), np.zeros(3), Reference.hold(np.ones(3))) == (
        pytest.approx(3.0))
    with pytest.raises(ValueError, match='stiffness has 2 entries'):
        law.per_joint('stiffness', (1.0, 2.0))


@pytest.mark.parametrize(('name', 'value', 'text'), [
    ('spring_and_damper.stiffness', [-1.0], 'between 0 and inf'),
    ('spring_and_damper.stiffness', [math.nan], 'between'),
    ('spring_and_damper.mode', 'softer', 'choose one of soft, hard'),
    ('spring_and_damper.plain', 'many', 'wants a number')])
def test_bad_values_are_refused_with_their_name(name, value, text):
    with pytest.raises(ValueError, match=text) as error:
        parameters_from(SpringAndDamper, load('pendulum'), {name: value})
    assert name in str(error.value)


def test_own_law_is_found_by_module_and_by_file(tmp_path):
    text = ('from torque_lab.control import Law\n'
            'class MyLaw(Law):\n'
            '    def effort(self, t, dt, q, qd, reference):\n'
            '        return q\n')
    path = tmp_path / 'mine.py'
    path.write_text(text)
    assert find_law(f'{path}:MyLaw').name == 'my_law'
    assert find_law('torque_lab.control.pid:PIDLaw') is PIDLaw
    path.write_text(text.replace('MyLaw', 'Other'))
    assert find_law(f'{path}:Other').name == 'other'


@pytest.mark.parametrize(('name', 'text'), [
    ('pdi', 'choose one of pid'), ('no.such.package:Law', 'cannot import'),
    ('/no/such/file.py:Law', 'no such file'), ('torque_lab.control.pid:Nope', 'has no class'),
    ('torque_lab.control.pid:Gains', 'no control law')])
def test_unknown_law_is_refused_with_the_reason(name, text):
    with pytest.raises(ValueError, match=text):
        find_law(name)


def test_sinusoid_and_user_effort_ask_no_state():
    robot = load('double_pendulum')
    wave = Sinusoid(robot, Sinusoid.Parameters(
        amplitude=(2.0, 3.0), frequency=(0.5,), phase=(0.0, math.pi / 2), offset=(1.0,)))
    nowhere = Reference.hold(np.zeros(2))
    assert wave.effort(0.5, 0.0, np.zeros(2), np.zeros(2), nowhere) == pytest.approx([3.0, 1.0])
    user = UserEffort(robot, UserEffort.Parameters(effort=(4.0, -5.0)))
    assert user.effort(0.0, 0.0, np.ones(2), np.ones(2), nowhere).tolist() == [4.0, -5.0]
