"""Nodes and the rooms that they own, as functions on a connection.

A room has one owner or none. Whoever takes it over raises its incarnation, and from then on the owner before can
write nothing. That keeps the log whole; the lease keeps the peace: a node takes no room from another one that
renews its lease. When a lease has run out, its rooms are free only for a node that has renewed its own for as long
as a lease without a break: after an outage of the database everybody has that time to come back.

All times are by the clock of the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import asyncpg

from tabuleiro.errors import ElsewhereError, NodeLeavesError, StoreError, TakenOverError
from tabuleiro.ids import DurationMs, RoomCode, TimestampMs
from tabuleiro_server.store.port import Incarnation, NodeId, NodeRow, Ownership
from tabuleiro_server.store.postgres.grouping import locking

_WITH_LIVES: Final = """
    LEFT JOIN tabuleiro.signs_of_life AS life ON life.node = owner
    LEFT JOIN tabuleiro.signs_of_life AS me ON me.node = $1
"""
"""The node that owns a room, and node $1, which asks."""

_IS_ALIVE: Final = "NOT has_left AND lease_until > now()"

# Two runs at one address are one after the other: the later one takes what the earlier one has left.
_IS_FREE: Final = """(
    owner IS NULL OR owner = $1 OR life.node IS NULL OR life.has_left OR life.url = me.url
    OR (life.lease_until < now() AND me.lease_until > now()
        AND me.steady_since + make_interval(secs => $2) < now())
)"""
"""Whether the asking node may take a room over; $2 is the length of a lease in seconds."""

# Rows are locked in the order of their codes, as everywhere.
_CLAIM: Final = f"""
WITH room AS MATERIALIZED (
    SELECT code, owner FROM tabuleiro.rooms WHERE code = ANY($3::text[]) ORDER BY code FOR NO KEY UPDATE {{}}
), asked AS MATERIALIZED (
    SELECT code, {_IS_FREE} AS is_free, life.url, owner <> $1 AND NOT life.has_left AS has_died,
        now() - life.seen_at AS silent,
        now() - CASE WHEN life.url = me.url THEN me.started_at
            ELSE greatest(life.lease_until, me.started_at + make_interval(secs => $2)) END AS free
    FROM room {_WITH_LIVES}
), claimed AS (
    UPDATE tabuleiro.rooms SET incarnation = incarnation + 1, owner = $1
    FROM asked WHERE rooms.code = asked.code AND is_free RETURNING rooms.code, incarnation
)
SELECT code, incarnation, url, has_died,
    (1000 * extract(epoch FROM silent))::bigint AS silent_ms, (1000 * extract(epoch FROM free))::bigint AS free_ms
FROM asked LEFT JOIN claimed USING (code)
"""

_DUE: Final = f"""
SELECT code FROM tabuleiro.rooms {_WITH_LIVES} WHERE next_deadline_ms <= $3 AND {_IS_FREE}
ORDER BY next_deadline_ms, code
"""


class HandOver(NamedTuple):
    """A room that ``node`` is to have, of the present owner's ``incarnation``."""

    room: RoomCode
    incarnation: Incarnation
    node: NodeId


# A node that wants no more rooms gets none: whoever asks for them there would be sent on.
_HAND_OVER: Final = f"""
WITH wanted AS (
    SELECT code, last, next FROM unnest($1::text[], $2::int[], $3::bigint[]) AS wanted (code, last, next)
), room AS MATERIALIZED (
    SELECT code, incarnation, owner, last, next FROM tabuleiro.rooms JOIN wanted USING (code)
    ORDER BY code FOR NO KEY UPDATE OF rooms {{}}
), asked AS MATERIALIZED (
    SELECT code, last, next, incarnation = last OR (incarnation = last + 1 AND owner = next) AS is_ours,
        EXISTS (SELECT FROM tabuleiro.signs_of_life WHERE node = next AND NOT is_draining AND {_IS_ALIVE})
            AS is_wanted
    FROM room
), moved AS (
    UPDATE tabuleiro.rooms SET owner = next, incarnation = last + 1 FROM asked
    WHERE rooms.code = asked.code AND is_ours AND is_wanted
)
SELECT code, is_ours, is_wanted FROM asked
"""


async def claim_rooms(
    connection: asyncpg.Connection, node: int, lease_s: float, rooms: Sequence[RoomCode], *, waits: bool
) -> dict[RoomCode, Ownership | ElsewhereError]:
    """Make a node the owner of those rooms that it may have, and raise their incarnations.

    Unknown rooms are left out, and unless it ``waits``, rooms that others are writing to.

    Returns: for each room that another node has the error that names it.
    """
    found = await connection.fetch(_CLAIM.format(locking(waits)), node, lease_s, rooms)
    return {row["code"]: _claimed(row) for row in found}


def _claimed(row: asyncpg.Record) -> Ownership | ElsewhereError:
    if row["incarnation"] is None:
        return ElsewhereError(row["code"], row["url"])
    incarnation = Incarnation(row["incarnation"])
    if not row["has_died"]:
        return Ownership(incarnation)
    silent_ms, free_ms = max(row["silent_ms"], 0), max(row["free_ms"], 0)
    return Ownership(incarnation, DurationMs(silent_ms), DurationMs(free_ms))


async def select_due_rooms(
    connection: asyncpg.Connection, node: int, lease_s: float, before_ms: TimestampMs
) -> list[RoomCode]:
    """Return the rooms that a node may have with a deadline at ``before_ms`` or earlier, the earliest first."""
    return [code for (code,) in await connection.fetch(_DUE, node, lease_s, before_ms)]


async def release_rooms(connection: asyncpg.Connection, rooms: Mapping[RoomCode, Incarnation]) -> None:
    """Leave rooms without an owner that nobody has taken over since."""
    await connection.execute(
        "UPDATE tabuleiro.rooms SET owner = NULL WHERE code IN (SELECT rooms.code"
        " FROM unnest($1::text[], $2::int[]) AS mine (code, incarnation) JOIN tabuleiro.rooms USING (code)"
        " WHERE rooms.incarnation = mine.incarnation ORDER BY rooms.code FOR NO KEY UPDATE OF rooms)",
        *(list(rooms), list(rooms.values())),
    )


async def hand_rooms_over(
    connection: asyncpg.Connection, moves: Sequence[HandOver], *, waits: bool
) -> dict[HandOver, StoreError | None]:
    """Make other nodes the owners of rooms, or return the reason against it for each.

    It may run again after it was committed. Unknown rooms are left out, and unless it ``waits``, rooms that others
    are writing to.
    """
    columns = zip(*moves, strict=True)
    found = {
        row["code"]: row for row in await connection.fetch(_HAND_OVER.format(locking(waits)), *map(list, columns))
    }
    return {move: _against(move, found[move.room]) for move in moves if move.room in found}


def _against(move: HandOver, row: asyncpg.Record) -> StoreError | None:
    if not row["is_ours"]:
        return TakenOverError(move.room)
    return None if row["is_wanted"] else NodeLeavesError(move.room)


async def disown_room(connection: asyncpg.Connection, node: int, room: RoomCode) -> None:
    """Leave a room without an owner, if that is ``node``."""
    await connection.execute("UPDATE tabuleiro.rooms SET owner = NULL WHERE code = $1 AND owner = $2", room, node)


async def select_other_nodes(connection: asyncpg.Connection, node: int, *, is_counting: bool) -> list[NodeRow]:
    """Return the nodes that are alive but for ``node``, by id; ``is_counting`` counts the rooms that they own."""
    count, counted = "rooms_count", ""
    if is_counting:
        count = "coalesce(owned_count, 0)"
        owned = "SELECT owner, count(*) AS owned_count FROM tabuleiro.rooms GROUP BY owner"
        counted = f" LEFT JOIN ({owned}) AS owned ON owner = node"
    query = (
        f"SELECT node, name, url, {count}, NOT is_draining FROM tabuleiro.signs_of_life{counted}"
        f" WHERE node <> $1 AND {_IS_ALIVE} ORDER BY node"
    )
    return [NodeRow(*values) for values in await connection.fetch(query, node)]


async def note_taking(connection: asyncpg.Connection, node: int, *, takes_rooms: bool) -> None:
    """Have it known that a node takes rooms, or does not."""
    await connection.execute(
        "UPDATE tabuleiro.signs_of_life SET is_draining = $2 WHERE node = $1", node, not takes_rooms
    )
