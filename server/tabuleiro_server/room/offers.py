"""Decisions about offers between the players: draw, takeback of the last own turn, rematch."""

from __future__ import annotations

from tabuleiro.ids import Player, Ply, opponent
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import (
    Events,
    MatchEnded,
    OfferEnded,
    OfferKind,
    OfferMade,
    OfferView,
    SeatsSwapped,
    TurnTakenBack,
)
from tabuleiro.rules.base import Termination
from tabuleiro_server.room import commands
from tabuleiro_server.room.commands import Chance
from tabuleiro_server.room.permissions import acting_seat, refuse, running_match
from tabuleiro_server.room.seating import start_match
from tabuleiro_server.room.state import Match, RoomState, last_turn_start_of


def decide_offer(room: RoomState, command: commands.MakeOffer, now_ms: int) -> Events:
    """Offer something, or accept the draw or the rematch that the other player has offered.

    Both players may offer a takeback at the same time: those are two offers, about different turns.
    """
    player = acting_seat(room, command.account)
    if command.kind == "takeback" and len(room.seats_of(command.account)) == 2:
        player = _last_to_finish_a_turn(room)
    _check_possible(room, command.kind, player)
    if command.kind != "takeback" and OfferView(command.kind, opponent(player)) in room.offers:
        return _accepted(room, command.kind, opponent(player), command.chance)
    if OfferView(command.kind, player) in room.offers:
        refuse(ErrorCode.NO_OFFER, f"your {command.kind} offer waits for an answer already")
    made = OfferMade(command.kind, player)
    if room.seats[opponent(player)].account == command.account:
        return (made, *_accepted(room, command.kind, player, command.chance))
    if _is_answered_by_bot(room, command.kind, opponent(player)):
        return (made, *_bot_answer(room, command.kind, player, command.chance))
    return (made,)


def decide_answer(room: RoomState, command: commands.AnswerOffer, now_ms: int) -> Events:
    """Accept or decline the other player's offer; declining one's own offer withdraws it."""
    player = acting_seat(room, command.account)
    if OfferView(command.kind, opponent(player)) in room.offers:
        if command.accept:
            return _accepted(room, command.kind, opponent(player), command.chance)
        return (OfferEnded(command.kind, opponent(player), "declined"),)
    if OfferView(command.kind, player) in room.offers and not command.accept:
        return (OfferEnded(command.kind, player, "withdrawn"),)
    return refuse(ErrorCode.NO_OFFER, f"there is no {command.kind} offer to answer")


def _check_possible(room: RoomState, kind: OfferKind, player: Player) -> None:
    if kind == "rematch":
        if room.phase != "finished":
            refuse(ErrorCode.WRONG_PHASE, "a rematch can be offered once the match is over")
        if room.has_open_seat:
            refuse(ErrorCode.NOT_ALLOWED, "the other player has left; a new one can join")
        return
    match = running_match(room)
    if kind == "draw" and not room.game.has_draws:
        refuse(ErrorCode.NOT_ALLOWED, f"there are no draws in {room.game.title}")
    if kind == "takeback":
        last_turn_start(room, match, player)


def _is_answered_by_bot(room: RoomState, kind: OfferKind, player: Player) -> bool:
    """Return True if a bot answers. A stand-in answers for its match; the person decides on a rematch."""
    return room.seats[player].kind == "bot" if kind == "rematch" else room.is_played_by_bot(player)


def _bot_answer(room: RoomState, kind: OfferKind, player: Player, chance: Chance) -> Events:
    """Answer as a bot: decline a draw, allow takebacks in casual rooms, always accept a rematch."""
    if kind == "draw" or (kind == "takeback" and not room.settings.is_casual):
        return (OfferEnded(kind, player, "declined"),)
    return _accepted(room, kind, player, chance)


def _accepted(room: RoomState, kind: OfferKind, player: Player, chance: Chance) -> Events:
    """Return the events that follow when the offer of ``player`` is accepted."""
    if kind == "rematch":
        number = room.match.number + 1 if room.match is not None else 1
        return (SeatsSwapped(), *start_match(room.settings, room.game, number, chance))
    match = running_match(room)
    if kind == "draw":
        return (MatchEnded(match.number, None, Termination.AGREEMENT),)
    return (TurnTakenBack(match.number, Ply(last_turn_start(room, match, player)), player),)


def _last_to_finish_a_turn(room: RoomState) -> Player:
    """Return the player who takes back when one person plays both sides: the last to finish a turn."""
    match = running_match(room)
    finished = match.movers[: max(len(match.movers) - match.state.actions_in_turn, 0)]
    return finished[-1] if finished else 0


def last_turn_start(room: RoomState, match: Match, player: Player) -> int:
    """Return the ply at which the last finished turn of ``player`` began.

    Raises:
        CommandError: not-allowed, when there is none.
    """
    start = last_turn_start_of(match, room, player)
    if start is None:
        refuse(ErrorCode.NOT_ALLOWED, "you have no turn to take back yet")
    return start
