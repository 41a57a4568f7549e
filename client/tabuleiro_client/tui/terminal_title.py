"""The title of the terminal's window: calls for attention, rests when somebody looks, is given back at the end.

As xterm has it (Source: "XTerm Control Sequences", OSC 2 and CSI 22 ; 2 t). A terminal that cannot keep
its title for later is left with the one at rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

KEEP: Final = "\x1b[22;2t"
"""Lets the terminal keep its title for later."""

GIVE_BACK: Final = "\x1b[23;2t"
"""Gives the terminal the title back that it kept."""


class TerminalTitle:
    """Writes by ``write`` to a terminal that has a title; ``at_rest`` is shown while there is nothing to say."""

    def __init__(self, write: Callable[[str], None], at_rest: str) -> None:
        self._write = write
        self._at_rest = at_rest
        self._is_kept = False
        self._is_calling = False

    def call(self, text: str) -> None:
        """Say ``text``, until :meth:`rest`."""
        if not self._is_kept:
            self._is_kept = True
            self._write(KEEP)
        self._is_calling = True
        self._write(_titled(text))

    def rest(self) -> None:
        """Take back what was said; nothing is written when nothing was."""
        if self._is_calling:
            self._is_calling = False
            self._write(_titled(self._at_rest))

    def give_back(self) -> None:
        """Let the terminal have the title it had; nothing is written when it has it still."""
        self.rest()
        if self._is_kept:
            self._is_kept = False
            self._write(GIVE_BACK)


def _titled(text: str) -> str:
    return f"\x1b]2;{text}\x07"
