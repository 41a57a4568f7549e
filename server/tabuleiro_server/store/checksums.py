"""The checksum of each event in a log, by which every store finds what was altered, misplaced or lost."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from tabuleiro.errors import DamagedRoomError
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import StoredEvent

EventValues = tuple[int, int, int, object, int]
"""The columns of an event: seq, at_ms, version, payload, checksum."""


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
