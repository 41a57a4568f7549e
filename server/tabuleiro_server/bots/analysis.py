"""Analysis of a position by the search of its game: compiled where that can be had, plain Python elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from tabuleiro.errors import BotError
from tabuleiro.rules import Game, State
from tabuleiro.rules.analysis import Analyser, Analysis, Candidate
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.algorithms import PATIENCE_SHARE, MasterLevel, SearchLevel
from tabuleiro_server.bots.engine.readiness import KERNELS
from tabuleiro_server.bots.levels import find_level

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


def engine_named(game: str, text: str) -> Analyser:
    """Return the analysis by a level of ``game`` that searches, or by an algorithm such as ``mcts playouts=500``.

    It looks at the level's own number of positions for each position, if it has one and there is time.

    Raises: BotError for no level, and for one whose values are not from -1 to 1; GameOptionError for the game.
    """
    level = find_level(game, text)
    if not isinstance(level, SearchLevel | MasterLevel):
        raise BotError(
            f"{level.name} has values of another kind, which `tabuleiro explain --level` shows; an analysis is by "
            "mcts playouts=N or a level that searches, e.g. hard"
        )

    def analyse_by(played: Game, state: State, seconds: float, candidate_count: int) -> Iterator[Analysis]:
        search = level.searcher(played, None)
        return search.analyse(
            state,
            candidate_count=candidate_count,
            max_nodes=level.max_nodes,
            deadline_s=time.monotonic() + seconds,
            seed=SEED,
        )

    return analyse_by


def suggest(game: Game, state: State, budget_ms: int) -> Candidate:
    """Return the best turn of ``state`` that can be found in about ``budget_ms`` milliseconds.

    Kernels that are not ready soon are not waited for.

    Raises: BotError when the game is over.
    """
    deadline_s = time.monotonic() + budget_ms / 1000
    search = KERNELS.searcher(game, PATIENCE_SHARE * budget_ms / 1000) or engine.plain_searcher(game)
    *_, last = search.analyse(state, candidate_count=1, max_nodes=None, deadline_s=deadline_s, seed=SEED)
    return last.best
