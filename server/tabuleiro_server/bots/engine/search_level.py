"""A level that searches: the compiled search where its kernels are ready, else one in plain Python."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tabuleiro_server.bots.engine.base import Searcher
from tabuleiro_server.bots.engine.readiness import KERNELS
from tabuleiro_server.bots.thinking_time import ThinkingTime

PATIENCE_S: Final = 1.0
"""How long a turn waits, at most, for kernels that only have to be loaded."""

PATIENCE_SHARE: Final = 0.5
"""The part of a turn's time that such waiting may take."""


@dataclass(frozen=True, slots=True)
class SearchLevel:
    """A level: ``max_nodes`` nodes a turn, or what is possible in ``limit_ms`` milliseconds if that is less.

    ``make_plain`` makes the search for as long as there are no kernels.
    """

    name: str
    max_nodes: int
    limit_ms: int
    make_plain: Callable[[], Searcher]

    def choose(self, state: Any, rng: Random, time_left: ThinkingTime) -> tuple[int, ...]:
        """Choose the actions that complete the turn of the mover, in a state of the game of this level.

        When the time left is infinite, kernels are waited for and nodes alone decide: the choice is the same on
        every machine.
        """
        if math.isinf(time_left.left_ms):
            deadline_s, patience_s = None, threading.TIMEOUT_MAX
        else:
            deadline_s = time.monotonic() + time_left.left_ms / 1000
            patience_s = min(PATIENCE_S, PATIENCE_SHARE * time_left.left_ms / 1000)
        search = KERNELS.searcher(state.game, patience_s) or self.make_plain()
        result = search.choose_turn(
            state, max_nodes=self.max_nodes, deadline_s=deadline_s, seed=rng.getrandbits(32)
        )
        return result.actions
