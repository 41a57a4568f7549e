"""Events that time alone brings: fallen flags, late bots, stand-ins, and the end of abandoned rooms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from tabuleiro.clock import NoClock, flag_deadline_ms
from tabuleiro.ids import PLAYERS, Player, TimestampMs, opponent
from tabuleiro.protocol.events import BotSeated, Events, MatchEnded, RoomClosed, StandInSeated
from tabuleiro.rules.base import Termination
from tabuleiro_server.room import commands
from tabuleiro_server.room.commands import NO_CHANCE, Chance
from tabuleiro_server.room.seating import free_seats, start_match
from tabuleiro_server.room.state import Match, RoomState, first_turn_due_ms


class Deadline(msgspec.Struct, frozen=True):
    """The events that follow at ``at_ms`` if nothing else has happened."""

    at_ms: TimestampMs
    events: Callable[[], Events]


def next_deadline(room: RoomState, chance: Chance = NO_CHANCE) -> Deadline | None:
    """Return the first deadline of a room; ``None`` when there is none."""
    first: Deadline | None = None
    for deadline in _iter_deadlines(room, chance):
        if first is None or deadline.at_ms < first.at_ms:
            first = deadline
    return first


def decide_expire(room: RoomState, command: commands.Expire, now_ms: int) -> Events:
    """Return the events that are due by now; none if other events were faster."""
    deadline = next_deadline(room, command.chance)
    return deadline.events() if deadline is not None and deadline.at_ms <= now_ms else ()


def _iter_deadlines(room: RoomState, chance: Chance) -> Iterator[Deadline]:
    if room.phase == "playing":
        return _playing_deadlines(room)
    if room.phase == "waiting":
        return _waiting_deadlines(room, chance)
    return _finished_deadlines(room)


def _finished_deadlines(room: RoomState) -> Iterator[Deadline]:
    if room.phase == "finished":
        at_ms = TimestampMs(room.updated_at_ms + room.limits.finished_ms)
        yield Deadline(at_ms, lambda: (RoomClosed("the match ended long ago"),))


def _waiting_deadlines(room: RoomState, chance: Chance) -> Iterator[Deadline]:
    at_ms = room.updated_at_ms + room.limits.waiting_ms
    yield Deadline(TimestampMs(at_ms), lambda: (RoomClosed("nobody came"),))
    for player in PLAYERS:
        since_ms = room.away_since_ms[player]
        if room.seats[player].kind == "person" and since_ms is not None:
            freed = partial(free_seats, room, (player,), "everybody left")
            yield Deadline(TimestampMs(since_ms + room.limits.empty_seat_ms), freed)
    late_bot = room.settings.late_bot
    if late_bot is not None:
        for player in PLAYERS:
            if room.seats[player].kind == "open" and _is_waited_at(room, opponent(player)):
                come = partial(_late_bot_comes, room, player, late_bot.level, chance)
                yield Deadline(TimestampMs(room.seated_at_ms + late_bot.after_ms), come)


def _late_bot_comes(room: RoomState, player: Player, level: str, chance: Chance) -> Events:
    return (BotSeated(player, level), *start_match(room.settings, room.game, 1, chance))


def _is_waited_at(room: RoomState, player: Player) -> bool:
    """Return True if a present person waits here for an opponent: a late bot comes for nobody else."""
    return room.seats[player].kind == "person" and room.away_since_ms[player] is None


def _playing_deadlines(room: RoomState) -> Iterator[Deadline]:
    match = room.match
    to_move = None if match is None else match.to_move
    if match is None or to_move is None:
        return
    control = room.settings.time_control
    flag_ms = flag_deadline_ms(control, match.clock, match.lags_ms[to_move])
    if flag_ms is not None:
        yield Deadline(TimestampMs(flag_ms), partial(_ended, match, opponent(to_move), Termination.TIMEOUT))
    due_ms = first_turn_due_ms(room)
    if due_ms is not None:
        yield Deadline(due_ms, lambda: (MatchEnded(match.number, None, Termination.ABORTED, to_move),))
    if isinstance(control, NoClock):
        idle_ms = room.limits.idle_match_ms
        if not _has_person_moved(match):
            # It is no more than a room that waits.
            idle_ms = min(idle_ms, room.limits.waiting_ms)
        at_ms = room.updated_at_ms + idle_ms
        yield Deadline(TimestampMs(at_ms), partial(_ended, match, None, Termination.ABORTED))
    if room.settings.stand_in_level is not None:
        yield from _stand_in_deadline(room, to_move)


def _has_person_moved(match: Match) -> bool:
    # Asked at every move: without a generator.
    first, second = match.players
    return (first.kind == "person" and 0 in match.movers) or (second.kind == "person" and 1 in match.movers)


def _ended(match: Match, winner: Player | None, termination: Termination) -> Events:
    return (MatchEnded(match.number, winner, termination),)


def _stand_in_deadline(room: RoomState, to_move: Player) -> Iterator[Deadline]:
    """Yield the arrival of a stand-in for the player to move, if that player is absent."""
    level, since_ms = room.settings.stand_in_level, room.away_since_ms[to_move]
    if level is None or since_ms is None or room.seats[to_move].stand_in is not None:
        return
    if room.seats[to_move].kind == "person":
        at_ms = TimestampMs(since_ms + room.settings.away_after_ms)
        yield Deadline(at_ms, lambda: (StandInSeated(to_move, level),))
