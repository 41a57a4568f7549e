"""An engine that a person lets play on a server: orders in, replies out, with limits of time.

What the lines mean is left to the notation, playing in a room to the engine player. Whatever an engine does wrong
becomes a BotError that says so; its standard error goes where the client's goes.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeVar

from tabuleiro.errors import BotError
from tabuleiro.notation import engine_lines
from tabuleiro.notation.engine_lines import REPLY_MAX_BYTES, Best, Called, Ready
from tabuleiro.rules import Game, State

START_LIMIT_MS: Final = 10_000
"""How long the first ``ready`` may take."""

SLACK_MS: Final = 250
"""What an answer may be late, for the way to and fro."""

END_LIMIT_S: Final = 1.0
"""How long an engine may take to end after it was told to."""

_CHUNK_BYTES: Final = 4096

Answer = TypeVar("Answer", Ready, Best)


class EngineProcess:
    """An engine that runs. Get one from :func:`running_engine`."""

    def __init__(self, process: Process) -> None:
        self.name = ""
        self._process = process

    async def greet(self, limit_ms: int = START_LIMIT_MS) -> None:
        """Say hello and wait until the engine is ready. Raises: BotError."""
        await self._ask(engine_lines.GREETING, Ready, limit_ms)

    async def begin(self, game: Game, seed: int, limit_ms: int) -> None:
        """Tell about a new game and wait until the engine is ready for it. Raises: BotError."""
        await self._ask(engine_lines.game_lines(game, seed), Ready, limit_ms)

    async def choose(
        self, state: State, played: Iterable[str], limit_ms: int, clocks_ms: tuple[int, int] | None
    ) -> tuple[int, ...]:
        """Ask for the actions of the player to move, for the whole rest of the turn or a part of it.

        ``played`` are the texts of all actions since the start, which led to ``state``; ``clocks_ms`` is what the
        engine and its opponent have left, ``None`` without a clock.

        Raises: BotError when the answer is late, none at all, or not legal.
        """
        orders = (engine_lines.position_line(played), engine_lines.go_line(limit_ms, clocks_ms))
        return engine_lines.parse_best(state, await self._ask(orders, Best, limit_ms))

    async def end(self) -> None:
        """Tell the engine to end, and kill it when it does not."""
        assert self._process.stdin is not None
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(END_LIMIT_S):
                self._process.stdin.write(f"{engine_lines.QUIT}\n".encode())
                self._process.stdin.close()
                await self._ended()
        await self.kill()

    async def kill(self) -> None:
        """End the engine, and what it has started, at once."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
            with suppress(TimeoutError):
                async with asyncio.timeout(END_LIMIT_S):
                    await self._ended()

    async def _ended(self) -> None:
        # Waiting for a process waits for its pipes too, and one that nobody reads from any more never closes.
        assert self._process.stdout is not None
        while await self._process.stdout.read(_CHUNK_BYTES):
            pass
        await self._process.wait()

    async def _ask(self, orders: Sequence[str], wanted: type[Answer], limit_ms: int) -> Answer:
        try:
            async with asyncio.timeout((limit_ms + SLACK_MS) / 1000):
                return await self._converse(orders, wanted)
        except TimeoutError:
            raise BotError(f"gave no answer within {limit_ms} ms") from None

    async def _converse(self, orders: Sequence[str], wanted: type[Answer]) -> Answer:
        assert self._process.stdin is not None
        # An engine that has ended is noticed, with its last words, when its reply is read.
        with suppress(ConnectionError):
            self._process.stdin.write("".join(f"{order}\n" for order in orders).encode())
            await self._process.stdin.drain()
        while True:
            reply = engine_lines.parse_reply(await self._next_line())
            if isinstance(reply, wanted):
                return reply
            if isinstance(reply, Called):
                self.name = reply.name
            elif isinstance(reply, Ready | Best):
                raise BotError(f"said {type(reply).__name__.lower()} when {wanted.__name__.lower()} was expected")

    async def _next_line(self) -> bytes:
        assert self._process.stdout is not None
        try:
            return await self._process.stdout.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            raise BotError(f"said a line of more than {REPLY_MAX_BYTES} bytes") from None
        except asyncio.IncompleteReadError:
            pass
        status = None
        with suppress(TimeoutError):
            async with asyncio.timeout(END_LIMIT_S):
                status = await self._process.wait()
        how = "closed its standard output" if status is None else f"ended with exit status {status}"
        raise BotError(how)


@asynccontextmanager
async def running_engine(command: Sequence[str]) -> AsyncIterator[EngineProcess]:
    """Run the program of ``command`` as an engine until the context ends; after an error it is killed at once.

    Raises: BotError when the program can't be started.
    """
    try:
        # In a session of its own: Ctrl-C is for the client alone, and all that it starts can be killed with it.
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, limit=REPLY_MAX_BYTES, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise BotError(f"cannot be started: {getattr(error, 'strerror', None) or error}") from error
    engine = EngineProcess(process)
    try:
        yield engine
    except BaseException:
        await engine.kill()
        raise
    await engine.end()
