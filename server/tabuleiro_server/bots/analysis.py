"""Analysing a position with the search of its game: compiled where that can be had, else in plain Python.

What is made of an analysis, a report or a hint, is left to the commands and the workers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from tabuleiro.rules import Game, State
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro_server.bots.engine.base import Searcher
from tabuleiro_server.bots.engine.plain_search import PlainSearcher
from tabuleiro_server.bots.engine.readiness import KERNELS
from tabuleiro_server.bots.engine.search_level import PATIENCE_SHARE
from tabuleiro_server.bots.levels import SEARCH_LEVELS

HINT_BUDGET_MS: Final = 2_000
"""How long a hint is thought about, at most."""

SEED: Final = 1
"""Analyses are repeatable as far as the time allows."""


def analyse(game: Game, state: State, seconds: float, candidate_count: int) -> Iterator[Analysis]:
    """Analyse ``state`` of ``game`` for ``seconds``: an :data:`~tabuleiro.rules.analysis.Analyser`.

    The kernels of the game are waited for, which takes up to a minute where they have to be compiled first; the
    seconds count from then on.

    Raises: BotError when the game is over.
    """
    search = KERNELS.searcher(game, None) or plain_searcher(game.name)
    deadline_s = time.monotonic() + seconds
    return search.analyse(state, candidate_count=candidate_count, max_nodes=None, deadline_s=deadline_s, seed=SEED)


def suggest(game: Game, state: State, budget_ms: int) -> Candidate:
    """The best turn of ``state`` that can be found in about ``budget_ms`` milliseconds.

    Kernels that are not ready soon are not waited for. Raises: BotError when the game is over.
    """
    deadline_s = time.monotonic() + budget_ms / 1000
    search = KERNELS.searcher(game, PATIENCE_SHARE * budget_ms / 1000) or plain_searcher(game.name)
    *_, last = search.analyse(state, candidate_count=1, max_nodes=None, deadline_s=deadline_s, seed=SEED)
    return last.best


def plain_searcher(game: str) -> Searcher:
    """The search in plain Python that the levels of ``game`` fall back on."""
    levels = SEARCH_LEVELS.get(game, ())
    return levels[-1].make_plain() if levels else PlainSearcher()
