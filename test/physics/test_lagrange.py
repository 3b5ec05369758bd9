"""Euler-Lagrange in symbols agrees with the recursions, and the textbook form with both."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

sympy = pytest.importorskip('sympy')

from torque_lab.physics import (  # noqa: E402
    bias,
    coriolis_matrix,
    gravity_torque,
    inverse_dynamics,
    kinetic_energy,
    load,
    load_urdf,
    mass_matrix,
    potential_energy,
)
from torque_lab.physics.forces import spring_effort  # noqa: E402
from torque_lab.physics.lagrange import euler_lagrange  # noqa: E402
from torque_lab.physics.notation import Notation, columns, wrap  # noqa: E402
from torque_lab.physics.symbols import exact_direction, symbolic  # noqa: E402
from torque_lab.physics.textbook import by_inertia, by_wave, short_waves  # noqa: E402
from torque_lab.physics.trigonometry import normal_form  # noqa: E402

ELBOW = '''
<robot name="elbow"><link name="world"/>
  <joint name="waist" type="continuous"><parent link="world"/><child link="column"/>
    <origin xyz="0.3 0 0.1"/><axis xyz="0 0 1"/><dynamics damping="0.3" friction="0.2"/></joint>
  <link name="column"><inertial><origin xyz="0.02 0 0.1"/><mass value="3"/>
    <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.02"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="column"/><child link="upper"/>
    <origin xyz="0 0.1 0.2" rpy="0 0.3 0"/><axis xyz="0 1 0"/></joint>
  <link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.003" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial></link>
  <joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/>
    <origin xyz="0.4 0 0" rpy="0 0 1.5707963267948966"/><axis xyz="0.6 0 0.8"/>
    <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <link name="lower"><inertial><origin xyz="0.15 0.03 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.022"/></inertial></link>
  <torque_lab><joint name="elbow" stiffness="20" rest="0.1"/></torque_lab>
</robot>'''
ODD = '''
<robot name="odd"><link name="world"/>
  <joint name="one" type="continuous"><parent link="world"/><child link="a"/>
    <origin rpy="0.1 0.2 0.3"/><axis xyz="0.26726124191242438 0.534522483824848769 0.8017837"/>
  </joint>
  <link name="a"><inertial><origin xyz="0.1 0.2 0"/><mass value="1"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <joint name="two" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0.3 0 0" rpy="0.5 0 -0.7"/><axis xyz="0 1 0"/></joint>
  <link name="b"><inertial><origin xyz="0.15 0 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
</robot>'''
SMALL = ['pendulum', 'double_pendulum', 'rp_arm', 'three_link', 'rotary_pendulum', 'n_link',
         'elbow', 'odd']


@cache
def robot_and_equations(name):
    texts = {'elbow': ELBOW, 'odd': ODD}
    robot = (load_urdf(texts[name]) if name in texts
             else load(name, links=3) if name == 'n_link' else load(name))
    return robot, euler_lagrange(robot)


def states(robot, count=5):
    rng = np.random.default_rng(11)
    return zip(rng.uniform(-2, 2, (count, robot.nq)), rng.normal(size=(count, robot.nv)),
               strict=True)


def number(equations, expression, q, qd):
    known = {**equations.values, **dict(zip(equations.symbols.positions, q, strict=True)),
             **dict(zip(equations.symbols.velocities, qd, strict=True))}
    return np.array(sympy.lambdify(list(known), expression, 'numpy')(*known.values()), dtype=float)


@pytest.mark.parametrize('name', SMALL)
def test_euler_lagrange_agrees_with_the_recursions(name):
    """Within 1e-11: only the 1e-12 kg m² of a URDF's point masses is between them."""
    robot, equations = robot_and_equations(name)
    for q, qd in states(robot):
        def value(expression, q=q, qd=qd):
            return number(equations, expression, q, qd)
        gravity = gravity_torque(robot, q) - spring_effort(robot, q)
        compare = {'rtol': 1e-11, 'atol': 1e-11}
        np.testing.assert_allclose(value(equations.mass_matrix), mass_matrix(robot, q), **compare)
        np.testing.assert_allclose(value(equations.gravity).ravel(), gravity, **compare)
        np.testing.assert_allclose(value(equations.velocity_terms).ravel(),
                                   bias(robot, q, qd) - gravity_torque(robot, q), **compare)
        np.testing.assert_allclose(value(equations.coriolis_matrix),
                                   coriolis_matrix(robot, q, qd), **compare)
        assert value(equations.kinetic_energy) == pytest.approx(kinetic_energy(robot, q, qd))


@pytest.mark.parametrize('name', SMALL)
def test_potential_energy_agrees_but_for_a_constant(name):
    robot, equations = robot_and_equations(name)
    offsets = [number(equations, equations.potential_energy, q, qd) - potential_energy(robot, q)
               for q, qd in states(robot)]
    assert np.ptp(offsets) < 1e-10


@pytest.mark.parametrize('name', ['pendulum', 'double_pendulum', 'rp_arm', 'rotary_pendulum',
                                  'three_link'])
def test_newton_euler_in_symbols_is_euler_lagrange(name):
    """RNEA run on symbols gives the very same expressions, not only the same numbers."""
    _, equations = robot_and_equations(name)
    symbols = equations.symbols
    q, qd, qdd = map(np.array, (symbols.positions, symbols.velocities, symbols.accelerations))
    recursive = inverse_dynamics(symbols.robot, q, qd, qdd)
    derived = (equations.mass_matrix * sympy.Matrix(qdd) + equations.velocity_terms
               + equations.gravity)
    for one, other in zip(recursive, derived, strict=True):
        assert normal_form(sympy.expand(one - other)) == 0


@pytest.mark.parametrize('name', ['double_pendulum', 'three_link', 'rotary_pendulum'])
def test_mass_rate_minus_twice_coriolis_is_skew_in_symbols(name):
    _, equations = robot_and_equations(name)
    q, qd = equations.symbols.positions, equations.symbols.velocities
    rate = sum((equations.mass_matrix.diff(x) * v for x, v in zip(q, qd, strict=True)),
               start=sympy.zeros(len(q)))
    skew = rate - 2 * equations.coriolis_matrix
    assert (skew + skew.T).applyfunc(normal_form) == sympy.zeros(len(q))


@pytest.mark.parametrize('name', SMALL)
def test_textbook_form_is_the_same_expression(name):
    _, equations = robot_and_equations(name)
    velocities, half = equations.symbols.velocities, sympy.Rational(1, 2)
    arranged = [(by_inertia(entry), entry) for entry in equations.mass_matrix]
    arranged += [(by_wave(entry), entry) for entry in (*equations.velocity_terms,
                                                       *equations.gravity)]
    arranged.append((by_inertia(equations.kinetic_energy, velocities, half),
                     equations.kinetic_energy))
    rng = np.random.default_rng(3)
    for textbook, plain in arranged:
        letters = sorted(plain.free_symbols | textbook.free_symbols, key=str)
        at = dict(zip(letters, rng.uniform(0.5, 2, len(letters)), strict=True))
        assert float(textbook.subs(at)) == pytest.approx(float(plain.subs(at)), abs=1e-12)


WRITTEN = {
    'pendulum': {'M': ['m l²'], 'c': ['0'], 'g': ['m g l sin q']},
    'double_pendulum': {
        'M': ['m₁ l₁² + m₂ (l₁² + l₂² + 2 l₁ l₂ cos q₂)', 'm₂ (l₂² + l₁ l₂ cos q₂)',
              'm₂ (l₂² + l₁ l₂ cos q₂)', 'm₂ l₂²'],
        'c': ['−m₂ l₁ l₂ sin q₂ q̇₂ (2 q̇₁ + q̇₂)', 'm₂ l₁ l₂ sin q₂ q̇₁²'],
        'g': ['(m₁ + m₂) g l₁ sin q₁ + m₂ g l₂ sin(q₁ + q₂)', 'm₂ g l₂ sin(q₁ + q₂)']},
    'rp_arm': {
        'M': ['I₁ + I₂ + m₁ L₁² + m₂ q₂²', '0', '0', 'm₂'],
        'c': ['2 m₂ q₂ q̇₁ q̇₂', '−m₂ q₂ q̇₁²'],
        'g': ['(m₁ L₁ + m₂ q₂) g cos q₁', 'm₂ g sin q₁']},
    'rotary_pendulum': {
        'M': ['J₁ + I₂ sin² q₂ + Iz₂ cos² q₂ + m₂ (r² + ¼ l₂² sin² q₂)', '½ m₂ l₂ r cos q₂',
              '½ m₂ l₂ r cos q₂', 'I₂ + ¼ m₂ l₂²'],
        'c': ['−½ m₂ l₂ r sin q₂ q̇₂² + 2 (I₂ − Iz₂ + ¼ m₂ l₂²) sin q₂ cos q₂ q̇₁ q̇₂',
              '−(I₂ − Iz₂ + ¼ m₂ l₂²) sin q₂ cos q₂ q̇₁²'],
        'g': ['0', '−½ m₂ g l₂ sin q₂']},
}


@pytest.mark.parametrize('name', WRITTEN)
def test_a_student_recognises_the_textbook_form(name):
    _, equations = robot_and_equations(name)
    by_mass, plain = Notation(equations.symbols, by_inertia=True), Notation(equations.symbols)
    assert [by_mass.write(by_inertia(m)) for m in equations.mass_matrix] == WRITTEN[name]['M']
    assert [plain.write(by_wave(c)) for c in equations.velocity_terms] == WRITTEN[name]['c']
    assert [plain.write(by_wave(g)) for g in equations.gravity] == WRITTEN[name]['g']


def test_symbols_stand_for_the_numbers_of_the_model():
    robot = load('double_pendulum', mass1=3, length2=1.5)
    values = {symbol.name: value for symbol, value in symbolic(robot).values.items()}
    assert values == {'g': 9.81, 'l1': 2.0, 'l2': 1.5, 'm1': 3.0, 'm2': 2.0}


def test_point_masses_have_no_inertia_in_symbols():
    for body in symbolic(load('n_link', links=2)).robot.bodies:
        assert all(entry == 0 for entry in body.inertia.about_com.flat)


def test_springs_and_friction_are_in_the_equations():
    _, equations = robot_and_equations('elbow')
    assert {'k3', 's3', 'b1', 'fc1'} <= {symbol.name for symbol in equations.used_symbols()}
    q3 = equations.symbols.positions[2]
    k, rest = (next(s for s in equations.values if s.name == name) for name in ('k3', 's3'))
    assert sympy.diff(equations.gravity[2], q3) == k
    assert sympy.diff(equations.gravity[2], rest) == -k


def test_floating_joints_are_sent_to_the_free_body():
    with pytest.raises(ValueError, match='free_body'):
        symbolic(load('free_body'))


def test_directions_are_exact():
    assert list(exact_direction(np.array([0, -2.0, 0]))) == [0, -1, 0]
    assert list(exact_direction(np.array([1.0, 1.0, 0]))) == [sympy.sqrt(2) / 2] * 2 + [0]
    assert exact_direction(np.array([0.6, 0, 0.8]))[2] == sympy.Rational(4, 5)


def test_normal_form_is_unique():
    """Two ways to write a wave come out alike, and unlike waves do not."""
    a, b = sympy.symbols('a b', real=True)
    sin, cos = sympy.sin, sympy.cos
    assert normal_form(cos(a) * cos(b) - sin(a) * sin(b)) == cos(a + b)
    assert normal_form(sin(a)**2 + cos(a)**2) == 1
    assert normal_form((sin(a) * cos(b) + cos(a) * sin(b))**2 - sin(a + b)**2) == 0
    assert normal_form(cos(a - b) - cos(b - a)) == 0
    assert normal_form(sin(a - b) - sin(b - a)) != 0


def test_short_waves_turn_sums_back_into_products():
    a, b, x = sympy.symbols('a b x', real=True)
    sin, cos = sympy.sin, sympy.cos
    for product in (x * sin(a)**2, x * cos(a)**2, 2 * x * sin(a) * cos(a), x * cos(a) * cos(a + b),
                    x * sin(a) * sin(a + b), x * sin(a) * cos(a + b)):
        short = short_waves(product)
        assert sympy.expand(short - product) == 0 or normal_form(short - product) == 0
        assert sympy.count_ops(short) <= sympy.count_ops(product)


def test_long_equations_are_broken_before_signs():
    assert wrap('M = aaaa + bbbb − cccc + q̇₁', 15, 4) == [
        'M = aaaa + bbbb', '    − cccc + q̇₁']
    assert columns('q̇₁') == 2


def test_brackets_are_broken_only_if_they_must_be():
    text = 'T = a + b (c + d) + e (f + g + h + i)'
    assert wrap(text, 26, 4) == ['T = a + b (c + d)', '    + e (f + g + h + i)']
    assert wrap(text, 16, 4) == ['T = a', '    + b (c + d)', '    + e (f + g', '    + h + i)']
