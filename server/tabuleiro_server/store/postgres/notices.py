"""Rooms that other servers change, as the database tells of them: by notices, and by a look each second.

A notice goes out after the commit that it tells of. Those that come while nobody listens are lost: a connection
may break, and a pooler keeps them for itself. So the table is looked through as well. Each row names the
transaction that wrote it last; what an earlier look has not seen was written by the oldest transaction that was
under way then, or by a later one. Clocks and the order of commits do not matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Final

import asyncpg
import structlog

from tabuleiro.errors import StoreError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.postgres.commit import CHANNEL
from tabuleiro_server.store.postgres.connection import BROKEN, Database, reason_of
from tabuleiro_server.store.postgres.queries import select_changes

INTERVAL_S: Final = 0.25
"""Shortest time between two batches."""

LOOK_S: Final = 1.0
"""Time between two looks through the table."""

log = structlog.get_logger(__name__)


class Notices:
    """Collects what other servers change. ``is_own`` tells the number of a backend that this server commits by."""

    def __init__(self, database: Database, is_own: Callable[[int], bool]) -> None:
        self.interval_s = INTERVAL_S
        self.look_s = LOOK_S
        self._database = database
        self._is_own = is_own
        self._connection: asyncpg.Connection | None = None
        self._heard: dict[RoomCode, Seq] = {}
        self._has_heard = asyncio.Event()
        self._is_in_trouble = False

    async def batches(self) -> AsyncGenerator[Mapping[RoomCode, Seq]]:
        """Yield what other servers change from the first batch on, which is empty; end it by closing it.

        While the database is away nothing comes; then all that was missed.
        """
        mark: int | None = None
        told: dict[RoomCode, Seq] = {}
        try:
            while True:
                await self._listen()
                is_first = mark is None
                mark, found = await self._look(mark)
                news = _newer(found, told)
                # What a look finds and what comes after it is all that the next one can find again.
                told = found
                looks_at_s = asyncio.get_running_loop().time() + self.look_s
                if news or (is_first and mark is not None):
                    yield news
                    await asyncio.sleep(self.interval_s)
                while await self._hears_before(looks_at_s):
                    heard, self._heard = self._heard, {}
                    self._has_heard.clear()
                    news = _newer(heard, told)
                    told |= heard
                    if news:
                        yield news
                        await asyncio.sleep(self.interval_s)
        finally:
            self.renew()

    def renew(self) -> None:
        """Give up the connection: another one is opened before the next look."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _hears_before(self, end_s: float) -> bool:
        """Wait for notices; return False when it is time for a look."""
        try:
            async with asyncio.timeout_at(end_s):
                await self._has_heard.wait()
        except TimeoutError:
            return False
        return asyncio.get_running_loop().time() < end_s

    async def _listen(self) -> None:
        """Open a connection that listens, where there is none; behind a pooler nothing would come."""
        if self._database.is_pooled or not (self._connection is None or self._connection.is_closed()):
            return
        self.renew()
        try:
            connection = await self._database.connect()
            try:
                await connection.add_listener(CHANNEL, self._hear)
            except BaseException:
                connection.terminate()
                raise
        except (StoreError, *BROKEN) as error:
            self._note_trouble(reason_of(error))
        else:
            self._connection = connection

    def _hear(self, _: object, backend: int, __: str, payload: object) -> None:
        if not self._is_own(backend):
            code, _, seq = str(payload).partition(" ")
            self._heard[RoomCode(code)] = Seq(int(seq))
            self._has_heard.set()

    async def _look(self, mark: int | None) -> tuple[int | None, dict[RoomCode, Seq]]:
        """Return the mark for the next look, and what was changed since the last one's."""
        try:
            found = await self._database.read(lambda connection: select_changes(connection, mark))
        except StoreError as error:
            self._note_trouble(str(error))
            return mark, {}
        self._is_in_trouble = False
        return found

    def _note_trouble(self, reason: str) -> None:
        if not self._is_in_trouble:
            log.warning("changes by other servers come late", reason=reason)
        self._is_in_trouble = True


def _newer(changes: Mapping[RoomCode, Seq], told: Mapping[RoomCode, Seq]) -> dict[RoomCode, Seq]:
    """Return what was not told yet."""
    return {room: seq for room, seq in changes.items() if told.get(room, 0) < seq}
