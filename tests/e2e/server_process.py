"""A server in a process of its own, for tests that stop it, kill it and start it again on the same file."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.patience import LIMIT_S

_SLOW_SERVER = str(Path(__file__).parent / "slow_server.py")
_LISTENS = "tabuleiro listens on "


def free_port() -> int:
    """Return a port that is free now, for whoever has to know it before anything listens there."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class ServerProcess:
    """``tabuleiro serve`` on one file and a port, 0 for any free one. ``settings`` go in by the environment.

    ``log`` holds the lines written to standard error so far.
    """

    def __init__(self, db: Path | str, process: asyncio.subprocess.Process) -> None:
        self.db = db
        self.url = ""
        self.log: list[str] = []
        self._process = process
        self._line_came = asyncio.Event()
        self._log_reader = asyncio.create_task(self._read_log(), name="reading the server's log")

    @classmethod
    async def start(
        cls, db: Path | str, port: int = 0, *, has_slow_disk: bool = False, **settings: object
    ) -> ServerProcess:
        """Start a server and wait until it listens. Raises: AssertionError with its log when it ends instead."""
        server = await cls.launch(db, port, has_slow_disk=has_slow_disk, **settings)
        try:
            async with asyncio.timeout(LIMIT_S):
                assert server._process.stdout is not None
                line = (await server._process.stdout.readline()).decode().strip()
        except BaseException:
            await server.kill()
            raise
        if not line.startswith(_LISTENS):
            await server.wait()
            raise AssertionError(f"the server did not start:\n{server.log_text}")
        server.url = line.removeprefix(_LISTENS)
        return server

    @classmethod
    async def launch(
        cls, db: Path | str, port: int = 0, *, has_slow_disk: bool = False, **settings: object
    ) -> ServerProcess:
        """Start a server without waiting for anything."""
        command = (_SLOW_SERVER,) if has_slow_disk else ("-m", "tabuleiro_client", "serve")
        environment = {f"TABULEIRO_{key.upper()}": str(value) for key, value in settings.items()}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *command, "--db", str(db), "--port", str(port)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        return cls(db, process)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended, as far as is known."""
        return self._process.returncode is None

    @property
    def log_text(self) -> str:
        """The log so far."""
        return "\n".join(self.log)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    async def wait(self) -> int:
        """Wait for the end of the process and of its log; return the exit status."""
        async with asyncio.timeout(LIMIT_S):
            await self._log_reader
            return await self._process.wait()

    async def kill(self) -> None:
        """End the process without giving it a chance to do anything more. A second call does nothing."""
        if self._log_reader.done() and not self.is_running:
            return  # its number may be somebody else's by now
        if sys.platform == "win32":
            if self.is_running:
                self._process.kill()
        else:
            # Its bots' workers too: they hold its log open, and on a busy machine they end late by themselves.
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        await self.wait()

    async def stop(self) -> int:
        """Ask the process to stop and return its exit status."""
        self.signal(signal.SIGTERM)
        return await self.wait()

    async def logged(self, text: str) -> str:
        """Wait for a line of the log that holds ``text``, and return it."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                found = next((line for line in self.log if text in line), None)
                if found is not None:
                    return found
                self._line_came.clear()
                await self._line_came.wait()

    async def _read_log(self) -> None:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self.log.append(line.decode(errors="replace").rstrip("\n"))
            self._line_came.set()


@asynccontextmanager
async def serving(db: Path | str, **settings: object) -> AsyncIterator[ServerProcess]:
    """A running server, killed at the end of the context if it still runs."""
    server = await ServerProcess.start(db, **settings)
    try:
        yield server
    finally:
        await server.kill()
