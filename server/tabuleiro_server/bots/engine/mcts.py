"""Monte-Carlo tree search for any game: the tree and its kernels, and the choice of whole turns by it.

The kernels of a game (:class:`GameKernels`) descend, expand and value leaves, most by playouts, and call those of
the tree. Nothing here assumes that players alternate: every node has its mover, and results are kept from the side
of player 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np

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
from tabuleiro_server.bots.engine.kernels import Array, RandomState, as_index, kernel, new_rng

UNPROVEN: Final = 0
DRAWN: Final = 3
"""Proofs: :data:`UNPROVEN`, 1 + the winner, or :data:`DRAWN`."""

ROOT_RESERVE: Final = 2_000
"""Nodes kept for the children of roots: more than all actions of a turn have children."""


class Tree(NamedTuple):
    """A pool of nodes, as arrays by node; the children of a node are neighbours.

    ``mover`` is the player to move at a node, set when its children are added. ``total`` is the sum of the results
    of ``visits`` playouts, 1 for each that player 0 won and -1 for each lost, or of estimates between them;
    ``rave_total`` is the same for the ``rave_visits`` playouts in which the player who chooses the node played its
    action then or later, and both begin with what is thought of the node before any. ``prior`` is how likely the
    node is the best of its neighbours, in searches that have a guess. ``used`` holds the number of nodes.
    """

    first_child: Array
    child_count: Array
    action: Array
    mover: Array
    proof: Array
    visits: Array
    total: Array
    rave_visits: Array
    rave_total: Array
    prior: Array
    used: Array


def new_tree(node_limit: int) -> Tree:
    """Return a tree of at most ``node_limit`` nodes that holds a root, node 0."""
    tree = Tree(
        np.zeros(node_limit, dtype=np.int32),
        np.zeros(node_limit, dtype=np.int16),
        np.zeros(node_limit, dtype=np.int16),
        np.zeros(node_limit, dtype=np.int8),
        np.zeros(node_limit, dtype=np.int8),
        np.zeros(node_limit, dtype=np.int32),
        np.zeros(node_limit, dtype=np.float32),
        np.zeros(node_limit, dtype=np.float32),
        np.zeros(node_limit, dtype=np.float32),
        np.zeros(node_limit, dtype=np.float32),
        np.zeros(1, dtype=np.int64),
    )
    tree.used[0] = 1
    return tree


class Tuning(NamedTuple):
    """The parameters of a game's tree.

    ``exploration`` is the weight of children seldom visited; with a higher ``rave_weight`` the own results of a
    child outweigh those of its action played later sooner; a new child starts as if its action had been seen
    ``prior_visits`` (above 0) times with the mean result of its parent; a node gets children when it is visited
    again after ``expand_at_visits`` visits.
    """

    exploration: float
    rave_weight: float
    prior_visits: float
    expand_at_visits: int


@kernel
def add_children(
    tree: Tree, node: int, mover: int, actions: Array, count: int, tuning: Tuning, is_root: bool
) -> bool:
    """Give ``node`` the first ``count`` (1 or more) of ``actions`` as children; return False if the tree is full.

    Some room is kept for the root of a search (``is_root``), which must have children.
    """
    first = tree.used[0]
    if first + count > len(tree.action) - (0 if is_root else ROOT_RESERVE):
        return False
    tree.used[0] = first + count
    tree.first_child[node] = first
    tree.mover[node] = mover
    for place in range(count):
        child = first + place
        tree.action[child] = actions[place]
        tree.child_count[child] = 0
        tree.proof[child] = UNPROVEN
        tree.visits[child] = 0
        tree.total[child] = 0.0
        tree.rave_visits[child] = tuning.prior_visits
        tree.rave_total[child] = 0.0
    tree.child_count[node] = count
    return True


@kernel
def select_child(tree: Tree, node: int, tuning: Tuning) -> int:
    """Select the child to search next: a proven win at once, else the one with the best upper bound.

    Children proven lost are left out; if all of them are lost, the node is proven itself and never searched.
    """
    first = tree.first_child[node]
    winning = tree.mover[node] + 1
    spread = tuning.exploration * math.sqrt(math.log(tree.visits[node] + 1.0))
    sign = 1.0 if winning == 1 else -1.0
    expected = tuning.prior_visits * tree.total[node] / max(tree.visits[node], 1)
    best, best_score = int(first), -np.inf
    for child in range(first, first + tree.child_count[node]):
        proof = tree.proof[child]
        if proof == winning:
            return child
        if proof == UNPROVEN:
            visits, rave_visits = float(tree.visits[child]), tree.rave_visits[child]
            share = rave_visits / (rave_visits + visits + rave_visits * visits * tuning.rave_weight)
            mean = share * (tree.rave_total[child] + expected) / rave_visits
            if visits > 0.0:
                mean += (1.0 - share) * tree.total[child] / visits
            score = sign * mean + spread / math.sqrt(visits + 1.0)
        elif proof == DRAWN:
            score = 0.0
        else:
            continue
        if score > best_score:
            best, best_score = child, score
    return best


@kernel
def back_up(tree: Tree, path: Array, length: int, result: float, owners: Array) -> None:
    """Count a result for the nodes of a path from the root and for the actions that were played after them.

    ``result`` is 1 when player 0 won, -1 when player 1 did, 0 for a draw; ``owners`` has, by action, the player
    whose stone was there at the end; other numbers stand for nobody.
    """
    gain = np.float32(result)
    for depth in range(length):
        node = path[depth]
        tree.visits[node] += 1
        tree.total[node] += result
        mover = tree.mover[node]
        start = int(tree.first_child[node])
        end = start + int(tree.child_count[node])
        actions, visits, totals = tree.action[start:end], tree.rave_visits[start:end], tree.rave_total[start:end]
        for place in range(end - start):
            # Adding 0 is quicker than a branch: who has a cell at the end is as good as random.
            is_counted = np.float32(owners[as_index(actions[place])] == mover)
            visits[place] += is_counted
            totals[place] += is_counted * gain


@kernel
def back_up_proof(tree: Tree, path: Array, length: int) -> None:
    """Prove the nodes of a path from the root as far as a new proof of its last node allows."""
    for depth in range(length - 2, -1, -1):
        node = path[depth]
        winning = tree.mover[node] + 1
        first = tree.first_child[node]
        proof = 3 - winning
        for child in range(first, first + tree.child_count[node]):
            if tree.proof[child] == winning:
                proof = winning
                break
            if tree.proof[child] == UNPROVEN:
                proof = UNPROVEN
            elif tree.proof[child] == DRAWN and proof != UNPROVEN:
                proof = DRAWN
        if proof == UNPROVEN:
            return
        tree.proof[node] = proof


@kernel
def result_of_proof(proof: int) -> float:
    """Return the result of a proven node: 1 when player 0 wins, -1 when player 1 does, 0 for a draw."""
    return 0.0 if proof == DRAWN else 3.0 - 2.0 * proof


def best_child(tree: Tree, node: int) -> int:
    """Return the child of an expanded ``node`` to play.

    A proven win; else a proven draw, if nothing unproven is better than even; else the most visited that is not
    lost. Children with equal visits, as among lost ones, are ranked by the results of the action played later.
    """
    children = _children(tree, node)
    proofs, visits = tree.proof[children], tree.visits[children]
    sign = 1 if tree.mover[node] == 0 else -1
    means = sign * tree.total[children] / np.maximum(visits, 1)
    chances = np.where(proofs == UNPROVEN, visits, 0)
    favourite = int(np.argmax(chances))
    if np.any(proofs == tree.mover[node] + 1):
        ranks = proofs == tree.mover[node] + 1
    elif np.any(proofs == DRAWN) and (chances[favourite] == 0 or means[favourite] <= 0):
        ranks = proofs == DRAWN
    else:
        ranks = proofs == UNPROVEN
    later = sign * tree.rave_total[children] / tree.rave_visits[children]
    return int(children[np.lexsort((later, visits, ranks))[-1]])


def lead_of_favourite(tree: Tree, node: int) -> int:
    """Return the lead in visits of the most visited unproven child of an expanded ``node`` over the next one."""
    children = _children(tree, node)
    visits = np.sort(tree.visits[children][tree.proof[children] == UNPROVEN])
    return int(visits[-1] - visits[-2]) if len(visits) > 1 else 0


def children_by_worth(tree: Tree, node: int) -> list[int]:
    """Return the children of ``node``: :func:`best_child` first, then those not proven lost by falling visits."""
    if tree.child_count[node] == 0:
        return []
    best, losing = best_child(tree, node), 2 - tree.mover[node]
    others = [child for child in _children(tree, node) if child != best and tree.proof[child] != losing]
    return [best, *sorted(map(int, others), key=lambda child: -int(tree.visits[child]))]


def value_of(tree: Tree, node: int, mover: int) -> float:
    """Return the value of ``node`` to ``mover``: -1 to 1, exact when it is proven."""
    proof = int(tree.proof[node])
    if proof != UNPROVEN:
        return 0.0 if proof == DRAWN else 1.0 if proof == mover + 1 else -1.0
    mean = float(tree.total[node]) / max(int(tree.visits[node]), 1)
    return mean if mover == 0 else -mean


def _children(tree: Tree, node: int) -> Array:
    first = int(tree.first_child[node])
    return np.arange(first, first + int(tree.child_count[node]))


class ProvenNodes:
    """The tree of a search as a :class:`~tabuleiro_server.bots.engine.base.ProvenTree`."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def children(self, node: int) -> Sequence[int]:
        """Return the children of ``node``."""
        first = int(self._tree.first_child[node])
        return range(first, first + int(self._tree.child_count[node]))

    def winner(self, node: int) -> Player | None:
        """Return the proven winner."""
        proof = int(self._tree.proof[node])
        return None if proof in (UNPROVEN, DRAWN) else 0 if proof == 1 else 1

    def mover(self, node: int) -> Player:
        """Return the player to move."""
        return 0 if self._tree.mover[node] == 0 else 1


NODE_LIMIT: Final = 3_000_000
"""Nodes of a tree: about 90 MB when all are used. In a full tree the search goes on, but adds no nodes."""

CHUNK_S: Final = 0.02
"""The time between two readings of the clock."""

CHECK_NODES: Final = 256
"""The playouts between two tests if more of them could still change the choice."""

FIRST_SHARE: Final = 0.6
"""The part of the remaining budget for an action that is not the last of its turn."""

ANALYSIS_SLICE_S: Final = 0.5
"""The time between two results of an analysis."""

LINE_COUNT: Final = 3
LINE_LENGTH: Final = 12
LINE_VISITS: Final = 8
"""The most lines of a result, the most actions of a line, and the fewest visits of a node in a line."""


class GameKernels(Protocol):
    """The kernels of one game with its options, for :class:`MctsSearcher`."""

    def pack(self, state: State) -> Array:
        """Return the board of ``state``."""
        ...

    def grow(self, tree: Tree, root: int, board: Array, rng: RandomState, playout_count: int) -> int:
        """Search below the node ``root``, whose board is ``board``; return the number of playouts made.

        There are fewer than asked for only when the root is proven.
        """
        ...

    def action_of(self, number: int) -> int:
        """Return the action of the rules for the action of a node."""
        ...

    def actions_left(self, state: State) -> int:
        """Return the usual number of actions that the mover still makes in this turn."""
        ...


class Budget:
    """The remaining playouts and time; ``is_over`` may be set from outside."""

    def __init__(self, max_nodes: int | None, deadline_s: float | None) -> None:
        self.spent = 0
        self.is_over = False
        self._max_nodes = max_nodes
        self._deadline_s = deadline_s
        # With a clock, the first chunk shows how long a playout takes; without one, sizes do not matter.
        self._chunk = 32 if deadline_s is not None else 1 << 20

    def end_of(self, share: float) -> float | None:
        """Return the end of ``share`` of the time left on the clock of ``time.monotonic``, if there is one."""
        now_s = time.monotonic()
        return None if self._deadline_s is None else now_s + share * (self._deadline_s - now_s)

    def spend(
        self, kernels: GameKernels, tree: Tree, root: int, state: State, rng: RandomState, share: float
    ) -> None:
        """Search below ``root`` with ``share`` of the remainder, until it is proven or the choice is certain.

        A choice is certain if the remaining playouts cannot change it. This is tested after the same numbers of
        playouts, however they are split: a clock that does not run out changes nothing.
        """
        board = kernels.pack(state)
        start_s, start_spent = time.monotonic(), self.spent
        end_s = self.end_of(share)
        end_spent = None if self._max_nodes is None else start_spent + int(share * (self._max_nodes - start_spent))
        now_s = start_s
        while not self.is_over and tree.proof[root] == UNPROVEN and (end_spent is None or self.spent < end_spent):
            chunk = self._chunk
            if end_spent is not None:
                chunk = min(chunk, end_spent - self.spent, CHECK_NODES - self.spent % CHECK_NODES)
            self.spent += kernels.grow(tree, root, board, rng, chunk)
            is_checked = end_spent is not None and self.spent % CHECK_NODES == 0
            if end_spent is not None and is_checked and lead_of_favourite(tree, root) > end_spent - self.spent:
                break
            if end_s is None:
                continue
            before_s, now_s = now_s, time.monotonic()
            if now_s >= end_s:
                break
            wanted = min(CHUNK_S, end_s - now_s) / max(now_s - before_s, 1e-6)
            # A chunk that was cut short for another reason says little about the length of the next one.
            self._chunk = max(1, min(2 * self._chunk, int(chunk * wanted)))


class MctsSearcher:
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` by Monte-Carlo tree search."""

    cores = 1

    def __init__(self, kernels: GameKernels, node_limit: int = NODE_LIMIT) -> None:
        self._kernels = kernels
        self._tree = new_tree(node_limit)

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        mover = check_task(state, max_nodes, deadline_s)
        tree, budget = self._tree, Budget(max_nodes, deadline_s)
        self._prepare(state, is_timed=deadline_s is not None)
        path = self._search(0, state, budget, new_rng(seed))
        is_proven = tree.proof[0] != UNPROVEN
        # The last choice of the turn has been searched best.
        value = value_of(tree, 0 if is_proven else path[-1], mover)
        actions = self._actions(path)
        return SearchResult(actions, value, bool(is_proven), budget.spent, self._lines(path))

    def _prepare(self, state: State, *, is_timed: bool) -> None:
        """Have a tree whose root is ``state``, before a search."""
        forget(self._tree)

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Yield the best turns; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        self._prepare(state, is_timed=False)
        return self._iter_analyses(state, candidate_count, max_nodes, deadline_s, new_rng(seed))

    def _iter_analyses(
        self, state: State, count: int, max_nodes: int | None, deadline_s: float | None, rng: RandomState
    ) -> Iterator[Analysis]:
        spent, is_over = 0, False
        while not is_over:
            left = None if max_nodes is None else max_nodes - spent
            slice_end_s = None if deadline_s is None else min(deadline_s, time.monotonic() + ANALYSIS_SLICE_S)
            budget = Budget(left, slice_end_s)
            budget.spend(self._kernels, self._tree, 0, state, rng, 1.0)
            spent += budget.spent
            is_over = self._tree.proof[0] != UNPROVEN or slice_end_s == deadline_s or spent == max_nodes
            yield Analysis(self._candidates(state, count, rng), spent)

    def _candidates(self, state: State, count: int, rng: RandomState) -> tuple[Candidate, ...]:
        """Return the best turns by the tree; those that only differ in the order of their actions count once."""
        tree, found, positions = self._tree, list[Candidate](), set[object]()
        first = self._search(0, state, Budget(0, None), rng)
        for child in children_by_worth(tree, 0):
            if found and (len(found) == count or (tree.visits[child] < LINE_VISITS and not tree.proof[child])):
                break
            path = first if child == first[0] else self._turn_from(child, state, rng)
            candidate = self._candidate(state, path)
            position = after(state, candidate.actions).key()
            if position not in positions:
                positions.add(position)
                found.append(candidate)
        return tuple(found)

    def _turn_from(self, child: int, state: State, rng: RandomState) -> list[int]:
        """Return the nodes of the best turn that begins with ``child``."""
        later = state.child(self._kernels.action_of(int(self._tree.action[child])))
        if not is_same_turn(state, later):
            return [child]
        return [child, *self._search(child, later, Budget(0, None), rng)]

    def _candidate(self, state: State, path: list[int]) -> Candidate:
        """Return the turn of ``path``, or the shortest forced end if the winner is proven."""
        tree, mover, visits = self._tree, 0 if state.to_move == 0 else 1, int(self._tree.visits[path[0]])
        nodes, is_proven = ProvenNodes(tree), bool(tree.proof[path[0]] != UNPROVEN)
        winner = nodes.winner(path[0])
        forced = None if winner is None else ForcedEnds(nodes).line_from(path[0])
        if winner is not None and forced is not None:
            line = self._actions(list(forced))
            turns = turns_of_player(state, line, winner)
            return Candidate(first_turn(state, line), line, value_of(tree, path[0], mover), True, turns, visits)
        is_searched = not is_proven and tree.visits[path[-1]] >= LINE_VISITS
        value = value_of(tree, path[-1] if is_searched else path[0], mover)
        return Candidate(self._actions(path), self._actions(self._followed(path)), value, is_proven, nodes=visits)

    def _grow(self, node: int, state: State, budget: Budget, rng: RandomState, share: float) -> None:
        """Search below ``node``, whose state is ``state``, with ``share`` of the budget."""
        budget.spend(self._kernels, self._tree, node, state, rng, share)

    def _search(self, node: int, state: State, budget: Budget, rng: RandomState) -> list[int]:
        """Return the nodes of the best actions from ``node`` to the end of the turn."""
        tree, kernels = self._tree, self._kernels
        self._grow(node, state, budget, rng, FIRST_SHARE if kernels.actions_left(state) > 1 else 1.0)
        if tree.child_count[node] == 0:
            kernels.grow(tree, node, kernels.pack(state), rng, 1)
        while True:
            child = best_child(tree, node)
            later = state.child(kernels.action_of(int(tree.action[child])))
            if not is_same_turn(state, later):
                return [child]
            path = [child, *self._search(child, later, budget, rng)]
            if tree.proof[child] == UNPROVEN:
                return path
            back_up_proof(tree, np.array([node, child], dtype=np.int32), 2)
            # A second look may have proven the choice bad; every such look proves one more child.
            if best_child(tree, node) == child:
                return path

    def _actions(self, path: list[int]) -> tuple[int, ...]:
        return tuple(self._kernels.action_of(int(self._tree.action[node])) for node in path)

    def _lines(self, chosen: list[int]) -> tuple[tuple[int, ...], ...]:
        """Return the lines of the chosen turn and of the best other first actions."""
        others = [child for child in children_by_worth(self._tree, 0) if child != chosen[0]]
        believed = [[child] for child in others if self._tree.visits[child] >= LINE_VISITS]
        return tuple(self._actions(self._followed(path)) for path in [chosen, *believed[: LINE_COUNT - 1]])

    def _followed(self, path: list[int]) -> list[int]:
        """Return ``path`` and the best answers from its end on, as far as enough visits support them."""
        tree, line = self._tree, list(path)
        while len(line) < LINE_LENGTH and tree.child_count[line[-1]] > 0:
            child = best_child(tree, line[-1])
            if tree.visits[child] < LINE_VISITS and tree.proof[child] == UNPROVEN:
                break
            line.append(child)
        return line


def forget(tree: Tree) -> None:
    """Clear a tree but for an unvisited root."""
    tree.used[0] = 1
    for values in (tree.child_count, tree.proof, tree.visits, tree.total):
        values[0] = 0
