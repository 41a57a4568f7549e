"""Names for numbers, texts and players that every side uses: ids, moments, durations, the two players."""

from __future__ import annotations

from typing import Final, Literal, NewType

RoomCode = NewType("RoomCode", str)
"""The short public name of a room, e.g. ``K7MQ4``; made of :data:`ROOM_CODE_LETTERS`."""

AccountId = NewType("AccountId", str)
"""The server's own name for a guest; public, never reused, not a secret."""

Seq = NewType("Seq", int)
"""Number of an event in its room, counted from 1 without gaps; 0 means "before the first"."""

Ply = NewType("Ply", int)
"""Number of actions played in a match so far: the ply that the next action will be."""

DurationMs = NewType("DurationMs", int)
"""A length of time in whole milliseconds."""

TimestampMs = NewType("TimestampMs", int)
"""A moment: whole milliseconds since 1970-01-01 UTC."""

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS

Player = Literal[0, 1]
"""A player of a match; player 0 moves first."""

PLAYERS: Final[tuple[Player, Player]] = (0, 1)
"""Both players, in the order in which they move."""

Phase = Literal["waiting", "playing", "finished", "closed"]
"""The stage of a room: before a match, during one, after one, at the end."""

ROOM_CODE_LETTERS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters of room codes: none that sound or look alike when read aloud (no 0/O, 1/I/L)."""

ROOM_CODE_LENGTH: Final = 5
"""Letters in a room code: 31**5 = 28 million codes."""


def opponent(player: Player) -> Player:
    """Return the other player.

    >>> opponent(0), opponent(1)
    (1, 0)
    """
    return 1 if player == 0 else 0
