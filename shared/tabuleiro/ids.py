"""Names for numbers and texts that must not be mixed up. No behaviour."""

from __future__ import annotations

from typing import Final, NewType

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

ROOM_CODE_LETTERS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters of room codes: none that sound or look alike when read aloud (no 0/O, 1/I/L)."""

ROOM_CODE_LENGTH: Final = 5
"""Letters in a room code: 31**5 = 28 million codes."""
