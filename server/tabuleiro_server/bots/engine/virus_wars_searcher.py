"""Choosing turns of Virus Wars: the kernel's search in stages, each going further or wider than the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro_server.bots.engine.alpha_beta import INFINITY, PROVEN, new_transpositions, unit_value
from tabuleiro_server.bots.engine.alpha_beta_analysis import iter_analyses
from tabuleiro_server.bots.engine.base import SearchResult, check_task
from tabuleiro_server.bots.engine.compiled import Array
from tabuleiro_server.bots.engine.effort import IS_OVER, NODES, limited_effort, unlimited_effort
from tabuleiro_server.bots.engine.virus_wars_analysis import VirusWarsRoot
from tabuleiro_server.bots.engine.virus_wars_board import NO_WORD, board_of, virus_wars_tables
from tabuleiro_server.bots.engine.virus_wars_search import MAX_PLIES, Memory, new_memory, search

VALUE_WEIGHTS: Final = (-29.0, 71.0, 2.0, 5.0, 10.0, 1.5, 8.0, 8.0, 50.0)
"""By :data:`~tabuleiro_server.bots.engine.virus_wars_values.FEATURE_NAMES`."""
RATING_WEIGHTS: Final = (
    (0.0, 1.0, 3.0, -1.0, 0.5, 0.0, 0.0, 2.0, 0.0),
    (6.0, 1.0, 3.0, 0.0, 0.5, 0.0, 0.0, 2.0, 0.0),
)
"""For contamination and absorption, by ``RATING_NAMES`` there."""

STAGES: Final = (
    (1, 1),
    (1, 4),
    (2, 4),
    (2, 6),
    (2, 8),
    (2, 12),
    (3, 8),
    (3, 12),
    (3, 16),
    (3, 24),
    (3, 40),
    (5, 40),
    (7, 80),
    (11, 400),
    (15, 400),
)
"""How many turns are looked ahead, and how many actions are tried for the first action of a turn."""
_LATER_ACTION: Final = 0.8
_LATER_TURN: Final = 0.85
_LEAST_WIDTH: Final = 2


class VirusWarsSearcher:
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` for Virus Wars. A node is a position."""

    def __init__(self, game: VirusWars) -> None:
        self._tables = virus_wars_tables(game)
        self._steps = game.steps
        self._value_weights = np.array(VALUE_WEIGHTS)
        self._rating_weights = np.array(RATING_WEIGHTS).ravel()

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, VirusWarsState)
        memory = new_memory(board_of(state, self._tables), self._value_weights, self._rating_weights, seed)
        table = new_transpositions()
        # The narrowest stage is a few nodes, and must be there whatever the limits: it gives a legal turn.
        effort = unlimited_effort()
        with limited_effort(max_nodes, deadline_s) as limits:
            for stage, widths in enumerate(self._iter_widths()):
                memory.stage[0], memory.sleeping[0] = stage, NO_WORD
                value = search(
                    self._tables, memory._replace(widths=widths), table, effort, 0, 0, -INFINITY, INFINITY
                )
                # A stage that was cut short still looked at the best turn so far first; but where that is lost,
                # the turns not yet looked at may not be.
                line = self._line(memory)
                if line and (value > -PROVEN or not effort[IS_OVER]):
                    best_line, best_value = line, value
                if effort[IS_OVER] or abs(best_value) >= PROVEN:
                    break
                limits[NODES], effort = effort[NODES], limits
        best = best_line[: state.actions_left]
        return SearchResult(
            best, unit_value(best_value), abs(best_value) >= PROVEN, int(effort[NODES]), (best_line,)
        )

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Tell the best turns; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, VirusWarsState)
        memory = new_memory(board_of(state, self._tables), self._value_weights, self._rating_weights, seed)
        root = VirusWarsRoot(self._tables, memory, self._steps, self._iter_widths)
        return iter_analyses(root, candidate_count, max_nodes, deadline_s)

    def _line(self, memory: Memory) -> tuple[int, ...]:
        length = memory.lines[0, 0]
        return tuple(int(self._tables.actions[place]) for place in memory.lines[0, 1 : length + 1])

    def _iter_widths(self) -> Iterator[Array]:
        """Yield the widths of each stage: by turn from the root and by actions left in it, less one."""
        actions_made = np.arange(self._steps)[::-1]
        for turns, width in STAGES:
            if turns * self._steps < MAX_PLIES - 2:
                rows = [width * _LATER_TURN**turn * _LATER_ACTION**actions_made for turn in range(turns)]
                yield np.maximum(np.round(rows), min(width, _LEAST_WIDTH)).astype(np.int32)
