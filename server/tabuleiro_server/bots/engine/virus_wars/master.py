"""The search of the level ``master`` of Virus Wars: the same as below it, by time, with ratings learnt from games.

A width limits the actions that are looked at, the best rated first. At the other levels each cut of the search
adds to the rating of its action, and in a long search that outweighs everything else: here it adds less and less.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from tabuleiro.rules import State
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro_server.bots.engine.alpha_beta import new_transpositions
from tabuleiro_server.bots.engine.base import SearchResult, check_task
from tabuleiro_server.bots.engine.virus_wars.board import board_of
from tabuleiro_server.bots.engine.virus_wars.search import VirusWarsSearcher, new_memory
from tabuleiro_server.bots.engine.weights import read_weights

HISTORY_LIMIT: Final = 1.0
"""The most that the cuts of a search add to the rating of an action."""

TABLE_BITS: Final = 20

WEIGHTS_FILE: Final = Path(__file__).with_name("weights.json")
"""The weights of ratings, a list; ``make train GAME=virus-wars`` makes it.

They are in the order of :data:`~tabuleiro_server.bots.engine.virus_wars.values.RATING_NAMES`, first those of
contamination, then those of absorption.
"""


class MasterVirusWarsSearcher(VirusWarsSearcher):
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` for Virus Wars. A node is a position.

    The table is kept from turn to turn, except by searches that are limited by nodes alone: these always give the
    same result.
    """

    def __init__(self, game: VirusWars, rating_weights: Sequence[float] | None = None) -> None:
        """Take ``rating_weights`` for the ratings; those of the file if left out."""
        super().__init__(game)
        self._table = new_transpositions(TABLE_BITS)
        self._rating_weights = np.array(rating_weights or read_weights(WEIGHTS_FILE))

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, VirusWarsState)
        if deadline_s is None:
            self._table = new_transpositions(TABLE_BITS)
        board = board_of(state, self._tables)
        memory = new_memory(board, self._value_weights, self._rating_weights, seed, HISTORY_LIMIT)
        return self._deepen(state, memory, self._table, max_nodes, deadline_s)
