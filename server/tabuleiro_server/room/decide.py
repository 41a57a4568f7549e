"""Whether a wish is granted: `decide` holds every permission and legality check there is.

It returns the facts that follow from the command, or raises `CommandError`; a refusal changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabuleiro.errors import CommandError, GameOptionError, IllegalActionError, NotationError
from tabuleiro.ids import Ply
from tabuleiro.protocol.codes import ErrorCode
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
)
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.rules import registry
from tabuleiro.rules.outcome import Player, opponent
from tabuleiro_server.room.commands import Command, Join, Leave, OpenRoom, Play, Resign
from tabuleiro_server.room.state import PLAYERS, Match, RoomState, Seats, bot_account

Events = tuple[Event, ...]


def open_room(command: OpenRoom) -> Events:
    """The first facts of a new room. Raises: CommandError for an impossible game, option or level."""
    options = dict(command.options)
    try:
        if registry.game_type(command.game).needs_seed(options):
            options["seed"] = command.seed
        game = registry.load(command.game, options)
    except GameOptionError as error:
        raise CommandError(ErrorCode.BAD_OPTION, str(error)) from error
    seats = (_seat_wanted(command, 0), _seat_wanted(command, 1))
    opened = RoomOpened(
        room=command.code,
        game=game.name,
        options=dict(game.options),
        host=command.account,
        host_name=command.name,
        seats=seats,
    )
    return (opened, *_start_if_full(seats, 1))


def decide(room: RoomState, command: Command, now_ms: int) -> Events:
    """The facts that follow from ``command`` at ``now_ms``. Raises: CommandError(code)."""
    if room.phase == "closed":
        raise CommandError(ErrorCode.NO_SUCH_ROOM, f"room {room.code} is closed")
    return _DECIDERS[type(command)](room, command, now_ms)


def _seat_wanted(command: OpenRoom, seat: Player) -> SeatInfo:
    wanted: SeatRequest = command.seats[seat]
    if wanted.kind == "me":
        return SeatInfo("person", command.account, command.name)
    if wanted.kind == "open":
        return SeatInfo()
    if wanted.level not in command.bot_levels:
        raise CommandError(
            ErrorCode.UNKNOWN_LEVEL,
            f"no bot of level {wanted.level or '(none)'} plays {command.game}, "
            f"expected one of {', '.join(command.bot_levels)}",
        )
    return SeatInfo("bot", bot_account(seat), f"{wanted.level}-bot", wanted.level)


def _start_if_full(seats: Seats, match: int) -> Events:
    return () if any(seat.kind == "open" for seat in seats) else (MatchStarted(match),)


def _decide_join(room: RoomState, command: Join, now_ms: int) -> Events:
    held = room.seats_of(command.account)
    if held and command.seat in (None, *held):
        return ()
    free = [player for player in PLAYERS if room.seats[player].kind == "open"]
    wanted = free[:1] if command.seat is None else [player for player in free if player == command.seat]
    if held:
        raise CommandError(ErrorCode.SEAT_TAKEN, f"you hold seat {held[0]} of room {room.code} already")
    if room.phase != "waiting" or not wanted:
        which = "every seat" if command.seat is None else f"seat {command.seat}"
        raise CommandError(ErrorCode.SEAT_TAKEN, f"{which} of room {room.code} is taken; you can watch it")
    seat = wanted[0]
    taken = SeatInfo("person", command.account, command.name)
    seats = (taken, room.seats[1]) if seat == 0 else (room.seats[0], taken)
    number = room.match.number + 1 if room.match else 1
    return (SeatTaken(seat, command.account, command.name), *_start_if_full(seats, number))


def _decide_leave(room: RoomState, command: Leave, now_ms: int) -> Events:
    if room.phase != "waiting":
        return ()
    held = room.seats_of(command.account)
    freed = tuple(SeatFreed(seat) for seat in held)
    others = [seat for player, seat in enumerate(room.seats) if player not in held and seat.kind == "person"]
    if held and not others:
        return (*freed, RoomClosed("everybody left before the match began"))
    return freed


def _running_match(room: RoomState, number: int) -> Match:
    match = room.match
    if room.phase != "playing" or match is None:
        raise CommandError(ErrorCode.WRONG_PHASE, f"no match is running in room {room.code}: it is {room.phase}")
    if match.number != number:
        raise CommandError(
            ErrorCode.STALE_PLY, f"match {number} of room {room.code} is not the running one, {match.number}"
        )
    return match


def _decide_play(room: RoomState, command: Play, now_ms: int) -> Events:
    held = room.seats_of(command.account)
    if not held:
        raise CommandError(ErrorCode.NOT_SEATED, f"you hold no seat of room {room.code}")
    if _is_resent(room, command, held):
        return ()
    match = _running_match(room, command.match)
    player = match.state.to_move
    if command.ply != len(match.actions):
        raise CommandError(
            ErrorCode.STALE_PLY, f"ply {command.ply} is not the one to be played, {len(match.actions)}"
        )
    if player is None or player not in held:
        raise CommandError(ErrorCode.NOT_YOUR_TURN, "it is the other player's turn")
    return _played(match, command, player)


def _is_resent(room: RoomState, command: Play, held: tuple[Player, ...]) -> bool:
    """Whether these very actions were played at this ply already: then the answer got lost, not the wish."""
    match = room.match
    if match is None or match.number != command.match:
        return False
    stored = match.actions[command.ply : command.ply + len(command.actions)]
    if len(stored) != len(command.actions):
        return False
    state = room.game.initial_state()
    for text in match.actions[: command.ply]:
        state = state.child(state.string_to_action(text))
    if state.to_move not in held:
        return False
    try:
        return [state.string_to_action(text) for text in command.actions] == [
            state.string_to_action(text) for text in stored
        ]
    except NotationError:
        return False


def _played(match: Match, command: Play, player: Player) -> Events:
    """Check the actions one by one; all must belong to one turn."""
    state = match.state
    texts: list[str] = []
    for number, text in enumerate(command.actions, start=1):
        if state.is_terminal or (texts and state.actions_in_turn == 0):
            raise CommandError(
                ErrorCode.NOT_YOUR_TURN, f"the turn ends before action {number} of {len(command.actions)}"
            )
        try:
            action = state.string_to_action(text)
            texts.append(state.describe_action(action))
            state = state.apply(action)
        except NotationError as error:
            raise CommandError(ErrorCode.BAD_NOTATION, str(error)) from error
        except IllegalActionError as error:
            raise CommandError(ErrorCode.ILLEGAL_ACTION, str(error)) from error
    played = ActionsPlayed(match.number, Ply(command.ply), player, tuple(texts))
    if state.outcome is None:
        return (played,)
    return (played, MatchEnded(match.number, state.outcome.winner, state.outcome.termination))


def _decide_resign(room: RoomState, command: Resign, now_ms: int) -> Events:
    held = room.seats_of(command.account)
    if not held:
        raise CommandError(ErrorCode.NOT_SEATED, f"you hold no seat of room {room.code}")
    match = _running_match(room, command.match)
    to_move = match.state.to_move
    loser = to_move if to_move in held else held[0]
    return (MatchEnded(match.number, opponent(loser), "resignation"),)


_DECIDERS: dict[type[Command], Callable[[RoomState, Any, int], Events]] = {
    Join: _decide_join,
    Leave: _decide_leave,
    Play: _decide_play,
    Resign: _decide_resign,
}
