"""Explanations of a bot's level as text: its candidates with their values, and what these are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tabuleiro.errors import CommandError
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import ExplainedTerm, ExplainedTurn, Explanation
from tabuleiro.rules import Game
from tabuleiro.text import counted
from tabuleiro_client.text.analysis import number_text, worth_text
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.text.search_tree import plain_number

_UNITS: Final = {
    "evaluation": "values are sums of its terms",
    "expectation": "values are from -1 (lost) to +1 (won)",
    "chance": "values are the chance to be chosen",
}


def refusal_text(error: CommandError) -> str:
    """Return the reason why a server gives no explanation, for people."""
    if error.code == ErrorCode.BAD_MESSAGE:
        return "this server is older and cannot explain; `tabuleiro explain` does so here"
    return problem_text(error)


def explanation_lines(game: Game, found: Explanation) -> list[str]:
    """Return an explanation as a block of text, a line for each candidate."""
    side = game.sides[found.player]
    lines = [f"{found.level} for {side}, who is to move; {_UNITS[found.unit]}, for {side}"]
    if found.terms:
        lines.append(f"the position: {terms_text(found.terms)}")
    width = max((len(" ".join(turn.actions)) for turn in found.turns), default=0)
    for rank, turn in enumerate(found.turns, start=1):
        lines.append(f"{rank:2}. {' '.join(turn.actions):{width}}  {_turn_text(found, turn)}")
    if found.turn_count > len(found.turns):
        lines.append(f"    and {found.turn_count - len(found.turns)} more")
    return [*lines, *_effort_lines(found)]


def terms_text(terms: Sequence[ExplainedTerm]) -> str:
    """Return what terms add up to.

    >>> terms_text([ExplainedTerm("own choices", 14, 1), ExplainedTerm("choices of the opponent", 9, -1)])
    'own choices 14 - choices of the opponent 9 = 5'
    >>> terms_text([ExplainedTerm("row 1", 6, 1), ExplainedTerm("row 2", 0, 5), ExplainedTerm("row 3", 4, 6)])
    'row 1 6 + 6 x row 3 4 = 30'
    """
    parts = ""
    for term in terms:
        if not term.weight or (not term.measure and len(terms) > 1):
            continue
        sign = "-" if term.weight < 0 else "+"
        lead = f" {sign} " if parts else "-" if sign == "-" else ""
        factor = "" if abs(term.weight) == 1 else f"{plain_number(abs(term.weight))} x "
        parts += f"{lead}{factor}{term.name} {plain_number(term.measure)}"
    total = sum(term.measure * term.weight for term in terms)
    return f"{parts or 'all terms 0'} = {plain_number(total)}"


def _turn_text(found: Explanation, turn: ExplainedTurn) -> str:
    if found.unit == "chance":
        return f"{turn.value:.1%}"
    later = turn.line[len(turn.actions) :]
    then = f", then {' '.join(later)}" if later else ""
    if found.unit == "expectation":
        words = worth_text(turn.value, is_proven=turn.is_proven, turns_to_end=turn.turns_to_end)
        looked_at = "" if turn.nodes is None else f" ({turn.nodes:,} positions)"
        return f"{number_text(turn.value)} {words}{looked_at}{then}"
    if turn.is_proven:
        end = "wins" if turn.value > 0 else "loses" if turn.value < 0 else "draws"
        return f"{end} ({plain_number(turn.value)}){then}"
    return f"{plain_number(turn.value)}: {terms_text(turn.terms)}{then}"


def _effort_lines(found: Explanation) -> list[str]:
    parts = []
    if found.depth is not None:
        parts.append(f"{counted(found.depth, 'action' if found.unit == 'evaluation' else 'turn')} deep")
    if found.nodes is not None:
        parts.append(f"{counted(found.nodes, 'position')} looked at")
    return [f"{', '.join(parts)}, {found.thought_ms / 1000:.2f} s"] if parts else []
