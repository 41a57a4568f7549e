"""How a server stops: told first, then no new rooms, bots think to an end, and nothing waits without a limit.

It knows what is being waited for only as awaitables; which parts there are, and in which order they end, is up to
`wiring`. Signals are the matter of `cli`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import structlog

from tabuleiro.errors import CommandError, StoreError
from tabuleiro.ids import TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import Announcement
from tabuleiro_server.config import Config
from tabuleiro_server.rooms.directory import Directory
from tabuleiro_server.sessions.guests import Guests
from tabuleiro_server.store.port import Store

GUESTS_EVERY_MS = 3_600_000

log = structlog.get_logger(__name__)


class Caretaker:
    """One task that makes its round every ``lobby_wake_ms``."""

    def __init__(
        self,
        store: Store,
        directory: Directory,
        guests: Guests,
        config: Config,
        now_ms: Callable[[], TimestampMs],
    ) -> None:
        self._store = store
        self._directory = directory
        self._guests = guests
        self._config = config
        self._now_ms = now_ms
        self._guests_due_ms = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin the rounds."""
        self._task = asyncio.create_task(self._run(), name="caretaker")

    async def stop(self) -> None:
        """End the rounds."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            try:
                await self._round()
            except (StoreError, OSError) as error:
                log.warning("caretaker's round failed", reason=str(error))
            except Exception:
                # A fault of ours in one room must not keep the hour of all others from coming.
                log.exception("caretaker's round failed")
            await asyncio.sleep(self._config.lobby_wake_ms / 1000)

    async def _round(self) -> None:
        self._store.beat()
        await self._directory.wake_due_rooms()
        now_ms = self._now_ms()
        if now_ms >= self._guests_due_ms:
            self._guests_due_ms = now_ms + GUESTS_EVERY_MS
            await self._guests.free_unused(self._config.unused_guest_ms)


HURRY_LIMIT_S: Final = 1.0
"""How long each part still gets once the stop shall be hurried."""

log = structlog.get_logger(__name__)


class Lifecycle:
    """Whether the server goes on, and the limits of its stop."""

    def __init__(self, config: Config, now_ms: Callable[[], TimestampMs]) -> None:
        self._config = config
        self._now_ms = now_ms
        self._stops_at_ms: int | None = None
        self._requested = asyncio.Event()
        self._hurried = asyncio.Event()

    @property
    def is_stopping(self) -> bool:
        """Whether the stop has begun."""
        return self._stops_at_ms is not None

    @property
    def announcement(self) -> Announcement | None:
        """What clients are told about the stop, ``None`` when there is none."""
        if self._stops_at_ms is None:
            return None
        text = "the server restarts; matches go on when it is back"
        return Announcement(text, max(self._stops_at_ms - self._now_ms(), 0))

    def check_is_running(self) -> None:
        """Raises: CommandError shutting-down once the stop has begun."""
        if self.is_stopping:
            raise CommandError(ErrorCode.SHUTTING_DOWN, "the server is about to restart; no new rooms until then")

    def begin_stop(self, notice_ms: int) -> None:
        """Take no new rooms from now on; connections are closed in ``notice_ms`` milliseconds."""
        if self._stops_at_ms is None:
            self._stops_at_ms = self._now_ms() + notice_ms

    def request_stop(self) -> None:
        """Ask for the stop; asking again cuts every waiting in it short."""
        if self._requested.is_set():
            self._hurried.set()
        self._requested.set()

    async def stop_requested(self) -> None:
        """Wait until the stop is asked for."""
        await self._requested.wait()

    async def give_notice(self) -> None:
        """Wait until the announced moment, or until the stop is hurried."""
        if self._stops_at_ms is None:
            return
        left_ms = max(self._stops_at_ms - self._now_ms(), 0)
        with suppress(TimeoutError):
            async with asyncio.timeout(left_ms / 1000):
                await self._hurried.wait()

    async def within_limit(self, work: Awaitable[None], what: str) -> None:
        """Wait for ``work``, for ``shutdown_limit_ms`` at most and shorter in a hurry; then give it up.

        ``what`` names the work in the log. Raises: what ``work`` raises.
        """
        task = asyncio.ensure_future(work)
        hurried = asyncio.create_task(self._hurried.wait(), name="waiting for the stop to be hurried")
        try:
            limit_s = self._config.shutdown_limit_ms / 1000
            await asyncio.wait({task, hurried}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and hurried.done():
                await asyncio.wait({task}, timeout=HURRY_LIMIT_S)
            if not task.done():
                log.warning("given up while stopping", what=what)
                task.cancel()
                await asyncio.wait({task}, timeout=HURRY_LIMIT_S)
        finally:
            hurried.cancel()
        if task.done() and not task.cancelled():
            task.result()
