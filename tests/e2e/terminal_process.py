"""A program on a pseudo-terminal of its own, typed at and read like a person would."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import signal
import sys
import termios
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.patience import LIMIT_S

CHUNK_BYTES = 65536

PROGRAM = ("-m", "tabuleiro_client")


class Terminal:
    """``tabuleiro`` with its arguments on a pseudo-terminal. ``text`` is all that was shown so far."""

    def __init__(self, process: asyncio.subprocess.Process, descriptor: int, its_name: str) -> None:
        self.text = ""
        self._its_name = its_name
        self._process = process
        self._descriptor = descriptor
        self._is_open = True
        self._is_read = False
        self._seen = 0
        self._news = asyncio.Event()
        self.go_on()

    @classmethod
    async def start(
        cls,
        config: Path,
        *arguments: str,
        program: Sequence[str] = PROGRAM,
        is_controlling: bool = True,
        **environment: str,
    ) -> Terminal:
        """Start a command whose guests and data are kept in ``config``; ``program`` is what Python runs.

        Without ``is_controlling`` the terminal sends the program no signals.
        """
        descriptor, its_side = pty.openpty()
        os.set_blocking(descriptor, False)
        folders = {"TABULEIRO_CONFIG_DIR": str(config), "TABULEIRO_DATA_DIR": str(config / "data")}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *program, *arguments),
            stdin=its_side,
            stdout=its_side,
            stderr=its_side,
            start_new_session=True,
            preexec_fn=_take_terminal if is_controlling else None,
            env={**os.environ, "TERM": "xterm-256color", **folders, **environment},
        )
        its_name = os.ttyname(its_side)
        os.close(its_side)
        return cls(process, descriptor, its_name)

    @property
    def process_id(self) -> int:
        """The process id of the program."""
        return self._process.pid

    def type(self, line: str) -> None:
        """Type a line and press Enter."""
        os.write(self._descriptor, f"{line}\n".encode())

    def press(self, raw: bytes) -> None:
        """Press keys that are no line, such as Ctrl-C (``b"\\x03"``)."""
        os.write(self._descriptor, raw)

    async def shows(self, pattern: str) -> re.Match[str]:
        """Wait for a text that was not waited for before; what comes before it counts as seen."""
        try:
            async with asyncio.timeout(LIMIT_S):
                while (found := re.compile(pattern).search(self.text, self._seen)) is None:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{pattern!r} was not shown after:\n{self.text[self._seen :]}") from None
        self._seen = found.end()
        return found

    def forget(self) -> None:
        """Let everything count as seen, and keep none of it: searching through hours of output takes its time."""
        self.text, self._seen = "", 0

    def take_nothing(self) -> None:
        """Be a terminal that takes nothing any more: fill what the system keeps for it, and leave it there."""
        self._stop_reading()
        its_side = os.open(self._its_name, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        with suppress(BlockingIOError):
            while True:
                os.write(its_side, b"\0")
        os.close(its_side)

    def go_on(self) -> None:
        """Take what the program writes again."""
        self._is_read = True
        asyncio.get_running_loop().add_reader(self._descriptor, self._read)

    def send_signal(self, number: int) -> None:
        """Send the program a signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End the program without giving it a chance to say goodbye."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for the end of the program and take the last it wrote; return its exit status."""
        async with asyncio.timeout(LIMIT_S):
            status = await self._process.wait()
        while self._is_read:
            self._read()
        return status

    def hang_up(self) -> None:
        """Take the terminal away from the program, as when its window is closed."""
        if self._is_open:
            self._is_open = False
            self._stop_reading()
            os.close(self._descriptor)

    async def close(self) -> None:
        """End the program if it still runs, and the terminal with it."""
        if self._process.returncode is None:
            self.kill()
            await self.wait()
        self.hang_up()

    def _stop_reading(self) -> None:
        self._is_read = False
        asyncio.get_running_loop().remove_reader(self._descriptor)

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, CHUNK_BYTES)
        except OSError:  # what a pseudo-terminal answers when the program has ended, or has written no more
            chunk = b""
        if not chunk:
            self._stop_reading()
        self.text += chunk.decode(errors="replace").replace("\r\n", "\n")
        self._news.set()


def _take_terminal() -> None:
    """Make standard input the terminal that controls the new session, so that Ctrl-C means something."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@asynccontextmanager
async def terminal(
    config: Path,
    *arguments: str,
    program: Sequence[str] = PROGRAM,
    is_controlling: bool = True,
    **environment: str,
) -> AsyncIterator[Terminal]:
    """A program on a terminal for as long as the context lasts."""
    opened = await Terminal.start(
        config, *arguments, program=program, is_controlling=is_controlling, **environment
    )
    try:
        yield opened
    finally:
        await opened.close()
