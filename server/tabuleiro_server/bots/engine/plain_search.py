"""Monte-Carlo tree search in plain Python on the rules themselves, for any game without kernels.

It works as the kernels do (results of actions played later, proven wins and losses) at about a hundredth of their
speed, with other random numbers: the same seed gives another turn than with kernels.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final

from tabuleiro.ids import Player
from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro_server.bots.engine.base import (
    ForcedEnds,
    SearchResult,
    after,
    check_task,
    first_turn,
    is_same_turn,
    turns_of_player,
)

EXPLORATION: Final = 0.1
RAVE_WEIGHT: Final = 0.001
PRIOR_VISITS: Final = 4.0
EXPAND_AT_VISITS: Final = 2
PLAYOUT_LENGTH: Final = 500
"""The number of actions after which a playout counts as a draw."""

ANALYSIS_SLICE_S: Final = 0.5
"""The time between two results of an analysis."""

PlayoutActions = Callable[[State], Sequence[int]]


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

    ``playout_actions`` lists the actions for playouts, at least one: all legal ones unless some only spoil
    playouts.
    """

    cores = 1

    def __init__(self, playout_actions: PlayoutActions = lambda state: state.legal_actions()) -> None:
        self._playout_actions = playout_actions

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        mover = check_task(state, max_nodes, deadline_s)
        rng, root = Random(seed), _Node(state, -1)
        _expand(root)
        done = self._grow(root, rng, max_nodes, deadline_s)
        line = _turn_from(state, _best_child(root))
        actions = tuple(node.action for node in line)
        if root.proof is not None:
            return SearchResult(actions, _gain(root.proof, mover), True, done, (actions,))
        value = _gain(line[0].total / max(line[0].visits, 1), mover)
        return SearchResult(actions, value, False, done, (actions,))

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Yield the best turns; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        return self._iter_analyses(state, candidate_count, max_nodes, deadline_s, Random(seed))

    def _iter_analyses(
        self, state: State, count: int, max_nodes: int | None, deadline_s: float | None, rng: Random
    ) -> Iterator[Analysis]:
        root, done, is_over = _Node(state, -1), 0, False
        _expand(root)
        while not is_over:
            left = None if max_nodes is None else max_nodes - done
            slice_end_s = None if deadline_s is None else min(deadline_s, time.monotonic() + ANALYSIS_SLICE_S)
            done += self._grow(root, rng, left, slice_end_s)
            is_over = root.proof is not None or slice_end_s == deadline_s or done == max_nodes
            yield Analysis(_candidates(root, count), done, is_compiled=False)

    def _grow(self, root: _Node, rng: Random, max_nodes: int | None, deadline_s: float | None) -> int:
        """Search until a limit is reached or ``root`` is proven; return the number of playouts."""
        done = 0
        while root.proof is None and (max_nodes is None or done < max_nodes):
            if deadline_s is not None and time.monotonic() >= deadline_s:
                break
            self._play_once(root, rng)
            done += 1
        return done

    def _play_once(self, root: _Node, rng: Random) -> None:
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
        """Play at random and return the result; the actions of each player are added to ``played``."""
        for _ in range(PLAYOUT_LENGTH):
            mover = state.to_move
            if mover is None:
                return _result(state)
            action = rng.choice(self._playout_actions(state))
            played[mover].add(action)
            state = state.child(action)
        return 0.0


def _result(state: State) -> float:
    """Return the result for player 0 of a game that is over: 1 won, -1 lost, 0 drawn."""
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
    spread = EXPLORATION * math.sqrt(math.log(node.visits + 1))
    expected = PRIOR_VISITS * node.total / max(node.visits, 1)

    def score(child: _Node) -> float:
        if child.proof is not None:
            return _gain(child.proof, mover) * 10 if child.proof else 0.0
        later = child.later_visits
        share = later / (later + child.visits + later * child.visits * RAVE_WEIGHT)
        own = child.total / child.visits if child.visits else 0.0
        mean = share * (child.later_total + expected) / later + (1 - share) * own
        return _gain(mean, mover) + spread / math.sqrt(child.visits + 1)

    return max(node.children, key=score)


def _back_up(path: Sequence[_Node], result: float, played: tuple[set[int], set[int]]) -> None:
    """Count a result for the nodes of ``path``, from its end, and for the actions played after each of them."""
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
    """Return a proven win, else the most visited child that is not lost; later results break ties."""
    mover = node.state.to_move

    def rank(child: _Node) -> tuple[float, float, float]:
        known = 0.0 if child.proof is None else _gain(child.proof, mover)
        return known, child.visits, _gain(child.later_total, mover) / child.later_visits

    return max(node.children, key=rank)


def _turn_from(state: State, first: _Node) -> list[_Node]:
    """Return the nodes of the best turn of ``state`` that begins with ``first``."""
    line = [first]
    while is_same_turn(state, line[-1].state):
        if not line[-1].children:
            _expand(line[-1])
        line.append(_best_child(line[-1]))
    return line


class _ProvenNodes:
    """Nodes as a :class:`~tabuleiro_server.bots.engine.base.ProvenTree`."""

    def children(self, node: _Node) -> Sequence[_Node]:
        return node.children

    def winner(self, node: _Node) -> Player | None:
        return None if not node.proof else 0 if node.proof > 0 else 1

    def mover(self, node: _Node) -> Player:
        return 0 if node.state.to_move == 0 else 1


def _candidates(root: _Node, count: int) -> tuple[Candidate, ...]:
    """Return the best turns from an expanded ``root``; those that only differ in their order count once."""
    best = _best_child(root)
    others = [child for child in root.children if child is not best and child.visits]
    found, positions = list[Candidate](), set[object]()
    for child in (best, *sorted(others, key=lambda child: -child.visits)):
        candidate = _candidate(root, child)
        position = after(root.state, candidate.actions).key()
        if position not in positions:
            positions.add(position)
            found.append(candidate)
        if len(found) == count:
            break
    return tuple(found)


def _candidate(root: _Node, child: _Node) -> Candidate:
    mover, nodes = root.state.to_move, _ProvenNodes()
    winner = nodes.winner(child)
    forced = None if winner is None else ForcedEnds(nodes).line_from(child)
    if winner is not None and forced is not None:
        line = tuple(node.action for node in forced)
        turns = turns_of_player(root.state, line, winner)
        value = 1.0 if winner == mover else -1.0
        return Candidate(first_turn(root.state, line), line, value, True, turns, child.visits)
    actions = tuple(node.action for node in _turn_from(root.state, child))
    is_proven = child.proof is not None
    value = _gain(child.proof if child.proof is not None else child.total / max(child.visits, 1), mover)
    return Candidate(actions, actions, value, is_proven, nodes=child.visits)
