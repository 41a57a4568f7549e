"""What has to be done from time to time: waking rooms whose hour has come, the heartbeat, forgetting guests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from tabuleiro.errors import StoreError
from tabuleiro.ids import TimestampMs
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
