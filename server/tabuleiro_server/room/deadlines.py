"""What happens in a room by time alone: fallen flags, late bots, stand-ins, and things that nobody cares for."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tabuleiro.clock import NoClock, flag_deadline_ms
from tabuleiro.ids import TimestampMs
from tabuleiro.protocol.events import BotSeated, Event, MatchEnded, RoomClosed, StandInSeated
from tabuleiro.rules.outcome import Player, Termination, opponent
from tabuleiro_server.room import commands
from tabuleiro_server.room.commands import NO_DRAWS, Draws
from tabuleiro_server.room.seating import free_seats, start_match
from tabuleiro_server.room.state import PLAYERS, RoomState

Events = tuple[Event, ...]


class Deadline(msgspec.Struct, frozen=True):
    """``events`` follow when ``at_ms`` comes and nothing else has happened."""

    at_ms: TimestampMs
    events: Events


def next_deadline(room: RoomState, draws: Draws = NO_DRAWS) -> Deadline | None:
    """The first thing that time will bring; ``None`` when nothing is awaited."""
    return min(_iter_deadlines(room, draws), key=lambda deadline: deadline.at_ms, default=None)


def decide_expire(room: RoomState, command: commands.Expire, now_ms: int) -> Events:
    """Whatever is due by now; nothing if it was overtaken by other events."""
    deadline = next_deadline(room, command.draws)
    return deadline.events if deadline is not None and deadline.at_ms <= now_ms else ()


def _iter_deadlines(room: RoomState, draws: Draws) -> Iterator[Deadline]:
    if room.phase == "waiting":
        yield from _waiting_deadlines(room, draws)
    elif room.phase == "playing":
        yield from _playing_deadlines(room)
    elif room.phase == "finished":
        at_ms = room.updated_at_ms + room.limits.finished_ms
        yield Deadline(TimestampMs(at_ms), (RoomClosed("the match ended long ago"),))


def _waiting_deadlines(room: RoomState, draws: Draws) -> Iterator[Deadline]:
    at_ms = room.updated_at_ms + room.limits.waiting_ms
    yield Deadline(TimestampMs(at_ms), (RoomClosed("nobody came"),))
    for player in PLAYERS:
        since_ms = room.away_since_ms[player]
        if room.seats[player].kind == "person" and since_ms is not None:
            freed = free_seats(room, (player,), "everybody left")
            yield Deadline(TimestampMs(since_ms + room.limits.empty_seat_ms), freed)
    late_bot = room.settings.late_bot
    if late_bot is not None:
        for player in PLAYERS:
            if room.seats[player].kind == "open" and _is_waited_at(room, opponent(player)):
                events = (BotSeated(player, late_bot.level), *start_match(room.settings, room.game, 1, draws))
                yield Deadline(TimestampMs(room.seated_at_ms + late_bot.after_ms), events)


def _is_waited_at(room: RoomState, player: Player) -> bool:
    """Whether a person waits on this seat for an opponent: a late bot comes for nobody else."""
    return room.seats[player].kind == "person" and room.away_since_ms[player] is None


def _playing_deadlines(room: RoomState) -> Iterator[Deadline]:
    match = room.match
    if match is None or match.to_move is None:
        return
    control = room.settings.time_control
    flag_ms = flag_deadline_ms(control, match.clock, match.lags_ms[match.to_move])
    if flag_ms is not None:
        ended = MatchEnded(match.number, opponent(match.to_move), Termination.TIMEOUT)
        yield Deadline(TimestampMs(flag_ms), (ended,))
    if isinstance(control, NoClock):
        at_ms = room.updated_at_ms + room.limits.idle_match_ms
        yield Deadline(TimestampMs(at_ms), (MatchEnded(match.number, None, Termination.ABORTED),))
    yield from _stand_in_deadline(room, match.to_move)


def _stand_in_deadline(room: RoomState, to_move: Player) -> Iterator[Deadline]:
    """A stand-in comes when the one who stays away has to move."""
    level, since_ms = room.settings.stand_in_level, room.away_since_ms[to_move]
    if level is None or since_ms is None or room.seats[to_move].stand_in is not None:
        return
    if room.seats[to_move].kind == "person":
        at_ms = TimestampMs(since_ms + room.settings.away_after_ms)
        yield Deadline(at_ms, (StandInSeated(to_move, level),))
