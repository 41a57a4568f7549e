"""Choosing turns of Xero-G: iterative deepening over the kernel's search, and rows for the setup."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from tabuleiro.ids import Player, opponent
from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.games.xero_g import XeroG, XeroGState
from tabuleiro.rules.games.xero_g.actions import placement_number
from tabuleiro_server.bots.engine.alpha_beta import (
    ESTIMATE_LIMIT,
    INFINITY,
    PROVEN,
    new_transpositions,
    unit_value,
)
from tabuleiro_server.bots.engine.alpha_beta_analysis import iter_analyses
from tabuleiro_server.bots.engine.base import SearchResult, check_task
from tabuleiro_server.bots.engine.effort import ALLOWED, IS_OVER, NODES, Effort, limited_effort, unlimited_effort
from tabuleiro_server.bots.engine.xero_g_analysis import XeroGRoot
from tabuleiro_server.bots.engine.xero_g_board import hash_of, position_of
from tabuleiro_server.bots.engine.xero_g_search import ALL_ACTIONS, new_memory, search

WEIGHTS: Final = (80.0, 65.0, 5.0, 23.0, -200.0, 40.0, -70.0, -5.5, -22.0, 250.0, -50.0, 50.0, -450.0)
"""By :data:`~tabuleiro_server.bots.engine.xero_g_values.FEATURE_NAMES`."""

STAGES: Final = (
    (1, 12),
    (2, 24),
    (3, ALL_ACTIONS),
    (3, 12),
    (3, 24),
    (4, 12),
    (4, 24),
    (5, 12),
    (5, 24),
    (6, 16),
    (5, ALL_ACTIONS),
    (7, 24),
    (7, ALL_ACTIONS),
)
"""How many actions are looked ahead, and how many of them are tried each time but the last.

Where all are tried, it is only to find out whether a win can be forced.
"""
REPLY_COUNT: Final = 8
"""Rows of the opponent that a row is tried against in the setup."""
ROW_NODES: Final = 2_000
"""Nodes for which a row is looked at one action further than at a glance."""


class XeroGSearcher:
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` for Xero-G. A node is a position."""

    def __init__(self, game: XeroG) -> None:
        self._weights = np.array(WEIGHTS)

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, XeroGState)
        with limited_effort(max_nodes, deadline_s) as limits:
            if state.is_setup:
                return self._choose_row(state, limits, seed)
            return self._choose_move(state, limits, seed)

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Tell the best actions, or one row; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, XeroGState)
        if state.is_setup:
            row = self.choose_turn(state, max_nodes=max_nodes, deadline_s=deadline_s, seed=seed)
            # Without time for a single row there is no estimate.
            value = row.value if abs(row.value) < 1 else 0.0
            return iter((Analysis((Candidate(row.actions, row.actions, value),), row.nodes),))
        memory = new_memory(_hashes_played(state), self._weights, seed)
        memory.positions[0] = position_of(state)
        return iter_analyses(XeroGRoot(memory, STAGES), candidate_count, max_nodes, deadline_s)

    def _choose_move(self, state: XeroGState, limits: Effort, seed: int) -> SearchResult:
        memory, table = new_memory(_hashes_played(state), self._weights, seed), new_transpositions()
        memory.positions[0] = position_of(state)
        # One action deep is less than a moment, and must be looked whatever the limits: it gives a legal action.
        effort = unlimited_effort()
        for depth, width in STAGES:
            memory.width[0] = width
            alpha, beta = (PROVEN - 1, PROVEN) if width == ALL_ACTIONS else (-INFINITY, INFINITY)
            value = search(memory, table, effort, 0, depth, alpha, beta)
            line = tuple(int(move) for move in memory.lines[0, 1 : memory.lines[0, 0] + 1])
            # A search that was cut short still looked at the best action so far first; but where that loses, the
            # actions not yet looked at may not.
            if line and (value > -PROVEN or not effort[IS_OVER]):
                best_line, best_value = line, value
            if effort[IS_OVER] or abs(best_value) >= PROVEN:
                break
            limits[NODES], effort = effort[NODES], limits
        is_proven = abs(best_value) >= PROVEN
        return SearchResult(best_line[:1], unit_value(best_value), is_proven, int(effort[NODES]), (best_line,))

    def _choose_row(self, state: XeroGState, limits: Effort, seed: int) -> SearchResult:
        """Choose a row whose worst of some replies is best."""
        rng = random.Random(seed)
        rows = list(_iter_rows(state))
        rng.shuffle(rows)
        best_value, best_row = -INFINITY, rows[0]
        for row in rows:
            placed = _after(state, row)
            replies = list(_iter_rows(placed)) if placed.is_setup else []
            starts = [_after(placed, reply) for reply in rng.sample(replies, REPLY_COUNT)] if replies else [placed]
            value = min(self._value_of(start, state.mover, limits, seed) for start in starts)
            if limits[IS_OVER]:
                break
            if value > best_value:
                best_value, best_row = value, row
        return SearchResult(best_row, unit_value(best_value), False, int(limits[NODES]), (best_row,))

    def _value_of(self, start: XeroGState, player: Player, limits: Effort, seed: int) -> int:
        """The value of the end of a setup for ``player``, one action ahead if there are nodes enough."""
        memory = new_memory([], self._weights, seed)
        memory.positions[0] = position_of(start)
        depth = 1 if limits[ALLOWED] >= ROW_NODES else 0
        value = search(memory, new_transpositions(), limits, 0, depth, -INFINITY, INFINITY)
        # A win that is plain to see is as bad as it gets, but no proof about a row: the reply was one of some.
        value = min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)
        return value if start.mover == player else -value


def _hashes_played(state: XeroGState) -> list[int]:
    """The hashes of the positions from the end of the setup up to the one before ``state``."""
    count = len(state.earlier)
    return [
        hash_of(ships, state.mover if (count - index) % 2 == 0 else opponent(state.mover))
        for index, ships in enumerate(state.earlier)
    ]


def _iter_rows(state: XeroGState) -> Iterator[tuple[int, ...]]:
    """Yield all ways to place what the mover still has to place in the setup, by ascending square."""
    squares = bit_indexes(state.free_setup_squares())
    values = [value for value, count in state.supply() for _ in range(count)]
    for order in sorted(set(itertools.permutations(values))):
        yield tuple(placement_number(value, square) for value, square in zip(order, squares, strict=True))


def _after(state: XeroGState, actions: Sequence[int]) -> XeroGState:
    for action in actions:
        state = state.child(action)
    return state
