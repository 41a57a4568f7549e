"""Tables as the stores on SQL databases have them: their migrations, rows of matches, and the checks of events.

By its number and its checksum a store finds an event that was altered, misplaced or lost.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tabuleiro.errors import DamagedRoomError, DatabaseFormatError
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import MatchRow, PlayerRow, StoredEvent

EventValues = tuple[int, int, int, object, int]
"""The columns of an event: seq, at_ms, version, payload, checksum."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. ``number`` counts from 1 without gaps; ``statements`` run in order."""

    number: int
    name: str
    statements: tuple[str, ...]


def check_version(version: int, place: str, newest: int) -> None:
    """Check that this program, which knows versions up to ``newest``, can work with a schema.

    Raises: DatabaseFormatError when a newer tabuleiro made it.
    """
    if version > newest:
        reason = (
            f"written by a newer tabuleiro (schema {version}, this one knows up to {newest}); install that one"
        )
        raise DatabaseFormatError(place, reason)


def match_row(values: Sequence[Any]) -> MatchRow:
    """Return a match from the columns of its row and of both players' rows, in the order of their fields."""
    room, number, game, options_json, started_at_ms, ended_at_ms, winner, termination, action_count = values[:9]
    return MatchRow(
        room=room,
        number=number,
        game=game,
        options_json=options_json,
        players=(PlayerRow(*values[9:12]), PlayerRow(*values[12:15])),
        started_at_ms=started_at_ms,
        ended_at_ms=ended_at_ms,
        winner=winner,
        termination=termination,
        action_count=action_count,
    )


def check_numbers(room: RoomCode, expected_seq: Seq, events: Sequence[StoredEvent]) -> None:
    """Check that events are numbered on from ``expected_seq`` without a gap. Raises: ValueError."""
    for wanted, event in enumerate(events, start=expected_seq + 1):
        if event.seq != wanted:
            raise ValueError(f"room {room}: event {event.seq} stands in the place of event {wanted}")


def checksum(payload: bytes, room: RoomCode, seq: int, at_ms: int, version: int) -> int:
    """Return the CRC-32 that tells an altered or misplaced payload by the values beside it."""
    identity = f"({room!r}, {seq!r}, {at_ms!r}, {version!r})"  # as the tuple would write itself, in half the time
    return zlib.crc32(payload, zlib.crc32(identity.encode("ascii", "backslashreplace")))


def is_whole(room: RoomCode, values: EventValues) -> bool:
    """Return True if an event is what was written."""
    seq, at_ms, version, payload, stored_checksum = values
    return isinstance(payload, bytes) and checksum(payload, room, seq, at_ms, version) == stored_checksum


def checked_events(room: RoomCode, after_seq: Seq, rows: Iterable[EventValues]) -> list[StoredEvent]:
    """Return a room's events behind ``after_seq`` from their rows, which are in order.

    Raises: DamagedRoomError for a gap, or an event that was altered.
    """
    events: list[StoredEvent] = []
    wanted = after_seq + 1
    for values in rows:
        seq, at_ms, version, payload, _ = values
        if seq != wanted:
            raise DamagedRoomError(room, wanted, f"it is missing, the next one is {seq}")
        if not is_whole(room, values):
            raise DamagedRoomError(room, seq, "its checksum does not fit")
        assert isinstance(payload, bytes)
        events.append(StoredEvent(Seq(seq), TimestampMs(at_ms), version, payload))
        wanted += 1
    return events
