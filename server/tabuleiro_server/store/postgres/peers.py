"""What the servers on one database know of each other."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final

import asyncpg

from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import LobbyLine, Mark, News, Peers, RoomRow, StoredEvent
from tabuleiro_server.store.postgres.connection import Database
from tabuleiro_server.store.postgres.notices import Notices
from tabuleiro_server.store.postgres.queries import ROOM_COLUMNS
from tabuleiro_server.store.tables import EventValues, checked_events

LINES: Final = 0x7461_6264
"""The key of the advisory lock of whoever adds a line: they become visible in the order of their numbers."""

_NEWS: Final = (
    f"SELECT pg_snapshot_xmin(pg_current_snapshot())::text, {ROOM_COLUMNS} FROM (SELECT) AS always"
    " LEFT JOIN tabuleiro.rooms ON"
)
_LINES: Final = (
    "SELECT number, at_ms, account_id, name, text FROM tabuleiro.lobby_lines WHERE number > $1 ORDER BY number"
)
_EVENTS: Final = (
    "SELECT room, seq, at_ms, version, payload, checksum FROM unnest($1::text[], $2::int[]) AS place (code, last)"
    " JOIN tabuleiro.events ON room = code AND seq > last ORDER BY room, seq"
)
_OTHERS: Final = (
    "FROM tabuleiro.people JOIN tabuleiro.signs_of_life USING (node), {} WHERE node <> $1 AND lease_until > now()"
)
_PEOPLE: Final = f"SELECT DISTINCT person {_OTHERS.format('unnest(names) AS person')}"
_WATCHERS: Final = (
    "SELECT room, sum(count)::integer"
    f" {_OTHERS.format('unnest(watched, watchers) AS watched_room (room, count)')} GROUP BY room"
)


class PostgresPeers(Peers):
    """The other servers on one database; see :class:`.Peers` for what each method promises."""

    def __init__(self, database: Database, node_id: Callable[[], int], is_own: Callable[[int], bool]) -> None:
        """``node_id`` is this server's, and ``is_own`` tells the number of a backend that it commits by."""
        self.notices = Notices(database, is_own)
        self._database = database
        self._node_id = node_id

    def changes(self) -> AsyncGenerator[Mapping[RoomCode, Seq]]:
        """Yield batches of rooms that other servers have changed, with their last events."""
        return self.notices.batches()

    def alone(self, key: str) -> AbstractAsyncContextManager[None]:
        """Return a context that one server at a time is in, of those who name the same ``key``."""
        return self._database.locked(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], signed=True))

    async def news(self, mark: Mark | None) -> News:
        """Return what has happened since ``mark``."""

        async def select(connection: asyncpg.Connection) -> News:
            if mark is None:
                found = await connection.fetch(f"{_NEWS} phase <> 'closed'")
            else:
                found = await connection.fetch(f"{_NEWS} changed_in >= $1::text::xid8", str(mark.change))
            lines = await connection.fetch(_LINES, 0 if mark is None else mark.line)
            people = await connection.fetch(_PEOPLE, self._node_id())
            watchers = await connection.fetch(_WATCHERS, self._node_id())
            last_line = 0 if mark is None else mark.line
            return News(
                Mark(int(found[0][0]), lines[-1][0] if lines else last_line),
                [RoomRow(*row[1:]) for row in found if row[1] is not None],
                [LobbyLine(*line[1:]) for line in lines],
                frozenset(name for (name,) in people),
                dict(watchers),
            )

        return await self._database.read(select)

    async def events_after(self, places: Mapping[RoomCode, Seq]) -> dict[RoomCode, list[StoredEvent]]:
        """Return the events of each room behind the number that is its place."""
        values = (list(places), list(places.values()))
        found = await self._database.read(lambda connection: connection.fetch(_EVENTS, *values))
        rows: dict[RoomCode, list[EventValues]] = {}
        for code, *event in found:
            rows.setdefault(code, []).append(tuple(event))
        return {code: checked_events(code, places[code], rows[code]) for code in rows}

    async def watchers(self) -> Mapping[RoomCode, int]:
        """Return the numbers of watchers of rooms on other servers, all of them together."""
        node_id = self._node_id()
        return dict(await self._database.read(lambda connection: connection.fetch(_WATCHERS, node_id)))

    async def note_people(self, names: Collection[str], watchers: Mapping[RoomCode, int]) -> None:
        """Let others know who is connected to this server, and how many watch each room on it."""

        async def write(connection: asyncpg.Connection) -> None:
            # Losing it in a crash is no harm: it is written again with the next change.
            await connection.execute("SET LOCAL synchronous_commit = off")
            await connection.execute(
                "INSERT INTO tabuleiro.people (node, names, watched, watchers)"
                " SELECT id, $2, $3, $4 FROM tabuleiro.nodes WHERE id = $1 ON CONFLICT (node) DO UPDATE"
                " SET names = excluded.names, watched = excluded.watched, watchers = excluded.watchers",
                *(self._node_id(), list(names), list(watchers), list(watchers.values())),
            )

        await self._database.change(write)

    async def say(self, line: LobbyLine, keep_count: int) -> None:
        """Add a line to the lobby's chat."""

        async def write(connection: asyncpg.Connection) -> None:
            await connection.execute("SELECT pg_advisory_xact_lock($1)", LINES)
            # Whose answer was lost comes again.
            await connection.execute(
                "INSERT INTO tabuleiro.lobby_lines (at_ms, account_id, name, text) SELECT $1, $2, $3, $4"
                " WHERE NOT EXISTS (SELECT FROM tabuleiro.lobby_lines"
                " WHERE at_ms = $1 AND account_id = $2 AND text = $4)",
                *(line.at_ms, line.account, line.name, line.text),
            )
            await connection.execute(
                "DELETE FROM tabuleiro.lobby_lines"
                " WHERE number <= (SELECT max(number) FROM tabuleiro.lobby_lines) - $1",
                keep_count,
            )

        await self._database.change(write)
