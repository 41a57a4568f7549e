"""The events of rooms as the store keeps them, and the rows that follow from them.

This is where the meaning of a room meets the store, which takes payloads as they are. Payloads are msgpack of the
events' structs; ``EVENT_VERSION`` grows when a stored event needs more than a new field with a default.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar

import msgspec
import structlog

from tabuleiro.errors import DamagedRoomError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import Event, SeatInfo, SequencedEvent
from tabuleiro.protocol.messages import RoomSummary
from tabuleiro_server.room.deadlines import Deadline, next_deadline
from tabuleiro_server.room.evolve import evolve, replay
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.room.views import summary_of
from tabuleiro_server.store.port import (
    Incarnation,
    MatchRow,
    NodeId,
    Ownership,
    PlayerRow,
    RoomRow,
    Rows,
    Store,
    StoredEvent,
)

EVENT_VERSION: Final = 1

CHUNK_COUNT: Final = 8
"""Items that are handled without a look at the time: one of them may cost a millisecond."""

CHUNK_NS: Final = 2_000_000
"""Nanoseconds of replaying after which the rest of the server has its turn."""

T = TypeVar("T")

log = structlog.get_logger(__name__)


class _Opening(msgspec.Struct, tag="room-opened", tag_field="type"):
    """The part of `RoomOpened` that tells who made the room."""

    host: AccountId


_ENCODER: Final = msgspec.msgpack.Encoder()
_EVENT_DECODER: Final[msgspec.msgpack.Decoder[Event]] = msgspec.msgpack.Decoder(Event)
_HOST_DECODER: Final = msgspec.msgpack.Decoder(_Opening)
_SUMMARY_DECODER: Final = msgspec.msgpack.Decoder(RoomSummary)


class Appended(NamedTuple):
    """A room after events that are on their way to the disk, and the first thing that time will bring there.

    ``stored`` is done when they are there; it has a StoreError when they are not stored.
    """

    room: RoomState
    deadline: Deadline | None
    stored: asyncio.Future[None]


class Journal:
    """The store in terms of events and room states."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def append(
        self, before: RoomState | None, events: Sequence[SequencedEvent], incarnation: Incarnation
    ) -> Appended:
        """Evolve the room by ``events``, and have them stored with the rows that follow, for its ``incarnation``.

        Raises: StoreError, and then nothing is stored.
        """
        after = replay(events, before)
        deadline = next_deadline(after)
        stored = self._store.append(
            after.code,
            before.seq if before is not None else Seq(0),
            [_stored(event) for event in events],
            Rows(_room_row(after, deadline), _match_rows(before, after)),
            incarnation,
        )
        return Appended(after, deadline, stored)

    async def take_over(self, code: RoomCode) -> Ownership:
        """Become the room's owner, before it is loaded. Raises: ElsewhereError; StoreError."""
        return await self._store.take_over(code)

    def release(self, code: RoomCode, incarnation: Incarnation) -> None:
        """Own a room no more, soon and without a wait."""
        self._store.release(code, incarnation)

    async def hand_over(self, code: RoomCode, incarnation: Incarnation, node: NodeId) -> None:
        """Make another node the room's owner. Raises: TakenOverError; NodeLeavesError; StoreError."""
        await self._store.hand_over(code, incarnation, node)

    async def disown(self, code: RoomCode) -> None:
        """Let any node have a room that was handed to this one. Raises: StoreError."""
        await self._store.disown(code)

    async def lost_rooms(self, rooms: Mapping[RoomCode, Incarnation]) -> dict[RoomCode, str | None]:
        """Return those of ``rooms`` that other nodes have taken over, with their addresses. Raises: StoreError."""
        return await self._store.lost_rooms(rooms)

    async def load(self, code: RoomCode) -> RoomState | None:
        """Read a room from disk and replay its events in chunks; return ``None`` when there is no such room.

        Raises: StoreError when an event cannot be read.
        """
        room: RoomState | None = None
        async for chunk in chunked(await self._store.load(code)):
            room = replay(read_events(code, chunk), room)
        return room

    async def events_after(self, code: RoomCode, seq: Seq) -> list[SequencedEvent]:
        """Return the events of a room after ``seq``, in order; they are read in chunks. Raises: StoreError."""
        events: list[SequencedEvent] = []
        async for chunk in chunked(await self._store.load(code, after_seq=seq)):
            events += read_events(code, chunk)
        return events

    async def events_behind(self, places: Mapping[RoomCode, Seq]) -> dict[RoomCode, list[SequencedEvent]]:
        """Return the events of each room after its place, of rooms on other nodes. Raises: StoreError."""
        assert self._store.peers is not None
        found = await self._store.peers.events_after(places)
        return {code: read_events(code, stored) for code, stored in found.items()}

    async def summaries(self) -> list[RoomSummary]:
        """Return the list lines of all listed rooms that are not closed, without those that cannot be read."""
        rows = await self._store.rooms(("waiting", "playing", "finished"))
        found = [read_summary(row) for row in rows if row.is_listed]
        return [summary for summary in found if summary is not None]

    async def fill_in_makers(self) -> None:
        """Write into the rows of rooms of an older version who made them; damaged ones are left out.

        Raises: StoreError.
        """
        makers = {}
        for code, stored in (await self._store.rooms_without_maker()).items():
            # Nothing but the account is read: there may be tens of thousands, and the server does not listen yet.
            with suppress(msgspec.DecodeError):
                makers[code] = _HOST_DECODER.decode(stored.payload).host
        if makers:
            await self._store.note_makers(makers)

    async def count_unfinished(self, maker: AccountId) -> int:
        """Return the number of rooms that an account has made and that wait or play. Raises: StoreError."""
        return await self._store.count_rooms(maker, ("waiting", "playing"))

    async def remove(self, codes: Collection[RoomCode]) -> None:
        """Remove rooms as if they had never been. Raises: StoreError."""
        await self._store.remove(codes)

    async def exists(self, code: RoomCode) -> bool:
        """Return True if a room of this code was ever made. Raises: StoreError."""
        return await self._store.room(code) is not None

    async def due_rooms(self, now_ms: TimestampMs) -> list[RoomCode]:
        """Return the codes of all rooms in which something has to be done by now, e.g. a bot has to move."""
        return await self._store.due_rooms(now_ms)


async def chunked(items: Sequence[T]) -> AsyncIterator[Sequence[T]]:
    """Yield all items in order, a few at a time; others run in between when that takes long."""
    begun_ns = time.perf_counter_ns()
    for start in range(0, len(items), CHUNK_COUNT):
        if time.perf_counter_ns() - begun_ns >= CHUNK_NS:
            await asyncio.sleep(0)
            begun_ns = time.perf_counter_ns()
        yield items[start : start + CHUNK_COUNT]


def read_events(code: RoomCode, stored: Iterable[StoredEvent]) -> list[SequencedEvent]:
    """Return the events of a room from their bytes.

    Raises: DamagedRoomError naming the first that cannot be read.
    """
    return [_read(code, event) for event in stored]


def read_summary(row: RoomRow) -> RoomSummary | None:
    """Return a room's list line, ``None`` and a line in the log when it cannot be read."""
    try:
        return _SUMMARY_DECODER.decode(row.summary)
    except msgspec.DecodeError as error:
        # The room itself may be well: `tabuleiro db rebuild` writes its line again.
        log.warning("room not listed", room=row.code, reason=str(error))
        return None


def rows_of(code: RoomCode, stored: Iterable[StoredEvent]) -> Rows:
    """Return the rows of the query tables that a room's events lead to; ``stored`` is not empty.

    Raises: DamagedRoomError when an event cannot be read.
    """
    room: RoomState | None = None
    rows: dict[int, MatchRow] = {}
    for event in read_events(code, stored):
        before, room = room, evolve(room, event)
        rows |= {row.number: row for row in _match_rows(before, room)}
    assert room is not None
    return Rows(_room_row(room, next_deadline(room)), tuple(rows.values()))


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


def _room_row(room: RoomState, deadline: Deadline | None) -> RoomRow:
    """Return the row of a room whose next deadline is ``deadline``."""
    return RoomRow(
        code=room.code,
        phase=room.phase,
        is_listed=not room.settings.is_private,
        created_at_ms=room.created_at_ms,
        updated_at_ms=room.updated_at_ms,
        next_deadline_ms=_wake_at_ms(room, deadline),
        summary=_ENCODER.encode(summary_of(room)),
        maker=room.maker,
    )


def _wake_at_ms(room: RoomState, deadline: Deadline | None) -> TimestampMs | None:
    """Return the time to load the room if nobody has touched it: its deadline, or at once for a bot's turn.

    Bots whose match can pause go on when somebody comes to see them.
    """
    if room.is_bot_to_move and not room.can_pause:
        return room.updated_at_ms
    return None if deadline is None else deadline.at_ms


def _match_rows(before: RoomState | None, after: RoomState) -> list[MatchRow]:
    """Return the row of the match when it has begun or ended between the two states, else nothing."""
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
            players=(_player_row(match.players[0]), _player_row(match.players[1])),
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
