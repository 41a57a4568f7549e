"""The lines that somebody has typed, gone through with the arrow keys. No textual, no I/O."""

from __future__ import annotations

from typing import Final

KEPT_COUNT: Final = 100
"""How many lines are kept; the oldest ones are forgotten."""


class LineHistory:
    """Lines with a place among them, which is below the last one until :meth:`older` is asked for."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._place = 0
        self._draft = ""

    def add(self, line: str) -> None:
        """Take in a line that was finished; the same one twice in a row counts once."""
        if self._lines[-1:] != [line]:
            self._lines = [*self._lines, line][-KEPT_COUNT:]
        self.leave()

    def leave(self) -> None:
        """Go below the last line again."""
        self._place, self._draft = len(self._lines), ""

    def older(self, present: str) -> str | None:
        """Return the line before, ``None`` at the first; ``present`` is the unfinished line, which is kept."""
        if self._place == 0:
            return None
        if self._place == len(self._lines):
            self._draft = present
        self._place -= 1
        return self._lines[self._place]

    def newer(self) -> str | None:
        """Return the line after, at last what was not finished; ``None`` when that is there already."""
        if self._place == len(self._lines):
            return None
        self._place += 1
        return self._lines[self._place] if self._place < len(self._lines) else self._draft
