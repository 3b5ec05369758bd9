"""Which kernel a simulator runs on, and how another one comes in without a stall."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, Protocol

from .integrators import Integrator
from .model import Array, Robot
from .plain import Bound, Layout


class Kernel(Protocol):
    """Plain or compiled steps."""

    def bind(self, block: Array) -> Bound:
        """Functions that make steps on a block of numbers."""

    def serves(self, inputs: Array) -> bool:
        """Whether the kernel is right for these parameters too."""


Compile = Callable[[Robot, Integrator, Array, bool], Kernel]

_said = False


def find_compiler(compiled: bool | None) -> Compile | None:
    """
    Return what makes compiled kernels, or None for the plain path.

    ``compiled`` is what the user asked for; None means if possible.  That it is not possible is
    said once.
    """
    if compiled is False:
        return None
    from .tracing import engine
    if engine.available():
        return _compile
    if compiled:
        raise RuntimeError('compiled simulation needs llvmlite; install it (python3-numba brings '
                           'it, or pip install llvmlite), or use compiled=False')
    global _said
    if not _said:
        _said = True
        warnings.warn('llvmlite is not installed: simulation runs on the plain path, with the '
                      'same results and several thousand times slower', stacklevel=3)
    return None


def _compile(robot: Robot, integrator: Integrator, inputs: Array, track_energy: bool) -> Kernel:
    from .kernel import kernel, nonzero
    return kernel(robot, integrator, nonzero(inputs, Layout(robot)), track_energy)


class Pending:
    """A kernel on its way, and the parameters that come in with it."""

    def __init__(self, robot: Robot, inputs: Array, find: Callable[[Robot, Array], Kernel],
                 ) -> None:
        self.robot = robot
        self.inputs = inputs
        self._found: Any = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(find,), daemon=True)
        self._thread.start()

    def _run(self, find: Callable[[Robot, Array], Kernel]) -> None:
        try:
            self._found = find(self.robot, self.inputs)
        except Exception as error:  # handed to whoever asks for the result
            self._error = error

    @property
    def ready(self) -> bool:
        """Whether the kernel is there."""
        return not self._thread.is_alive()

    def result(self) -> Kernel:
        """Return the kernel, waiting for it if need be."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found
