"""Decisions about the running match: actions, undos, hints, resigning, aborting, claiming."""

from __future__ import annotations

from typing import Final, NamedTuple

from tabuleiro.clock import has_flagged
from tabuleiro.errors import CommandError, IllegalActionError, NotationError
from tabuleiro.ids import AccountId, Player, Ply, opponent
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import ActionsPlayed, ActionsUndone, Events, HintTaken, MatchEnded
from tabuleiro.rules.base import State, Termination
from tabuleiro_server.room import commands
from tabuleiro_server.room.permissions import acting_seat, held_seats, refuse, running_match
from tabuleiro_server.room.state import (
    Match,
    RoomState,
    bot_account,
    child_of,
    first_turn_due_ms,
    note_child,
    seat_of_bot_account,
    state_after,
)

HINT_PAUSE_MS: Final = 5_000
"""Shortest time between two hints of a player."""


def decide_hint(room: RoomState, command: commands.TakeHint, now_ms: int) -> Events:
    """Grant a hint. The suggestion itself is made elsewhere; the room only notes that it was given."""
    held = held_seats(room, command.account)
    match = running_match(room, command.match)
    if not room.settings.is_casual:
        refuse(ErrorCode.NOT_ALLOWED, "there are no hints in a room that is not casual")
    if not room.settings.hints:
        refuse(ErrorCode.NOT_ALLOWED, "this room gives no hints")
    if (command.ply, command.revision) != (len(match.actions), match.revision):
        refuse(ErrorCode.STALE_PLY, "the position has moved on: ask again")
    player = match.to_move
    if player is None or player not in held:
        refuse(ErrorCode.NOT_YOUR_TURN, "hints are for the player to move, and it is the other player's turn")
    last_ms = match.hinted_at_ms[player]
    # A hint ahead of now is from before the machine's clock was set back.
    if last_ms is not None and last_ms <= now_ms < last_ms + HINT_PAUSE_MS:
        seconds = HINT_PAUSE_MS // 1000
        refuse(ErrorCode.LIMIT_REACHED, f"you had a hint just now: at most one in {seconds} seconds")
    return (HintTaken(match.number, Ply(command.ply), player),)


def decide_explanation(room: RoomState, command: commands.Explain, now_ms: int) -> Events:
    """Grant an explanation, which is made elsewhere: after the end, alone against bots, or else as a hint."""
    match = room.match
    if match is not None and match.number == command.match and room.phase == "finished":
        if not 0 <= command.ply <= len(match.actions):
            refuse(ErrorCode.STALE_PLY, f"the match has {len(match.actions)} actions")
        if state_after(match, room, command.ply).is_terminal:
            refuse(ErrorCode.WRONG_PHASE, "the game is over in this position: there is nothing to explain")
        return ()
    running = running_match(room, command.match)
    if not _is_alone(room, command.account):
        held_seats(room, command.account)
        if not (room.settings.is_casual and room.settings.hints):
            refuse(
                ErrorCode.NOT_ALLOWED,
                "while a match runs, bots explain only to those who play alone with them, and in casual rooms "
                "with hints: ask again after the end",
            )
        return decide_hint(
            room, commands.TakeHint(command.account, command.match, command.ply, command.revision), now_ms
        )
    if (command.ply, command.revision) != (len(running.actions), running.revision):
        refuse(ErrorCode.STALE_PLY, "the position has moved on: ask again")
    return ()


def _is_alone(room: RoomState, account: AccountId) -> bool:
    """Return True if nobody but ``account`` plays: its seats and bots, or bots in its own room."""
    others = [seat for seat in room.seats if seat.kind != "bot" and seat.account != account]
    return not others and (bool(room.seats_of(account)) or room.host == account)


RESENT_MAX_PLIES: Final = 64
"""Actions that may follow on actions that are sent again in another notation and are still recognised.

A client that waits for an answer has not played on, so only the other player's actions follow. Reading the texts
takes the position they were played in, which is at hand near the end of the match only.
"""


def decide_play(room: RoomState, command: commands.Play, now_ms: int) -> Events:
    """Make one or more actions of one turn: all or none."""
    may_act_for = _seats_played_by(room, command)
    if _is_resent(room, command, may_act_for):
        return ()
    match, player = _match_to_play(room, command, may_act_for)
    if has_flagged(room.settings.time_control, match.clock, now_ms, command.lag_ms):
        refuse(ErrorCode.WRONG_PHASE, "the time of the player to move has run out")
    due_ms = first_turn_due_ms(room)
    if due_ms is not None and now_ms >= due_ms:
        refuse(ErrorCode.WRONG_PHASE, "the time for the first turn has run out")
    return _played(room, match, command, player)


class Considered(NamedTuple):
    """The position after unplayed actions, their canonical texts, the way of the last one in games with ways.

    ``is_in_turn``: the turn goes on.
    """

    state: State
    texts: tuple[str, ...]
    route: tuple[str, ...]
    is_in_turn: bool


def consider(room: RoomState, command: commands.Consider) -> Considered:
    """Return the position after unplayed actions of the sender's turn.

    Raises:
        CommandError: The actions could not be played.
    """
    match, _ = _match_to_play(room, command, held_seats(room, command.account))
    before, (state, actions) = match.state, _after_actions(match.state, command.actions)
    for action in actions[:-1]:
        before = child_of(before, action)
    return Considered(
        state,
        tuple(map(match.state.action_to_string, actions)),
        before.route(actions[-1]) if actions else (),
        not actions or (not state.is_terminal and state.actions_in_turn > 0),
    )


def _match_to_play(
    room: RoomState, command: commands.Play | commands.Consider, may_act_for: tuple[Player, ...]
) -> tuple[Match, Player]:
    """Return the running match and the player to move, if that is who the command is for at the present ply."""
    match = running_match(room, command.match)
    if (command.ply, command.revision) != (len(match.actions), match.revision):
        refuse(
            ErrorCode.STALE_PLY,
            f"ply {command.ply} of revision {command.revision} is not the one to be played: "
            f"that is ply {len(match.actions)} of revision {match.revision}",
        )
    player = match.state.to_move
    if player is None or player not in may_act_for:
        refuse(ErrorCode.NOT_YOUR_TURN, "it is the other player's turn")
    return match, player


def _seats_played_by(room: RoomState, command: commands.Play) -> tuple[Player, ...]:
    """Return the seats for which the sender may act; a bot acts for its own seat or stands in on it."""
    bot_seat = seat_of_bot_account(command.account)
    if bot_seat is not None and room.is_played_by_bot(bot_seat):
        return (bot_seat,)
    return held_seats(room, command.account)


def _is_resent(room: RoomState, command: commands.Play, may_act_for: tuple[Player, ...]) -> bool:
    """Return True if these actions were played at this ply already, so that only the answer got lost.

    Another notation of them is recognised for as long as a client can wait for the answer.
    """
    match = room.match
    if match is None or (match.number, match.revision) != (command.match, command.revision):
        return False
    if command.actions and command.ply >= len(match.actions):  # as nearly always: it is new
        return False
    span = slice(command.ply, command.ply + len(command.actions))
    stored = match.actions[span]
    if len(stored) != len(command.actions) or not set(match.movers[span]) <= set(may_act_for):
        return False
    if stored == command.actions:
        return True
    if len(match.actions) - command.ply > RESENT_MAX_PLIES:
        return False
    state = state_after(match, room, command.ply)
    try:
        return [state.string_to_action(text) for text in command.actions] == [
            state.string_to_action(text) for text in stored
        ]
    except NotationError:
        return False


def _played(room: RoomState, match: Match, command: commands.Play, player: Player) -> Events:
    state, actions = _after_actions(match.state, command.actions)
    by_stand_in = room.seats[player].stand_in is not None and command.account == bot_account(player)
    played = ActionsPlayed(
        match.number,
        Ply(command.ply),
        player,
        tuple(map(match.state.action_to_string, actions)),
        command.lag_ms,
        by_stand_in=by_stand_in,
        is_makeshift=command.is_makeshift,
    )
    if state.outcome is None:
        return (played,)
    return (played, MatchEnded(match.number, state.outcome.winner, state.outcome.termination))


def _after_actions(state: State, texts: tuple[str, ...]) -> tuple[State, tuple[int, ...]]:
    """Return the position after actions, and their numbers; all must be legal and of one turn."""
    actions: list[int] = []
    for number, text in enumerate(texts, start=1):
        if state.is_terminal or (actions and state.actions_in_turn == 0):
            refuse(ErrorCode.NOT_YOUR_TURN, f"the turn ends before action {number} of {len(texts)}")
        try:
            action = state.string_to_action(text)
            after = state.apply(action)
        except NotationError as error:
            raise CommandError(ErrorCode.BAD_NOTATION, str(error)) from error
        except IllegalActionError as error:
            raise CommandError(ErrorCode.ILLEGAL_ACTION, str(error)) from error
        note_child(state, action, after)
        actions.append(action)
        state = after
    return state, tuple(actions)


def decide_undo(room: RoomState, command: commands.Undo, now_ms: int) -> Events:
    """Undo actions of the sender's turn, which is not complete."""
    held = held_seats(room, command.account)
    match = running_match(room, command.match)
    if not room.settings.may_undo:
        refuse(ErrorCode.NOT_ALLOWED, "this room does not allow undoing")
    player = match.state.to_move
    if player is None or player not in held:
        refuse(ErrorCode.NOT_YOUR_TURN, "it is the other player's turn")
    # A match may begin in mid-turn, from a position: those actions are nobody's to undo.
    lowest = max(len(match.actions) - match.state.actions_in_turn, 0)
    if not lowest <= command.ply < len(match.actions):
        refuse(
            ErrorCode.STALE_PLY,
            f"ply {command.ply} cannot be gone back to, "
            f"this turn has actions from ply {lowest} to {len(match.actions)}",
        )
    return (ActionsUndone(match.number, Ply(command.ply), player),)


def decide_resign(room: RoomState, command: commands.Resign, now_ms: int) -> Events:
    """Resign; nothing happens if the match was resigned already and the answer got lost."""
    loser = acting_seat(room, command.account) if command.seat is None else command.seat
    if loser not in held_seats(room, command.account):
        refuse(ErrorCode.NOT_SEATED, f"somebody else holds seat {loser} of room {room.code}")
    if _has_ended_by(room, command.match, Termination.RESIGNATION) and _has_lost(room, command.account):
        return ()
    match = running_match(room, command.match)
    return (MatchEnded(match.number, opponent(loser), Termination.RESIGNATION),)


def _has_ended_by(room: RoomState, number: int, termination: Termination) -> bool:
    match = room.match
    return match is not None and (match.number, match.termination) == (number, termination)


def _has_lost(room: RoomState, account: AccountId) -> bool:
    match = room.match
    return match is not None and match.winner is not None and opponent(match.winner) in room.seats_of(account)


def decide_abort(room: RoomState, command: commands.Abort, now_ms: int) -> Events:
    """End a match without a result while one of the players has made no action."""
    held_seats(room, command.account)
    if _has_ended_by(room, command.match, Termination.ABORTED):
        return ()
    match = running_match(room, command.match)
    if match.has_begun:
        refuse(ErrorCode.NOT_ALLOWED, "both players have made an action: resign or offer a draw instead")
    return (MatchEnded(match.number, None, Termination.ABORTED),)


def decide_claim(room: RoomState, command: commands.ClaimWin, now_ms: int) -> Events:
    """Claim the win over an absent opponent; where a stand-in would come, the match goes on with it."""
    winner = acting_seat(room, command.account)
    match = running_match(room, command.match)
    loser = opponent(winner)
    since_ms = room.away_since_ms[loser]
    if room.seats[loser].kind != "person" or room.seats[loser].account == command.account or since_ms is None:
        refuse(ErrorCode.NOT_ALLOWED, "the opponent is here")
    if room.settings.stand_in_level is not None:
        refuse(ErrorCode.NOT_ALLOWED, f"{room.settings.stand_in_level}-bot stands in for an absent player")
    left_ms = since_ms + room.settings.away_after_ms - now_ms
    if left_ms > 0:
        refuse(ErrorCode.NOT_ALLOWED, f"the opponent may still come back for {-(-left_ms // 1000)} seconds")
    if not match.has_begun:
        return (MatchEnded(match.number, None, Termination.ABORTED),)
    return (MatchEnded(match.number, winner, Termination.ABANDONED),)
