"""The URDF check: every rule finds its fault, names it, and leaves sound models alone."""

from __future__ import annotations

import argparse
import json

import pytest
from test_load import BODY, LIMIT, joint, link, refusal, robot, write

from torque_lab.cli import check as command
from torque_lab.physics import load
from torque_lab.physics.errors import ERROR, WARNING, ModelError
from torque_lab.physics.load import check_model


def body(mass=1, xx=1, yy=1, zz=1, more=''):
    return (f'<inertial>{more}<mass value="{mass}"/><inertia ixx="{xx}" ixy="0" ixz="0" '
            f'iyy="{yy}" iyz="0" izz="{zz}"/></inertial>')


def arm(link_content=BODY, joint_content=LIMIT, kind='revolute', more=''):
    """One link on one joint, each in its own line."""
    return robot('\n', link('base', ''), '\n', link('a', link_content), '\n',
                 joint('j', 'base', 'a', kind, joint_content), '\n', more)


def extended(more, kind='revolute', joint_content=LIMIT):
    return arm(kind=kind, joint_content=joint_content,
               more=f'<torque_lab>{more}</torque_lab>')


MOTOR = ('<motor joint="{}" torque_constant="{}" back_emf_constant="1" gear_ratio="1" '
         'resistance="1"/>')
CHAIN = (link('base', ''), link('a'), link('b'))
SHAPE = '<visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>'
SMALL = body(xx=1e-3, yy=1e-3, zz=1e-3)
FAULTS = {
    # name: text, severity, element, part of the message
    'missing mass': (arm(''), ERROR, 'link "a"', 'has no <inertial>'),
    'no mass element': (arm('<inertial><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
                            '</inertial>'), ERROR, 'link "a"', 'no <mass>'),
    'no inertia element': (arm('<inertial><mass value="1"/></inertial>'), ERROR, 'link "a"',
                           'no <inertia>'),
    'zero mass': (arm(body(0)), ERROR, 'link "a"', 'mass 0'),
    'negative mass': (arm(body(-1)), ERROR, 'link "a"', 'mass -1 kg is negative'),
    'tiny mass': (arm(body(1e-6)), WARNING, 'link "a"', 'tiny mass of 1e-06 kg'),
    'massless link in a chain': (
        robot(link('base', ''), link('a', ''), link('b'), joint('i', 'base', 'a'),
              joint('j', 'a', 'b')), WARNING, 'link "a"', 'Gazebo drops'),
    'negative inertia': (arm(body(xx=-1)), ERROR, 'link "a"', 'not positive definite'),
    'zero inertia': (arm(body(xx=0, yy=0, zz=0)), ERROR, 'link "a"', 'not positive definite'),
    'indefinite inertia': (arm(BODY.replace('ixy="0"', 'ixy="2"')), ERROR, 'link "a"',
                           'not positive definite'),
    'impossible inertia': (arm(body(zz=2.5)), ERROR, 'link "a"', 'triangle inequality'),
    'impossible inertia of a fixed link': (
        robot(*CHAIN[:2], link('b', body(zz=2.5)), joint('i', 'base', 'a'),
              joint('j', 'a', 'b', 'fixed', '')), WARNING, 'link "b"', 'triangle inequality'),
    'long axis': (arm(joint_content=LIMIT + '<axis xyz="0 0 2"/>'), WARNING, 'joint "j"',
                  'has length 2, not 1'),
    'zero axis': (arm(joint_content=LIMIT + '<axis xyz="0 0 0"/>'), ERROR, 'joint "j"',
                  'no direction'),
    'zero effort': (arm(joint_content='<limit lower="0" upper="1" effort="0" velocity="1"/>'),
                    WARNING, 'joint "j"', 'effort limit is 0, which silently disables'),
    'zero velocity': (arm(joint_content='<limit lower="0" upper="1" effort="1" velocity="0"/>'),
                      WARNING, 'joint "j"', 'velocity limit is 0, which silently disables'),
    'negative effort': (arm(joint_content='<limit upper="1" effort="-1" velocity="1"/>'), ERROR,
                        'joint "j"', 'effort limit -1 is negative'),
    'no effort': (arm(joint_content='<limit upper="1" velocity="1"/>'), ERROR, 'joint "j"',
                  'no effort'),
    'no limit': (arm(joint_content=''), ERROR, 'joint "j"', 'no <limit>'),
    'crossed limits': (arm(joint_content='<limit lower="2" upper="1" effort="1" velocity="1"/>'),
                       ERROR, 'joint "j"', 'lower limit 2 is above the upper limit 1'),
    'no room': (arm(joint_content='<limit effort="1" velocity="1"/>'), WARNING, 'joint "j"',
                'cannot move'),
    'negative damping': (arm(joint_content=LIMIT + '<dynamics damping="-1"/>'), ERROR,
                         'joint "j"', 'damping -1 is negative'),
    'damped floating joint': (arm(kind='floating', joint_content='<dynamics damping="1"/>'),
                              WARNING, 'joint "j"', 'ignored'),
    'unknown type': (arm(kind='hinge'), ERROR, 'joint "j"', 'unknown type "hinge"'),
    'mimic': (arm(joint_content=LIMIT + '<mimic joint="k"/>'), ERROR, 'joint "j"',
              'mimics joint "k"'),
    'cycle': (robot(*CHAIN, joint('i', 'a', 'b'), joint('j', 'b', 'a')), ERROR, 'joint "i"',
              'closes a cycle'),
    'two roots': (robot(*CHAIN, joint('j', 'base', 'a')), ERROR, 'link "b"',
                  'second root beside link "base"'),
    'two parents': (robot(*CHAIN, joint('i', 'base', 'b'), joint('j', 'a', 'b')), ERROR,
                    'joint "j"', 'already hangs on joint "i"'),
    'joined to itself': (robot(*CHAIN[:2], joint('j', 'a', 'a')), ERROR, 'joint "j"', 'itself'),
    'unknown child': (robot(*CHAIN[:1], joint('j', 'base', 'x')), ERROR, 'joint "j"',
                      'child link "x" does not exist'),
    'unknown parent': (robot(*CHAIN[:1], joint('j', 'x', 'base')), ERROR, 'joint "j"',
                       'parent link "x" does not exist'),
    'no parent': (arm().replace('<parent link="base"/>', ''), ERROR, 'joint "j"', 'no <parent'),
    'duplicate link': (arm(more=link('a')), ERROR, 'link "a"', 'already taken on line 3'),
    'duplicate joint': (robot(*CHAIN, joint('j', 'base', 'a'), joint('j', 'base', 'b')), ERROR,
                        'joint "j"', 'already taken'),
    'planar names': (robot(*CHAIN, joint('j', 'base', 'a', 'planar', ''),
                           joint('j_x', 'a', 'b')), ERROR, 'joint "j_x"', 'planar joint "j"'),
    'no name': (arm().replace('<link name="a"', '<link'), ERROR, 'link', 'no attribute "name"'),
    'no links': (robot(), ERROR, 'robot "r"', 'has no links'),
    'no robot name': ('<robot><link name="a"/></robot>', ERROR, 'robot', 'attribute "name"'),
    'not a number': (arm(body('nan')), ERROR, 'link "a"', '"nan"> is not a finite number'),
    'infinite': (arm(body(xx='inf')), ERROR, 'link "a"', '"inf"> is not a finite number'),
    'overflow': (arm(body('1e999')), ERROR, 'link "a"', 'not a finite number'),
    'words for numbers': (arm(body('heavy')), ERROR, 'link "a"', '"heavy"'),
    'decimal comma': (arm(body('1,5')), ERROR, 'link "a"', '"1,5"'),
    'wrong count': (arm(joint_content=LIMIT + '<axis xyz="0 1"/>'), ERROR, 'joint "j"',
                    'holds 2 numbers'),
    'infinite limit': (arm(joint_content=LIMIT.replace('"2"', '"inf"')), ERROR, 'joint "j"',
                       'finite number'),
    'two inertials': (arm(BODY + BODY), ERROR, 'link "a"', '2 <inertial>'),
    'no geometry': (arm(BODY + '<visual/>'), ERROR, 'link "a"', 'no <geometry>'),
    'misspelt element': (arm(joint_content=LIMIT + '<dynamic damping="1"/>'), WARNING,
                         'joint "j"', 'unknown element <dynamic>'),
    'misspelt attribute': (arm(joint_content=LIMIT + '<dynamics dampin="1"/>'), WARNING,
                           'joint "j"', 'unknown attribute "dampin"'),
    'inertia far too large for its shape': (arm(BODY + SHAPE), WARNING, 'link "a"',
                                            '600 times that of its shape'),
    'inertia far too small for its shape': (
        arm(body(xx=1e-6, yy=1e-6, zz=1e-6) + SHAPE.replace('visual', 'collision')), WARNING,
        'link "a"', 'of that of its shape'),
    'mass beside the shape': (arm(body(xx=1e-3, yy=1e-3, zz=1e-3, more='<origin xyz="3 0 0"/>')
                                  + SHAPE), WARNING, 'link "a"', 'centre of mass lies 3 m'),
    'flat shape': (arm(SMALL + SHAPE.replace('0.1 0.1 0.1', '0.1 0.1 0')), WARNING, 'link "a"',
                   'size is not positive'),
    'extension: unknown element': (extended('<spring/>'), ERROR, '<torque_lab>',
                                   'knows no <spring>'),
    'extension: unknown attribute': (extended('<joint name="j" begin="1"/>'), ERROR,
                                     '<torque_lab>', 'no attribute "begin"'),
    'extension: unknown joint': (extended('<joint name="k" start="1"/>'), ERROR, 'joint "k"',
                                 'no such moving joint'),
    'extension: unknown link': (extended('<point_mass link="x"/>'), ERROR, 'link "x"',
                                'no such link'),
    'extension: massless point mass': (extended('<point_mass link="base"/>'), ERROR,
                                       'link "base"', 'has no mass'),
    'extension: twice': (extended('<joint name="j"/><joint name="j"/>'), ERROR, 'joint "j"',
                         'second <joint>'),
    'extension: start count': (extended('<joint name="j" start="1 2"/>'), ERROR, 'joint "j"',
                               'start holds 2 numbers'),
    'extension: start outside': (extended('<joint name="j" start="5"/>'), ERROR, 'joint "j"',
                                 'outside the limits -1 to 2'),
    'extension: quaternion': (extended('<joint name="j" start="0 0 0 0 0 0 0"/>', 'floating', ''),
                              ERROR, 'joint "j"', 'quaternion'),
    'extension: stiffness': (extended('<joint name="j" stiffness="-1"/>'), ERROR, 'joint "j"',
                             'stiffness -1 is negative'),
    'extension: passive': (extended('<joint name="j" passive="yes"/>'), ERROR, 'joint "j"',
                           'neither true nor false'),
    'extension: motor joint': (extended(MOTOR.format('k', 1)), ERROR, 'joint "k"',
                               'no such moving joint'),
    'extension: motor number': (extended(MOTOR.format('j', 0)), ERROR, 'joint "j"',
                                'torque_constant 0 is not positive'),
    'extension: motor on a floating joint': (extended(MOTOR.format('j', 1), 'floating', ''),
                                             ERROR, 'joint "j"', 'cannot have a <motor>'),
    'extension: gravity': (extended('<gravity/>'), ERROR, '<torque_lab>', 'attribute "xyz"'),
}


@pytest.mark.parametrize('fault', FAULTS)
def test_each_fault_is_found_and_errors_are_refused_in_the_same_words(tmp_path, fault):
    text, severity, element, words = FAULTS[fault]
    path = write(tmp_path, 'model.urdf', text)
    found = [finding for finding in check_model(path)
             if finding.element == element and words in finding.message]
    assert found, [str(finding) for finding in check_model(path)]
    finding = found[0]
    assert finding.severity == severity
    assert finding.file == str(path)
    assert finding.line is not None and finding.fix
    if severity == ERROR:
        with pytest.raises(ModelError) as caught:
            load(path)
        assert finding in caught.value.findings
        assert str(caught.value).startswith(str(caught.value.findings[0]))
    else:
        load(path)


SOUND = {
    'plain arm': arm(),
    'exact shape': arm(body(xx=1 / 600, yy=1 / 600, zz=1 / 600) + SHAPE),
    'mesh': arm(BODY + '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'),
    'declared point mass': arm(body(xx=1e-12, yy=1e-12, zz=1e-12) + SHAPE,
                               more='<torque_lab><point_mass link="a"/></torque_lab>'),
    'thin plate': arm(body(xx=1, yy=1, zz=2.0001)),
    'axis in three digits': arm(joint_content=LIMIT + '<axis xyz="0.707 0.707 0"/>'),
    'continuous without limits': arm(kind='continuous', joint_content=''),
    'passive with zero effort': extended(
        '<joint name="j" passive="true"/>',
        joint_content='<limit lower="0" upper="1" effort="0" velocity="1"/>'),
    'mass by a fixed child': robot(link('base', ''), link('a', ''), link('b'),
                                   joint('i', 'base', 'a'), joint('j', 'a', 'b', 'fixed', '')),
    'elements of others': arm(more='<gazebo/><transmission/><ros2_control/>'),
}


@pytest.mark.parametrize('name', SOUND)
def test_sound_models_pass_without_a_finding(tmp_path, name):
    path = write(tmp_path, 'model.urdf', SOUND[name])
    assert check_model(path) == []
    load(path)


def test_all_faults_of_a_file_are_told_at_once(tmp_path):
    path = write(tmp_path, 'model.urdf', robot(
        '\n', link('base', ''), '\n', link('a', body(-1)), '\n', link('b', body('x')), '\n',
        joint('i', 'base', 'a', 'hinge'), '\n',
        joint('j', 'a', 'b', content=LIMIT + '<axis xyz="0 0 0"/>')))
    assert [(finding.line, finding.element) for finding in check_model(path)] == [
        (3, 'link "a"'), (4, 'link "b"'), (4, 'link "b"'), (5, 'joint "i"'), (6, 'joint "j"')]
    assert '(and 4 more; torque-lab check lists all)' in refusal(path)


# The command


def run(*words):
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return command.run(parser.parse_args(list(map(str, words))))


def test_the_exit_status_tells_clean_from_broken_from_unreadable(tmp_path, capsys):
    doubtful = write(tmp_path, 'doubtful.urdf', FAULTS['tiny mass'][0])
    broken = write(tmp_path, 'broken.urdf', FAULTS['mimic'][0])
    assert run('pendulum') == 0
    assert run('n_link', 'links:=7') == 0
    assert run(doubtful) == 0
    assert run(doubtful, '--strict') == 1
    assert run(broken) == 1
    assert run(tmp_path / 'nothing.urdf') == 2
    assert run('n_link', 'link:=7') == 2
    assert run(write(tmp_path, 'text.urdf', 'no markup')) == 2
    capsys.readouterr()


def test_the_command_prints_place_fault_and_fix(tmp_path, capsys):
    path = write(tmp_path, 'broken.urdf', FAULTS['mimic'][0])
    run(path)
    out = capsys.readouterr().out
    assert f'{path}:5: error: joint "j": mimics joint "k"' in out
    assert 'fix: remove <mimic>' in out
    assert out.endswith(f'{path}: 1 error, no warnings\n')


def test_the_command_speaks_json(tmp_path, capsys):
    path = write(tmp_path, 'broken.urdf', FAULTS['mimic'][0])
    assert run(path, '--json') == 1
    report = json.loads(capsys.readouterr().out)
    assert report['file'] == str(path)
    assert report['findings'][0]['line'] == 5
    assert report['findings'][0]['element'] == 'joint "j"'
    assert run(tmp_path / 'nothing.urdf', '--json') == 2
    assert 'nothing.urdf' in json.loads(capsys.readouterr().out)['unreadable']
