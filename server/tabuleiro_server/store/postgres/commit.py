"""The one statement that commits a group: it moves the rows of all its rooms, and writes what follows from that.

A room's row is moved only from the event that is expected to be its last, and only for its owner's incarnation.
What belongs to a room whose row was not moved is not written. Rows are locked in the order of codes, so that two
servers never wait for each other. The row of the server itself is held too: once its epoch is raised, nothing
comes any more of what was sent before. Notices are handed out by the database after the commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import Incarnation, MatchRow, RoomRow, StoredEvent
from tabuleiro_server.store.postgres.queries import match_values, player_values
from tabuleiro_server.store.tables import checksum

CHANNEL: Final = "tabuleiro"
"""The channel of notices; each is a room's code and its last event's number."""

_IS_OURS: Final = "held AS MATERIALIZED (SELECT id FROM tabuleiro.nodes WHERE id = $1 AND epoch = $2 FOR SHARE)"

_COMMIT: Final = f"""
WITH {_IS_OURS}, wanted AS MATERIALIZED (
    SELECT * FROM unnest($3::text[], $4::int[], $5::int[], $6::int[], $7::text[], $8::boolean[], $9::bigint[],
            $10::bigint[], $11::bigint[], $12::bytea[], $13::text[])
        AS row (code, incarnation, expected, seq, phase, is_listed, created_at_ms, updated_at_ms, next_deadline_ms,
            summary, maker)
    WHERE EXISTS (SELECT FROM held)
), locked AS MATERIALIZED (
    SELECT rooms.code FROM tabuleiro.rooms JOIN wanted ON wanted.code = rooms.code
    WHERE rooms.seq = expected AND rooms.incarnation = wanted.incarnation
    ORDER BY rooms.code FOR NO KEY UPDATE OF rooms
), moved AS (
    UPDATE tabuleiro.rooms SET seq = wanted.seq, phase = wanted.phase, is_listed = wanted.is_listed,
        created_at_ms = wanted.created_at_ms, updated_at_ms = wanted.updated_at_ms,
        next_deadline_ms = wanted.next_deadline_ms, summary = wanted.summary,
        changed_in = pg_current_xact_id()
    FROM wanted
    WHERE rooms.code = wanted.code AND rooms.seq = expected AND rooms.incarnation = wanted.incarnation
        AND rooms.code IN (SELECT code FROM locked)
    RETURNING rooms.code, rooms.seq
), made AS (
    INSERT INTO tabuleiro.rooms (code, seq, incarnation, phase, is_listed, created_at_ms, updated_at_ms,
        next_deadline_ms, summary, maker, owner)
    SELECT code, seq, incarnation, phase, is_listed, created_at_ms, updated_at_ms, next_deadline_ms, summary,
        maker, $1
    FROM wanted WHERE expected = 0 AND incarnation = 0 ORDER BY code
    ON CONFLICT (code) DO NOTHING RETURNING code, seq
), stored AS (
    SELECT code, seq FROM moved UNION ALL SELECT code, seq FROM made
), added AS (
    INSERT INTO tabuleiro.events (room, seq, at_ms, version, payload, checksum)
    SELECT event.* FROM unnest($14::text[], $15::int[], $16::bigint[], $17::int[], $18::bytea[], $19::bigint[])
        AS event (room, seq, at_ms, version, payload, checksum)
    WHERE room IN (SELECT code FROM stored)
), changed AS (
    SELECT * FROM unnest($20::text[], $21::int[], $22::text[], $23::text[], $24::bigint[], $25::bigint[],
            $26::int[], $27::text[], $28::int[])
        AS match (room, number, game, options_json, started_at_ms, ended_at_ms, winner, termination, action_count)
    WHERE room IN (SELECT code FROM stored)
), kept AS (
    INSERT INTO tabuleiro.matches (room, number, game, options_json, started_at_ms, ended_at_ms, winner,
        termination, action_count)
    SELECT * FROM changed
    ON CONFLICT (room, number) DO UPDATE SET game = excluded.game, options_json = excluded.options_json,
        started_at_ms = excluded.started_at_ms, ended_at_ms = excluded.ended_at_ms, winner = excluded.winner,
        termination = excluded.termination, action_count = excluded.action_count
), seated AS (
    INSERT INTO tabuleiro.players (room, match_number, seat, account_id, name, bot_level)
    SELECT player.* FROM unnest($29::text[], $30::int[], $31::int[], $32::text[], $33::text[], $34::text[])
        AS player (room, match_number, seat, account_id, name, bot_level)
    WHERE room IN (SELECT code FROM stored)
    ON CONFLICT (room, match_number, seat) DO UPDATE SET account_id = excluded.account_id, name = excluded.name,
        bot_level = excluded.bot_level
)
SELECT EXISTS (SELECT FROM held), array(SELECT code FROM stored),
    (SELECT count(pg_notify('{CHANNEL}', code || ' ' || seq)) FROM stored)
"""

_REMOVE: Final = f"""
WITH {_IS_OURS}, locked AS MATERIALIZED (
    SELECT code FROM tabuleiro.rooms WHERE code = ANY($3) AND EXISTS (SELECT FROM held) ORDER BY code FOR UPDATE
), closed AS (
    DELETE FROM tabuleiro.rooms WHERE code IN (SELECT code FROM locked)
), forgotten AS (
    DELETE FROM tabuleiro.events WHERE room = ANY($3) AND EXISTS (SELECT FROM held)
), unplayed AS (
    DELETE FROM tabuleiro.matches WHERE room = ANY($3) AND EXISTS (SELECT FROM held)
)
SELECT EXISTS (SELECT FROM held)
"""


class EpochOverError(Exception):
    """The server's own row was raised or removed since: nothing was done."""


@dataclass(frozen=True, slots=True)
class Node:
    """A server as the database knows it, from one connection of its writer to the next."""

    id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Move:
    """What one room is to be moved by: events behind ``expected_seq``, and the rows that follow from them."""

    room: RoomCode
    incarnation: Incarnation
    expected_seq: Seq
    events: Sequence[StoredEvent]
    row: RoomRow
    matches: Sequence[MatchRow]


async def commit_moves(connection: asyncpg.Connection, node: Node, moves: Sequence[Move]) -> set[RoomCode]:
    """Store the moves of rooms, one of each at most; return the rooms that were moved, for the others nothing.

    Raises: EpochOverError; asyncpg's errors.
    """
    wanted = [
        (
            *(move.room, move.incarnation, move.expected_seq, move.expected_seq + len(move.events)),
            *(move.row.phase, move.row.is_listed, move.row.created_at_ms, move.row.updated_at_ms),
            *(move.row.next_deadline_ms, move.row.summary, move.row.maker),
        )
        for move in moves
    ]
    events = [
        (
            *(move.room, event.seq, event.at_ms, event.version, event.payload),
            checksum(event.payload, move.room, event.seq, event.at_ms, event.version),
        )
        for move in moves
        for event in move.events
    ]
    # Of two rows for one match the later one counts: a statement writes a row once.
    matches = {(row.room, row.number): row for move in moves for row in move.matches}.values()
    is_ours, stored, _ = await connection.fetchrow(
        _COMMIT,
        node.id,
        node.epoch,
        *columns(wanted, 11),
        *columns(events, 6),
        *columns(map(match_values, matches), 9),
        *columns((values for row in matches for values in player_values(row)), 6),
    )
    if not is_ours:
        raise EpochOverError
    return set(stored)


async def remove_rooms(connection: asyncpg.Connection, node: Node, rooms: Sequence[RoomCode]) -> None:
    """Remove rooms with everything of theirs. Raises: EpochOverError; asyncpg's errors."""
    if not await connection.fetchval(_REMOVE, node.id, node.epoch, list(rooms)):
        raise EpochOverError


def columns(rows: Iterable[Sequence[Any]], count: int) -> list[list[Any]]:
    """Return the ``count`` columns of rows, which may be none.

    >>> columns([(1, "a"), (2, "b")], 2), columns([], 2)
    ([[1, 2], ['a', 'b']], [[], []])
    """
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(count)]
