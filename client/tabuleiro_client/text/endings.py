"""Endings of matches and offers between players, as sentences by the names of sides or players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tabuleiro.ids import Player, opponent
from tabuleiro.notation.record import WITHOUT_RESULT
from tabuleiro.protocol.events import OfferEnd, OfferKind
from tabuleiro.rules.base import Termination

_ENDINGS: Final[Mapping[str, str]] = {
    Termination.BLOCKED: "{winner} wins: {loser} has no legal action",
    Termination.BASE: "{winner} wins: a ship entered the base of {loser}",
    Termination.SCORE: "{winner} wins by the scores",
    Termination.CONNECTION: "{winner} wins: {winner} joined both edges",
    Termination.RESIGNATION: "{winner} wins: {loser} resigned",
    Termination.TIMEOUT: "{winner} wins: the time of {loser} is up",
    Termination.ABANDONED: "{winner} wins: {loser} stayed away",
}
_ENDINGS_WITHOUT_WINNER: Final[Mapping[str, str]] = {
    Termination.REPETITION: "a draw: the same position came up for the third time",
    Termination.SCORE: "a draw: the scores are equal",
    Termination.DEADLOCK: "a draw: neither side has a legal action",
    Termination.AGREEMENT: "a draw by agreement",
    Termination.ABORTED: "the match was aborted",
}
_OFFERS: Final[Mapping[OfferKind, tuple[str, str, str]]] = {
    "draw": ("offer", "a draw", "offer of a draw"),
    "takeback": ("ask", "to take the last turn back", "request to take the last turn back"),
    "rematch": ("offer", "a rematch", "offer of a rematch"),
}
"""What somebody does who makes an offer of a kind: the verb, its object, and a noun for the whole."""


def ending_text(names: tuple[str, str], winner: Player | None, termination: str) -> str:
    """Return how a match ended, by the names of its sides or of its players.

    >>> ending_text(("black", "white"), 0, "resignation")
    'black wins: white resigned'
    """
    if winner is None:
        return _ENDINGS_WITHOUT_WINNER.get(termination, f"nobody wins: {termination}")
    if termination not in _ENDINGS:
        return f"{names[winner]} wins: {termination}"
    return _ENDINGS[termination].format(winner=names[winner], loser=names[opponent(winner)])


def result_text(names: tuple[str, str], winner: Player | None, termination: str) -> str:
    """Return the result alone, without its reason.

    >>> result_text(("first", "second"), 1, "timeout"), result_text(("first", "second"), None, "score")
    ('second wins', 'draw')
    """
    if winner is not None:
        return f"{names[winner]} wins"
    return "no result" if termination in WITHOUT_RESULT else "draw"


def own_result_text(sides: tuple[str, str], own: Sequence[Player], winner: Player | None, termination: str) -> str:
    """Return the result for somebody who holds the seats ``own``, in a word or two.

    >>> sides = ("black", "white")
    >>> own_result_text(sides, [1], 1, "timeout"), own_result_text(sides, [0, 1], 1, "score")
    ('won', 'white wins')
    """
    if winner is None or len(own) != 1:
        return result_text(sides, winner, termination)
    return "won" if winner in own else "lost"


def offer_text(kind: OfferKind, actor: str) -> str:
    """Return an offer that was made.

    >>> offer_text("draw", "rui"), offer_text("takeback", "you")
    ('rui offers a draw', 'you ask to take the last turn back')
    """
    verb, wish, _ = _OFFERS[kind]
    return f"{actor} {verb}{'' if actor == 'you' else 's'} {wish}"


def offer_end_text(kind: OfferKind, actor: str, how: OfferEnd) -> str:
    """Return what became of an offer that ``actor`` had made.

    >>> offer_end_text("rematch", "you", "declined"), offer_end_text("draw", "rui", "void")
    ('your offer of a rematch was declined', "rui's offer of a draw has lapsed")
    """
    whose = "your" if actor == "you" else f"{actor}'s"
    return f"{whose} {_OFFERS[kind][2]} {'has lapsed' if how == 'void' else f'was {how}'}"
