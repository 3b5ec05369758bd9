"""A small drawing in the terminal, two by four dots a character."""

from __future__ import annotations

import numpy as np

BLANK = 0x2800
DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


class Canvas:
    """Dots on a square piece of the plane: x to the right, y up, both from -reach to reach."""

    def __init__(self, reach: float, rows: int = 10) -> None:
        self._reach = reach
        self._cells = np.zeros((rows, 2 * rows), dtype=int)

    def dot(self, x: float, y: float) -> None:
        """Set one dot; outside the canvas nothing happens."""
        rows, columns = self._cells.shape
        column = int((x / self._reach + 1.0) * columns)
        row = int((1.0 - y / self._reach) * 2 * rows)
        if 0 <= column < 2 * columns and 0 <= row < 4 * rows:
            self._cells[row // 4, column // 2] |= int(DOTS[row % 4, column % 2])

    def line(self, start: np.ndarray, end: np.ndarray) -> None:
        """Draw a straight line between two points (2,)."""
        for part in np.linspace(0.0, 1.0, 8 * len(self._cells)):
            self.dot(*(start + part * (end - start)))

    def disc(self, centre: np.ndarray, radius: float) -> None:
        """Draw a filled disc."""
        for dx in np.linspace(-radius, radius, 9):
            for dy in np.linspace(-radius, radius, 9):
                if dx * dx + dy * dy <= radius * radius:
                    self.dot(centre[0] + dx, centre[1] + dy)

    def lines(self) -> list[str]:
        """Return the drawing as lines of text."""
        return [''.join(chr(BLANK + cell) for cell in row) for row in self._cells]
