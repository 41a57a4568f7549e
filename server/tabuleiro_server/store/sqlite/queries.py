"""The SQL of the log, whose events each have a checksum, and of the query tables, as functions on a connection.

What the query tables hold (rooms, matches, players) follows from the events and can be rebuilt from them. The
functions run inside whatever transaction the caller has begun; ``sqlite3.Error`` passes through. When and in which
thread they run is up to the callers.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain
from typing import Any, Final

from tabuleiro.errors import DamagedRoomError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import MatchRow, RoomRow, StoredEvent
from tabuleiro_server.store.sqlite.connection import primary_code
from tabuleiro_server.store.tables import checked_events, checksum, is_whole, match_row

_INSERT_EVENTS: Final = "INSERT INTO events (room, seq, at_ms, version, payload, checksum)"
_LAST_SEQS: Final = (
    "SELECT json_group_array(coalesce((SELECT max(seq) FROM events WHERE room = wanted.value), 0))"
    " FROM json_each(?) AS wanted"
)

_OPENINGS_AT_ONCE: Final = 256
"""Rooms whose first events are asked for in one statement."""

_FEW_ROWS_COUNT: Final = 16
"""Up to here rows go in one statement, and more of them in multiples of it: few different texts, so that the
prepared statements are found again, and few statements a group."""

_MAX_ROWS_COUNT: Final = 10 * _FEW_ROWS_COUNT

_UPSERT_ROOMS: Final = (
    "INSERT INTO rooms (code, phase, is_listed, created_at_ms, updated_at_ms, next_deadline_ms, summary, maker)",
    # The maker stays, and so does its place in the index.
    " ON CONFLICT (code) DO UPDATE SET phase = excluded.phase, is_listed = excluded.is_listed,"
    " created_at_ms = excluded.created_at_ms, updated_at_ms = excluded.updated_at_ms,"
    " next_deadline_ms = excluded.next_deadline_ms, summary = excluded.summary",
)
_UPSERT_MATCH: Final = (
    "INSERT INTO matches (room, number, game, options_json, started_at_ms, ended_at_ms, winner, termination,"
    " action_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (room, number) DO UPDATE SET game = excluded.game, options_json = excluded.options_json,"
    " started_at_ms = excluded.started_at_ms, ended_at_ms = excluded.ended_at_ms, winner = excluded.winner,"
    " termination = excluded.termination, action_count = excluded.action_count"
)
_UPSERT_PLAYER: Final = (
    "INSERT INTO players (room, match_number, seat, account_id, name, bot_level) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (room, match_number, seat) DO UPDATE SET account_id = excluded.account_id,"
    " name = excluded.name, bot_level = excluded.bot_level"
)
_ROOM_COLUMNS: Final = "code, phase, is_listed, created_at_ms, updated_at_ms, next_deadline_ms, summary, maker"
_SELECT_MATCHES: Final = (
    "SELECT matches.room, number, game, options_json, started_at_ms, ended_at_ms, winner, termination,"
    " action_count, first.account_id, first.name, first.bot_level, second.account_id, second.name,"
    " second.bot_level FROM matches"
    " JOIN players AS first ON first.room = matches.room AND first.match_number = number AND first.seat = 0"
    " JOIN players AS second ON second.room = matches.room AND second.match_number = number AND second.seat = 1"
)


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
        rows.append((*identity, bytearray(event.payload), checksum(event.payload, *identity)))
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


def upsert_rooms(connection: sqlite3.Connection, rows: Sequence[RoomRow]) -> None:
    """Write the rooms' rows; of two for the same room the later one counts."""
    head, tail = _UPSERT_ROOMS
    insert_rows(
        connection,
        head,
        [
            (
                row.code,
                row.phase,
                int(row.is_listed),
                row.created_at_ms,
                row.updated_at_ms,
                row.next_deadline_ms,
                bytearray(row.summary),
                row.maker,
            )
            for row in rows
        ],
        tail,
    )


def upsert_matches(connection: sqlite3.Connection, rows: Sequence[MatchRow]) -> None:
    """Write the matches' rows with their players; of two for the same match the later one counts."""
    if not rows:  # as nearly always, and a statement costs time even so
        return
    connection.executemany(
        _UPSERT_MATCH,
        [
            (
                row.room,
                row.number,
                row.game,
                row.options_json,
                row.started_at_ms,
                row.ended_at_ms,
                row.winner,
                row.termination,
                row.action_count,
            )
            for row in rows
        ],
    )
    connection.executemany(
        _UPSERT_PLAYER,
        [
            (row.room, row.number, seat, player.account, player.name, player.bot_level)
            for row in rows
            for seat, player in enumerate(row.players)
        ],
    )


def select_rooms(connection: sqlite3.Connection, phases: Collection[str] | None = None) -> list[RoomRow]:
    """Return the rows of all rooms in any of ``phases`` (``None``: any phase), by code."""
    if phases is None:
        found = connection.execute(f"SELECT {_ROOM_COLUMNS} FROM rooms ORDER BY code")
    else:
        places = ", ".join("?" * len(phases))
        query = f"SELECT {_ROOM_COLUMNS} FROM rooms WHERE phase IN ({places}) ORDER BY code"
        found = connection.execute(query, tuple(phases))
    return [_room_row(values) for values in found.fetchall()]


def select_codes_without_maker(connection: sqlite3.Connection) -> list[RoomCode]:
    """Return the codes of all rooms whose row names no maker, ascending."""
    return [code for (code,) in connection.execute("SELECT code FROM rooms WHERE maker = '' ORDER BY code")]


def write_makers(connection: sqlite3.Connection, makers: Mapping[RoomCode, AccountId]) -> None:
    """Write into rows that name no maker who it is."""
    values = [(maker, code) for code, maker in makers.items()]
    connection.executemany("UPDATE rooms SET maker = ? WHERE code = ? AND maker = ''", values)


def count_rooms(connection: sqlite3.Connection, maker: AccountId, phases: Collection[str]) -> int:
    """Return the number of rooms in any of ``phases`` that an account has made."""
    places = ", ".join("?" * len(phases))
    query = f"SELECT count(*) FROM rooms WHERE maker = ? AND phase IN ({places})"
    count: int = connection.execute(query, (maker, *phases)).fetchone()[0]
    return count


def select_room(connection: sqlite3.Connection, code: RoomCode) -> RoomRow | None:
    """Return the room's row, ``None`` when there is none."""
    found = connection.execute(f"SELECT {_ROOM_COLUMNS} FROM rooms WHERE code = ?", (code,)).fetchone()
    return None if found is None else _room_row(found)


def _room_row(values: Sequence[Any]) -> RoomRow:
    code, phase, is_listed, created_at_ms, updated_at_ms, next_deadline_ms, summary, maker = values
    return RoomRow(code, phase, bool(is_listed), created_at_ms, updated_at_ms, next_deadline_ms, summary, maker)


def select_due_rooms(connection: sqlite3.Connection, before_ms: int) -> list[RoomCode]:
    """Return the rooms whose deadline is at ``before_ms`` or earlier, the earliest first."""
    query = "SELECT code FROM rooms WHERE next_deadline_ms <= ? ORDER BY next_deadline_ms, code"
    return [code for (code,) in connection.execute(query, (before_ms,)).fetchall()]


def select_newest_ms(connection: sqlite3.Connection) -> TimestampMs | None:
    """Return the time of the newest event of any room, ``None`` before the first."""
    (newest_ms,) = connection.execute("SELECT max(updated_at_ms) FROM rooms").fetchone()
    return None if newest_ms is None else TimestampMs(newest_ms)


def select_matches(connection: sqlite3.Connection, room: RoomCode) -> list[MatchRow]:
    """Return the room's matches by number."""
    found = connection.execute(f"{_SELECT_MATCHES} WHERE matches.room = ? ORDER BY number", (room,))
    return [match_row(values) for values in found.fetchall()]


def delete_rows_of(connection: sqlite3.Connection, room: RoomCode) -> None:
    """Remove the room's rows, the matches' and the players' from the query tables; its events stay."""
    connection.execute("DELETE FROM matches WHERE room = ?", (room,))
    connection.execute("DELETE FROM rooms WHERE code = ?", (room,))


def insert_rows(
    connection: sqlite3.Connection, head: str, rows: Sequence[tuple[Any, ...]], tail: str = ""
) -> None:
    """Run ``head VALUES (...), (...) tail`` for all rows, in their order; all have the same length.

    Many rows go in few statements: Python's sqlite3 lets go of the interpreter at every step of a statement and
    has to get it back from a busy event loop, which may take the whole switch interval (5 ms) each time. Bytes
    come as a ``bytearray``, which it takes as it is: for ``bytes`` it looks for an adapter first.

    Raises: sqlite3.Error, with some of the rows written.
    """
    start = 0
    while start < len(rows):
        left_count = len(rows) - start
        size = min(left_count - left_count % _FEW_ROWS_COUNT, _MAX_ROWS_COUNT) or left_count
        batch = rows[start : start + size]
        values = list(chain.from_iterable(batch))
        connection.execute(_statement(head, len(batch[0]), size, tail), values)
        start += size


@cache
def _statement(head: str, width: int, size: int, tail: str) -> str:
    row = f"({', '.join('?' * width)})"
    return f"{head} VALUES {', '.join([row] * size)}{tail}"
