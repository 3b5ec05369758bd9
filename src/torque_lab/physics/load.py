"""From a name or a file to a robot: finding the model, expanding xacro, reading the URDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torque_lab.physics.check import check_description
from torque_lab.physics.describe import describe
from torque_lab.physics.errors import Finding, ModelError
from torque_lab.physics.expand import expand
from torque_lab.physics.model import Robot
from torque_lab.physics.urdf import load_urdf

SUFFIX = '.urdf.xacro'


def load(name_or_path: str | Path, **xacro_arguments: Any) -> Robot:
    """
    Load a robot.

    :param name_or_path: a shipped model's name (see `shipped_models`) or a URDF or xacro file
    :param xacro_arguments: values for the file's ``<xacro:arg>`` elements
    :raises ModelError: naming the file and the element, and what would be right
    """
    text, source = expand(find_model(name_or_path), xacro_arguments)
    return load_urdf(text, source)


def check_model(name_or_path: str | Path, **xacro_arguments: Any) -> list[Finding]:
    """
    Return what the URDF check says about a model: the same rules that `load` enforces.

    :param name_or_path: a shipped model's name or a URDF or xacro file
    :param xacro_arguments: values for the file's ``<xacro:arg>`` elements
    :raises ModelError: if there is nothing to check: no such file, not XML, xacro fails
    """
    return check_description(describe(*expand(find_model(name_or_path), xacro_arguments)))


def shipped_models() -> tuple[str, ...]:
    """Names of the models that come with the package."""
    return tuple(sorted(path.name[:-len(SUFFIX)] for path in models_folder().glob('*' + SUFFIX)))


def models_folder() -> Path:
    """
    Return the folder of the shipped models.

    It is ``urdf`` in the source tree, and ``share/torque_lab/urdf`` below the prefix that the
    package is installed to, by colcon or by pip; ROS's package index is asked last.
    """
    here = Path(__file__).resolve()
    candidates = [here.parents[3] / 'urdf',
                  *(parent / 'share' / 'torque_lab' / 'urdf' for parent in here.parents)]
    try:
        from ament_index_python.packages import get_package_share_directory
        candidates.append(Path(get_package_share_directory('torque_lab')) / 'urdf')
    except (ImportError, LookupError, OSError):
        pass  # no ROS here, or not installed by colcon
    for folder in candidates:
        if (folder / f'pendulum{SUFFIX}').is_file():
            return folder
    raise ModelError(f'the shipped models are not beside the package at {here.parents[1]}; '
                     'install it again, with its data files')


def find_model(name_or_path: str | Path) -> Path:
    """Return the file of a shipped name or of a path; say what there is if there is none."""
    path = Path(name_or_path)
    try:
        if path.is_file():
            return path
    except ValueError:
        pass  # a name with a null character
    shipped = models_folder() / f'{name_or_path}{SUFFIX}'
    if path.name == str(name_or_path) and shipped.is_file():
        return shipped
    raise ModelError(f'{name_or_path}: neither a file nor a shipped model; '
                     f'shipped are {", ".join(shipped_models())}')
