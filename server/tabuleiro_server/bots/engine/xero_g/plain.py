"""The search of Xero-G without kernels: one action deep, and a test if an answer wins."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from typing import Final

from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g.moves import BASE_BIT
from tabuleiro_server.bots.engine.base import SearchResult, check_task, complete_turn

WON: Final = 1_000
LOST: Final = -1_000
"""More and less than any number of targets of the opponent."""

GUESS_SCALE: Final = 400
"""The number of targets of the opponent that counts as a lost game."""


class PlainXeroGSearcher:
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` for Xero-G without kernels; a node is an action."""

    cores = 1

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, XeroGState)
        rng = Random(seed)
        if state.is_setup:
            actions = complete_turn(state, lambda later: rng.choice(later.legal_actions()))
            return SearchResult(actions, 0.0, False, 0, (actions,))
        nodes, ranked = _ranked_actions(state, rng, max_nodes, deadline_s)
        value, best = ranked[0]
        is_won = value == WON
        return SearchResult((best,), 1.0 if is_won else 0.0, is_won, nodes, ((best,),))

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Yield the best actions; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, XeroGState)
        if state.is_setup:
            row = self.choose_turn(state, max_nodes=max_nodes, deadline_s=deadline_s, seed=seed)
            return iter((Analysis((Candidate(row.actions, row.actions, row.value),), 0, is_compiled=False),))
        nodes, ranked = _ranked_actions(state, Random(seed), max_nodes, deadline_s)
        candidates = tuple(_candidate(action, value) for value, action in ranked[:candidate_count])
        return iter((Analysis(candidates, nodes, 1, is_compiled=False),))


def _ranked_actions(
    state: XeroGState, rng: Random, max_nodes: int | None, deadline_s: float | None
) -> tuple[int, list[tuple[int, int]]]:
    """Return the number of actions searched, and their values and numbers, best first; stop at a win."""
    candidates = list(state.legal_actions())
    rng.shuffle(candidates)
    valued: list[tuple[int, int]] = []
    for action in candidates[:max_nodes]:
        if deadline_s is not None and time.monotonic() >= deadline_s:
            break
        later = state.child(action)
        is_won = later.outcome is not None and later.outcome.winner == state.mover
        valued.append((WON if is_won else _value_after(later), action))
        if is_won:
            break
    valued.sort(key=lambda each: -each[0])
    return len(valued), valued or [(0, candidates[0])]


def _candidate(action: int, value: int) -> Candidate:
    """Return the candidate: proven if either player can enter at once, else with a guess of its value."""
    if value in (WON, LOST):
        return Candidate((action,), (action,), 1.0 if value == WON else -1.0, True, 1)
    return Candidate((action,), (action,), max(value / GUESS_SCALE, -0.9))


def _value_after(later: XeroGState) -> int:
    """Return the value of an action that did not win: fewer targets of the opponent are better."""
    targets = [ship.targets for ship in later.ship_moves()]
    if any(each & BASE_BIT for each in targets):
        return LOST
    return -sum(each.bit_count() for each in targets)
