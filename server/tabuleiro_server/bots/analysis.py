"""Analysis of a position by the search of its game: compiled where that can be had, plain Python elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from tabuleiro.rules import Game, State
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.algorithms import PATIENCE_SHARE
from tabuleiro_server.bots.engine.readiness import KERNELS

HINT_BUDGET_MS: Final = 2_000
"""The longest search for a hint."""

SEED: Final = 1
"""Analyses can be repeated as far as the time allows."""


def analyse(game: Game, state: State, seconds: float, candidate_count: int) -> Iterator[Analysis]:
    """Analyse ``state`` of ``game`` for ``seconds``: an :data:`~tabuleiro.rules.analysis.Analyser`.

    This first waits for the kernels of the game, up to a minute where they have to be compiled; the seconds count
    from then on.

    Raises: BotError when the game is over.
    """
    search = KERNELS.searcher(game, None) or engine.plain_searcher(game)
    deadline_s = time.monotonic() + seconds
    return search.analyse(state, candidate_count=candidate_count, max_nodes=None, deadline_s=deadline_s, seed=SEED)


def suggest(game: Game, state: State, budget_ms: int) -> Candidate:
    """Return the best turn of ``state`` that can be found in about ``budget_ms`` milliseconds.

    Kernels that are not ready soon are not waited for.

    Raises: BotError when the game is over.
    """
    deadline_s = time.monotonic() + budget_ms / 1000
    search = KERNELS.searcher(game, PATIENCE_SHARE * budget_ms / 1000) or engine.plain_searcher(game)
    *_, last = search.analyse(state, candidate_count=1, max_nodes=None, deadline_s=deadline_s, seed=SEED)
    return last.best
