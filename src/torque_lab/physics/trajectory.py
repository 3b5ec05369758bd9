"""What a run leaves behind."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States and efforts at equally spaced times, the start included."""

    t: Array
    """Times (N,), in s."""
    q: Array
    """Positions (N, nq)."""
    qd: Array
    """Velocities (N, nv)."""
    effort: Array
    """Efforts (N, nv) after saturation: row k was applied from ``t[k]`` on; the last repeats."""

    def __len__(self) -> int:
        return len(self.t)
