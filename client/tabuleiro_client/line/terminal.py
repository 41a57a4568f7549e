"""The terminal or pipe of the line client: lines read beside everything else, and lines written to it."""

from __future__ import annotations

import asyncio
import os
import textwrap
import threading
import unicodedata
from collections import deque
from dataclasses import dataclass
from typing import Final, TextIO

from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.rules.view import BoardView
from tabuleiro_client.text.board import TextStyle, board_lines, legend

LINE_MAX_BYTES: Final = 2000
_CHUNK_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end. ``problem`` tells why it can't be used, empty if it can; then ``text`` is empty."""

    text: str
    problem: str = ""


class LineReader:
    """Reads lines from a descriptor: terminal, pipe or file.

    A daemon thread reads the descriptor itself, and only when a line is wanted: it works for every kind of file on
    every system, nothing keeps the process alive at its end, and no lock of ``sys.stdin`` is held then.
    """

    def __init__(self, descriptor: int) -> None:
        self.is_terminal = os.isatty(descriptor)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: deque[Line] = deque()
        self._buffer = bytearray()
        self._is_too_long = False
        self._is_at_end = False
        self._is_reading = False
        self._wanted = threading.Semaphore(0)
        self._arrived = asyncio.Event()
        threading.Thread(target=self._read_when_wanted, name="line reader", daemon=True).start()

    async def next_line(self) -> Line | None:
        """Return the next line, ``None`` after the last. Cancelling loses nothing."""
        while not self._lines:
            if self._is_at_end:
                return None
            self._arrived.clear()
            if not self._is_reading:
                self._is_reading = True
                self._wanted.release()
            await self._arrived.wait()
        return self._lines.popleft()

    def _read_when_wanted(self) -> None:
        chunk = b"-"
        while chunk:
            self._wanted.acquire()
            try:
                chunk = os.read(self._descriptor, _CHUNK_BYTES)
            except OSError:
                chunk = b""  # the terminal is gone
            try:
                self._loop.call_soon_threadsafe(self._take, chunk)
            except RuntimeError:
                return  # the loop has ended, nobody waits any more

    def _take(self, chunk: bytes) -> None:
        self._is_reading = False
        self._is_at_end = not chunk
        self._buffer += chunk
        *whole, rest = self._buffer.split(b"\n")
        for line in whole:
            self._finish_line(bytes(line))
        self._buffer = rest
        if self._is_at_end and (rest or self._is_too_long):
            self._finish_line(bytes(rest))
        elif len(rest) > LINE_MAX_BYTES:
            self._is_too_long = True
            self._buffer.clear()
        self._arrived.set()

    def _finish_line(self, line: bytes) -> None:
        if self._is_too_long or len(line) > LINE_MAX_BYTES:
            self._is_too_long = False
            self._lines.append(Line("", f"that line is too long: at most {LINE_MAX_BYTES} bytes"))
        else:
            self._lines.append(read_line(line))


def read_line(line: bytes) -> Line:
    r"""Check and decode one line.

    >>> read_line(b"c3 \td4\r").text
    'c3 d4'
    >>> read_line(b"\x1b[A").problem
    'that line holds control characters; arrow and function keys do nothing here'
    """
    try:
        text = line.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        return Line("", "that line is not UTF-8 text")
    text = text.removeprefix("\ufeff").replace("\t", " ")
    if any(unicodedata.category(character)[0] == "C" for character in text):
        return Line("", "that line holds control characters; arrow and function keys do nothing here")
    return Line(" ".join(text.split()))


class Screen:
    """Writes to ``stream`` line by line and at once.

    ``has_prompt``: somebody types at the same terminal. ``width`` is the columns after which sentences go on in
    the next line, ``None`` for never.
    """

    def __init__(self, stream: TextIO, style: TextStyle, *, has_prompt: bool, width: int | None = None) -> None:
        self.style = style
        self._stream = stream
        self._has_prompt = has_prompt
        self._width = width
        self._is_prompt_open = False

    def say(self, *texts: str) -> None:
        """Write each text as a line of its own, free of controls; an empty one leaves a blank line."""
        self._write("".join(f"{line}\n" for text in texts for line in self._wrapped(self._clean(text))))

    def say_command(self, command: str) -> None:
        """Write a command to be copied: indented, on one line however long it is."""
        self._write(f"  {self._clean(command)}\n")

    def show_board(self, view: BoardView, *, show_legal: bool = False, show_legend: bool = False) -> None:
        """Draw a position, with ``show_legal`` with the cells that may be chosen marked."""
        lines = board_lines(view, self.style, show_legal=show_legal, show_forbidden=show_legal)
        explained = legend(view, self.style) if show_legend else ""
        self._write("\n".join(["", *lines, *([explained] if explained else []), ""]) + "\n")

    def prompt(self, text: str = "> ") -> None:
        """Ask for a line, unless nobody sees it or it is being asked for already."""
        if self._has_prompt and not self._is_prompt_open:
            self._write(self._clean(text))
            self._is_prompt_open = True

    def line_was_typed(self) -> None:
        """Take note that a line was entered: the terminal has begun a new one itself."""
        self._is_prompt_open = False

    def close_prompt(self) -> None:
        """End the line of an open prompt, before something else writes to the terminal."""
        self._write("")

    def break_line(self) -> None:
        """Begin a new line after what the terminal itself wrote, e.g. the mark of Ctrl-C."""
        self._is_prompt_open = False
        if self._has_prompt:
            self._write("\n")

    def _wrapped(self, text: str) -> list[str]:
        if self._width is None or len(text) <= self._width:
            return [text]
        return textwrap.wrap(text, self._width, break_long_words=False, break_on_hyphens=False)

    def _clean(self, text: str) -> str:
        # Word by word: the spaces between them are the layout of our own lines and tables.
        clean = " ".join(map(strip_controls, text.split(" ")))
        return clean.encode("ascii", "replace").decode() if self.style.ascii else clean

    def _write(self, text: str) -> None:
        if self._is_prompt_open:
            text = f"\n{text}"
            self._is_prompt_open = False
        self._stream.write(text)
        self._stream.flush()
