"""Parameters as a user reads them: each with its description, unit, range and choices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node


def declare(node: Node, name: str, default: Any, description: str, *, unit: str = '',
            minimum: float | None = None, maximum: float | None = None,
            choices: Sequence[str] = (), fixed: bool = False) -> Any:
    """
    Declare one parameter with all that `ros2 param describe` can show, and return its value.

    ``fixed`` parameters are read at the start alone.
    """
    descriptor = ParameterDescriptor(
        description=f'{description} [{unit}]' if unit else description,
        additional_constraints=f'one of {", ".join(choices)}' if choices else '',
        read_only=fixed)
    if minimum is not None or maximum is not None:
        if isinstance(default, int):
            low, high = int(minimum or 0), int(2**31 if maximum is None else maximum)
            descriptor.integer_range = [IntegerRange(from_value=low, to_value=high, step=0)]
        else:
            low_value = -1e12 if minimum is None else float(minimum)
            high_value = 1e12 if maximum is None else float(maximum)
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=low_value, to_value=high_value, step=0.0)]
    # Lists may be written with whole numbers ("[1, 0]"), which ROS holds for another type.
    descriptor.dynamic_typing = isinstance(default, list)
    value = node.declare_parameter(name, default, descriptor).value
    if choices and value not in choices:
        raise ValueError(f'parameter "{name}" is "{value}"; choose one of {", ".join(choices)}')
    return value


def numbers(name: str, value: Any, length: int) -> list[float]:
    """Read a list parameter as so many finite numbers, or raise with the reason."""
    values = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if len(values) != length or not all(
            isinstance(entry, (int, float)) and math.isfinite(entry) for entry in values):
        what = name if name.startswith('~') else f'parameter "{name}"'
        plural = '' if length == 1 else 's'
        raise ValueError(f'{what} is {values}; it wants {length} finite number{plural}')
    return [float(entry) for entry in values]


def refusal(reason: str) -> SetParametersResult:
    """Answer to a parameter change that cannot be."""
    return SetParametersResult(successful=False, reason=reason)
