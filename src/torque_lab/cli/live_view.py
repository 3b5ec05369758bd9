"""The live view of a run: redrawn in place on a terminal, plain lines elsewhere."""

from __future__ import annotations

import itertools
import shutil
import sys
import time
from collections.abc import Sequence
from typing import TextIO

import numpy as np

from torque_lab.cli.canvas import Canvas
from torque_lab.cli.observer import Recording
from torque_lab.physics.kinematics import forward_kinematics, world_placements
from torque_lab.physics.model import PRISMATIC, Robot

REFRESH = 0.1
PLAIN_REFRESH = 1.0
RATE_WINDOW = 1.0


class LiveView:
    """Shows time, joints, energies and rates; other lines scroll above it."""

    def __init__(self, robot: Robot, goal: Sequence[float], stream: TextIO = sys.stdout) -> None:
        self._robot, self._goal, self._stream = robot, np.array(goal), stream
        self._terminal = stream.isatty()
        self._drawn = 0
        self._next = 0.0
        self._last = (time.monotonic(), 0, 0.0)
        self._rates = (0.0, 0.0)
        self._reach = 1.15 * max(
            sum(float(np.linalg.norm(body.translation)) for body in robot.bodies[1:])
            + float(np.linalg.norm(robot.frame(robot.tip).translation)),
            float(np.linalg.norm(forward_kinematics(robot, robot.start)[1])), 1e-3)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._erase()
        print(text, file=self._stream, flush=True)

    def update(self, recording: Recording) -> None:
        """Redraw if it is time to."""
        now = time.monotonic()
        if now < self._next or not recording.time:
            return
        self._next = now + (REFRESH if self._terminal else PLAIN_REFRESH)
        self._measure_rates(now, recording)
        if self._terminal:
            self._erase()
            lines = self._lines(recording)
            print('\n'.join(lines), file=self._stream, flush=True)
            self._drawn = len(lines)
        else:
            print(self._plain_line(recording), file=self._stream, flush=True)

    def finish(self) -> None:
        """Leave the last picture standing."""
        self._drawn = 0

    def _erase(self) -> None:
        if self._drawn:
            self._stream.write(f'\033[{self._drawn}F\033[J')
            self._drawn = 0

    def _measure_rates(self, now: float, recording: Recording) -> None:
        then, states, simulated = self._last
        if now - then < RATE_WINDOW and self._rates[0]:
            return
        self._rates = ((len(recording.time) - states) / (now - then),
                       (recording.time[-1] - simulated) / (now - then))
        self._last = (now, len(recording.time), recording.time[-1])

    def _joint_text(self, i: int, recording: Recording) -> str:
        slides = next(body.kind for body in self._robot.bodies
                      if body.joint == self._robot.joint_names[i]) == PRISMATIC
        scale, unit = (1e3, 'mm') if slides else (180.0 / np.pi, '°')
        effort_unit = 'N' if slides else 'N·m'
        return (f'{recording.position[-1][i] * scale:8.2f}{unit}  '
                f'goal {self._goal[i] * scale:8.2f}{unit}  '
                f'effort {recording.effort[-1][i]:8.2f} {effort_unit}')

    def _energy_text(self, recording: Recording) -> str:
        if not recording.energy:
            return 'energy  -'
        kinetic, potential, total, _, _ = recording.energy[-1]
        return f'energy {total:.2f} J: kinetic {kinetic:.2f}, potential {potential:.2f}'

    def _lines(self, recording: Recording) -> list[str]:
        states, factor = self._rates
        names = self._robot.joint_names
        width = max(map(len, names))
        text = [f't {recording.time[-1]:8.2f} s', '',
                *(f'{name:<{width}}  {self._joint_text(i, recording)}'
                  for i, name in enumerate(names)),
                '', self._energy_text(recording),
                f'states {states:.0f} Hz, commands {recording.commands_per_second():.0f} Hz, '
                f'real time × {factor:.2f}']
        picture = self._picture(recording)
        text += [''] * (len(picture) - len(text))
        picture += [' ' * len(picture[0])] * (len(text) - len(picture))
        width = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be erased
        return [f'  {left}   {right}'[:width] for left, right in zip(picture, text, strict=True)]

    def _picture(self, recording: Recording) -> list[str]:
        canvas = Canvas(self._reach)
        q = np.array(recording.position[-1])
        points = [p for _, p in world_placements(self._robot, q)]
        points.append(forward_kinematics(self._robot, q)[1])
        flat = [np.array([point[0], point[2]]) - np.array([0.0, points[0][2]]) for point in points]
        for start, end in itertools.pairwise(flat):
            canvas.line(start, end)
            canvas.disc(end, self._reach / 18)
        target = forward_kinematics(self._robot, self._goal)[1]
        for angle in np.linspace(0.0, 2 * np.pi, 17):
            canvas.dot(target[0] + np.cos(angle) * self._reach / 10,
                       target[2] - points[0][2] + np.sin(angle) * self._reach / 10)
        return canvas.lines()

    def _plain_line(self, recording: Recording) -> str:
        joints = '; '.join(f'{name} {self._joint_text(i, recording).strip()}'
                           for i, name in enumerate(self._robot.joint_names))
        total = f'{recording.energy[-1][2]:.2f} J' if recording.energy else '-'
        return (f't {recording.time[-1]:6.2f} s  {joints}  energy {total}  '
                f'states {self._rates[0]:.0f} Hz  '
                f'commands {recording.commands_per_second():.0f} Hz')
