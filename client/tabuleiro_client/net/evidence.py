"""Which events show that a request of ours was done, when its answer got lost with the connection."""

from __future__ import annotations

from collections.abc import Collection

from tabuleiro.ids import AccountId, Player
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.protocol.events import (
    ActionsUndone,
    BotSeated,
    Event,
    MatchEnded,
    MatchStarted,
    OfferEnded,
    OfferKind,
    OfferMade,
    Said,
    SeatFreed,
    SeatsSwapped,
    TurnTakenBack,
)
from tabuleiro.rules.base import Termination


def of_undo(event: Event, ply: int) -> bool:
    """Whether actions were undone down to ``ply``."""
    return isinstance(event, ActionsUndone) and event.ply == ply


def of_claim(event: Event) -> bool:
    """Whether the match has ended, by the claim or before it."""
    return isinstance(event, MatchEnded)


def of_offer(event: Event, kind: OfferKind, own_seats: Collection[Player]) -> bool:
    """Whether one of ``own_seats`` has made the offer, or has accepted the other's by it."""
    if isinstance(event, OfferMade):
        return event.kind == kind and event.player in own_seats
    return kind != "takeback" and _is_agreement(event, kind)


def of_answer(event: Event, kind: OfferKind) -> bool:
    """Whether an offer of this kind was accepted or has ended otherwise."""
    return _is_agreement(event, kind) or (isinstance(event, OfferEnded) and event.kind == kind)


def of_talk(event: Event, account: AccountId, text: str) -> bool:
    """Whether ``account`` has said ``text``."""
    return isinstance(event, Said) and (event.account, event.text) == (account, strip_controls(text))


def of_bot(event: Event, seat: Player, level: str | None) -> bool:
    """Whether a bot of ``level`` was seated, or with ``None`` taken off."""
    if level is None:
        return isinstance(event, SeatFreed) and event.seat == seat
    return isinstance(event, BotSeated) and (event.seat, event.level) == (seat, level)


def of_swap(event: Event) -> bool:
    """Whether the players have changed seats."""
    return isinstance(event, SeatsSwapped)


def _is_agreement(event: Event, kind: OfferKind) -> bool:
    if kind == "draw":
        return isinstance(event, MatchEnded) and event.termination == Termination.AGREEMENT
    return isinstance(event, MatchStarted if kind == "rematch" else TurnTakenBack)
