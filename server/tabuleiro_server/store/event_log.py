"""The log of all rooms: append with an expected place, load, and the query tables that go with it.

An append is answered after its commit, so what is acknowledged or announced after it is on disk. What events
mean and when rooms are loaded is up to ``room`` and ``runtime``.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Sequence
from typing import Final

from tabuleiro.ids import DurationMs, RoomCode, Seq, TimestampMs
from tabuleiro_server.metrics import CommitMetrics
from tabuleiro_server.store.database import Database
from tabuleiro_server.store.log_tables import select_events, select_openings
from tabuleiro_server.store.query_tables import (
    select_codes,
    select_due_rooms,
    select_matches,
    select_room,
    select_rooms,
)
from tabuleiro_server.store.rows import MatchRow, PlayerRow, RoomRow, StoredEvent
from tabuleiro_server.store.transaction import Append
from tabuleiro_server.store.writer import STOP_LIMIT_MS

__all__ = ["EventLog", "MatchRow", "PlayerRow", "RoomRow", "StoredEvent"]

BEFORE_FIRST: Final = Seq(0)
"""The place before a room's first event."""


class EventLog:
    """The events of all rooms in one database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def metrics(self) -> CommitMetrics:
        """Counts of commits, group sizes and durations."""
        return self.database.writer.metrics

    async def start(self) -> None:
        """Start the writer, which accounts use as well."""
        self.database.writer.start()

    async def stop(self, limit_ms: DurationMs = STOP_LIMIT_MS) -> None:
        """Refuse new writes and commit those that wait, for ``limit_ms`` at most."""
        await self.database.writer.stop(limit_ms)

    def append(
        self,
        room: RoomCode,
        expected_seq: Seq,
        events: Sequence[StoredEvent],
        room_row: RoomRow | None = None,
        match_rows: Sequence[MatchRow] = (),
    ) -> asyncio.Future[None]:
        """Add ``events`` behind ``expected_seq`` (0: a new room) and write the rows: done after the commit.

        The events are numbered on from ``expected_seq`` without a gap. ``None`` and an empty sequence of rows
        leave the query tables as they are. When this is cancelled the events may be stored or not: load the
        room again.

        Raises, here or when it is awaited: ConflictError when ``expected_seq`` is not the room's last event;
        StorageUnavailableError when the storage refuses (in both cases nothing of it is stored, and a later append
        may succeed); StoreError for values that cannot be stored; ValueError for events that are not numbered on.
        """
        for wanted, event in enumerate(events, start=expected_seq + 1):
            if event.seq != wanted:
                raise ValueError(f"room {room}: event {event.seq} stands in the place of event {wanted}")
        return self.database.writer.append(Append(room, expected_seq, events, room_row, match_rows))

    async def load(self, room: RoomCode, after_seq: Seq = BEFORE_FIRST) -> list[StoredEvent]:
        """Return the room's events behind ``after_seq`` in order, none for an unknown room.

        Raises: DamagedRoomError for a gap or an altered event; StorageUnavailableError.
        """
        return await self.database.read(lambda connection: select_events(connection, room, after_seq))

    async def openings(self, phases: Collection[str]) -> dict[RoomCode, StoredEvent]:
        """Return the first event of every room in any of ``phases``, damaged rooms left out.

        Raises: StorageUnavailableError.
        """

        def select(connection: sqlite3.Connection) -> dict[RoomCode, StoredEvent]:
            return select_openings(connection, select_codes(connection, phases))

        return await self.database.read(select)

    async def rooms(self, phases: Collection[str] | None = None) -> list[RoomRow]:
        """Return the rows of the rooms in any of ``phases`` (``None``: of all rooms), by code.

        Raises: StorageUnavailableError.
        """
        return await self.database.read(lambda connection: select_rooms(connection, phases))

    async def room(self, code: RoomCode) -> RoomRow | None:
        """Return the room's row, ``None`` when there is none. Raises: StorageUnavailableError."""
        return await self.database.read(lambda connection: select_room(connection, code))

    async def due_rooms(self, before_ms: TimestampMs) -> list[RoomCode]:
        """Return the rooms whose deadline is at ``before_ms`` or earlier, the earliest first.

        Raises: StorageUnavailableError.
        """
        return await self.database.read(lambda connection: select_due_rooms(connection, before_ms))

    async def matches(self, room: RoomCode) -> list[MatchRow]:
        """Return the room's matches by number. Raises: StorageUnavailableError."""
        return await self.database.read(lambda connection: select_matches(connection, room))
