"""The SQL of the query tables: rooms, matches and players, as functions on a plain connection.

What they hold follows from the events and can be rebuilt from them. They run inside whatever transaction the
caller has begun; ``sqlite3.Error`` passes through.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from tabuleiro.ids import AccountId, RoomCode, TimestampMs
from tabuleiro_server.store.port import MatchRow, RoomRow
from tabuleiro_server.store.sqlite.connection import insert_rows
from tabuleiro_server.store.tables import match_row

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
                row.summary,
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
