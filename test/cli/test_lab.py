"""``./lab`` answers mistakes in one line, before it installs anything."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

LAB = Path(__file__).resolve().parents[2] / 'lab'


def lab(*arguments, script=LAB, **environment):
    clean = {name: value for name, value in os.environ.items() if name != 'ROS_DISTRO'}
    return subprocess.run(['bash', str(script), *arguments], env={**clean, **environment},
                          capture_output=True, text=True, timeout=60)


def test_help_names_every_command():
    text = lab('--help').stdout
    for command in ('demo', 'test', 'bench', 'run', 'shell', 'clean'):
        assert f'\n  {command} ' in text


@pytest.mark.parametrize(('arguments', 'environment', 'words'), [
    (['dance'], {}, 'unknown command "dance"'),
    ([], {}, 'usage: ./lab COMMAND'),
    (['run'], {}, 'run what?'),
    (['demo'], {'TORQUE_LAB_PYTHON': '/no/such/python'}, '/no/such/python does not exist'),
    (['demo'], {'TORQUE_LAB_PYTHON': '/bin/false'}, 'needs Python 3.10 or newer'),
    (['demo'], {'TORQUE_LAB_ROS': 'humble'}, 'choose jazzy or kilted'),
])
def test_mistake_is_named_and_nothing_is_done(arguments, environment, words):
    result = lab(*arguments, **environment)
    assert result.returncode != 0
    assert words in result.stderr


def test_folder_with_a_space_is_refused_before_the_install(tmp_path):
    folder = tmp_path / 'my lab'
    folder.mkdir()
    shutil.copy(LAB, folder / 'lab')
    result = lab('demo', script=folder / 'lab')
    assert result.returncode != 0
    assert 'a folder whose path has a space' in result.stderr
    assert not (folder / '.lab').exists()


def test_failed_download_says_what_to_do(tmp_path):
    shutil.copy(LAB, tmp_path / 'lab')
    shutil.copytree(LAB.parent / 'requirements', tmp_path / 'requirements')
    nowhere = {'PIP_INDEX_URL': 'http://127.0.0.1:9/simple', 'PIP_EXTRA_INDEX_URL': '',
               'PIP_CONFIG_FILE': '/dev/null', 'PIP_RETRIES': '0', 'PIP_NO_INDEX': '1'}
    result = lab('demo', script=tmp_path / 'lab', **nowhere)
    assert result.returncode == 1
    assert 'run the same command again' in result.stderr
