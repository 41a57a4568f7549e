"""Events of rooms as bytes in the event log, and back.

This is where the meaning of a room meets the store, which takes payloads as they are. Payloads are msgpack of the
events' structs; ``EVENT_VERSION`` grows when a stored event needs more than a new field with a default.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec
import structlog

from tabuleiro.errors import DamagedRoomError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import Event, SequencedEvent
from tabuleiro.protocol.messages import RoomSummary
from tabuleiro_server.room.deadlines import Deadline, next_deadline
from tabuleiro_server.room.evolve import evolve, replay
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.rooms.pieces import take_in_pieces
from tabuleiro_server.rooms.room_rows import (
    UNKNOWN_ROW,
    RowOnDisk,
    allowed_row,
    match_rows,
    outline_of,
    read_summary,
    room_row,
    row_due,
)
from tabuleiro_server.store.event_log import EventLog, MatchRow, RoomRow, StoredEvent

EVENT_VERSION: Final = 1

log = structlog.get_logger(__name__)


class _Opening(msgspec.Struct, tag="room-opened", tag_field="type"):
    """The part of `RoomOpened` that tells who made the room."""

    host: AccountId


_ENCODER: Final = msgspec.msgpack.Encoder()
_EVENT_DECODER: Final[msgspec.msgpack.Decoder[Event]] = msgspec.msgpack.Decoder(Event)
_HOST_DECODER: Final = msgspec.msgpack.Decoder(_Opening)


class Appended(NamedTuple):
    """A room after events that are on their way to the disk, and the first thing that time will bring there.

    ``row`` is what the room's row says when they are there. ``stored`` is done when they are; it has a StoreError
    when they are not stored.
    """

    room: RoomState
    deadline: Deadline | None
    row: RowOnDisk
    stored: asyncio.Future[None]


class Loaded(NamedTuple):
    """A room read from disk, with what its row says."""

    room: RoomState
    row: RowOnDisk = UNKNOWN_ROW


class Journal:
    """The event log, spoken to in events and room states."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def append(
        self, before: RoomState | None, events: Sequence[SequencedEvent], row: RowOnDisk = UNKNOWN_ROW
    ) -> Appended:
        """Work out what ``events`` lead to, and have them stored. ``row`` is what the room's row says now.

        Raises: StoreError, and then nothing is stored.
        """
        after = replay(events, before)
        deadline = next_deadline(after)
        row_to_write, row = row_due(row, after, deadline)
        stored = self._log.append(
            after.code,
            before.seq if before is not None else Seq(0),
            [_stored(event) for event in events],
            room_row=row_to_write,
            match_rows=match_rows(before, after),
        )
        return Appended(after, deadline, row, stored)

    async def load(self, code: RoomCode) -> Loaded | None:
        """Read a room from disk and replay its events in pieces; return ``None`` when there is no such room.

        Raises: StoreError when an event cannot be read.
        """
        room: RoomState | None = None

        def take(piece: Sequence[StoredEvent]) -> None:
            nonlocal room
            room = replay(read_events(code, piece), room)

        await take_in_pieces(await self._log.load(code), take)
        if room is None:
            return None
        row = await self._log.room(code)
        return Loaded(room) if row is None else Loaded(room, RowOnDisk(outline_of(room), row.is_provisional))

    async def save_row(self, room: RoomState) -> None:
        """Make the row of a room exact whose events are all on disk. Raises: StoreError."""
        await self._log.save_room_row(room_row(room, next_deadline(room)))

    async def events_after(self, code: RoomCode, seq: Seq) -> list[SequencedEvent]:
        """The events of a room after ``seq``, in order; read in pieces. Raises: StoreError."""
        events: list[SequencedEvent] = []

        def take(piece: Sequence[StoredEvent]) -> None:
            events.extend(read_events(code, piece))

        await take_in_pieces(await self._log.load(code, after_seq=seq), take)
        return events

    async def summaries(self) -> list[RoomSummary]:
        """The list lines of all listed rooms that are not closed, without those that cannot be read."""
        lines = []
        for row in await self._log.rooms(("waiting", "playing", "finished")):
            try:
                if row.is_listed:
                    lines.append(read_summary(row))
            except msgspec.DecodeError as error:
                # The room itself may be well: `tabuleiro db rebuild` makes its line anew.
                log.warning("room not listed", room=row.code, reason=str(error))
        return lines

    async def unfinished_hosts(self) -> dict[RoomCode, AccountId]:
        """Who made each room that waits or plays, damaged ones left out. Raises: StoreError."""
        hosts = {}
        for code, stored in (await self._log.openings(("waiting", "playing"))).items():
            # Nothing but the host is read: there may be tens of thousands, and the server does not listen yet.
            with suppress(msgspec.DecodeError):
                hosts[code] = _HOST_DECODER.decode(stored.payload).host
        return hosts

    async def exists(self, code: RoomCode) -> bool:
        """Whether a room of this code was ever made."""
        return await self._log.room(code) is not None

    async def due_rooms(self, now_ms: TimestampMs) -> list[RoomCode]:
        """The codes of all rooms in which something has to be done by now, e.g. a bot has to move."""
        return await self._log.due_rooms(now_ms)


def read_events(code: RoomCode, stored: Iterable[StoredEvent]) -> list[SequencedEvent]:
    """The events of a room from their bytes. Raises: DamagedRoomError naming the first that cannot be read."""
    return [_read(code, event) for event in stored]


def rows_of(events: Iterable[SequencedEvent], stored_row: RoomRow | None = None) -> tuple[RoomRow, list[MatchRow]]:
    """The rows of the query tables that a room's events lead to; ``events`` is not empty.

    The room's is as far behind as ``stored_row`` is, and may be.
    """
    room: RoomState | None = None
    rows: dict[int, MatchRow] = {}
    for event in events:
        before, room = room, evolve(room, event)
        rows |= {row.number: row for row in match_rows(before, room)}
    assert room is not None
    return allowed_row(stored_row, room_row(room, next_deadline(room))), list(rows.values())


def rows_of_stored(
    code: RoomCode, stored: Sequence[StoredEvent], stored_row: RoomRow | None = None
) -> tuple[RoomRow, list[MatchRow]]:
    """The rows of the query tables from a room's events as bytes, as :func:`rows_of`. Raises: DamagedRoomError."""
    return rows_of(read_events(code, stored), stored_row)


def _stored(sequenced: SequencedEvent) -> StoredEvent:
    return StoredEvent(sequenced.seq, sequenced.at_ms, EVENT_VERSION, _ENCODER.encode(sequenced.event))


def _read(code: RoomCode, stored: StoredEvent) -> SequencedEvent:
    if stored.version != EVENT_VERSION:
        raise DamagedRoomError(code, stored.seq, f"unknown version {stored.version} of an event")
    try:
        event = _EVENT_DECODER.decode(stored.payload)
    except msgspec.DecodeError as error:
        raise DamagedRoomError(code, stored.seq, str(error)) from error
    return SequencedEvent(stored.seq, stored.at_ms, event)
