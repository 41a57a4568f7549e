"""Windows of a tmux server of its own: programs in them are typed at, resized, and seen as a person sees them.

tmux tells through its control mode when a program has written something, so that nothing is waited for by the
clock: see ``CONTROL MODE`` in its manual.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from tests.patience import LIMIT_S

ENDED = "ended with status "
"""What a window says when its program has ended, before the status."""

T = TypeVar("T")


class Tmux:
    """A tmux server, driven by a client in control mode. ``news`` is set when next a program has written."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.news = asyncio.Event()
        self._process = process
        self._answers: asyncio.Queue[tuple[bool, list[str]]] = asyncio.Queue()
        self._turn = asyncio.Lock()
        self._reading = asyncio.create_task(self._read(), name="reading from tmux")

    @classmethod
    async def start(cls, socket: Path) -> Tmux:
        """Start a server that takes its commands at ``socket`` and reads no one's configuration."""
        process = await asyncio.create_subprocess_exec(
            *(
                "tmux",
                "-u",
                "-S",
                str(socket),
                "-f",
                "/dev/null",
                "-C",
                "new-session",
                "-x",
                "80",
                "-y",
                "24",
                "cat",
            ),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
        )
        tmux = cls(process)
        async with asyncio.timeout(LIMIT_S):
            await tmux._answers.get()
        # Not `window-size manual`, which version 3.3a does not survive: `resize-window` says so for each window.
        await tmux.run("set-option", "-g", "status", "off")
        return tmux

    async def run(self, *arguments: str) -> list[str]:
        """Run a command of tmux and return the lines of its answer. Raises: AssertionError when tmux refuses."""
        async with self._turn, asyncio.timeout(LIMIT_S):
            assert self._process.stdin is not None
            self._process.stdin.write((shlex.join(arguments) + "\n").encode())
            await self._process.stdin.drain()
            is_done, lines = await self._answers.get()
        assert is_done, f"tmux refuses {arguments}: {lines}"
        return lines

    async def open(self, *command: str, size: tuple[int, int] = (80, 24), **environment: str) -> Window:
        """Open a window in which ``command`` runs; it says with which status that has ended, and stays."""
        variables = [f"{name}={value}" for name, value in environment.items()]
        line = f'{shlex.join(["env", *variables, *command])}; echo "{ENDED}$?"; cat'
        (pane,) = await self.run("new-window", "-d", "-P", "-F", "#{pane_id}", line)
        window = Window(self, pane)
        await window.resize(*size)
        return window

    async def close(self) -> None:
        """End the server and everything that runs in it."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"kill-server\n")
        async with asyncio.timeout(LIMIT_S):
            await self._process.wait()
            await self._reading

    async def _read(self) -> None:
        """Take in answers, which stand between ``%begin`` and ``%end``, and what tmux tells by itself."""
        assert self._process.stdout is not None
        block: list[str] | None = None
        async for raw in self._process.stdout:
            line = raw.decode(errors="replace").rstrip("\n").removeprefix("\x1bP1000p")
            if line.startswith("%begin ") and block is None:
                block = []
            elif line.startswith(("%end ", "%error ")) and block is not None:
                self._answers.put_nowait((line.startswith("%end "), block))
                block = None
            elif block is not None:
                block.append(line)
            elif line.startswith(("%output ", "%window", "%layout-change", "%pane")):
                self.news.set()
                self.news = asyncio.Event()


class Window:
    """A program in a window of tmux. ``lines`` is what was seen of it last, each line as wide as the window."""

    def __init__(self, tmux: Tmux, pane: str) -> None:
        self.lines: list[str] = []
        self.size = (80, 24)
        self._tmux = tmux
        self._pane = pane

    async def look(self) -> list[str]:
        """What the window shows now, from the top."""
        width, _ = self.size
        self.lines = [line.ljust(width) for line in await self._tmux.run("capture-pane", "-p", "-t", self._pane)]
        return self.lines

    async def wait_for(self, find: Callable[[Sequence[str]], T | None], what: str) -> T:
        """Look until ``find`` finds something in the lines of the window."""
        try:
            async with asyncio.timeout(LIMIT_S):
                while True:
                    news = self._tmux.news  # taken before looking: what is written meanwhile is not missed
                    found = find(await self.look())
                    if found is not None:
                        return found
                    await news.wait()
        except TimeoutError:
            raise AssertionError(f"{what} was not shown; the window:\n" + "\n".join(self.lines)) from None

    async def shows(self, text: str) -> None:
        """Wait until the window shows ``text`` within a line."""
        await self.wait_for(lambda lines: any(text in line for line in lines) or None, repr(text))

    async def press(self, *keys: str) -> None:
        """Press keys by their names in tmux, e.g. ``Enter``, ``Up``, ``C-c``, ``x``."""
        await self._tmux.run("send-keys", "-t", self._pane, *keys)

    async def type(self, text: str) -> None:
        """Type a text as it is."""
        await self._tmux.run("send-keys", "-l", "-t", self._pane, text)

    async def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self.size = (columns, rows)
        await self._tmux.run("resize-window", "-t", self._pane, "-x", str(columns), "-y", str(rows))

    async def fact(self, name: str) -> str:
        """What tmux knows of the window, by the name of its format variable, e.g. ``alternate_on``."""
        (value,) = await self._tmux.run("display-message", "-p", "-t", self._pane, f"#{{{name}}}")
        return value


@asynccontextmanager
async def tmux(folder: Path) -> AsyncIterator[Tmux]:
    """A tmux server for as long as the context lasts; its socket lies in ``folder``."""
    server = await Tmux.start(folder / "tmux")
    try:
        yield server
    finally:
        await server.close()
