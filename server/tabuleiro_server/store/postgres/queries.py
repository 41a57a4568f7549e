"""The SQL of the log and the query tables, as functions on a connection."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import asyncpg

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import Incarnation, MatchRow, RoomRow, Rows, StoredEvent
from tabuleiro_server.store.tables import checked_events, is_whole, match_row

ROOM_COLUMNS: Final = "code, phase, is_listed, created_at_ms, updated_at_ms, next_deadline_ms, summary, maker"
_SELECT_MATCHES: Final = """
SELECT matches.room, number, game, options_json, started_at_ms, ended_at_ms, winner, termination, action_count,
    first.account_id, first.name, first.bot_level, second.account_id, second.name, second.bot_level
FROM tabuleiro.matches
JOIN tabuleiro.players AS first ON first.room = matches.room AND first.match_number = number AND first.seat = 0
JOIN tabuleiro.players AS second ON second.room = matches.room AND second.match_number = number AND second.seat = 1
WHERE matches.room = $1 ORDER BY number
"""


async def select_events(connection: asyncpg.Connection, room: RoomCode, after_seq: Seq) -> list[StoredEvent]:
    """Return the room's events behind ``after_seq`` in order. Raises: DamagedRoomError."""
    query = (
        "SELECT seq, at_ms, version, payload, checksum FROM tabuleiro.events"
        " WHERE room = $1 AND seq > $2 ORDER BY seq"
    )
    return checked_events(room, after_seq, await connection.fetch(query, room, after_seq))


async def select_rooms_without_maker(connection: asyncpg.Connection) -> dict[RoomCode, StoredEvent]:
    """Return the first event of every room whose row names no maker, damaged rooms left out."""
    query = (
        "SELECT room, events.seq, at_ms, version, payload, checksum FROM tabuleiro.events"
        " JOIN tabuleiro.rooms ON rooms.code = room WHERE events.seq = 1 AND maker = ''"
    )
    return {
        room: StoredEvent(seq, at_ms, version, payload)
        for room, seq, at_ms, version, payload, checksum in await connection.fetch(query)
        if is_whole(room, (seq, at_ms, version, payload, checksum))
    }


async def write_makers(connection: asyncpg.Connection, makers: Mapping[RoomCode, AccountId]) -> None:
    """Write into rows that name no maker who it is."""
    await connection.execute(
        "UPDATE tabuleiro.rooms SET maker = found.maker FROM unnest($1::text[], $2::text[]) AS found (code, maker)"
        " WHERE rooms.code IN (SELECT code FROM tabuleiro.rooms WHERE code = ANY($1) AND maker = ''"
        " ORDER BY code FOR NO KEY UPDATE) AND rooms.code = found.code",
        *(list(makers), list(makers.values())),
    )


async def count_rooms(connection: asyncpg.Connection, maker: AccountId, phases: Collection[str]) -> int:
    """Return the number of rooms in any of ``phases`` that an account has made."""
    query = "SELECT count(*) FROM tabuleiro.rooms WHERE maker = $1 AND phase = ANY($2)"
    count: int = await connection.fetchval(query, maker, list(phases))
    return count


async def select_rooms(connection: asyncpg.Connection, phases: Collection[str] | None = None) -> list[RoomRow]:
    """Return the rows of all rooms in any of ``phases`` (``None``: any phase), by code."""
    where = "" if phases is None else " WHERE phase = ANY($1)"
    values = () if phases is None else (list(phases),)
    found = await connection.fetch(f"SELECT {ROOM_COLUMNS} FROM tabuleiro.rooms{where} ORDER BY code", *values)
    return [RoomRow(*row) for row in found]


async def select_room(connection: asyncpg.Connection, code: RoomCode) -> RoomRow | None:
    """Return the room's row, ``None`` when there is none."""
    found = await connection.fetchrow(f"SELECT {ROOM_COLUMNS} FROM tabuleiro.rooms WHERE code = $1", code)
    return None if found is None else RoomRow(*found)


async def select_changes(connection: asyncpg.Connection, mark: int | None) -> tuple[int, dict[RoomCode, Seq]]:
    """Return a new mark, and the last events of the rooms changed since ``mark``; of none without one."""
    query = (
        "SELECT pg_snapshot_xmin(pg_current_snapshot())::text, code, seq FROM (SELECT) AS always"
        " LEFT JOIN tabuleiro.rooms ON changed_in >= $1::text::xid8"
    )
    found = await connection.fetch(query, None if mark is None else str(mark))
    return int(found[0][0]), {code: seq for _, code, seq in found if code is not None}


async def select_clock_ms(connection: asyncpg.Connection) -> TimestampMs:
    """Return the time by the clock of the database."""
    query = "SELECT (1000 * extract(epoch FROM clock_timestamp()))::bigint"
    return TimestampMs(await connection.fetchval(query))


async def select_newest_ms(connection: asyncpg.Connection) -> TimestampMs | None:
    """Return the time of the newest event of any room, ``None`` before the first."""
    newest_ms: TimestampMs | None = await connection.fetchval("SELECT max(updated_at_ms) FROM tabuleiro.rooms")
    return newest_ms


async def select_matches(connection: asyncpg.Connection, room: RoomCode) -> list[MatchRow]:
    """Return the room's matches by number."""
    return [match_row(values) for values in await connection.fetch(_SELECT_MATCHES, room)]


class Place(NamedTuple):
    """The last event of a room, and its owner's incarnation; ``node_url`` is the owner's address, if any."""

    seq: Seq
    incarnation: Incarnation
    node_url: str | None


async def select_places(connection: asyncpg.Connection, rooms: Sequence[RoomCode]) -> dict[RoomCode, Place]:
    """Return the places of those of ``rooms`` that there are."""
    query = (
        "SELECT code, seq, incarnation, nullif(url, '') FROM tabuleiro.rooms"
        " LEFT JOIN tabuleiro.signs_of_life ON node = owner AND NOT has_left WHERE code = ANY($1)"
    )
    return {code: Place(*values) for code, *values in await connection.fetch(query, list(rooms))}


async def delete_rows_of(connection: asyncpg.Connection, room: RoomCode, *, is_known: bool) -> None:
    """Remove the matches of a room and their players, and its own row unless it is known; its events stay."""
    await connection.execute("DELETE FROM tabuleiro.matches WHERE room = $1", room)
    if not is_known:
        await connection.execute("DELETE FROM tabuleiro.rooms WHERE code = $1", room)


async def write_rows(connection: asyncpg.Connection, rows: Rows, seq: Seq) -> None:
    """Write the rows of a room whose last event is ``seq``; its owner stays who it is."""
    row = rows.room
    await connection.execute(
        "INSERT INTO tabuleiro.rooms (code, seq, phase, is_listed, created_at_ms, updated_at_ms, next_deadline_ms,"
        " summary, maker) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
        " ON CONFLICT (code) DO UPDATE SET seq = excluded.seq,"
        " phase = excluded.phase, is_listed = excluded.is_listed, created_at_ms = excluded.created_at_ms,"
        " updated_at_ms = excluded.updated_at_ms, next_deadline_ms = excluded.next_deadline_ms,"
        " summary = excluded.summary, maker = excluded.maker, changed_in = excluded.changed_in",
        *(row.code, seq, row.phase, row.is_listed, row.created_at_ms, row.updated_at_ms, row.next_deadline_ms),
        *(row.summary, row.maker),
    )
    await connection.executemany(
        "INSERT INTO tabuleiro.matches (room, number, game, options_json, started_at_ms, ended_at_ms, winner,"
        " termination, action_count) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        [match_values(match) for match in rows.matches],
    )
    await connection.executemany(
        "INSERT INTO tabuleiro.players (room, match_number, seat, account_id, name, bot_level)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        [values for match in rows.matches for values in player_values(match)],
    )


def match_values(row: MatchRow) -> tuple[Any, ...]:
    """Return the columns of a match in the order of the table."""
    return (
        *(row.room, row.number, row.game, row.options_json, row.started_at_ms),
        *(row.ended_at_ms, row.winner, row.termination, row.action_count),
    )


def player_values(row: MatchRow) -> list[tuple[Any, ...]]:
    """Return the columns of the players of a match in the order of the table."""
    return [
        (row.room, row.number, seat, player.account, player.name, player.bot_level)
        for seat, player in enumerate(row.players)
    ]
