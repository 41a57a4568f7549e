"""Lines that a person or a script types, read beside everything else that goes on. Prints nothing."""

from __future__ import annotations

import asyncio
import os
import threading
import unicodedata
from collections import deque
from dataclasses import dataclass
from typing import Final

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
        """The next line, ``None`` after the last. Cancelling loses nothing."""
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
