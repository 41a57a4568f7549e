"""Evolution: the room after an event, total and without checks. Replaying all events gives the live state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from tabuleiro import clock as clocks
from tabuleiro.ids import PLAYERS, Player, TimestampMs, opponent
from tabuleiro.protocol import events
from tabuleiro.protocol.events import OfferView, SeatInfo, SequencedEvent
from tabuleiro.rules import registry
from tabuleiro_server.room.seating import bot_seat, with_seat
from tabuleiro_server.room.state import (
    CHAT_LINES_COUNT,
    AwayTimes,
    Line,
    Match,
    MutedPerson,
    RoomState,
    bot_account,
    child_of,
    cut_checkpoints,
    first_turn_limit_ms,
    state_after,
    with_checkpoint,
)


def evolve(room: RoomState | None, sequenced: SequencedEvent) -> RoomState:
    """Return the room after an event; ``room`` is ``None`` before the first.

    Raises:
        ValueError: The first event is not `RoomOpened`. Nothing else is refused.
    """
    event, at_ms = sequenced.event, sequenced.at_ms
    if type(event) is events.RoomOpened:
        return _opened(event, sequenced)
    if room is None:
        raise ValueError(f"a room begins with room-opened, got {type(event).__name__}")
    return replace(_EVOLVERS[type(event)](room, event, at_ms), seq=sequenced.seq, updated_at_ms=at_ms)


def replay(sequenced: Iterable[SequencedEvent], room: RoomState | None = None) -> RoomState:
    """Return the room after all of the events.

    Raises:
        ValueError: There is no event and no room.
    """
    for event in sequenced:
        room = evolve(room, event)
    if room is None:
        raise ValueError("a room without events is no room")
    return room


def _opened(event: events.RoomOpened, sequenced: SequencedEvent) -> RoomState:
    return RoomState(
        code=event.room,
        seq=sequenced.seq,
        phase="waiting",
        game=registry.load(event.game, event.options),
        maker=event.host,
        host=event.host,
        host_name=event.host_name,
        created_at_ms=sequenced.at_ms,
        updated_at_ms=sequenced.at_ms,
        seats=event.seats,
        settings=event.settings,
        limits=event.limits,
        secrets=event.secrets,
        away_since_ms=(None, None),
        seated_at_ms=sequenced.at_ms,
    )


def _with_away(away: AwayTimes, seat: Player, since_ms: TimestampMs | None) -> AwayTimes:
    return (since_ms, away[1]) if seat == 0 else (away[0], since_ms)


def _seated(room: RoomState, seat: Player, info: SeatInfo) -> RoomState:
    away = _with_away(room.away_since_ms, seat, None)
    return replace(room, seats=with_seat(room.seats, seat, info), away_since_ms=away)


def _seat_taken(room: RoomState, event: events.SeatTaken, at_ms: TimestampMs) -> RoomState:
    return replace(_seated(room, event.seat, SeatInfo("person", event.account, event.name)), seated_at_ms=at_ms)


def _bot_seated(room: RoomState, event: events.BotSeated, at_ms: TimestampMs) -> RoomState:
    opposite = room.seats[opponent(event.seat)].name
    return replace(_seated(room, event.seat, bot_seat(event.seat, event.level, opposite)), seated_at_ms=at_ms)


def _seat_freed(room: RoomState, event: events.SeatFreed, at_ms: TimestampMs) -> RoomState:
    return replace(_seated(room, event.seat, SeatInfo()), seated_at_ms=at_ms)


def _seats_swapped(room: RoomState, event: events.SeatsSwapped, at_ms: TimestampMs) -> RoomState:
    """Swap the seats. A bot gets a new account, which is that of its seat."""
    seats = tuple(
        replace(holder, account=bot_account(player)) if holder.level is not None else holder
        for player, holder in zip(PLAYERS, reversed(room.seats), strict=True)
    )
    away = room.away_since_ms
    return replace(room, seats=(seats[0], seats[1]), away_since_ms=(away[1], away[0]))


def _settings_changed(room: RoomState, event: events.SettingsChanged, at_ms: TimestampMs) -> RoomState:
    return replace(room, settings=event.settings)


def _seat_connected(room: RoomState, event: events.SeatConnected, at_ms: TimestampMs) -> RoomState:
    info = room.seats[event.seat]
    back = SeatInfo(info.kind, info.account, info.name, info.level)
    return _seated(room, event.seat, back)


def _seat_disconnected(room: RoomState, event: events.SeatDisconnected, at_ms: TimestampMs) -> RoomState:
    since_ms = at_ms if event.since_ms is None else event.since_ms
    return replace(room, away_since_ms=_with_away(room.away_since_ms, event.seat, since_ms))


def _stand_in_seated(room: RoomState, event: events.StandInSeated, at_ms: TimestampMs) -> RoomState:
    info = room.seats[event.seat]
    stood_in = SeatInfo(info.kind, info.account, info.name, info.level, event.level)
    return replace(room, seats=with_seat(room.seats, event.seat, stood_in))


def _room_resumed(room: RoomState, event: events.RoomResumed, at_ms: TimestampMs) -> RoomState:
    """Count everybody as absent since the restart, and give back the downtime unless it counts.

    After a standstill only those are absent who were so before it, and for as long as they were.
    """
    up_since_ms = at_ms if event.up_since_ms is None else event.up_since_ms
    if event.is_standstill:
        away = [_spared(since_ms, event.down_since_ms, up_since_ms) for since_ms in room.away_since_ms]
    else:
        away = [up_since_ms if seat.kind == "person" else None for seat in room.seats]
    room = replace(room, away_since_ms=(away[0], away[1]))
    if room.match is None or room.phase != "playing":
        return room
    waited_for_ms = _spared(room.match.first_turn_since_ms, event.down_since_ms, up_since_ms)
    if waited_for_ms is not None:
        return replace(room, match=replace(room.match, first_turn_since_ms=waited_for_ms))
    if room.settings.counts_downtime:
        return room
    control = room.settings.time_control
    paused = clocks.pause(control, room.match.clock, event.down_since_ms)
    return replace(room, match=replace(room.match, clock=clocks.resume(control, paused, up_since_ms)))


def _spared(since_ms: TimestampMs | None, down_since_ms: int, up_since_ms: TimestampMs) -> TimestampMs | None:
    """Return a beginning that is as long before ``up_since_ms`` as ``since_ms`` is before ``down_since_ms``."""
    return None if since_ms is None else TimestampMs(up_since_ms - max(down_since_ms - since_ms, 0))


def _match_started(room: RoomState, event: events.MatchStarted, at_ms: TimestampMs) -> RoomState:
    game = room.game
    if event.seed is not None:
        game = registry.load(game.name, {**game.options, "seed": event.seed})
    state = game.initial_state()
    control = room.settings.time_control
    clock = clocks.new_clock(control)
    waited_for_ms = at_ms if first_turn_limit_ms(room) else None
    if state.to_move is not None and waited_for_ms is None:
        clock = clocks.begin_turn(control, clock, state.to_move, at_ms)
    match = Match(event.match, room.seats, state, clock, at_ms, control, first_turn_since_ms=waited_for_ms)
    return replace(room, phase="playing", game=game, match=match, offers=())


def _actions_played(room: RoomState, event: events.ActionsPlayed, at_ms: TimestampMs) -> RoomState:
    match = room.match
    if match is None:
        return room
    state = match.state
    for text in event.actions:
        state = child_of(state, state.string_to_action(text))
    clock, waited_for_ms = match.clock, match.first_turn_since_ms
    if state.actions_in_turn == 0 or state.is_terminal:
        if waited_for_ms is not None and opponent(event.player) not in match.movers:
            waited_for_ms = at_ms
        else:
            clock, waited_for_ms = _next_turn(room, match, state.to_move, at_ms, event.lag_ms), None
    lags_ms = match.lags_ms
    lags_ms = (event.lag_ms, lags_ms[1]) if event.player == 0 else (lags_ms[0], event.lag_ms)
    actions = match.actions + event.actions
    match = replace(
        match,
        state=state,
        clock=clock,
        actions=actions,
        checkpoints=with_checkpoint(match.checkpoints, len(actions), state),
        movers=match.movers + (event.player,) * len(event.actions),
        lags_ms=lags_ms,
        first_turn_since_ms=waited_for_ms,
    )
    # A takeback is asked for of this position; a draw may still be accepted by the one who is to move now.
    kept = room.offers and tuple(offer for offer in room.offers if offer == OfferView("draw", event.player))
    return replace(room, match=match, offers=kept)


def _next_turn(
    room: RoomState, match: Match, to_move: Player | None, at_ms: TimestampMs, lag_ms: int
) -> clocks.ClockState:
    control = room.settings.time_control
    clock = clocks.end_turn(control, match.clock, at_ms, lag_ms)
    return clock if to_move is None else clocks.begin_turn(control, clock, to_move, at_ms)


def _cut_back(room: RoomState, match: Match, ply: int) -> Match:
    """Return the match with only its first ``ply`` actions; clock and offers are left to the caller."""
    return replace(
        match,
        state=state_after(match, room, ply),
        actions=match.actions[:ply],
        movers=match.movers[:ply],
        checkpoints=cut_checkpoints(match.checkpoints, ply),
        revision=match.revision + 1,
    )


def _actions_undone(room: RoomState, event: events.ActionsUndone, at_ms: TimestampMs) -> RoomState:
    """Go back in the turn. Its clock goes on, and a draw that was offered may still be agreed on."""
    if room.match is None:
        return room
    kept = tuple(offer for offer in room.offers if offer.kind == "draw")
    return replace(room, match=_cut_back(room, room.match, event.ply), offers=kept)


def _turn_taken_back(room: RoomState, event: events.TurnTakenBack, at_ms: TimestampMs) -> RoomState:
    match = room.match
    if match is None:
        return room
    if match.first_turn_since_ms is not None:
        match = replace(_cut_back(room, match, event.ply), first_turn_since_ms=at_ms)
        return replace(room, match=match, offers=())
    undone = _finished_turns(room, match, event.ply)
    clock = clocks.take_back(room.settings.time_control, match.clock, event.player, at_ms, undone)
    return replace(room, match=replace(_cut_back(room, match, event.ply), clock=clock), offers=())


def _finished_turns(room: RoomState, match: Match, from_ply: int) -> tuple[int, int]:
    """Return the number of turns that each player has finished from ``from_ply`` on."""
    counts = [0, 0]
    state = state_after(match, room, from_ply)
    for text, mover in zip(match.actions[from_ply:], match.movers[from_ply:], strict=True):
        state = state.child(state.string_to_action(text))
        if state.actions_in_turn == 0:
            counts[mover] += 1
    return counts[0], counts[1]


def _hint_taken(room: RoomState, event: events.HintTaken, at_ms: TimestampMs) -> RoomState:
    match = room.match
    if match is None:
        return room
    times = match.hinted_at_ms
    times = (at_ms, times[1]) if event.player == 0 else (times[0], at_ms)
    return replace(room, match=replace(match, hinted_at_ms=times))


def _offer_made(room: RoomState, event: events.OfferMade, at_ms: TimestampMs) -> RoomState:
    return replace(room, offers=(*room.offers, OfferView(event.kind, event.player)))


def _offer_ended(room: RoomState, event: events.OfferEnded, at_ms: TimestampMs) -> RoomState:
    ended = OfferView(event.kind, event.player)
    return replace(room, offers=tuple(offer for offer in room.offers if offer != ended))


def _match_ended(room: RoomState, event: events.MatchEnded, at_ms: TimestampMs) -> RoomState:
    match = room.match
    if match is None:
        return room
    match = replace(
        match,
        clock=clocks.stop(room.settings.time_control, match.clock, at_ms),
        first_turn_since_ms=None,
        ended_at_ms=at_ms,
        winner=event.winner,
        termination=event.termination,
    )
    return replace(room, phase="finished", match=match, offers=())


def _said(room: RoomState, event: events.Said, at_ms: TimestampMs) -> RoomState:
    line = Line(at_ms, event.account, event.name, event.text, event.is_player, event.is_hidden)
    return replace(room, chat=(*room.chat, line)[-CHAT_LINES_COUNT:])


def _muted(room: RoomState, event: events.Muted, at_ms: TimestampMs) -> RoomState:
    others = tuple(person for person in room.muted if person.account != event.account)
    return replace(room, muted=(*others, MutedPerson(event.account, event.name)) if event.is_muted else others)


def _host_changed(room: RoomState, event: events.HostChanged, at_ms: TimestampMs) -> RoomState:
    muted = tuple(person for person in room.muted if person.account != event.account)
    return replace(room, host=event.account, host_name=event.name, muted=muted)


def _room_closed(room: RoomState, event: events.RoomClosed, at_ms: TimestampMs) -> RoomState:
    return replace(room, phase="closed")


def _withheld(room: RoomState, event: events.Withheld, at_ms: TimestampMs) -> RoomState:
    """Change nothing: this event is never stored, and is here so that evolving is total."""
    return room


_EVOLVERS: dict[type[events.Event], Callable[[RoomState, Any, TimestampMs], RoomState]] = {
    events.SeatTaken: _seat_taken,
    events.BotSeated: _bot_seated,
    events.SeatFreed: _seat_freed,
    events.SeatsSwapped: _seats_swapped,
    events.SettingsChanged: _settings_changed,
    events.SeatConnected: _seat_connected,
    events.SeatDisconnected: _seat_disconnected,
    events.StandInSeated: _stand_in_seated,
    events.RoomResumed: _room_resumed,
    events.MatchStarted: _match_started,
    events.ActionsPlayed: _actions_played,
    events.HintTaken: _hint_taken,
    events.ActionsUndone: _actions_undone,
    events.TurnTakenBack: _turn_taken_back,
    events.OfferMade: _offer_made,
    events.OfferEnded: _offer_ended,
    events.MatchEnded: _match_ended,
    events.Said: _said,
    events.Muted: _muted,
    events.HostChanged: _host_changed,
    events.RoomClosed: _room_closed,
    events.Withheld: _withheld,
}
