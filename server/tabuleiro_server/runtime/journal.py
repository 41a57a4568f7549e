"""Events of rooms as bytes in the event log, and back.

This is where the meaning of a room meets the store, which takes payloads as they are. Payloads are msgpack of the
events' structs; ``EVENT_VERSION`` grows when a stored event needs more than a new field with a default.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import msgspec

from tabuleiro.errors import StoreError
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import Event, SeatInfo, SequencedEvent
from tabuleiro.protocol.messages import RoomSummary
from tabuleiro_server.room.deadlines import next_deadline
from tabuleiro_server.room.evolve import evolve, replay
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.room.views import summary_of
from tabuleiro_server.store.event_log import EventLog, MatchRow, PlayerRow, RoomRow, StoredEvent

EVENT_VERSION: Final = 1


class Journal:
    """The event log, spoken to in events and room states."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder: msgspec.msgpack.Decoder[Event] = msgspec.msgpack.Decoder(Event)
        self._summary_decoder = msgspec.msgpack.Decoder(RoomSummary)

    async def append(self, before: RoomState | None, events: Sequence[SequencedEvent]) -> RoomState:
        """Store ``events`` and return the room they lead to; returns only when they are on disk.

        Raises: StoreError, and then nothing is stored.
        """
        after = replay(events, before)
        await self._log.append(
            after.code,
            before.seq if before is not None else Seq(0),
            [self._stored(event) for event in events],
            room_row=self._room_row(after),
            match_rows=_match_rows(before, after),
        )
        return after

    async def load(self, code: RoomCode) -> RoomState | None:
        """Replay a room from disk; ``None`` when there is no such room.

        Raises: StoreError when an event cannot be read.
        """
        room: RoomState | None = None
        for event in await self.events_after(code, Seq(0)):
            room = evolve(room, event)
        return room

    async def events_after(self, code: RoomCode, seq: Seq) -> list[SequencedEvent]:
        """The events of a room after ``seq``, in order. Raises: StoreError."""
        stored = await self._log.load(code, after_seq=seq)
        return [self._read(code, event) for event in stored]

    async def summaries(self) -> list[RoomSummary]:
        """The list lines of all listed rooms that are not closed."""
        rows = await self._log.rooms(("waiting", "playing", "finished"))
        return [self._summary_decoder.decode(row.summary) for row in rows if row.is_listed]

    async def exists(self, code: RoomCode) -> bool:
        """Whether a room of this code was ever made."""
        return await self._log.room(code) is not None

    async def due_rooms(self, now_ms: TimestampMs) -> list[RoomCode]:
        """The codes of all rooms in which something has to be done by now, e.g. a bot has to move."""
        return await self._log.due_rooms(now_ms)

    def _stored(self, sequenced: SequencedEvent) -> StoredEvent:
        return StoredEvent(sequenced.seq, sequenced.at_ms, EVENT_VERSION, self._encoder.encode(sequenced.event))

    def _read(self, code: RoomCode, stored: StoredEvent) -> SequencedEvent:
        if stored.version != EVENT_VERSION:
            raise StoreError(f"room {code}, event {stored.seq}: unknown version {stored.version}")
        try:
            event = self._decoder.decode(stored.payload)
        except msgspec.DecodeError as error:
            raise StoreError(f"room {code}, event {stored.seq}: {error}") from error
        return SequencedEvent(stored.seq, stored.at_ms, event)

    def _room_row(self, room: RoomState) -> RoomRow:
        return RoomRow(
            code=room.code,
            phase=room.phase,
            is_listed=not room.settings.is_private,
            created_at_ms=room.created_at_ms,
            updated_at_ms=room.updated_at_ms,
            next_deadline_ms=_wake_at_ms(room),
            summary=self._encoder.encode(summary_of(room)),
        )


def _wake_at_ms(room: RoomState) -> TimestampMs | None:
    """When the room must be loaded if nobody has touched it: at its deadline, or at once for a bot's turn."""
    if room.is_bot_to_move:
        return room.updated_at_ms
    deadline = next_deadline(room)
    return None if deadline is None else deadline.at_ms


def _match_rows(before: RoomState | None, after: RoomState) -> list[MatchRow]:
    """The row of the match when it has begun or ended with these events."""
    match = after.match
    if match is None:
        return []
    old = before.match if before is not None else None
    if old is not None and old.number == match.number and old.termination == match.termination:
        return []
    return [
        MatchRow(
            room=after.code,
            number=match.number,
            game=after.game.name,
            options_json=json.dumps(dict(after.game.options), sort_keys=True),
            players=(_player_row(after.seats[0]), _player_row(after.seats[1])),
            started_at_ms=match.started_at_ms,
            ended_at_ms=match.ended_at_ms,
            winner=match.winner,
            termination=match.termination,
            action_count=len(match.actions),
        )
    ]


def _player_row(seat: SeatInfo) -> PlayerRow:
    return PlayerRow(
        account=None if seat.kind == "bot" else seat.account, name=seat.name or "", bot_level=seat.level
    )
