"""``tabuleiro levels``: how each level of the bots thinks, in a sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Annotated, Final

import typer

from tabuleiro.rules import registry
from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.bots.algorithms import (
    ALGORITHMS_TEXT,
    GroupsLevel,
    Level,
    LookAheadLevel,
    MasterLevel,
    RandomLevel,
)
from tabuleiro_server.bots.engine import PLAYOUT_GAMES
from tabuleiro_server.bots.evaluation import EVALUATIONS, Evaluation
from tabuleiro_server.bots.levels import LEVELS, RANDOM

PAGE_COLUMNS: Final = 78

_SKILLS_OF_MASTER: Final[Mapping[str, str]] = {
    VirusWars.name: "grows a tree of the actions that are likely the best, as it learnt from games",
    XeroG.name: "looks ahead by alpha-beta, leaves out what hands over a win at once, tries to refute its choice",
    Iris.name: "plays games at random to the end, guesses where to look by patterns, as it learnt from games",
    Minefield.name: "plays games at random to the end, guesses where to look by patterns, as it learnt from games",
}
"""How ``master`` of each game thinks."""


def levels(
    game: Annotated[
        str | None, typer.Argument(metavar="GAME", help="The game, e.g. iris; all if left out.")
    ] = None,
) -> None:
    """Tell how each level of the bots thinks, and what the algorithms of your own choice can count."""
    games = registry.names() if game is None else (registry.game_type(game).name,)
    for place, name in enumerate(games):
        if place:
            typer.echo()
        typer.echo("\n".join(level_lines(name)))


def level_lines(game: str) -> list[str]:
    """Return a sentence about each level of ``game``, and its evaluations."""
    lines = [f"{registry.game_type(game).title}: the levels of the report, then those that search, weakest first"]
    for level in LEVELS.get(game, (RANDOM,)):
        lines += _entry(f"{level.name}: {thinking_text(game, level)}.")
    lines += [
        "",
        *textwrap.wrap(f"On your own machine also {ALGORITHMS_TEXT}, where eval= is one of:", PAGE_COLUMNS),
    ]
    for evaluation in EVALUATIONS.get(game, ()):
        lines += _entry(f"{evaluation.name}: {evaluation.about} ({_weights_text(evaluation)}).")
    return [*lines, *_entry("FILE.py: your own function value(state, player); see server/BOTS.md.")]


def thinking_text(game: str, level: Level) -> str:
    """Return how a level thinks, as a sentence without its end.

    >>> thinking_text("iris", LEVELS["iris"][0])
    'takes any legal action, each as likely as the others'
    """
    if isinstance(level, RandomLevel):
        return "takes any legal action, each as likely as the others"
    if isinstance(level, GroupsLevel):
        return "takes the turn that is best at once, by the lead of the best group, then of the second, and so on"
    limit = f"{level.limit_ms / 1000:g} s at most"
    if isinstance(level, LookAheadLevel):
        ahead = (
            "the action that is best at once" if level.depth == 1 else f"the best of {level.depth} actions ahead"
        )
        ends = "" if level.counts_ends else "; an end is worth no more than its board, so it may miss a win"
        return f"takes {ahead}, by {level.evaluation.about}{ends} ({limit})"
    if isinstance(level, MasterLevel):
        return (
            f"thinks for all of its time: {_SKILLS_OF_MASTER[game]}; it keeps what it found for its next turn "
            f"({limit})"
        )
    if level.plays_out or game in PLAYOUT_GAMES:
        return f"plays {level.max_nodes:,} games at random to the end, the promising turns more often ({limit})"
    return f"looks ahead by alpha-beta, turn by turn, until it has seen {level.max_nodes:,} positions ({limit})"


def _weights_text(evaluation: Evaluation) -> str:
    terms = zip(evaluation.term_names, evaluation.weights, strict=True)
    return "weights: " + ", ".join(f"{name} {weight}" for name, weight in terms)


def _entry(text: str) -> list[str]:
    return textwrap.wrap(text, PAGE_COLUMNS, initial_indent="  ", subsequent_indent="      ")
