"""The periodic tasks of a running server, and its orderly stop.

A stop is announced first, then no rooms are opened, bots finish their thoughts, and nothing waits without a limit.
`wiring` knows the parts and the order in which they end; `cli` handles signals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import structlog

from tabuleiro.errors import CommandError, StoreError
from tabuleiro.ids import HOUR_MS, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import Announcement
from tabuleiro_server.config import Config
from tabuleiro_server.rooms.directory import Directory
from tabuleiro_server.sessions.guests import Guests
from tabuleiro_server.store.port import Store

GUESTS_EVERY_MS = HOUR_MS

log = structlog.get_logger(__name__)


class Janitor:
    """One task with a round every ``lobby_wake_ms``: wakes due rooms, beats, removes what nobody has used."""

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
        """Start the rounds."""
        self._task = asyncio.create_task(self._run(), name="janitor")

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
                log.warning("janitor's round failed", reason=str(error))
            except Exception:
                # A fault of ours in one room must not keep the hour of all others from coming.
                log.exception("janitor's round failed")
            await asyncio.sleep(self._config.lobby_wake_ms / 1000)

    async def _round(self) -> None:
        self._store.beat(self._now_ms(), self._directory.rooms_count)
        await self._directory.wake_due_rooms()
        await self._directory.remove_unplayed()
        await self._guests.note_visits()
        now_ms = self._now_ms()
        if now_ms >= self._guests_due_ms:
            self._guests_due_ms = now_ms + GUESTS_EVERY_MS
            await self._guests.free_unused(self._config.unused_guest_ms)


HURRY_LIMIT_S: Final = 1.0
"""Seconds that each part still gets once the stop is hurried."""

log = structlog.get_logger(__name__)


class Lifecycle:
    """The state of the server's stop, and the limits for it."""

    def __init__(self, config: Config, now_ms: Callable[[], TimestampMs]) -> None:
        self._config = config
        self._now_ms = now_ms
        self._stops_at_ms: int | None = None
        self._requested = asyncio.Event()
        self._hurried = asyncio.Event()

    @property
    def is_stopping(self) -> bool:
        """True once the stop has begun."""
        return self._stops_at_ms is not None

    @property
    def announcement(self) -> Announcement | None:
        """The message about the stop for clients, ``None`` when there is none."""
        if self._stops_at_ms is None:
            return None
        text = "the server restarts; matches go on when it is back"
        return Announcement(text, max(self._stops_at_ms - self._now_ms(), 0))

    def check_is_running(self) -> None:
        """Check that the stop has not begun.

        Raises:
            CommandError: shutting-down.
        """
        if self.is_stopping:
            raise CommandError(ErrorCode.SHUTTING_DOWN, "the server is about to restart; no new rooms until then")

    def begin_stop(self, notice_ms: int) -> None:
        """Open no rooms from now on; connections are closed in ``notice_ms`` milliseconds."""
        if self._stops_at_ms is None:
            self._stops_at_ms = self._now_ms() + notice_ms

    def request_stop(self) -> None:
        """Request the stop; a second request cuts all its waits short."""
        if self._requested.is_set():
            self._hurried.set()
        self._requested.set()

    async def stop_requested(self) -> None:
        """Wait until the stop is requested."""
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
        """Wait for ``work``, for ``shutdown_limit_ms`` at most and shorter in a hurry; then cancel it.

        ``what`` names the work in the log.

        Raises:
            Exception: Whatever ``work`` raises.
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
