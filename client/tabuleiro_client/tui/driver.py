"""The driver of the terminal, made to outlive it: what is written to a terminal that is gone is dropped.

The library's own writes in a thread that an error ends; once the thread's queue is full after that, the next write
waits for ever, and with it the loop that should end the program.
"""

from __future__ import annotations

from typing import IO, Any, cast

from textual.drivers.linux_driver import LinuxDriver


class LastingFile:
    """Writes to ``file`` until that fails; from then on it takes everything and keeps nothing."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.is_gone = False

    def write(self, text: str) -> int:
        """Write ``text``, or drop it; return its length."""
        if not self.is_gone:
            try:
                self._file.write(text)
            except OSError:
                self.is_gone = True
        return len(text)

    def flush(self) -> None:
        """Let out what is written."""
        if not self.is_gone:
            try:
                self._file.flush()
            except OSError:
                self.is_gone = True

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()

    def fileno(self) -> int:
        """The number of the open file."""
        return self._file.fileno()


class LastingDriver(LinuxDriver):
    """The library's driver, writing to a :class:`LastingFile`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._file = cast("Any", LastingFile(cast("IO[str]", self._file)))
