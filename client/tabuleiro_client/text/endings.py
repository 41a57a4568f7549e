"""Endings of matches and offers between players, as sentences by the names of sides or players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final

from tabuleiro.ids import Player, opponent
from tabuleiro.notation.record import WITHOUT_RESULT
from tabuleiro.protocol.events import OfferEnd, OfferKind
from tabuleiro.rules.base import Termination

_REASONS: Final[Mapping[str, str]] = {
    Termination.BLOCKED: "{loser} cannot move",
    Termination.BASE: "a ship entered the base of {loser}",
    Termination.SCORE: "more points",
    Termination.CONNECTION: "{winner} joined both edges",
    Termination.RESIGNATION: "{loser} resigned",
    Termination.TIMEOUT: "{loser} ran out of time",
    Termination.ABANDONED: "{loser} stayed away",
}
_ENDINGS_WITHOUT_WINNER: Final[Mapping[str, str]] = {
    Termination.REPETITION: "a draw: the same position came up for the third time",
    Termination.SCORE: "a draw: the scores are equal",
    Termination.DEADLOCK: "a draw: neither side can move",
    Termination.AGREEMENT: "a draw by agreement",
    Termination.ABORTED: "the match was aborted",
}
_OFFERS: Final[Mapping[OfferKind, tuple[str, str, str]]] = {
    "draw": ("offer", "a draw", "draw offer"),
    "takeback": ("ask", "to take the last turn back", "takeback request"),
    "rematch": ("offer", "a rematch", "rematch offer"),
}
"""What somebody does who makes an offer of a kind: the verb, its object, and a noun for the whole."""


def ending_text(names: tuple[str, str], winner: Player | None, termination: str) -> str:
    """Return how a match ended, by the names of its sides or of its players.

    >>> ending_text(("black", "white"), 0, "resignation")
    'black wins: white resigned'
    """
    if winner is None:
        return _ENDINGS_WITHOUT_WINNER.get(termination, f"nobody wins: {termination}")
    return f"{names[winner]} wins: {reason_text(names, winner, termination)}"


def reason_text(names: tuple[str, str], winner: Player, termination: str) -> str:
    """Return the reason why ``winner`` won, by the names of the sides.

    >>> reason_text(("black", "white"), 1, "timeout")
    'black ran out of time'
    """
    if termination not in _REASONS:
        return termination
    return _REASONS[termination].format(winner=names[winner], loser=names[opponent(winner)])


def score_text(scores: tuple[Sequence[int], Sequence[int]], winner: Player) -> str:
    """Return the scores that decide, of groups from the largest on; empty where they are equal.

    >>> score_text(((13, 2), (8, 8)), 0), score_text(((3, 2), (3,)), 0)
    ('13-8 on the largest group', '2-0 on the second largest group')
    """
    pairs = enumerate(zip_longest(scores[winner], scores[opponent(winner)], fillvalue=0))
    found = next(((rank, own, other) for rank, (own, other) in pairs if own != other), None)
    if found is None:
        return ""
    rank, own, other = found
    place = ("", "second ", "third ")[rank] if rank < 3 else f"{rank + 1}th "
    return f"{own}-{other} on the {place}largest group"


def late_text(actor: str) -> str:
    """Return the end of a match in which ``actor`` made no first turn in time.

    >>> late_text("you")
    'the match was aborted: you made no first turn in time'
    """
    return f"the match was aborted: {actor} made no first turn in time"


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
    ('your rematch offer was declined', "rui's draw offer has lapsed")
    """
    whose = "your" if actor == "you" else f"{actor}'s"
    return f"{whose} {_OFFERS[kind][2]} {'has lapsed' if how == 'void' else f'was {how}'}"


def capitalised(sentence: str) -> str:
    """Return a sentence that stands for itself, with a capital letter.

    >>> capitalised("black wins"), capitalised("")
    ('Black wins', '')
    """
    return sentence[:1].upper() + sentence[1:]
