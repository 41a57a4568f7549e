"""Minimax a fixed number of actions deep, as the computer players of Virus Wars in the reports do it.

A turn has several actions, so who maximises is read from the side to move of every state, never from the depth.
Alpha-beta and the table of positions seen spare work and change nothing: the set of best actions is exactly that
of the plain search, because a root action is only cut off once it is known to be worse than the best.
"""

from __future__ import annotations

from collections.abc import Hashable
from random import Random
from typing import Final

from tabuleiro.ids import Player
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro_server.bots.engine.base import ThinkingTime
from tabuleiro_server.bots.mobility import highest_after, lowest_after, mobility

_INFINITY: Final = 1 << 30


class _OutOfTimeError(Exception):
    """The search did not finish in its time; what it knows so far is of no use."""


def best_actions(state: VirusWarsState, depth: int, time_left: ThinkingTime) -> tuple[int, ...] | None:
    """All actions of the highest minimax value for the mover, ascending, looking ``depth`` (1 or more) actions
    ahead; ``None`` when the time was over before the search.
    """
    search = _Search(state.mover, time_left)
    best, value_of_best = [], -_INFINITY
    try:
        for action in state.legal_actions():
            # The window opens one below the best value, so that an equal value is still found exactly.
            value = search.value(state.child(action), depth - 1, value_of_best - 1, _INFINITY)
            if value > value_of_best:
                best, value_of_best = [action], value
            elif value == value_of_best:
                best.append(action)
    except _OutOfTimeError:
        return None
    return tuple(best)


def choose_action(state: VirusWarsState, depth: int, rng: Random, time_left: ThinkingTime) -> int:
    """One of the best actions, drawn by ``rng``; a search one action deep decides when the time is over."""
    for tried_depth in (depth, 1):
        best = best_actions(state, tried_depth, time_left if tried_depth > 1 else ThinkingTime(float("inf")))
        if best is not None:
            return rng.choice(best)
    raise AssertionError("a search one action deep has no limit")


class _Search:
    """One minimax search on behalf of ``player``."""

    def __init__(self, player: Player, time_left: ThinkingTime) -> None:
        self._player = player
        self._time_left = time_left
        self._bounds: dict[Hashable, tuple[int, int]] = {}

    def value(self, state: VirusWarsState, depth: int, alpha: int, beta: int) -> int:
        """The value of ``state`` if it lies between ``alpha`` and ``beta``, else a bound on that side of them."""
        if depth == 0 or not state.accessible():
            return mobility(state, self._player)
        is_own_action = state.mover == self._player
        if depth == 1:
            return highest_after(state) if is_own_action else lowest_after(state)
        key = (depth, state.key())
        low, high = self._bounds.get(key, (-_INFINITY, _INFINITY))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        if self._time_left.is_over():
            raise _OutOfTimeError
        best = (self._highest if is_own_action else self._lowest)(state, depth - 1, alpha, beta)
        self._bounds[key] = (best if best > alpha else low, best if best < beta else high)
        return best

    def _highest(self, state: VirusWarsState, depth: int, alpha: int, beta: int) -> int:
        """The best that the player can make of ``state``, ``depth`` actions being left after the next."""
        best = -_INFINITY
        for action in state.legal_actions():
            value = self.value(state.child(action), depth, alpha, beta)
            if value > best:
                best = value
                if best >= beta:
                    break
                alpha = max(alpha, best)
        return best

    def _lowest(self, state: VirusWarsState, depth: int, alpha: int, beta: int) -> int:
        """The worst that the opponent can make of ``state``, ``depth`` actions being left after the next."""
        best = _INFINITY
        for action in state.legal_actions():
            value = self.value(state.child(action), depth, alpha, beta)
            if value < best:
                best = value
                if best <= alpha:
                    break
                beta = min(beta, best)
        return best
