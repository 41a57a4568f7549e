"""What a fact makes of a room: total, without checks. Replaying the events of a room gives the live state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from tabuleiro.ids import TimestampMs
from tabuleiro.protocol.events import (
    ActionsPlayed,
    Event,
    MatchEnded,
    MatchStarted,
    RoomClosed,
    RoomOpened,
    SeatFreed,
    SeatInfo,
    SeatTaken,
    SequencedEvent,
)
from tabuleiro.rules import registry
from tabuleiro.rules.outcome import Player
from tabuleiro_server.room.state import Match, RoomState, Seats


def evolve(room: RoomState | None, sequenced: SequencedEvent) -> RoomState:
    """The room after an event; ``None`` before the first, which must be `RoomOpened`."""
    event, at_ms = sequenced.event, sequenced.at_ms
    if isinstance(event, RoomOpened):
        return RoomState(
            code=event.room,
            seq=sequenced.seq,
            phase="waiting",
            game=registry.load(event.game, event.options),
            host=event.host,
            host_name=event.host_name,
            created_at_ms=at_ms,
            updated_at_ms=at_ms,
            seats=event.seats,
        )
    if room is None:
        raise ValueError(f"a room begins with room-opened, got {type(event).__name__}")
    return replace(_EVOLVERS[type(event)](room, event, at_ms), seq=sequenced.seq, updated_at_ms=at_ms)


def replay(events: Iterable[SequencedEvent], room: RoomState | None = None) -> RoomState:
    """The room after all of ``events``. Raises: ValueError when there is no event and no room."""
    for event in events:
        room = evolve(room, event)
    if room is None:
        raise ValueError("a room without events is no room")
    return room


def _with_seat(seats: Seats, seat: Player, info: SeatInfo) -> Seats:
    return (info, seats[1]) if seat == 0 else (seats[0], info)


def _evolve_seat_taken(room: RoomState, event: SeatTaken, at_ms: TimestampMs) -> RoomState:
    info = SeatInfo("person", event.account, event.name)
    return replace(room, seats=_with_seat(room.seats, event.seat, info))


def _evolve_seat_freed(room: RoomState, event: SeatFreed, at_ms: TimestampMs) -> RoomState:
    return replace(room, seats=_with_seat(room.seats, event.seat, SeatInfo()))


def _evolve_match_started(room: RoomState, event: MatchStarted, at_ms: TimestampMs) -> RoomState:
    return replace(room, phase="playing", match=Match(event.match, room.game.initial_state(), at_ms))


def _evolve_actions_played(room: RoomState, event: ActionsPlayed, at_ms: TimestampMs) -> RoomState:
    if room.match is None:
        return room
    state = room.match.state
    for text in event.actions:
        state = state.child(state.string_to_action(text))
    match = replace(room.match, state=state, actions=room.match.actions + event.actions)
    return replace(room, match=match)


def _evolve_match_ended(room: RoomState, event: MatchEnded, at_ms: TimestampMs) -> RoomState:
    if room.match is None:
        return room
    match = replace(room.match, ended_at_ms=at_ms, winner=event.winner, termination=event.termination)
    return replace(room, phase="finished", match=match)


def _evolve_room_closed(room: RoomState, event: RoomClosed, at_ms: TimestampMs) -> RoomState:
    return replace(room, phase="closed")


_EVOLVERS: dict[type[Event], Callable[[RoomState, Any, TimestampMs], RoomState]] = {
    SeatTaken: _evolve_seat_taken,
    SeatFreed: _evolve_seat_freed,
    MatchStarted: _evolve_match_started,
    ActionsPlayed: _evolve_actions_played,
    MatchEnded: _evolve_match_ended,
    RoomClosed: _evolve_room_closed,
}
