"""``torque-lab tune``: what a change of gains does, before it is used."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from torque_lab.cli.errors import CommandError
from torque_lab.control.closed_loop import Loop, simulate
from torque_lab.control.configuration import Configuration
from torque_lab.control.law import specifications
from torque_lab.control.margins import MOST_DELAY, MOST_GAIN, Margins, margins
from torque_lab.control.registry import find_law
from torque_lab.physics.errors import Divergence
from torque_lab.physics.forces import command_limit
from torque_lab.physics.load import load
from torque_lab.physics.model import Robot

HELP = 'show step response, margins and cost of a controller, before and after a change'
PERIOD = 1e-3
NODE_NAMES = ('goal', 'goal_motion', 'velocity_limit', 'acceleration_limit', 'controller')


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument('robot', metavar='ROBOT', help='shipped model')
    parser.add_argument('controller', metavar='CONTROLLER',
                        help='name of a configuration (config/ROBOT_CONTROLLER.yaml) or a YAML '
                        'file of your own')
    parser.add_argument('--set', action='append', default=[], metavar='NAME=VALUE', dest='changes',
                        help='try a change, such as gains.joint1.d=300 (may be repeated)')
    parser.add_argument('--duration', type=float, default=6.0, metavar='S',
                        help='simulated seconds (default: 6)')
    parser.add_argument('--delay', type=int, default=1, metavar='N',
                        help='periods of 1 ms from a state to its answer (default: 1; over ROS in '
                        'real time it is 1 or 2, in lockstep 0)')
    parser.add_argument('--mass-factor', type=float, default=1.0, metavar='X',
                        help='masses of the simulated robot, as a multiple of what the law '
                        'believes (default: 1)')
    parser.add_argument('--output', type=Path, metavar='PNG', help='draw the responses')


def run(args: argparse.Namespace) -> int:
    """Compare; the status is 1 if the law or the motion fails."""
    if not (args.duration > 0.0 and 0 <= args.delay <= 100 and args.mass_factor > 0.0):
        raise CommandError('--duration and --mass-factor must be positive, --delay from 0 to 100')
    robot = load(args.robot)
    try:
        before = _configuration(args)
        changes = dict(_change(robot, before, text) for text in args.changes)
        trials = [Trial('now', robot, before, args)]
        if changes:
            trials.append(Trial('changed', robot, before.changed(changes), args))
    except ValueError as error:
        raise CommandError(str(error)) from None
    _print(robot, trials, args)
    if args.output is not None:
        _draw(args.output, robot, trials, f'{args.robot}, {args.controller}')
        print(f'plot: {args.output}')
    return 1 if any(trial.failure for trial in trials) else 0


def _configuration(args: argparse.Namespace) -> Configuration:
    if args.controller.endswith(('.yaml', '.yml')):
        return Configuration.read(Path(args.controller))
    return Configuration.shipped(args.robot, args.controller)


def _change(robot: Robot, configuration: Configuration, text: str) -> tuple[str, Any]:
    name, equals, value = text.partition('=')
    law = find_law(configuration.values.get('controller', 'pid'))
    known = [*specifications(law, robot), *NODE_NAMES]
    if not equals or name not in known:
        raise ValueError(f'--set {text}: write NAME=VALUE with one of {", ".join(known)}')
    try:
        return name, yaml.safe_load(value)
    except yaml.YAMLError:
        raise ValueError(f'--set {text}: the value is no YAML') from None


@dataclass(frozen=True)
class Joint:
    """How one joint responds."""

    overshoot: float
    error: float
    largest_effort: float
    saturated: float
    """Share of the time at the limit."""


class Trial:
    """One configuration, simulated."""

    def __init__(self, name: str, robot: Robot, configuration: Configuration,
                 args: argparse.Namespace) -> None:
        self.name, self.failure = name, ''
        law = configuration.law(robot)
        goals = configuration.goals(robot)
        start = np.array(robot.start if configuration.start is None else configuration.start)
        self.goal = goals.goal if goals.goal is not None else start
        self.margins: Margins = margins(law, self.goal, PERIOD, args.delay)
        plant = _scaled(robot, args.mass_factor)
        try:
            self.loop: Loop | None = simulate(law, goals, args.duration, plant=plant,
                                              delay=args.delay, q=start)
            self.failure = self.loop.fault
        except Divergence as error:
            self.loop, self.failure = None, str(error)
        if self.loop is not None:
            self._measure(robot, self.loop, start)

    def _measure(self, robot: Robot, loop: Loop, start: np.ndarray) -> None:
        error = self.goal - loop.q
        turns = np.isinf(robot.lower) & np.isinf(robot.upper)
        self.error = np.where(turns, np.remainder(error + np.pi, 2.0 * np.pi) - np.pi, error)
        outside = np.flatnonzero((np.abs(self.error) > math.radians(0.1)).any(axis=1))
        last = outside[-1] + 1 if len(outside) else 0
        self.settling = None if last >= len(loop.t) else float(loop.t[last])
        beyond = -np.sign(self.goal - start) * error
        limit = command_limit(robot)
        self.joints = [Joint(max(0.0, float(beyond[:, k].max())), float(self.error[-1, k]),
                             float(np.abs(loop.effort[:, k]).max()),
                             float(np.mean(np.abs(loop.effort[:, k]) >= limit[k]))
                             if limit[k] else 0.0) for k in range(robot.nv)]
        self.error_cost = float((self.error**2).sum() * PERIOD)
        self.effort_cost = float((loop.effort**2).sum() * PERIOD)


def _scaled(robot: Robot, factor: float) -> Robot:
    """Robot with every mass and inertia scaled."""
    from dataclasses import replace
    if factor == 1.0:
        return robot
    return robot.replace(bodies=tuple(
        replace(body, inertia=replace(body.inertia, mass=body.inertia.mass * factor,
                                      about_com=body.inertia.about_com * factor))
        for body in robot.bodies))


def _print(robot: Robot, trials: list[Trial], args: argparse.Namespace) -> None:
    rows = [('', *(trial.name for trial in trials)),
            ('within 0.1° (0.0017 m) of the goal after [s]',
             *(_text(trial, lambda t: _or(t.settling, '.2f', 'never')) for trial in trials))]
    for k, name in enumerate(robot.joint_names):
        for label, field, form in (('overshoot [rad, m]', 'overshoot', '.4f'),
                                   ('error at the end [rad, m]', 'error', '.2e'),
                                   ('largest effort', 'largest_effort', '.4g'),
                                   ('time at its limit', 'saturated', '.1%')):
            rows.append((f'{name}: {label}', *(_text(trial, lambda t, k=k, field=field, form=form:
                        format(getattr(t.joints[k], field), form)) for trial in trials)))
    rows += [('cost of the error ∫e² dt', *(_text(t, lambda t: f'{t.error_cost:.4g}')
                                            for t in trials)),
             ('cost of the effort ∫u² dt', *(_text(t, lambda t: f'{t.effort_cost:.4g}')
                                             for t in trials)),
             ('at the goal: slowest decay [1/s]',
              *(_or(t.margins.decay, '.2f', 'not stable') for t in trials)),
             ('  gains may grow by ×', *(_at_most(t.margins.gain, MOST_GAIN, '.2f')
                                         for t in trials)),
             ('  gains may shrink by ×', *(_or(t.margins.least_gain, '.2f', '-')
                                           for t in trials)),
             ('  further delay it bears [ms]',
              *(_at_most(t.margins.delay, MOST_DELAY, 'd') for t in trials))]
    width = max(len(row[0]) for row in rows)
    columns = [max(len(row[k]) for row in rows) for k in range(1, len(rows[0]))]
    print(f'{args.robot}, {args.controller}: at 1 kHz with {args.delay} ms of delay'
          + ('' if args.mass_factor == 1.0 else f', masses × {args.mass_factor:g}'))
    for row in rows:
        print(f'  {row[0]:<{width}}  ' + '  '.join(
            f'{cell:>{size}}' for cell, size in zip(row[1:], columns, strict=True)))
    for trial in trials:
        if trial.failure:
            print(f'{trial.name}: failed: {trial.failure}')


def _text(trial: Trial, what: Any) -> str:
    return 'failed' if trial.loop is None else str(what(trial))


def _at_most(value: float | None, most: float, form: str) -> str:
    return f'over {most:g}' if value == most else _or(value, form, '-')


def _or(value: float | None, form: str, otherwise: str) -> str:
    return otherwise if value is None else format(value, form)


def _draw(path: Path, robot: Robot, trials: list[Trial], title: str) -> None:
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    colours = plt.get_cmap('tab10').colors  # type: ignore[attr-defined]
    figure, (angles, efforts) = plt.subplots(2, 1, sharex=True, figsize=(8.0, 6.0),
                                             layout='constrained')
    for trial, style in zip(trials, ('-', '--'), strict=False):
        if trial.loop is None:
            continue
        for k, name in enumerate(robot.joint_names):
            options = {'color': colours[k % 10], 'linestyle': style, 'linewidth': 1.2}
            angles.plot(trial.loop.t, trial.loop.q[:, k], label=f'{name}, {trial.name}', **options)
            efforts.plot(trial.loop.t, trial.loop.effort[:, k], **options)
            angles.axhline(trial.goal[k], color=colours[k % 10], linewidth=0.6, alpha=0.6)
    angles.set_ylabel('position [rad, m]')
    efforts.set_ylabel('effort')
    efforts.set_xlabel('time [s]')
    for axes in (angles, efforts):
        axes.grid(alpha=0.3)
        axes.spines[['top', 'right']].set_visible(False)
    angles.legend(fontsize='small', frameon=False, ncols=2)
    figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
