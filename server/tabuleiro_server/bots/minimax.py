"""Minimax to a fixed number of actions: the computer players of Virus Wars in the reports.

A turn has several actions, so the side to move of every state decides who maximises, never the depth. Alpha-beta
and the table of positions seen save work and change nothing: the set of best actions is exactly that of the plain
search, because a root action is only cut off after it was found to be worse than the best.

The value of a position is its :func:`mobility`. :func:`highest_after` and :func:`lowest_after` give its extreme
over all next actions without making the states: they rest on what a single action can change, and leave every case
in which more could change to :func:`mobility`.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from random import Random
from typing import Final

from tabuleiro.ids import Player, opponent
from tabuleiro.rules.board import SquareBoard, iter_bits
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro_server.bots.engine.base import ThinkingTime

END_VALUE: Final = 100
"""The value of a won end; a lost one counts its negative. Source: RULES.md, "Computer players of the reports"."""


def mobility(state: VirusWarsState, player: Player) -> int:
    """Return the value of a state to ``player``: the cells they could choose, or -100 or +100 at an end.

    Source: RULES.md, "Computer players of the reports".
    """
    if not state.accessible():
        return -END_VALUE if state.mover == player else END_VALUE
    return state.accessible_to(player).bit_count()


def highest_after(state: VirusWarsState) -> int:
    """Return the highest :func:`mobility` of the mover after one more action; ``state`` must not be terminal."""
    player = state.mover
    if _has_player_to_enter(state):
        return max(mobility(state.child(action), player) for action in state.legal_actions())
    board, open_cells = state.game.board, state.accessible()
    # Only the neighbours of the chosen cell can become accessible, unless sleeping zombies wake there. The
    # opponent's cells stay as they are (a new virus can be absorbed) unless one of their viruses is absorbed.
    asleep = state.zombies[player] ^ state.awake_zombies(player)
    unclear = open_cells & board.spread8(asleep)
    ends_turn = state.actions_left == 1
    if ends_turn:
        unclear |= open_cells & state.viruses[1 - player]
    values = [mobility(state.child(action), player) for action in iter_bits(unclear)]
    if clear := open_cells ^ unclear:
        new_cells = _choosable(state, player) & ~open_cells
        neighbours = _neighbours(board)
        gain = max((neighbours[action] & new_cells).bit_count() for action in iter_bits(clear))
        values.append(open_cells.bit_count() - 1 + gain)
        if ends_turn:
            if not state.accessible_to(opponent(player)):
                values[-1] = END_VALUE
        elif values[-1] == 0:
            values[-1] = -END_VALUE
    return max(values)


def lowest_after(state: VirusWarsState) -> int:
    """Return the lowest :func:`mobility` of the player not on move after one more action of the mover.

    ``state`` must not be terminal.
    """
    player, open_cells = opponent(state.mover), state.accessible()
    if _has_player_to_enter(state) or open_cells.bit_count() == 1:
        return min(mobility(state.child(action), player) for action in state.legal_actions())
    # A virus put on an empty cell takes nothing from the other side, who may absorb it; only an absorption does.
    absorbable = open_cells & state.viruses[player]
    values = [mobility(state.child(action), player) for action in iter_bits(absorbable)]
    if open_cells ^ absorbable:
        count = state.accessible_to(player).bit_count()
        values.append(-END_VALUE if count == 0 and state.actions_left == 1 else count)
    return min(values)


def _has_player_to_enter(state: VirusWarsState) -> bool:
    """Return True if a player owns no piece yet: then more cells than the neighbours of pieces are accessible."""
    return state.game.has_edge_opening and not all(
        viruses | zombies for viruses, zombies in zip(state.viruses, state.zombies, strict=True)
    )


def _choosable(state: VirusWarsState, player: Player) -> int:
    """Return the cells that are empty or hold a virus of the opponent of ``player``, as a bit set."""
    return state.game.board.full ^ (state.viruses[player] | state.zombies[0] | state.zombies[1])


@cache
def _neighbours(board: SquareBoard) -> tuple[int, ...]:
    """Return for each cell the set of its neighbours and itself."""
    return tuple(board.spread8(1 << index) for index in range(board.cell_count))


_INFINITY: Final = 1 << 30


class _OutOfTimeError(Exception):
    """The search did not finish in its time; its results so far cannot be used."""


def best_actions(state: VirusWarsState, depth: int, time_left: ThinkingTime) -> tuple[int, ...] | None:
    """Return all actions of the highest minimax value for the mover, ascending; ``None`` when out of time.

    ``depth`` (1 or more) is the number of actions searched.
    """
    return _Search(state.mover, time_left).best_actions(state, depth)


def choose_action(state: VirusWarsState, depth: int, rng: Random, time_left: ThinkingTime) -> tuple[int, int]:
    """Choose one of the best actions by ``rng``; out of time, a search one action deep decides.

    Returns: the action and the number of positions looked at.
    """
    nodes = 0
    for tried_depth in (depth, 1):
        search = _Search(state.mover, time_left if tried_depth > 1 else ThinkingTime(float("inf")))
        best = search.best_actions(state, tried_depth)
        nodes += search.nodes
        if best is not None:
            return rng.choice(best), nodes
    raise AssertionError("a search one action deep has no limit")


class _Search:
    """One minimax search on behalf of ``player``; ``nodes`` counts the positions looked at."""

    def __init__(self, player: Player, time_left: ThinkingTime) -> None:
        self._player = player
        self._time_left = time_left
        self._bounds: dict[Hashable, tuple[int, int]] = {}
        self.nodes = 0

    def best_actions(self, state: VirusWarsState, depth: int) -> tuple[int, ...] | None:
        """Return all actions of the highest value, ascending; ``None`` when out of time."""
        best, value_of_best = [], -_INFINITY
        try:
            for action in state.legal_actions():
                # The window opens one below the best value, so that an equal value is still found exactly.
                value = self.value(state.child(action), depth - 1, value_of_best - 1, _INFINITY)
                if value > value_of_best:
                    best, value_of_best = [action], value
                elif value == value_of_best:
                    best.append(action)
        except _OutOfTimeError:
            return None
        return tuple(best)

    def value(self, state: VirusWarsState, depth: int, alpha: int, beta: int) -> int:
        """Return the value of ``state`` if it lies between ``alpha`` and ``beta``, else a bound on that side."""
        self.nodes += 1
        if depth == 0 or not state.accessible():
            return mobility(state, self._player)
        is_own_action = state.mover == self._player
        if depth == 1:
            self.nodes += state.legal_count()
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
        """Return the highest value of the actions in ``state``, with ``depth`` actions left after the next."""
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
        """Return the lowest value of the actions in ``state``, with ``depth`` actions left after the next."""
        best = _INFINITY
        for action in state.legal_actions():
            value = self.value(state.child(action), depth, alpha, beta)
            if value < best:
                best = value
                if best <= alpha:
                    break
                beta = min(beta, best)
        return best
