"""Looking one action ahead in Xero-G in plain Python, and whether an answer wins: what is left without kernels."""

from __future__ import annotations

import time
from random import Random
from typing import Final

from tabuleiro.errors import BotError
from tabuleiro.rules import State
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g_moves import BASE_BIT
from tabuleiro_server.bots.engine.base import SearchResult
from tabuleiro_server.bots.turns import complete_turn

LOST: Final = -1_000
"""Worse than any number of targets that the opponent can have."""


class PlainXeroGSearcher:
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` for Xero-G without kernels; a node is an action."""

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        if max_nodes is None and deadline_s is None:
            raise BotError("a search needs a limit: a number of nodes or a deadline")
        if not isinstance(state, XeroGState) or state.is_terminal:
            raise BotError(f"nothing to think about, the game is over (position {state.to_position()})")
        rng = Random(seed)
        if state.is_setup:
            actions = complete_turn(state, lambda later: rng.choice(later.legal_actions()))
            return SearchResult(actions, 0.0, False, 0, (actions,))
        candidates = list(state.legal_actions())
        rng.shuffle(candidates)
        best, best_value, nodes = candidates[0], LOST - 1, 0
        for action in candidates[:max_nodes]:
            if deadline_s is not None and time.monotonic() >= deadline_s:
                break
            nodes += 1
            later = state.child(action)
            if later.outcome is not None and later.outcome.winner == state.mover:
                return SearchResult((action,), 1.0, True, nodes, ((action,),))
            value = _value_after(later)
            if value > best_value:
                best, best_value = action, value
        return SearchResult((best,), 0.0, False, nodes, ((best,),))


def _value_after(later: XeroGState) -> int:
    """The value of an action that did not win: the fewer targets the opponent has then, the better."""
    targets = [ship.targets for ship in later.ship_moves()]
    if any(each & BASE_BIT for each in targets):
        return LOST
    return -sum(each.bit_count() for each in targets)
