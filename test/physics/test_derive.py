"""``torque-lab derive``: what it prints is right, complete, and can be run."""

from __future__ import annotations

import argparse
import builtins

import numpy as np
import pytest

pytest.importorskip('sympy')

from torque_lab.cli import derive
from torque_lab.cli.errors import CommandError
from torque_lab.physics import bias, forward_dynamics, load, mass_matrix
from torque_lab.physics.forces import drive_effort
from torque_lab.physics.free_body import angle_rates, twist_rate
from torque_lab.physics.notation import columns
from torque_lab.physics.spatial import quaternion_rate

SMALL = ['pendulum', 'double_pendulum', 'rp_arm', 'three_link', 'rotary_pendulum',
         'n_link links:=3']


def derived(command: str, capsys) -> str:
    parser = argparse.ArgumentParser()
    derive.configure(parser)
    assert derive.run(parser.parse_args(command.split())) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize('width', [80, 120])
@pytest.mark.parametrize('command', [*SMALL, 'free_body', 'n_link links:=4'])
def test_page_fits_the_terminal(command, width, capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', str(width))
    for line in derived(command, capsys).splitlines():
        assert columns(line) <= width, line


def test_page_has_every_part(capsys):
    page = derived('rotary_pendulum', capsys)
    for part in ('M(q) q̈ + c(q, q̇) + g(q) + f(q̇) = τ', 'T = ', 'V = ½ m₂ g l₂ cos q₂', 'b₁ q̇₁',
                 'kt kr (v₁ − kr kv q̇₁)/Ra', 'm₂  = 0.14', 'pendulum_joint'):
        assert part in page
    assert 'm₁' not in page  # the arm turns about the vertical: its mass does not matter


@pytest.mark.parametrize('command', SMALL)
def test_python_file_computes_what_the_library_computes(command, capsys):
    """Compared with ABA, friction and the motor included."""
    source = derived(f'{command} --python', capsys)
    assert all(len(line) < 100 for line in source.splitlines())
    code: dict = {}
    exec(compile(source, command, 'exec'), code)
    name, *arguments = command.split()
    robot = load(name, **dict(argument.split(':=') for argument in arguments))
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, qd = rng.uniform(0.3, 1.5, robot.nq), rng.normal(size=robot.nv)
        command_in = np.where(robot.effort_limit == 0, 0, rng.normal(size=robot.nv))
        effort = drive_effort(robot, command_in, qd) - robot.damping * qd
        np.testing.assert_allclose(code['forward_dynamics'](q, qd, command_in),
                                   forward_dynamics(robot, q, qd, effort), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(code['inverse_dynamics'](q, qd, qd),
                                   mass_matrix(robot, q) @ qd + bias(robot, q, qd), atol=1e-9)


def test_python_file_of_a_free_body_computes_what_the_library_computes(capsys):
    code: dict = {}
    exec(derived('free_body --python', capsys), code)
    inertia = load('free_body').bodies[0].inertia
    rng = np.random.default_rng(6)
    v, w, force, torque = rng.normal(size=(4, 3))
    rate = twist_rate(inertia, np.array([*v, *w]), np.array([*force, *torque]))
    np.testing.assert_allclose(np.concatenate(code['twist_rate'](v, w, force, torque)), rate,
                               rtol=1e-12)
    quaternion, angles = rng.normal(size=4), rng.uniform(-1, 1, 3)
    np.testing.assert_allclose(code['quaternion_rate'](quaternion, w),
                               quaternion_rate(quaternion, w), rtol=1e-12)
    np.testing.assert_allclose(code['angle_rates'](angles, w), angle_rates(angles, w), rtol=1e-12)


@pytest.mark.parametrize('command', [*SMALL, 'free_body'])
def test_latex_is_balanced(command, capsys):
    source = derived(f'{command} --latex', capsys)
    assert source.count('{') == source.count('}')
    for opening, closing in ((r'\left(', r'\right)'), (r'\begin{', r'\end{')):
        assert source.count(opening) == source.count(closing)
    assert all(ord(letter) < 128 for letter in source)


def test_coordinates_may_be_called_theta(capsys):
    page = derived('rp_arm --coordinate theta', capsys)
    assert '(m₁ L₁ + m₂ θ₂) g cos θ₁' in page
    assert r'\dot{\theta}_{1}' in derived('rp_arm --coordinate theta --latex', capsys)


def test_large_robots_are_told_what_there_is_instead(capsys):
    with pytest.raises(CommandError, match='--numeric') as refusal:
        derived('ur5', capsys)
    assert '\n' not in str(refusal.value)
    assert 'shoulder_lift_joint' in derived('ur5 --numeric', capsys)


def test_three_joints_at_odd_angles_are_told_so(capsys, tmp_path):
    links = ''.join(f'''
      <joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/>
        <origin xyz="0.1 0 0" rpy="0.{i + 1} 0.2 0.3"/><axis xyz="0 0 1"/></joint>
      <link name="l{i + 1}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1"
        iyz="0" izz="1"/></inertial></link>''' for i in range(3))
    file = tmp_path / 'odd.urdf'
    file.write_text(f'<robot name="odd"><link name="l0"/>{links}</robot>')
    with pytest.raises(CommandError, match='odd angles'):
        derived(str(file), capsys)


def test_missing_sympy_is_one_clear_line(capsys, monkeypatch):
    real_import = builtins.__import__

    def without_sympy(name, *rest):
        if name == 'torque_lab.cli' and rest[2] and 'equations' in rest[2]:
            raise ModuleNotFoundError("No module named 'sympy'", name='sympy')
        return real_import(name, *rest)
    monkeypatch.setattr(builtins, '__import__', without_sympy)
    with pytest.raises(CommandError, match='pip install sympy'):
        derived('pendulum', capsys)
