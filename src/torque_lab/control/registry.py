"""Laws by name: the shipped ones, and any class that a user names as ``package.module:Class``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from torque_lab.control.computed_torque import ComputedTorque
from torque_lab.control.gravity import PDGravity, ZeroGravity
from torque_lab.control.impedance import Impedance, OperationalSpace
from torque_lab.control.law import Law
from torque_lab.control.lqr import LQR
from torque_lab.control.pid import PIDLaw
from torque_lab.control.sources import Sinusoid, UserEffort
from torque_lab.control.swing_up import SwingUp

LAWS: dict[str, type[Law]] = {law.name: law for law in (
    PIDLaw, PDGravity, ZeroGravity, ComputedTorque, LQR, SwingUp, Impedance, OperationalSpace,
    Sinusoid, UserEffort)}


def find_law(name: str) -> type[Law]:
    """
    Return the class of a law.

    ``name`` is a shipped law, ``package.module:Class`` on Python's path, or
    ``/path/to/file.py:Class``.  ValueError says what is wrong.
    """
    if name in LAWS:
        return LAWS[name]
    place, _, class_name = name.rpartition(':')
    if not place:
        raise ValueError(f'there is no controller "{name}"; choose one of {", ".join(LAWS)}, or '
                         'give your own as package.module:Class or /path/to/file.py:Class')
    try:
        module = _import_file(Path(place)) if place.endswith('.py') else (
            importlib.import_module(place))
    except Exception as error:  # the user's file may do anything
        raise ValueError(f'cannot import "{place}" for controller "{name}": '
                         f'{type(error).__name__}: {error}') from error
    law = getattr(module, class_name, None)
    if law is None:
        raise ValueError(f'"{place}" has no class "{class_name}"')
    if not (isinstance(law, type) and issubclass(law, Law)):
        raise ValueError(f'"{name}" is no control law: it must be a class derived from '
                         'torque_lab.control.Law')
    return law


def _import_file(path: Path) -> object:
    """Import a file afresh, so that a changed law is taken up when it is chosen again."""
    path = path.expanduser().resolve()
    if not path.is_file():
        raise FileNotFoundError(f'no such file: {path}')
    specification = importlib.util.spec_from_file_location(f'torque_lab_user_{path.stem}', path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses look their module up
    specification.loader.exec_module(module)
    return module
