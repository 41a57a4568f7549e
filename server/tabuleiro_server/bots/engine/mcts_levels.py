"""The levels of Iris and Minefield: one search, ended sooner or later; ``easy`` looks less far, that is all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tabuleiro.rules import State
from tabuleiro.rules.games.iris import Iris, IrisState
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro_server.bots.engine.plain_search import PlainSearcher
from tabuleiro_server.bots.engine.search_level import SearchLevel


def _playout_actions(state: State) -> Sequence[int]:
    """The legal actions but for the pass of Iris: own stones never hurt, so that passing only blurs playouts."""
    actions = state.legal_actions()
    return actions[:-1] if isinstance(state, IrisState) and state.can_pass else actions


def _level(name: str, max_nodes: int, limit_ms: int) -> SearchLevel:
    return SearchLevel(name, max_nodes, limit_ms, lambda: PlainSearcher(_playout_actions))


SEARCH_LEVELS: Final[Mapping[str, tuple[SearchLevel, ...]]] = {
    Iris.name: (
        _level("easy", 40, limit_ms=1_000),
        _level("medium", 200, limit_ms=1_000),
        _level("hard", 1_200, limit_ms=1_500),
        _level("expert", 80_000, limit_ms=2_000),
    ),
    Minefield.name: (
        _level("easy", 30, limit_ms=1_000),
        _level("medium", 130, limit_ms=1_000),
        _level("hard", 600, limit_ms=1_500),
        _level("expert", 30_000, limit_ms=2_000),
    ),
}
"""The levels of each game, weakest first."""
