"""Arguments checked at the door: a wrong length is named, whatever the kind of scalar."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .model import Array, Robot


def vector(robot: Robot, name: str, value: Array | Sequence, length: int) -> Array:
    """Return an argument as an array (length,), or say what is wrong with it."""
    array = np.asarray(value)
    if array.shape != (length,):
        raise ValueError(f'{robot.name}: {name} needs {length} entries, in one row; '
                         f'got shape {array.shape}')
    if array.dtype.kind not in 'fciuO':
        raise ValueError(f'{robot.name}: {name} needs numbers; got {array.dtype}')
    return array
