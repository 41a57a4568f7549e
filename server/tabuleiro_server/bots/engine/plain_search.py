"""Monte-Carlo tree search in plain Python on the rules themselves, for any game: what is left without kernels.

It works as the kernels do (results of actions played later, proven wins and losses) at about a hundredth of their
speed, and draws its own numbers: the same seed gives another turn than the kernels choose.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from tabuleiro.errors import BotError
from tabuleiro.rules import State
from tabuleiro.rules.outcome import Player
from tabuleiro_server.bots.engine.base import SearchResult
from tabuleiro_server.bots.turns import is_same_turn

EXPLORATION: Final = 0.1
RAVE_WEIGHT: Final = 0.001
PRIOR_VISITS: Final = 4.0
EXPAND_AT_VISITS: Final = 2
PLAYOUT_LENGTH: Final = 500
"""Actions after which a playout counts as a draw."""

Candidates = Callable[[State], Sequence[int]]


class _Node:
    """A position in the tree. ``total`` and ``later_total`` are sums of results for player 0.

    ``proof`` is the result for player 0 where it is known, else ``None``.
    """

    __slots__ = ("action", "children", "later_total", "later_visits", "proof", "state", "total", "visits")

    def __init__(self, state: State, action: int) -> None:
        self.state = state
        self.action = action
        self.children: list[_Node] = []
        self.visits = 0
        self.total = 0.0
        self.later_visits = PRIOR_VISITS
        self.later_total = 0.0
        self.proof = _result(state) if state.is_terminal else None


class PlainSearcher:
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` without kernels.

    ``candidates`` lists the actions that playouts draw from, one at least: all legal ones unless a game knows some
    that only spoil playouts.
    """

    def __init__(self, candidates: Candidates = lambda state: state.legal_actions()) -> None:
        self._candidates = candidates

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        mover = state.to_move
        if mover is None:
            raise BotError(f"nothing to think about, the game is over (position {state.to_position()})")
        if max_nodes is None and deadline_s is None:
            raise BotError("a search needs a limit: a number of nodes or a deadline")
        rng, root, done = Random(seed), _Node(state, -1), 0
        _expand(root)
        while root.proof is None and (max_nodes is None or done < max_nodes):
            if deadline_s is not None and time.monotonic() >= deadline_s:
                break
            self._look_once(root, rng)
            done += 1
        line = [_best_child(root)]
        while is_same_turn(state, line[-1].state):
            if not line[-1].children:
                _expand(line[-1])
            line.append(_best_child(line[-1]))
        actions = tuple(node.action for node in line)
        if root.proof is not None:
            return SearchResult(actions, _gain(root.proof, mover), True, done, (actions,))
        value = _gain(line[0].total / max(line[0].visits, 1), mover)
        return SearchResult(actions, value, False, done, (actions,))

    def _look_once(self, root: _Node, rng: Random) -> None:
        path = [root]
        while path[-1].children and path[-1].proof is None:
            path.append(_select(path[-1]))
        leaf = path[-1]
        if leaf.proof is None and leaf.visits >= EXPAND_AT_VISITS:
            _expand(leaf)
        played: tuple[set[int], set[int]] = (set(), set())
        result = leaf.proof
        if result is None:
            result = self._play_out(leaf.state, played, rng)
        else:
            for node in reversed(path[:-1]):
                _prove(node)
        _back_up(path, result, played)

    def _play_out(self, state: State, played: tuple[set[int], set[int]], rng: Random) -> float:
        """Play at random; what each player played is added to ``played``."""
        for _ in range(PLAYOUT_LENGTH):
            mover = state.to_move
            if mover is None:
                return _result(state)
            action = rng.choice(self._candidates(state))
            played[mover].add(action)
            state = state.child(action)
        return 0.0


def _result(state: State) -> float:
    """The result for player 0 of an ended game: 1 won, -1 lost, 0 drawn."""
    assert state.outcome is not None
    return {0: 1.0, 1: -1.0, None: 0.0}[state.outcome.winner]


def _gain(result: float, player: Player | None) -> float:
    return result if player == 0 else -result


def _expand(node: _Node) -> None:
    node.children = [_Node(node.state.child(action), action) for action in node.state.legal_actions()]
    _prove(node)


def _prove(node: _Node) -> None:
    """Prove ``node`` as far as the proofs of its children allow."""
    mover = node.state.to_move
    gains = [None if child.proof is None else _gain(child.proof, mover) for child in node.children]
    known = [gain for gain in gains if gain is not None]
    if known and (max(known) == 1.0 or len(known) == len(gains)):
        node.proof = _gain(max(known), mover)


def _select(node: _Node) -> _Node:
    mover = node.state.to_move
    curiosity = EXPLORATION * math.sqrt(math.log(node.visits + 1))
    expected = PRIOR_VISITS * node.total / max(node.visits, 1)

    def score(child: _Node) -> float:
        if child.proof is not None:
            return _gain(child.proof, mover) * 10 if child.proof else 0.0
        later = child.later_visits
        share = later / (later + child.visits + later * child.visits * RAVE_WEIGHT)
        own = child.total / child.visits if child.visits else 0.0
        mean = share * (child.later_total + expected) / later + (1 - share) * own
        return _gain(mean, mover) + curiosity / math.sqrt(child.visits + 1)

    return max(node.children, key=score)


def _back_up(path: Sequence[_Node], result: float, played: tuple[set[int], set[int]]) -> None:
    """Count a result for the nodes of ``path``, from its end, and for what was played after each of them."""
    action: int | None = None
    for node in reversed(path):
        node.visits += 1
        node.total += result
        mover = node.state.to_move
        if mover is not None:
            if action is not None:
                played[mover].add(action)
            for child in node.children:
                if child.action in played[mover]:
                    child.later_visits += 1
                    child.later_total += result
        action = node.action


def _best_child(node: _Node) -> _Node:
    """A proven win, else the most visited child that is not lost; equals are told apart by later results."""
    mover = node.state.to_move

    def rank(child: _Node) -> tuple[float, float, float]:
        known = 0.0 if child.proof is None else _gain(child.proof, mover)
        return known, child.visits, _gain(child.later_total, mover) / child.later_visits

    return max(node.children, key=rank)
