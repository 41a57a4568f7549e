"""What a position is worth, in words: for analyses and hints."""

from __future__ import annotations

from typing import Final

from tabuleiro.protocol.messages import HintGiven

EVEN_BELOW: Final = 0.1
SLIGHT_BELOW: Final = 0.3
CLEAR_BELOW: Final = 0.6
GREAT_BELOW: Final = 0.9


def worth_text(value: float, *, is_proven: bool = False, turns_to_end: int | None = None) -> str:
    """Say what ``value`` (-1 to 1) means for the player it belongs to; or what is proven.

    >>> worth_text(0.45), worth_text(-0.2), worth_text(0.0), worth_text(0.95)
    ('better', 'slightly worse', 'about even', 'winning, it seems')
    >>> worth_text(1.0, is_proven=True, turns_to_end=3), worth_text(-1.0, is_proven=True)
    ('wins in 3 turns', 'loses by force')
    """
    if is_proven:
        return _proven_text(value, turns_to_end)
    size = abs(value)
    if size < EVEN_BELOW:
        return "about even"
    if size >= GREAT_BELOW:
        return "winning, it seems" if value > 0 else "losing, it seems"
    degree = "slightly " if size < SLIGHT_BELOW else "" if size < CLEAR_BELOW else "much "
    return degree + ("better" if value > 0 else "worse")


def hint_text(hint: HintGiven) -> str:
    """A hint in words.

    >>> hint_text(HintGiven(("c3", "d4"), 0.42))
    'hint: c3 d4 (+0.42 better)'
    """
    words = worth_text(hint.value, is_proven=hint.is_proven, turns_to_end=hint.turns_to_end)
    return f"hint: {' '.join(hint.actions)} ({number_text(hint.value)} {words})"


def _proven_text(value: float, turns_to_end: int | None) -> str:
    if not value:
        return "a draw by force"
    verb = "wins" if value > 0 else "loses"
    if turns_to_end is None:
        return f"{verb} by force"
    return f"{verb} in {turns_to_end} {'turn' if turns_to_end == 1 else 'turns'}"


def number_text(value: float) -> str:
    """A value as a number of fixed width, with its sign.

    >>> number_text(0.456), number_text(-1.0), number_text(-0.001)
    ('+0.46', '-1.00', '+0.00')
    """
    return f"{round(value, 2) + 0.0:+.2f}"
