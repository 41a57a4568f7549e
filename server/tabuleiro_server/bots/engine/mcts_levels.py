"""The levels of Iris and Minefield: one search, ended sooner or later; ``easy`` looks less far, that is all."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tabuleiro.rules import State
from tabuleiro.rules.games.iris import Iris, IrisState
from tabuleiro.rules.games.minefield import Minefield, MinefieldState
from tabuleiro_server.bots.engine.plain_search import PlainSearcher
from tabuleiro_server.bots.engine.readiness import KERNELS
from tabuleiro_server.bots.thinking_time import ThinkingTime

PATIENCE_S: Final = 1.0
"""How long a turn waits, at most, for kernels that only have to be loaded."""

PATIENCE_SHARE: Final = 0.5
"""The part of a turn's time that such waiting may take."""


@dataclass(frozen=True, slots=True)
class SearchLevel:
    """A level: ``max_nodes`` playouts a turn, or what is possible in ``limit_ms`` milliseconds if that is less."""

    name: str
    max_nodes: int
    limit_ms: int

    def choose(self, state: IrisState | MinefieldState, rng: Random, time_left: ThinkingTime) -> tuple[int, ...]:
        """Choose the actions that complete the turn of the mover."""
        deadline_s = time.monotonic() + time_left.left_ms / 1000
        patience_s = min(PATIENCE_S, PATIENCE_SHARE * time_left.left_ms / 1000)
        search = KERNELS.searcher(state.game, patience_s) or PlainSearcher(_playout_actions)
        result = search.choose_turn(
            state, max_nodes=self.max_nodes, deadline_s=deadline_s, seed=rng.getrandbits(32)
        )
        return result.actions


def _playout_actions(state: State) -> Sequence[int]:
    """The legal actions but for the pass of Iris: own stones never hurt, so that passing only blurs playouts."""
    actions = state.legal_actions()
    return actions[:-1] if isinstance(state, IrisState) and state.can_pass else actions


SEARCH_LEVELS: Final[Mapping[str, tuple[SearchLevel, ...]]] = {
    Iris.name: (
        SearchLevel("easy", 40, limit_ms=1_000),
        SearchLevel("medium", 500, limit_ms=1_000),
        SearchLevel("hard", 4_000, limit_ms=1_500),
        SearchLevel("expert", 80_000, limit_ms=2_000),
    ),
    Minefield.name: (
        SearchLevel("easy", 30, limit_ms=1_000),
        SearchLevel("medium", 200, limit_ms=1_000),
        SearchLevel("hard", 1_500, limit_ms=1_500),
        SearchLevel("expert", 30_000, limit_ms=2_000),
    ),
}
"""The levels of each game, weakest first."""
