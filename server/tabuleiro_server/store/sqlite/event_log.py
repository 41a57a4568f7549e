"""The SQL of the log, whose events each have a checksum, as functions on a plain connection.

They run inside whatever transaction the caller has begun; ``sqlite3.Error`` passes through. When and in
which thread they run is up to the callers.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from tabuleiro.errors import DamagedRoomError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import StoredEvent
from tabuleiro_server.store.sqlite.connection import insert_rows, primary_code
from tabuleiro_server.store.tables import checked_events, checksum, is_whole

_INSERT_EVENTS: Final = "INSERT INTO events (room, seq, at_ms, version, payload, checksum)"
_LAST_SEQS: Final = (
    "SELECT json_group_array(coalesce((SELECT max(seq) FROM events WHERE room = wanted.value), 0))"
    " FROM json_each(?) AS wanted"
)

_OPENINGS_AT_ONCE: Final = 256
"""Rooms whose first events are asked for in one statement."""


def last_seq(connection: sqlite3.Connection, room: RoomCode) -> Seq:
    """Return the number of the room's last event, 0 when it has none."""
    found = connection.execute("SELECT max(seq) FROM events WHERE room = ?", (room,)).fetchone()[0]
    return Seq(found or 0)


def last_seqs(connection: sqlite3.Connection, rooms: Sequence[RoomCode]) -> dict[RoomCode, Seq]:
    """Return the number of each room's last event, 0 where it has none: one statement for all of them."""
    found: list[int] = json.loads(connection.execute(_LAST_SEQS, (json.dumps(rooms),)).fetchone()[0])
    return {room: Seq(seq) for room, seq in zip(rooms, found, strict=True)}


def insert_events(connection: sqlite3.Connection, events: Iterable[tuple[RoomCode, StoredEvent]]) -> None:
    """Add events to the log."""
    rows = []
    for room, event in events:
        identity = (room, event.seq, event.at_ms, event.version)
        rows.append((*identity, event.payload, checksum(event.payload, *identity)))
    insert_rows(connection, _INSERT_EVENTS, rows)


def select_events(connection: sqlite3.Connection, room: RoomCode, after_seq: Seq) -> list[StoredEvent]:
    """Return the room's events behind ``after_seq`` in order.

    Raises: DamagedRoomError for a gap, an event that was altered, or a page that SQLite cannot read.
    """
    query = "SELECT seq, at_ms, version, payload, checksum FROM events WHERE room = ? AND seq > ? ORDER BY seq"
    return checked_events(room, after_seq, _room_rows(connection, query, room, after_seq))


def missing_events(connection: sqlite3.Connection, promised: Mapping[RoomCode, Seq]) -> list[str]:
    """Return in words which rooms have fewer events than was ``promised``."""
    found = last_seqs(connection, list(promised)) if promised else {}
    return [
        f"room {room} has {found[room]} events and had {seq}: the write-ahead log was lost, or this is an old copy"
        for room, seq in promised.items()
        if found[room] < seq
    ]


def delete_events(connection: sqlite3.Connection, room: RoomCode) -> None:
    """Remove all events of a room."""
    connection.execute("DELETE FROM events WHERE room = ?", (room,))


def select_openings(connection: sqlite3.Connection, rooms: Sequence[RoomCode]) -> dict[RoomCode, StoredEvent]:
    """Return the first event of each of ``rooms``; a room whose first event is damaged or missing is left out."""
    openings: dict[RoomCode, StoredEvent] = {}
    for start in range(0, len(rooms), _OPENINGS_AT_ONCE):
        together = rooms[start : start + _OPENINGS_AT_ONCE]
        try:
            openings |= _select_openings(connection, together)
        except DamagedRoomError:
            for room in together:
                with suppress(DamagedRoomError):
                    openings |= _select_openings(connection, [room])
    return openings


def _select_openings(connection: sqlite3.Connection, rooms: Sequence[RoomCode]) -> dict[RoomCode, StoredEvent]:
    places = ", ".join("?" * len(rooms))
    query = f"SELECT room, seq, at_ms, version, payload, checksum FROM events WHERE seq = 1 AND room IN ({places})"
    with blaming(rooms[0]):
        found = connection.execute(query, rooms).fetchall()
    return {
        room: StoredEvent(seq, at_ms, version, payload)
        for room, seq, at_ms, version, payload, stored_checksum in found
        if is_whole(room, (seq, at_ms, version, payload, stored_checksum))
    }


def _room_rows(connection: sqlite3.Connection, query: str, room: RoomCode, *values: int) -> list[tuple[Any, ...]]:
    with blaming(room):
        return connection.execute(query, (room, *values)).fetchall()


@contextmanager
def blaming(room: RoomCode) -> Iterator[None]:
    """Raise DamagedRoomError for ``room`` where SQLite finds a malformed page: other rooms lie on others.

    The same where Python finds text that is not UTF-8 in the place of bytes, an error without a code.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        is_undecodable = isinstance(error, sqlite3.OperationalError) and primary_code(error) is None
        if is_undecodable or primary_code(error) == sqlite3.SQLITE_CORRUPT:
            raise DamagedRoomError(room, None, str(error)) from error
        raise
