"""What the pages point to is there."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
PAGES = sorted([*TOP.glob('*.md'), *(TOP / 'docs').glob('*.md')])


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_somewhere(page):
    for target in re.findall(r'\]\(([^)#]+)', page.read_text()):
        if '://' not in target:
            assert (page.parent / target).exists(), f'{page.name} points to {target}'
