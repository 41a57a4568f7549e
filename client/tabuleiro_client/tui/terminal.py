"""The terminal as the screens write to it: output by a thread of its own, and the title of the window.

Nobody waits for a terminal that takes nothing. The title calls for attention and is given back at the end, as
xterm has it (Source: "XTerm Control Sequences", OSC 2 and CSI 22 ; 2 t); a terminal that cannot keep its title for
later is left with the one at rest.
"""

from __future__ import annotations

import os
import re
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

WAITING_MAX_CHARS: Final = 128 * 1024
"""How much waits for the terminal before pictures are left out: two or three whole screens."""

CLOSE_LIMIT_S: Final = 1.0
"""How long a terminal has to take the last texts."""

PIECE_BYTES: Final = 16 * 1024
"""How much is written at once; between two pieces the rest can be given up."""

_CANCEL: Final = b"\x18"
"""Ends an escape sequence that was cut off (ECMA-48: CAN)."""

_LASTING: Final = re.compile(r"\x1b\[[?<>=](?!2026)|\x1b\]|\x07")
"""How texts begin that nobody will write again: modes (but the marks around a picture), title, clipboard, bell."""


def _nothing() -> None:
    """Do nothing."""


class TerminalOutput:
    """Writes to the open file ``descriptor``, which stays open.

    While the terminal is slow or takes nothing, pictures are left out. ``on_caught_up`` is called in the thread
    when it has taken what waited: what is to be seen must be drawn anew then.
    """

    def __init__(
        self, descriptor: int, encoding: str = "utf-8", on_caught_up: Callable[[], None] = _nothing
    ) -> None:
        self._descriptor = descriptor
        self._encoding = encoding
        self._on_caught_up = on_caught_up
        self._news = threading.Condition()
        self._waiting: deque[str] = deque()
        self._waiting_chars = 0
        self._under_way_chars = 0
        self._is_behind = False
        self._is_cut = False
        self._is_closing = False
        self._is_over = False
        self._thread = threading.Thread(target=self._write_texts, name="terminal output", daemon=True)
        self._thread.start()

    @property
    def waiting_chars(self) -> int:
        """The number of characters the terminal has not taken yet."""
        return self._under_way_chars + self._waiting_chars

    def write(self, text: str) -> None:
        """Have ``text`` written after all that waits, or leave it out. Never waits itself."""
        is_lasting = _LASTING.match(text) is not None
        with self._news:
            if self._is_too_much(text) and not self._is_behind:
                self._is_behind = True
                self._forget_pictures()
                self._news.notify()
            if self._is_over or self._is_too_much(text) or (self._is_behind and not is_lasting):
                return
            self._waiting.append(text)
            self._waiting_chars += len(text)
            self._news.notify()

    def leave_out_pictures(self) -> None:
        """Give up all pictures that are not written yet, even in the middle of one."""
        with self._news:
            self._is_cut = True
            self._forget_pictures()

    def close(self) -> bool:
        """Write what waits, within the limit; return whether nothing is left to be written."""
        with self._news:
            self._is_closing = True
            self._news.notify()
        self._thread.join(CLOSE_LIMIT_S)
        return not self._thread.is_alive()

    def _is_too_much(self, text: str) -> bool:
        waiting_chars = self.waiting_chars
        return waiting_chars > 0 and waiting_chars + len(text) > WAITING_MAX_CHARS

    def _forget_pictures(self) -> None:
        self._waiting = deque(text for text in self._waiting if _LASTING.match(text))
        self._waiting_chars = sum(map(len, self._waiting))

    def _write_texts(self) -> None:
        try:
            while (text := self._next_text()) is not None:
                if text:
                    self._write_pieces(text.encode(self._encoding, "replace"))
                else:
                    self._on_caught_up()
        except OSError:
            pass  # the terminal is gone
        finally:
            with self._news:
                self._is_over = True
                self._waiting.clear()
                self._waiting_chars = self._under_way_chars = 0

    def _next_text(self) -> str | None:
        """All that waits, as soon as something does; empty when it has caught up, ``None`` at the end."""
        with self._news:
            self._under_way_chars = 0
            self._news.wait_for(lambda: self._waiting or self._is_closing or self._is_behind)
            if not self._waiting:
                self._is_behind = False
                return None if self._is_closing else ""
            text = "".join(self._waiting)
            self._waiting.clear()
            self._waiting_chars, self._under_way_chars = 0, len(text)
            self._is_cut = False
            return text

    def _write_pieces(self, data: bytes) -> None:
        left = memoryview(data)
        while left and not self._is_cut:
            left = left[self._write_some(left[:PIECE_BYTES]) :]
        if left:
            self._write_some(_CANCEL)

    def _write_some(self, data: bytes | memoryview) -> int:
        """Write what the terminal takes and return how much that was, once it takes anything."""
        while True:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:  # another program has left the terminal in this way
                select.select([], [self._descriptor], [])


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
