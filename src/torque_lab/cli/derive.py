"""``torque-lab derive``: the equations of motion of a robot, as a textbook prints them."""

from __future__ import annotations

import argparse
import shutil

import numpy as np

from torque_lab.cli.check import xacro_argument
from torque_lab.cli.errors import CommandError
from torque_lab.physics import bias, gravity_torque, load, mass_matrix
from torque_lab.physics.model import FLOATING, REVOLUTE, Robot

HELP = 'derive the equations of motion: printed in the terminal, in LaTeX, or as Python'

INSTEAD = ('"torque-lab derive {name} --numeric" prints them as numbers, and in Python '
           'torque_lab.physics has mass_matrix, bias and gravity_torque')
MOST_JOINTS = 3
MOST_PLANAR_JOINTS = 5

EPILOG = """\
examples:
  torque-lab derive double_pendulum
  torque-lab derive rp_arm --coordinate theta
  torque-lab derive n_link links:=2 --latex > n_link.tex
  torque-lab derive rotary_pendulum --python > rotary_pendulum.py
  torque-lab derive ur5 --numeric

The equations come from the energies (Euler-Lagrange), for robots of up to three joints, or five
if all hinges are parallel. A free body gets its Newton-Euler equations.
exit status: 0 done, 2 cannot be derived.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``torque-lab derive``."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument('robot', metavar='ROBOT', help='a shipped model, or a URDF or xacro file')
    parser.add_argument('arguments', metavar='NAME:=VALUE', nargs='*', type=xacro_argument,
                        help='arguments of a xacro file')
    form = parser.add_mutually_exclusive_group()
    form.add_argument('--latex', action='store_true', help='print LaTeX (needs amsmath)')
    form.add_argument('--python', action='store_true',
                      help='print a Python file that needs nothing but numpy')
    form.add_argument('--numeric', action='store_true',
                      help='print M, c and g as numbers at the start state, for any robot')
    parser.add_argument('--coordinate', metavar='LETTER', default='q',
                        choices=('q', 'theta', 'phi'),
                        help='letter for joint positions: q, theta or phi (default q)')


def run(args: argparse.Namespace) -> int:
    """Print the equations and return the exit status."""
    robot = load(args.robot, **dict(args.arguments))
    if args.numeric:
        print(numeric_text(robot))
        return 0
    obstacle = too_large(robot)
    if obstacle:
        raise CommandError(obstacle)
    try:
        from torque_lab.cli import equations, free_body_equations
    except ModuleNotFoundError as error:
        if error.name != 'sympy':
            raise
        raise CommandError('the equations need SymPy: pip install sympy, or apt install '
                           'python3-sympy (--numeric works without)') from None
    if robot.nv == MOST_JOINTS and equations.has_odd_angles(robot):
        raise CommandError(f'{robot.name} has joints at odd angles to each other, and its '
                           f'equations would fill pages; {INSTEAD.format(name=robot.name)}')
    write = free_body_equations if robot.has_floating_joint else equations
    if args.latex:
        print(write.latex(robot, args.coordinate))
    elif args.python:
        print(write.python(robot, args.coordinate), end='')
    else:
        print(write.text(robot, args.coordinate, terminal_width()))
    return 0


def terminal_width() -> int:
    """Columns to fill: those of the terminal within reason, 100 in a pipe."""
    return min(max(shutil.get_terminal_size((100, 24)).columns, 60), 120)


def too_large(robot: Robot) -> str | None:
    """Say in one line why a robot's equations are not printed, and what there is instead."""
    instead = INSTEAD.format(name=robot.name)
    if robot.has_floating_joint:
        if len(robot.bodies) == 1:
            return None
        return f'{robot.name} has a floating base and joints: no printed equations; {instead}'
    if robot.nv <= MOST_JOINTS or (robot.nv <= MOST_PLANAR_JOINTS and is_planar(robot)):
        return None
    return (f'{robot.name} has {robot.nv} joints, and its equations would fill pages (up to '
            f'{MOST_JOINTS} are printed, or {MOST_PLANAR_JOINTS} with parallel hinges); {instead}')


def is_planar(robot: Robot) -> bool:
    """Whether all hinges are parallel."""
    axes, rotations = [], {-1: np.eye(3)}
    for index, body in enumerate(robot.bodies):
        rotations[index] = rotations[body.parent] @ body.rotation
        if body.kind == REVOLUTE:
            axes.append(rotations[index] @ body.axis)
    return all(np.linalg.norm(np.cross(axes[0], axis)) < 1e-9 for axis in axes)


def numeric_text(robot: Robot) -> str:
    """Mass matrix, velocity terms and gravity of a robot as numbers, at its start state."""
    q, qd = robot.start, robot.start_velocity
    gravity = gravity_torque(robot, q)
    rows = {'q': q, 'q̇': qd, 'M': mass_matrix(robot, q), 'c': bias(robot, q, qd) - gravity,
            'g': gravity}
    lines = [f'{robot.name} at its start state, in URDF joint order:',
             '  ' + ', '.join(body.joint for body in
                              sorted(robot.bodies, key=lambda body: body.v.start))]
    if any(body.kind == FLOATING for body in robot.bodies):
        lines.append('  (a floating joint: velocity, then angular velocity, in body axes)')
    width = terminal_width()
    for name, value in rows.items():
        value = np.round(value, 9) + 0.0  # no negative zeros
        written = np.array2string(value, precision=6, suppress_small=True, prefix=' ' * 6,
                                  max_line_width=width, floatmode='maxprec')
        lines.append(f'  {name} = {written}')
    return '\n'.join(lines)
