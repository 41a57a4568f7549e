"""An engine that runs: orders in, replies out, with limits of time. Any fault of it becomes a BotError.

The one module of `tabuleiro` that does I/O: the arena and the client run engines, and neither imports the other.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import IO, Final

from tabuleiro.errors import shown
from tabuleiro.notation import engine_lines
from tabuleiro.notation.engine_lines import Answer, EngineHost
from tabuleiro.notation.plain_text import strip_controls

_CHUNK_BYTES: Final = 4096


class EngineProcess(EngineHost):
    """An engine that runs. Get one from :func:`running_engine`."""

    def __init__(self, process: Process, errors: IO[bytes] | None) -> None:
        super().__init__()
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._errors = errors

    @property
    def exit_status(self) -> int | None:
        """The exit status of the program, negative for the signal that ended it; ``None`` while it runs."""
        return self._process.returncode

    async def end(self) -> None:
        """Tell the engine to end, and kill it if it does not."""
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(engine_lines.END_LIMIT_S):
                self._stdin.write(f"{engine_lines.QUIT}\n".encode())
                self._stdin.close()
                await self._ended()
        await self.kill()

    async def kill(self) -> None:
        """End the engine, and all processes that it has started, at once."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
            with suppress(TimeoutError):
                async with asyncio.timeout(engine_lines.END_LIMIT_S):
                    await self._ended()

    async def _ended(self) -> None:
        # Waiting for a process waits for its pipes too, and a pipe without a reader never closes.
        while await self._stdout.read(_CHUNK_BYTES):
            pass
        await self._process.wait()

    async def _ask(self, orders: bytes, wanted: type[Answer], limit_ms: int) -> Answer:
        try:
            async with asyncio.timeout((limit_ms + engine_lines.SLACK_MS) / 1000):
                # An engine that has ended is noticed, with its last words, when its reply is read.
                with suppress(ConnectionError):
                    self._stdin.write(orders)
                    await self._stdin.drain()
                while (answer := self._receive(await self._next_line(), wanted)) is None:
                    pass
                return answer
        except TimeoutError:
            raise engine_lines.too_late(limit_ms) from None

    async def _next_line(self) -> bytes:
        try:
            return await self._stdout.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            raise engine_lines.too_long() from None
        except asyncio.IncompleteReadError:
            pass
        with suppress(TimeoutError):
            async with asyncio.timeout(engine_lines.END_LIMIT_S):
                await self._process.wait()
        raise engine_lines.early_end(self._process.returncode, self._last_words())

    def _last_words(self) -> str:
        """Return the last line of standard error; empty if there is none or it is not kept."""
        if self._errors is None:
            return ""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _CHUNK_BYTES))
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        words = [shown(text, 200) for line in lines if (text := strip_controls(line))]
        return words[-1] if words else ""


@asynccontextmanager
async def running_engine(command: Sequence[str], *, keeps_errors: bool = False) -> AsyncIterator[EngineProcess]:
    """Run the program of ``command`` as an engine until the context ends; after an error it is killed at once.

    Args:
        command: The program and its arguments.
        keeps_errors: Keep the standard error to explain a crash; otherwise it goes where the caller's goes.

    Raises:
        BotError: The program cannot be started.
    """
    with tempfile.TemporaryFile() if keeps_errors else nullcontext() as errors:
        try:
            # In a session of its own: Ctrl-C reaches the host alone, and all that it starts can be killed with it.
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=errors,
                limit=engine_lines.REPLY_MAX_BYTES,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise engine_lines.cannot_start(error) from error
        engine = EngineProcess(process, errors)
        try:
            yield engine
        except BaseException:
            await engine.kill()
            raise
        await engine.end()
