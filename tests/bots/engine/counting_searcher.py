"""A search that tells what it kept of its tree."""

from __future__ import annotations

from collections.abc import Callable

from tabuleiro.rules import State
from tabuleiro_server.bots.engine.guided import GuidedSearcher
from tabuleiro_server.bots.engine.mcts import GameKernels


class CountingSearcher(GuidedSearcher):
    """Keeps how often the root was visited before each search."""

    def __init__(self, make_kernels: Callable[[], GameKernels]) -> None:
        super().__init__(make_kernels)
        self.kept = list[int]()

    def _prepare(self, state: State, *, is_timed: bool) -> None:
        super()._prepare(state, is_timed=is_timed)
        self.kept.append(int(self._tree.visits[0]))
