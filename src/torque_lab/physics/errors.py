"""What goes wrong, in words for the user: which file, which element, why, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

ERROR = 'error'
WARNING = 'warning'


@dataclass(frozen=True)
class Finding:
    """One thing the URDF check has to say about a model."""

    severity: str
    """``ERROR``: no robot can be made of this; ``WARNING``: a robot, but look at it."""
    file: str
    line: int | None
    element: str
    """Such as ``link "forearm"``."""
    message: str
    """What is wrong."""
    fix: str
    """What would be right."""

    @property
    def place(self) -> str:
        """File and line as compilers write them, so that editors jump there."""
        return self.file if self.line is None else f'{self.file}:{self.line}'

    def __str__(self) -> str:
        return f'{self.place}: {self.element}: {self.message}; {self.fix}'

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain data, for JSON."""
        return asdict(self)


class ModelError(ValueError):
    """A model that cannot be used; the message names file and element, reason and fix."""

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(' '.join(message.split()))  # one line, whatever was quoted in it
        self.findings = tuple(findings)


class Divergence(ArithmeticError):  # noqa: N818 -- the word for it
    """
    A simulation that left the finite or the reasonable; the state stays at the last good step.

    ``joint``, ``step`` and ``time`` say where; ``trajectory`` is what was recorded before, if
    anything.
    """

    def __init__(self, robot: str, joint: str, step: int, time: float, what: str,
                 integrator: str, dt: float) -> None:
        super().__init__(f'{robot}: joint "{joint}" diverged in step {step} (t = {time:.6g} s): '
                         f'{what}; the state stays at the step before. Smaller dt than {dt:g} s, '
                         f'another integrator than {integrator}, or softer gains may help')
        self.joint = joint
        self.step = step
        self.time = time
        self.trajectory: Any = None
