"""Whatever is fed to the loader, out comes a robot or a ModelError, and nothing else."""

from __future__ import annotations

import copy
import warnings
from functools import cache

import numpy as np
import pytest

pytest.importorskip('hypothesis')
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from test_load import EXTENDED

from torque_lab.physics import ModelError, load, load_urdf, mass_matrix
from torque_lab.physics.load import models_folder
from torque_lab.physics.model import Robot

MODELS = ('pendulum', 'rp_arm', 'rotary_pendulum', 'free_body', 'ur5')
VALUES = ['', ' ', '0', '-1', 'nan', 'inf', '-inf', '1e-320', '1e49', '1e51', '1e308', '1e999',
          '1_000', '٣', '0x10', '1 2', '1 2 3', '0 0 0', '1e-200 0 0', 'x', '\t', 'world', 'base',
          'joint1', 'link1', 'tip', 'fixed', 'planar', 'floating', 'prismatic', 'mimic', 'true',
          '${1/0}', '${[]}', '$(arg no)', '$(find no)', '${', '}', '$$', '${pi}', "${'a'*3}"]
TAGS = ['link', 'joint', 'robot', 'mass', 'mimic', 'limit', 'axis', 'torque_lab', 'motor',
        'point_mass', 'gravity', 'inertial', 'geometry', 'sphere', 'cylinder']
SETTINGS = settings(max_examples=150, deadline=None, derandomize=True,
                    suppress_health_check=[HealthCheck.too_slow,
                                           HealthCheck.function_scoped_fixture])


@cache
def urdf_text(name):
    return EXTENDED if name == 'extended' else load(name).urdf


@cache
def xacro_source(name):
    return (models_folder() / name).read_text(encoding='utf-8')


def mutate_tree(data, text):
    """Change a few elements or attributes of XML text."""
    root = etree.fromstring(text.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        elements = list(root.iter(etree.Element))
        element = elements[data.draw(st.integers(0, len(elements) - 1))]
        parent = element.getparent()
        action = data.draw(st.sampled_from(
            ['value', 'value', 'drop attribute', 'add attribute', 'rename', 'remove', 'copy',
             'move']))
        names = sorted(element.attrib)
        if action == 'value' and names:
            element.set(data.draw(st.sampled_from(names)), data.draw(st.sampled_from(VALUES)))
        elif action == 'drop attribute' and names:
            del element.attrib[data.draw(st.sampled_from(names))]
        elif action == 'add attribute':
            element.set(data.draw(st.sampled_from(['name', 'xyz', 'rpy', 'type', 'link', 'value',
                                                   'start', 'passive', 'odd'])),
                        data.draw(st.sampled_from(VALUES)))
        elif action == 'rename':
            element.tag = data.draw(st.sampled_from(TAGS))
        elif action == 'remove' and parent is not None:
            parent.remove(element)
        elif action == 'copy' and parent is not None:
            parent.append(copy.deepcopy(element))
        elif action == 'move' and parent is not None:
            target = elements[data.draw(st.integers(0, len(elements) - 1))]
            if element not in (target, *target.iterancestors()):
                target.append(element)
    return etree.tostring(root, encoding='unicode')


def mutate_characters(data, text):
    """Cut, double or replace a few stretches of text, whatever they mean."""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 12))
        middle = data.draw(st.sampled_from(
            ['', text[start:end] * 2, '<', '>', '"', '&', '&x;', '\0', 'é', '-', '.', '${', ' ']))
        text = text[:start] + middle + text[end:]
    return text


def judge(attempt):
    """A robot with finite numbers, or an error in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        try:
            robot = attempt()
        except ModelError as error:
            message = str(error)
            assert message and '\n' not in message
            return None
    assert isinstance(robot, Robot)
    assert robot.start.shape == (robot.nq,)
    assert len(robot.motors) == len(robot.damping) == robot.nv
    assert np.isfinite(robot.start).all()
    for body in robot.bodies:
        assert np.isfinite(body.inertia.about_com).all()
    if robot.bodies:
        assert np.isfinite(mass_matrix(robot, robot.start)).all()
    return robot


@SETTINGS
@given(st.data(), st.sampled_from([*MODELS, 'extended']))
def test_mutated_urdf_elements(data, name):
    text = mutate_tree(data, urdf_text(name))
    judge(lambda: load_urdf(text))


@SETTINGS
@given(st.data(), st.sampled_from([*MODELS, 'extended']))
def test_mutated_urdf_characters(data, name):
    text = mutate_characters(data, urdf_text(name))
    judge(lambda: load_urdf(text))
    judge(lambda: load_urdf(text.encode()))


@SETTINGS
@given(st.text(max_size=60) | st.binary(max_size=60))
def test_anything_for_a_text(text):
    assert judge(lambda: load_urdf(text)) is None


@SETTINGS
@given(st.text(max_size=30))
def test_anything_for_a_name(name):
    judge(lambda: load(name))


@SETTINGS
@given(st.data(), st.sampled_from([*MODELS, 'n_link']), st.booleans(), st.booleans())
def test_mutated_xacro(tmp_path, data, name, in_macros, in_elements):
    file = f'{name}.urdf.xacro'
    sources = {part: xacro_source(part) for part in (file, 'macros.xacro')}
    part = 'macros.xacro' if in_macros else file
    mutate = mutate_tree if in_elements else mutate_characters
    sources[part] = mutate(data, sources[part])
    for part, text in sources.items():
        (tmp_path / part).write_text(text, encoding='utf-8')
    judge(lambda: load(tmp_path / file))


@SETTINGS
@given(st.sampled_from(MODELS), st.dictionaries(
    st.sampled_from(['mass', 'length', 'start', 'gravity', 'height', 'damping', 'x', 'arm_radius',
                     'mass1', 'inertia1', 'odd']), st.sampled_from(VALUES), max_size=3))
def test_anything_for_an_argument(name, arguments):
    judge(lambda: load(name, **arguments))


def test_the_mutations_leave_some_robots_alive_and_refuse_others():
    """The fuzzing would be idle if everything failed at once."""
    outcomes = []

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(st.data())
    def collect(data):
        text = mutate_tree(data, urdf_text('ur5'))
        outcomes.append(judge(lambda: load_urdf(text)) is not None)

    collect()
    assert 0.1 < sum(outcomes) / len(outcomes) < 0.95
