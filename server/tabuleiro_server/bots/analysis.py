"""Analysis of a position by the best search of its game: compiled if there are kernels, else in plain Python."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tabuleiro.errors import BotError
from tabuleiro.rules import Game, State
from tabuleiro.rules.analysis import Analyser, Analysis, Candidate
from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG, XeroGState
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.algorithms import PATIENCE_SHARE, MasterLevel, SearchLevel
from tabuleiro_server.bots.engine.base import Searcher
from tabuleiro_server.bots.engine.readiness import KERNELS, MASTER_KERNELS
from tabuleiro_server.bots.levels import find_level

HINT_BUDGET_MS: Final = 2_000
"""The longest search for a hint."""

SEED: Final = 1
"""Analyses can be repeated as far as the time allows."""


_NEAREST_VALUE: Final = 0.999
"""Only proven results are exactly -1 or 1."""

EVEN_BELOW: Final = 0.05
"""A value nearer to 0 is given as 0: a search does not know who is better then, and its sign would come and go."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The way from the values of a game's search to chances of a win: log odds times ``slope``, plus ``lead``.

    ``lead`` is that of the player to move.
    """

    slope: float
    lead: float

    def value(self, raw: float) -> float:
        """Return the value, -1 to 1, that stands for the chance, a draw counted as half a win."""
        inside = max(-_NEAREST_VALUE, min(_NEAREST_VALUE, raw))
        value = _NEAREST_VALUE * math.tanh(self.slope * math.atanh(inside) + self.lead / 2)
        return value if abs(value) >= EVEN_BELOW else 0.0


CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    VirusWars.name: Calibration(1.05, -0.18),
    XeroG.name: Calibration(1.38, -0.28),
    Iris.name: Calibration(1.25, -0.29),
    Minefield.name: Calibration(1.51, -0.21),
}
"""Those of the searches of :func:`best_search`.

Fitted to games between equals by ``python -m tools.strength.trust GAME``, seeds 7 and 2; seed 1 tests them.
"""

LEVEL_CALIBRATIONS: Final[Mapping[str, Calibration]] = {**CALIBRATIONS, XeroG.name: Calibration(1.28, -0.31)}
"""Those of the searches of ``easy`` to ``expert``, fitted in the same way."""

VALUED_BY_MASTER: Final = (XeroG.name,)
"""The games whose positions are valued best by the search of the level ``master``."""


def best_search(game: Game, patience_s: float | None) -> Searcher:
    """Return the search that values positions of ``game`` best.

    It is compiled if its kernels are ready within ``patience_s`` seconds.
    """
    kernels = MASTER_KERNELS if game.name in VALUED_BY_MASTER else KERNELS
    return kernels.searcher(game, patience_s) or engine.plain_searcher(game)


def calibrated(
    analysis: Analysis, state: State, calibrations: Mapping[str, Calibration] = CALIBRATIONS
) -> Analysis:
    """Return an analysis of ``state`` with its estimates as chances, by what came of such values in games.

    Those of rows in the setup of Xero-G stay: they are made in another way.
    """
    if isinstance(state, XeroGState) and state.is_setup:
        return analysis
    calibration = calibrations[state.game.name]
    candidates = (
        each if each.is_proven else replace(each, value=calibration.value(each.value))
        for each in analysis.candidates
    )
    return replace(analysis, candidates=tuple(candidates))


def analyse(game: Game, state: State, seconds: float, candidate_count: int) -> Iterator[Analysis]:
    """Analyse ``state`` of ``game`` for ``seconds``: an :data:`~tabuleiro.rules.analysis.Analyser`.

    This first waits for the kernels of the game, up to a minute where they have to be compiled; the seconds count
    from then on.

    Raises: BotError when the game is over.
    """
    search = best_search(game, None)
    deadline_s = time.monotonic() + seconds
    found = search.analyse(
        state, candidate_count=candidate_count, max_nodes=None, deadline_s=deadline_s, seed=SEED
    )
    return (calibrated(each, state) for each in found)


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

    calibrations = LEVEL_CALIBRATIONS if isinstance(level, SearchLevel) else CALIBRATIONS

    def analyse_by(played: Game, state: State, seconds: float, candidate_count: int) -> Iterator[Analysis]:
        search = level.searcher(played, None)
        found = search.analyse(
            state,
            candidate_count=candidate_count,
            max_nodes=level.max_nodes,
            deadline_s=time.monotonic() + seconds,
            seed=SEED,
        )
        return (calibrated(each, state, calibrations) for each in found)

    return analyse_by


def suggest(game: Game, state: State, budget_ms: int) -> Candidate:
    """Return the best turn of ``state`` that can be found in about ``budget_ms`` milliseconds.

    Kernels that are not ready soon are not waited for.

    Raises: BotError when the game is over.
    """
    deadline_s = time.monotonic() + budget_ms / 1000
    search = best_search(game, PATIENCE_SHARE * budget_ms / 1000)
    *_, last = search.analyse(state, candidate_count=1, max_nodes=None, deadline_s=deadline_s, seed=SEED)
    return calibrated(last, state).best
