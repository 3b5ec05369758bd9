"""Angles that come round."""

from __future__ import annotations

import math
from typing import Any

WHOLE = 1.5 * 2.0**52
"""Adding and subtracting this rounds a double to the nearest whole number."""


def wrapped(angle: Any) -> Any:
    """
    Angle in [−π, π], of one scalar of any kind.

    Rounding by a large sum, and not by ``round``, works in a trace as well.
    """
    turns = (angle * (0.5 / math.pi) + WHOLE) - WHOLE
    return angle - turns * (2.0 * math.pi)
