"""A worker process on the side of the pool: start it, ask it, kill it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from typing import Final, Self

from tabuleiro.errors import BotError
from tabuleiro_server.bots.messages import Answer, Job, Ready, ThinkRequest, WorkerMessage, encode_frame, receive
from tabuleiro_server.timers import time_limit

# -P: a file in the current folder must not be imported in place of one of ours.
WORKER_COMMAND: Final = (sys.executable, "-P", "-m", "tabuleiro_server.bots.worker")

MEMORY_SETTINGS: Final = {"MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
"""Has glibc ask the system for each table and tree by itself: these take no memory before they are written to.

Otherwise it fills them with zeros once the first of them was given back, and keeps what others give back.
"""

START_LIMIT_MS: Final = 30_000
"""The time for a worker to start, on the slowest machine under the heaviest load."""

PIPE_FILES_COUNT: Final = 8
"""Files that are open for a moment when a process is started with two pipes."""

MAX_TURN_ACTIONS: Final = 400
"""More actions than any turn can have: the cells of the biggest board are 361."""


class WorkerProcess:
    """A started worker. It takes one job at a time."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._last_number = 0
        self._is_usable = True

    @classmethod
    async def start(cls, command: Sequence[str] = WORKER_COMMAND, niceness: int | None = None) -> Self:
        """Start a worker, with ``niceness`` if that is not ``None``, and wait until it is ready.

        Raises: BotError when it cannot be started, ends, says anything else or is not ready in time.
        """
        try:
            settings = {**os.environ, **MEMORY_SETTINGS}
            worker = cls(await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, env=settings))
        except OSError as error:
            raise BotError(f"cannot start a bot worker: {_reason(error)}") from error
        try:
            if niceness is not None and hasattr(os, "setpriority"):
                # Already gone: the next line tells.
                with contextlib.suppress(ProcessLookupError):
                    os.setpriority(os.PRIO_PROCESS, worker.pid, niceness)
            message = await worker._receive(START_LIMIT_MS)
            if not isinstance(message, Ready):
                raise BotError(f"garbage from a bot worker: {type(message).__name__} at its start")
        except BaseException:
            await worker.kill()
            raise
        return worker

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """True as long as the process was not seen to end."""
        return self._process.returncode is None

    @property
    def is_usable(self) -> bool:
        """True if this worker can take another job; otherwise it has to be killed."""
        return self._is_usable and self.is_alive

    async def ask(self, request: ThinkRequest, hang_limit_ms: int) -> Answer:
        """Return the answer of the worker to ``request``.

        Raises: BotError when it dies, sends garbage or hangs (it is not usable then), or when its level fails.
        """
        self._last_number += 1
        job = Job(self._last_number, request, hang_limit_ms)
        # Until the whole answer is here, the worker takes no other job: one that was left behind spoils it.
        self._is_usable = False
        try:
            self._stdin.write(encode_frame(job))
            await self._stdin.drain()
        except ConnectionError:
            raise BotError("a bot worker ended") from None
        message = await self._receive(hang_limit_ms)
        if isinstance(message, Ready) or message.number != job.number:
            raise BotError(f"garbage from a bot worker: an unexpected {type(message).__name__}")
        actions_count = len(message.actions) if isinstance(message, Answer) else 0
        is_turn = isinstance(message, Answer) and message.explanation is None and not message.problem
        if is_turn and not 1 <= actions_count <= MAX_TURN_ACTIONS:
            raise BotError(f"garbage from a bot worker: {actions_count} actions")
        self._is_usable = True
        if isinstance(message, Answer):
            return message
        raise BotError(f"level {request.level} of {request.game} failed: {message.reason}")

    async def kill(self) -> None:
        """End the process at once and wait until it is gone; a worker holds no state that could be lost."""
        self._is_usable = False
        if self.is_alive:
            # Without the process it ended by itself, and was only not waited for yet.
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        self._stdin.close()
        # Reads the other pipe to its end, so that no transport is left open.
        await self._process.communicate()

    async def _receive(self, limit_ms: int) -> WorkerMessage:
        try:
            async with time_limit(limit_ms / 1000):
                return await receive(self._stdout)
        except TimeoutError:
            raise BotError(f"a bot worker gave no answer within {limit_ms} ms") from None


def _reason(error: OSError) -> str:
    """Return why a process cannot be started: uvloop does not say when it has no files for the pipes."""
    if error.errno is not None and error.errno > 0:
        return str(error)
    with contextlib.ExitStack() as stack:
        try:
            for _ in range(PIPE_FILES_COUNT):
                stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        except OSError as reason:
            return f"[Errno {reason.errno}] {reason.strerror}"
    return str(error)
