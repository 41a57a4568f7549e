"""Choosing whole turns by Monte-Carlo tree search, for any game that brings its kernels.

A node of the budget is one playout. How a position is laid out and searched is left to the :class:`Playground` of
the game.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np

from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro_server.bots.engine.base import SearchResult, check_task
from tabuleiro_server.bots.engine.compiled import Array
from tabuleiro_server.bots.engine.draws import DrawState, new_draws
from tabuleiro_server.bots.engine.mcts import (
    UNPROVEN,
    Tree,
    back_up_proof,
    best_child,
    children_by_worth,
    lead_of_favourite,
    new_tree,
    value_of,
)
from tabuleiro_server.bots.engine.mcts_analysis import ProvenNodes
from tabuleiro_server.bots.engine.proven_lines import ForcedEnds
from tabuleiro_server.bots.turns import after, first_turn, is_same_turn, turns_of_player

NODE_LIMIT: Final = 3_000_000
"""Nodes of a tree: about 90 MB when all are used. A full tree is searched on, but grows no more."""

CHUNK_S: Final = 0.02
"""Time between two looks at the clock."""

CHECK_NODES: Final = 256
"""Playouts between two looks at whether more of them could still change the choice."""

FIRST_SHARE: Final = 0.6
"""The part of what is left that an action gets which is not the last of its turn."""

ANALYSIS_SLICE_S: Final = 0.5
"""How often an analysis tells what it knows."""

LINE_COUNT: Final = 3
LINE_LENGTH: Final = 12
LINE_VISITS: Final = 8
"""How many lines are told, how long they get, and the visits below which a line is not believed any further."""


class Playground(Protocol):
    """The kernels of one game with its options, as a searcher uses them."""

    def pack(self, state: State) -> Array:
        """The board of ``state``."""
        ...

    def grow(self, tree: Tree, root: int, board: Array, draws: DrawState, playout_count: int) -> int:
        """Search below the node ``root``, whose board is ``board``; return the number of playouts made.

        There are fewer than asked for only when the root is proven, and none but then.
        """
        ...

    def action_of(self, number: int) -> int:
        """The action of the rules that a node's number means."""
        ...

    def actions_left(self, state: State) -> int:
        """How many actions the mover will usually still make in this turn."""
        ...


class _Budget:
    """What is left of the playouts and of the time."""

    def __init__(self, max_nodes: int | None, deadline_s: float | None) -> None:
        self.spent = 0
        self._max_nodes = max_nodes
        self._deadline_s = deadline_s
        # With a clock, the first chunk shows how long a playout takes; without one, sizes do not matter.
        self._chunk = 32 if deadline_s is not None else 1 << 20

    def spend(
        self, playground: Playground, tree: Tree, root: int, state: State, draws: DrawState, share: float
    ) -> None:
        """Search below ``root`` with ``share`` of what is left, until it is proven or the choice is certain.

        Certain is what no number of the playouts that are left could overtake. It is looked for after the same
        numbers of playouts however they are parted, so that a clock which does not run out changes nothing.
        """
        board = playground.pack(state)
        start_s, start_spent = time.monotonic(), self.spent
        end_s = None if self._deadline_s is None else start_s + share * (self._deadline_s - start_s)
        end_spent = None if self._max_nodes is None else start_spent + int(share * (self._max_nodes - start_spent))
        now_s = start_s
        while tree.proof[root] == UNPROVEN and (end_spent is None or self.spent < end_spent):
            chunk = self._chunk
            if end_spent is not None:
                chunk = min(chunk, end_spent - self.spent, CHECK_NODES - self.spent % CHECK_NODES)
            self.spent += playground.grow(tree, root, board, draws, chunk)
            is_checked = end_spent is not None and self.spent % CHECK_NODES == 0
            if end_spent is not None and is_checked and lead_of_favourite(tree, root) > end_spent - self.spent:
                break
            if end_s is None:
                continue
            before_s, now_s = now_s, time.monotonic()
            if now_s >= end_s:
                break
            wanted = min(CHUNK_S, end_s - now_s) / max(now_s - before_s, 1e-6)
            # What was cut short for another reason says little about how long the next may be.
            self._chunk = max(1, min(2 * self._chunk, int(chunk * wanted)))


class MctsSearcher:
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` by Monte-Carlo tree search."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._tree = new_tree(NODE_LIMIT)

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        mover = check_task(state, max_nodes, deadline_s)
        tree, budget = self._tree, _Budget(max_nodes, deadline_s)
        _forget(tree)
        draws = new_draws(seed)
        path = self._search(0, state, budget, draws)
        is_proven = tree.proof[0] != UNPROVEN
        # The last choice of the turn has been looked at most closely.
        value = value_of(tree, 0 if is_proven else path[-1], mover)
        actions = self._actions(path)
        return SearchResult(actions, value, bool(is_proven), budget.spent, self._lines(path))

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Tell the best turns; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        _forget(self._tree)
        return self._iter_analyses(state, candidate_count, max_nodes, deadline_s, new_draws(seed))

    def _iter_analyses(
        self, state: State, count: int, max_nodes: int | None, deadline_s: float | None, draws: DrawState
    ) -> Iterator[Analysis]:
        spent, is_over = 0, False
        while not is_over:
            left = None if max_nodes is None else max_nodes - spent
            slice_end_s = None if deadline_s is None else min(deadline_s, time.monotonic() + ANALYSIS_SLICE_S)
            budget = _Budget(left, slice_end_s)
            budget.spend(self._playground, self._tree, 0, state, draws, 1.0)
            spent += budget.spent
            is_over = self._tree.proof[0] != UNPROVEN or slice_end_s == deadline_s or spent == max_nodes
            yield Analysis(self._candidates(state, count, draws), spent)

    def _candidates(self, state: State, count: int, draws: DrawState) -> tuple[Candidate, ...]:
        """The best turns by the tree; those that only differ in the order of their actions count once."""
        tree, found, positions = self._tree, list[Candidate](), set[object]()
        first = self._search(0, state, _Budget(0, None), draws)
        for child in children_by_worth(tree, 0):
            if found and (len(found) == count or (tree.visits[child] < LINE_VISITS and not tree.proof[child])):
                break
            path = first if child == first[0] else self._turn_from(child, state, draws)
            candidate = self._candidate(state, path)
            position = after(state, candidate.actions).key()
            if position not in positions:
                positions.add(position)
                found.append(candidate)
        return tuple(found)

    def _turn_from(self, child: int, state: State, draws: DrawState) -> list[int]:
        """The nodes of the best turn that begins with ``child``."""
        later = state.child(self._playground.action_of(int(self._tree.action[child])))
        if not is_same_turn(state, later):
            return [child]
        return [child, *self._search(child, later, _Budget(0, None), draws)]

    def _candidate(self, state: State, path: list[int]) -> Candidate:
        """The turn of ``path``, or the one that ends the game soonest where it is proven who wins."""
        tree, mover, visits = self._tree, 0 if state.to_move == 0 else 1, int(self._tree.visits[path[0]])
        nodes, is_proven = ProvenNodes(tree), bool(tree.proof[path[0]] != UNPROVEN)
        winner = nodes.winner(path[0])
        forced = None if winner is None else ForcedEnds(nodes).line_from(path[0])
        if winner is not None and forced is not None:
            line = self._actions(list(forced))
            turns = turns_of_player(state, line, winner)
            return Candidate(first_turn(state, line), line, value_of(tree, path[0], mover), True, turns, visits)
        is_looked_at = not is_proven and tree.visits[path[-1]] >= LINE_VISITS
        value = value_of(tree, path[-1] if is_looked_at else path[0], mover)
        return Candidate(self._actions(path), self._actions(self._followed(path)), value, is_proven, nodes=visits)

    def _search(self, node: int, state: State, budget: _Budget, draws: DrawState) -> list[int]:
        """The nodes of the best actions from ``node`` to the end of the turn."""
        tree, playground = self._tree, self._playground
        share = FIRST_SHARE if playground.actions_left(state) > 1 else 1.0
        budget.spend(playground, tree, node, state, draws, share)
        if tree.child_count[node] == 0:
            playground.grow(tree, node, playground.pack(state), draws, 1)
        while True:
            child = best_child(tree, node)
            later = state.child(playground.action_of(int(tree.action[child])))
            if not is_same_turn(state, later):
                return [child]
            path = [child, *self._search(child, later, budget, draws)]
            if tree.proof[child] == UNPROVEN:
                return path
            back_up_proof(tree, np.array([node, child], dtype=np.int32), 2)
            # A second look may have proven the choice bad; every such look proves one more child.
            if best_child(tree, node) == child:
                return path

    def _actions(self, path: list[int]) -> tuple[int, ...]:
        return tuple(self._playground.action_of(int(self._tree.action[node])) for node in path)

    def _lines(self, chosen: list[int]) -> tuple[tuple[int, ...], ...]:
        """The lines of the chosen turn and of the best other actions to begin it with."""
        others = [child for child in children_by_worth(self._tree, 0) if child != chosen[0]]
        believed = [[child] for child in others if self._tree.visits[child] >= LINE_VISITS]
        return tuple(self._actions(self._followed(path)) for path in [chosen, *believed[: LINE_COUNT - 1]])

    def _followed(self, path: list[int]) -> list[int]:
        """``path`` and the best answers from its end on, as far as they can be believed."""
        tree, line = self._tree, list(path)
        while len(line) < LINE_LENGTH and tree.child_count[line[-1]] > 0:
            child = best_child(tree, line[-1])
            if tree.visits[child] < LINE_VISITS and tree.proof[child] == UNPROVEN:
                break
            line.append(child)
        return line


def _forget(tree: Tree) -> None:
    """Leave a tree of nothing but an unvisited root."""
    tree.used[0] = 1
    for values in (tree.child_count, tree.proof, tree.visits, tree.total):
        values[0] = 0
