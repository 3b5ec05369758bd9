"""From text to a robot: order, lumping, joint kinds, xacro, and words for what goes wrong."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import torque_lab
from torque_lab.physics import load, load_urdf
from torque_lab.physics.errors import ModelError
from torque_lab.physics.model import FLOATING, PRISMATIC, REVOLUTE, WORLD

BODY = """<inertial><mass value="1"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"""
LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


def link(name, content=BODY):
    return f'<link name="{name}">{content}</link>'


def joint(name, parent, child, kind='revolute', content=LIMIT):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/>{content}</joint>')


def robot(*elements):
    return f'<robot name="r">{"".join(elements)}</robot>'


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding='utf-8')
    return path


def refusal(path, **arguments):
    with pytest.raises(ModelError) as caught:
        load(path, **arguments)
    message = str(caught.value)
    assert '\n' not in message
    return message


# Order


def test_positions_stand_in_document_order_and_parents_come_first():
    # The joint nearer the tip is written first.
    model = load_urdf(robot(
        link('base', ''), link('a'), link('b'), link('c'),
        joint('outer', 'a', 'b'), joint('side', 'base', 'c'), joint('inner', 'base', 'a')))
    assert model.joint_names == ('outer', 'side', 'inner')
    for number, body in enumerate(model.bodies):
        assert body.parent < number
        assert model.joint_names[body.q.start] == body.joint
        assert body.q == body.v
    by_joint = {body.joint: body for body in model.bodies}
    assert model.bodies[by_joint['outer'].parent].joint == 'inner'
    assert by_joint['side'].parent == WORLD
    assert list(model.frames) == ['base', 'a', 'b', 'c']


def test_branches_stand_together_in_document_order():
    model = load_urdf(robot(
        link('base', ''), link('a'), link('b'), link('c'), link('d'),
        joint('left', 'base', 'a'), joint('right', 'base', 'b'), joint('left_hand', 'a', 'c'),
        joint('right_hand', 'b', 'd')))
    assert [body.name for body in model.bodies] == ['a', 'c', 'b', 'd']
    assert model.parents == (WORLD, 0, WORLD, 2)
    assert model.joint_names == ('left', 'right', 'left_hand', 'right_hand')


def test_a_robot_cannot_be_changed():
    model = load('pendulum')
    with pytest.raises(AttributeError):
        model.name = 'other'
    for array in (model.damping, model.start, model.bodies[0].axis, model.bodies[0].inertia.com,
                  model.frames['tip'].translation):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1
    assert model.replace(name='other').name == 'other'
    assert model.name == 'pendulum'


def test_the_package_offers_the_loader():
    assert torque_lab.load is load
    assert 'ur5' in torque_lab.shipped_models()


# Lumping


def test_fixed_links_join_their_carrier_by_the_parallel_axis_theorem():
    model = load_urdf(robot(
        link('base', ''), link('a'), link('b'), link('frame', ''),
        joint('j', 'base', 'a'),
        joint('weld', 'a', 'b', 'fixed', '<origin xyz="2 0 0" rpy="0 0 1.5707963267948966"/>'),
        joint('mark', 'b', 'frame', 'fixed', '<origin xyz="1 0 0"/>')))
    (body,) = model.bodies
    assert body.inertia.mass == 2
    np.testing.assert_array_equal(body.inertia.com, [1, 0, 0])
    np.testing.assert_allclose(body.inertia.about_com, np.diag([2, 4, 4]), atol=1e-15)
    assert model.frames['frame'].body == 0
    np.testing.assert_array_equal(model.frames['frame'].translation, [2, 1, 0])
    assert model.tip == 'frame'


def test_tensor_axes_turn_with_the_inertial_origin():
    text = robot(link('base', ''), link('a', """<inertial>
        <origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/><mass value="2"/>
        <inertia ixx="3" ixy="0" ixz="0" iyy="2" iyz="0" izz="1.5"/></inertial>"""),
                 joint('j', 'base', 'a'))
    (body,) = load_urdf(text).bodies
    np.testing.assert_allclose(body.inertia.about_com, np.diag([1.5, 2, 3]), atol=1e-15)


def test_a_massless_link_takes_the_mass_of_what_is_fixed_to_it():
    model = load_urdf(robot(link('base', ''), link('a', ''), link('b'), joint('j', 'base', 'a'),
                            joint('weld', 'a', 'b', 'fixed', '')))
    assert [body.inertia.mass for body in model.bodies] == [1]
    assert model.bodies[0].name == 'a'


def test_quarter_turns_are_exact():
    model = load_urdf(robot(
        link('base', ''), link('a'),
        joint('j', 'base', 'a', content=LIMIT + '<origin rpy="1.5707963267948966 0 '
                                                '-1.5707963267948966"/>')))
    assert set(model.bodies[0].rotation.ravel()) == {-1.0, 0.0, 1.0}


# Kinds of joints


def test_axes_are_normalised():
    model = load_urdf(robot(link('base', ''), link('a'),
                            joint('j', 'base', 'a', content=LIMIT + '<axis xyz="0 3 4"/>')))
    np.testing.assert_allclose(model.bodies[0].axis, [0, 0.6, 0.8], rtol=1e-15)


@pytest.mark.parametrize(('kind', 'ours', 'lower', 'upper'), [
    ('revolute', REVOLUTE, -1, 2), ('prismatic', PRISMATIC, -1, 2),
    ('continuous', REVOLUTE, -np.inf, np.inf)])
def test_limits_follow_the_kind_of_joint(kind, ours, lower, upper):
    model = load_urdf(robot(link('base', ''), link('a'), joint('j', 'base', 'a', kind)))
    assert model.bodies[0].kind == ours
    assert (model.lower[0], model.upper[0]) == (lower, upper)
    assert (model.effort_limit[0], model.velocity_limit[0]) == (3, 4)


def test_a_floating_joint_has_seven_positions_and_six_velocities():
    model = load_urdf(robot(link('base', ''), link('a'), link('b'),
                            joint('free', 'base', 'a', 'floating', ''), joint('j', 'a', 'b')))
    assert (model.nq, model.nv) == (8, 7)
    assert model.joint_names == ('j',)
    assert model.bodies[0].kind == FLOATING
    np.testing.assert_array_equal(model.start, [0, 0, 0, 0, 0, 0, 1, 0])
    assert model.joint_index('j') == 6


@pytest.mark.parametrize('normal', ['0 0 1', '0 1 0', '1 0 0', '1 -2 3'])
def test_a_planar_joint_slides_in_its_plane_and_turns_about_the_normal(normal):
    model = load_urdf(robot(link('base', ''), link('a'), joint(
        'p', 'base', 'a', 'planar', f'<axis xyz="{normal}"/><dynamics damping="0.5"/>')))
    assert model.joint_names == ('p_x', 'p_y', 'p_theta')
    assert [body.kind for body in model.bodies] == [PRISMATIC, PRISMATIC, REVOLUTE]
    assert [body.inertia.mass for body in model.bodies] == [0, 0, 1]
    assert model.parents == (WORLD, 0, 1)
    x, y, n = (body.axis for body in model.bodies)
    np.testing.assert_allclose(np.cross(x, y), n, atol=1e-15)
    np.testing.assert_array_equal(model.damping, 0.5)
    assert model.bodies[2].name == 'a'
    if normal == '0 0 1':
        np.testing.assert_array_equal([x, y], [[1, 0, 0], [0, 1, 0]])


def test_a_planar_joint_starts_where_its_three_numbers_say():
    model = load_urdf(robot(
        link('base', ''), link('a'), joint('p', 'base', 'a', 'planar', '<axis xyz="0 0 1"/>'),
        '<torque_lab><joint name="p" start="1 2 3" start_velocity="4 5 6"/></torque_lab>'))
    np.testing.assert_array_equal(model.start, [1, 2, 3])
    np.testing.assert_array_equal(model.start_velocity, [4, 5, 6])


# The extension element


EXTENDED = robot(
    link('base', ''), link('a'), link('b'),
    joint('j', 'base', 'a', content=LIMIT + '<dynamics damping="0.1" friction="0.2"/>'),
    joint('k', 'a', 'b'),
    """<torque_lab><gravity xyz="0 0 -1.6"/>
    <joint name="j" start="0.5" start_velocity="-2" stiffness="7" rest="0.25"/>
    <joint name="k" passive="true"/>
    <motor joint="j" torque_constant="1" back_emf_constant="2" gear_ratio="3" resistance="4"/>
    <point_mass link="b"/></torque_lab>""")


def test_the_extension_element_sets_start_springs_motors_and_gravity():
    model = load_urdf(EXTENDED)
    np.testing.assert_array_equal(model.start, [0.5, 0])
    np.testing.assert_array_equal(model.start_velocity, [-2, 0])
    np.testing.assert_array_equal(model.stiffness, [7, 0])
    np.testing.assert_array_equal(model.spring_rest, [0.25, 0])
    np.testing.assert_array_equal(model.damping, [0.1, 0])
    np.testing.assert_array_equal(model.friction, [0.2, 0])
    np.testing.assert_array_equal(model.effort_limit, [3, 0])
    np.testing.assert_array_equal(model.gravity, [0, 0, -1.6])
    assert model.motors[0].torque(4.0, 0.0) == 3
    assert model.motors[0].voltage_limit == np.inf
    assert model.motors[1] is None
    assert model.point_masses == {'b'}


def test_other_readers_ignore_the_extension_element():
    pinocchio = pytest.importorskip('pinocchio')
    mujoco = pytest.importorskip('mujoco')
    assert pinocchio.buildModelFromXML(EXTENDED).nv == 2
    assert mujoco.MjModel.from_xml_string(EXTENDED).nv == 2


def test_without_a_start_the_joint_starts_inside_its_limits():
    limit = '<limit lower="0.5" upper="2" effort="3" velocity="4"/>'
    model = load_urdf(robot(link('base', ''), link('a'), joint('j', 'base', 'a', content=limit)))
    assert model.start[0] == 0.5


# Files, names and xacro


def test_plain_urdf_is_taken_as_it_is(tmp_path):
    text = robot(link('base', ''), link('a'), joint('j', 'base', 'a'))
    path = write(tmp_path, 'plain.urdf', text)
    assert load(path).urdf == text
    assert load(str(path)).joint_names == ('j',)
    assert 'takes no arguments' in refusal(path, mass=2)


def test_encoding_declarations_are_respected(tmp_path):
    text = robot(link('Sockel-ä', ''))
    path = tmp_path / 'latin.urdf'
    path.write_bytes(b'<?xml version="1.0" encoding="iso-8859-1"?>' + text.encode('latin-1'))
    assert 'Sockel-ä' in load(path).frames
    assert 'Sockel-ä' in load_urdf('<?xml version="1.0" encoding="utf-8"?>' + text).frames


def test_a_default_namespace_means_nothing():
    text = robot(link('base', '')).replace('<robot', '<robot xmlns="http://example.org"')
    assert list(load_urdf(text).frames) == ['base']


def test_an_unknown_name_is_answered_with_the_shipped_ones():
    message = refusal('pendelum')
    assert 'pendelum' in message and 'pendulum' in message and 'ur5' in message


def test_xacro_arguments_reach_the_model():
    model = load('pendulum', mass=3, length=0.5, start=-1.5)
    assert model.bodies[0].inertia.mass == 3
    np.testing.assert_array_equal(model.bodies[0].inertia.com, [0, 0, -0.5])
    assert model.start[0] == -1.5


def test_an_argument_that_the_file_does_not_know_is_refused():
    message = refusal('pendulum', masss=3)
    assert '"masss"' in message and 'mass, length' in message and 'pendulum.urdf.xacro' in message


def test_an_undefined_argument_is_named(tmp_path):
    path = write(tmp_path, 'a.xacro',
                 f'<robot {XACRO} name="$(arg title)"><link name="b"/></robot>')
    message = refusal(path)
    assert 'title' in message and str(path) in message
    assert load(path, title='x').name == 'x'


@pytest.mark.parametrize(('body', 'words'), [
    ('<xacro:nonsense/>', 'unknown macro name: xacro:nonsense'),
    ('<link name="${1/0}"/>', 'division by zero'),
    ('<link name="${undefined_thing}"/>', 'undefined_thing'),
    ('<xacro:include filename="not_there.xacro"/>', 'not_there.xacro'),
    ('<xacro:macro name="m" params="a"><link name="${a}"/></xacro:macro><xacro:m/>',
     'Undefined parameters [a]'),
    ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', 'calls itself'),
    ('<xacro:if value="perhaps"/>', 'perhaps'),
])
def test_xacro_errors_name_the_file_and_the_reason(tmp_path, body, words):
    path = write(tmp_path, 'broken.xacro', f'<robot {XACRO} name="r">{body}</robot>')
    message = refusal(path)
    assert words in message and str(path) in message


def test_a_failed_expansion_leaves_nothing_behind(tmp_path):
    before = load('double_pendulum').urdf
    refusal(write(tmp_path, 'a.xacro', f'<robot {XACRO} name="r"><xacro:no/></robot>'))
    assert load('double_pendulum').urdf == before


def test_several_threads_may_load_at_once():
    with ThreadPoolExecutor(4) as pool:
        robots = list(pool.map(lambda links: load('n_link', links=links), [1, 2, 3, 4] * 3))
    assert [robot.nv for robot in robots] == [1, 2, 3, 4] * 3


def test_findings_lead_to_the_line_in_an_included_macro(tmp_path):
    write(tmp_path, 'part.xacro', f"""<robot {XACRO}>
      <xacro:macro name="part" params="name">
        <link name="${{name}}">
          <inertial>
            <mass value="-1"/>
            <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
          </inertial>
        </link>
      </xacro:macro></robot>""")
    path = write(tmp_path, 'whole.xacro', f"""<robot {XACRO} name="r">
      <xacro:include filename="part.xacro"/>
      <xacro:part name="lump"/></robot>""")
    message = refusal(path)
    assert message.startswith(f'{tmp_path / "part.xacro"}:4: link "lump": mass -1 kg')


@pytest.mark.parametrize('text', ['', 'hello', '<robot', '<robot></robot', '\0', '<a/>',
                                  '<robot name="r"/>', '<sdf version="1.6"/>'])
def test_what_is_no_robot_is_refused(tmp_path, text):
    assert 'x.urdf' in refusal(write(tmp_path, 'x.urdf', text))
    with pytest.raises(ModelError, match='robot_description'):
        load_urdf(text)


# Robots that nobody here wrote


def example_robots():
    return [Path(str(file.locate())).resolve()
            for file in metadata.files('example-robot-data') or ()
            if str(file).endswith('.urdf')]


def test_real_robots_load_or_are_refused_with_reason():
    files = example_robots()
    if not files:
        pytest.skip('example-robot-data is not installed')
    loaded = set()
    for path in files:
        try:
            load(path)
            loaded.add(path.name)
        except ModelError as error:
            assert str(path) in str(error)
    assert len(loaded) >= 50
    assert {'ur5_robot.urdf', 'kinova.urdf', 'xarm7.urdf', 'z1.urdf', 'so100.urdf'} <= loaded


def test_the_panda_loads_once_its_coupled_finger_is_let_go():
    path = next((path for path in example_robots() if path.name == 'panda.urdf'), None)
    if path is None:
        pytest.skip('example-robot-data is not installed')
    assert 'joint "panda_finger_joint2": mimics joint "panda_finger_joint1"' in refusal(path)
    text = path.read_text().replace('<mimic joint="panda_finger_joint1"/>', '')
    text = text.replace('<mimic joint="panda_finger_joint1" />', '')
    model = load_urdf(text, str(path))
    assert model.nv == 9
    assert (model.lower <= model.start).all() and (model.start <= model.upper).all()
