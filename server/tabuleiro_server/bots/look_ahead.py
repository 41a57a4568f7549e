"""Minimax and alpha-beta to a fixed number of actions, on the rules themselves and by any evaluation.

The mover of every state decides who maximises, never the depth, since turns may have several actions. Both find
the same values; alpha-beta leaves out branches that cannot change them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tabuleiro.ids import Player
from tabuleiro.rules import State
from tabuleiro_server.bots.engine.base import ThinkingTime
from tabuleiro_server.bots.evaluation import Evaluation, Number

UNLIMITED: Final = ThinkingTime(math.inf)


@dataclass(frozen=True, slots=True)
class ValuedAction:
    """An action with its value for the mover, and the line that leads to it, which begins with the action."""

    action: int
    value: Number
    line: tuple[int, ...]


class OutOfTimeError(Exception):
    """The search did not finish in its time."""


class LookAhead:
    """A search for ``player``, the mover of ``root``; ``nodes`` counts the positions it has looked at.

    Without ``counts_ends`` an end is worth no more than its board.
    """

    def __init__(
        self,
        root: State,
        evaluation: Evaluation,
        *,
        prunes: bool,
        counts_ends: bool = True,
        time_left: ThinkingTime = UNLIMITED,
    ) -> None:
        assert root.to_move is not None
        self._root = root
        self.player: Player = root.to_move
        self._evaluation = evaluation
        self._prunes = prunes
        self._counts_ends = counts_ends
        self._time_left = time_left
        self.nodes = 0

    def best(self, depth: int) -> tuple[ValuedAction, ...]:
        """Return all actions of the highest value ``depth`` (1 or more) actions ahead, ascending.

        Raises: OutOfTimeError; BotError, of an own value function.
        """
        found: list[ValuedAction] = []
        highest: Number = -math.inf
        for action in self._root.legal_actions():
            # The window opens just below the best value, so that an equal value is still found exactly.
            floor = math.nextafter(highest, -math.inf) if self._prunes else -math.inf
            value, line = self._value(self._root.child(action), depth - 1, floor, math.inf)
            if value > highest:
                found, highest = [], value
            if value == highest:
                found.append(ValuedAction(action, value, (action, *line)))
        return tuple(found)

    def all(self, depth: int) -> tuple[ValuedAction, ...]:
        """Return every action with its exact value, best first. Raises: as :meth:`best`."""
        found = []
        for action in self._root.legal_actions():
            value, line = self._value(self._root.child(action), depth - 1, -math.inf, math.inf)
            found.append(ValuedAction(action, value, (action, *line)))
        return tuple(sorted(found, key=lambda each: -each.value))

    def leaf_value(self, state: State) -> Number:
        """Return the value of ``state`` without looking further."""
        outcome = state.outcome
        if outcome is not None and self._counts_ends:
            return self._evaluation.value_of_end(outcome.winner, self.player)
        return self._evaluation.value(state, self.player)

    def _value(self, state: State, depth: int, alpha: Number, beta: Number) -> tuple[Number, tuple[int, ...]]:
        """Return the value of ``state`` and its line; outside of ``alpha`` to ``beta`` a bound is enough."""
        self.nodes += 1
        if depth == 0 or state.is_terminal:
            return self.leaf_value(state), ()
        if self._time_left.is_over():
            raise OutOfTimeError
        is_own = state.to_move == self.player
        best: Number = -math.inf if is_own else math.inf
        line: tuple[int, ...] = ()
        for action in state.legal_actions():
            value, later = self._value(state.child(action), depth - 1, alpha, beta)
            if value > best if is_own else value < best:
                best, line = value, (action, *later)
                if is_own:
                    alpha = max(alpha, best)
                else:
                    beta = min(beta, best)
                if self._prunes and alpha >= beta:
                    break
        return best, line


def deepest(search: LookAhead, depth: int, *, needs_all: bool = False) -> tuple[int, tuple[ValuedAction, ...]]:
    """Search 1, 2, ... ``depth`` actions deep; return the last depth that was finished in time and its result.

    With ``needs_all`` the result is that of :meth:`LookAhead.all`, else of :meth:`LookAhead.best`. A search one
    action deep has no limit of time.
    """
    reached, result = 0, tuple[ValuedAction, ...]()
    for tried in range(1, depth + 1):
        try:
            result = search.all(tried) if needs_all else search.best(tried)
        except OutOfTimeError:
            break
        reached = tried
    return reached, result
