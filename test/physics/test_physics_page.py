"""The examples of docs/physics.md run, and the numbers that it quotes are so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from torque_lab.physics import free_body

PAGE = (Path(__file__).parents[2] / 'docs' / 'physics.md').read_text(encoding='utf-8')


def test_examples_run():
    pytest.importorskip('sympy')
    names: dict = {}
    for example in re.findall(r'```python\n(.*?)```', PAGE, re.DOTALL):
        exec(example, names)
    np.testing.assert_allclose(names['back'], names['qdd'], atol=1e-12)


def test_quoted_numbers_of_the_singularity():
    quoted = re.search(r'fastest rate (.*); condition number (.*)', PAGE)
    rates, conditions = ([float(number) for number in group.split(',')]
                         for group in quoted.groups())
    for degrees, rate, condition in zip((0, 80, 89, 89.9), rates, conditions, strict=True):
        angles = np.radians([0, degrees, 0])
        fastest = np.abs(free_body.angle_rates(angles, np.array([0.0, 0.0, 1.0]))).max()
        assert fastest == pytest.approx(rate, rel=0.02)
        assert free_body.condition_number(angles) == pytest.approx(condition, rel=0.05)


def test_quoted_equations_are_those_that_derive_prints():
    pytest.importorskip('sympy')
    from torque_lab.cli import equations
    from torque_lab.physics import load
    page = equations.text(load('double_pendulum'), 'q', 80).splitlines()
    quoted = PAGE.split('$ torque-lab derive double_pendulum\n')[1].split('```')[0]
    for line in quoted.splitlines():
        assert line == '...' or line in page
