"""The search of the level ``master``: a Monte-Carlo tree with priors, which is kept from turn to turn.

A prior is a guess, before any playout, of how likely a child is the best.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np

from tabuleiro.rules import State
from tabuleiro_server.bots.engine.base import END_LIMIT_S, SearchResult
from tabuleiro_server.bots.engine.kernels import Array, RandomState, kernel, new_rng
from tabuleiro_server.bots.engine.mcts import (
    DRAWN,
    UNPROVEN,
    Budget,
    GameKernels,
    MctsSearcher,
    Tree,
    Tuning,
    forget,
)

NODE_LIMIT: Final = 1_500_000
"""Nodes of a tree: about 50 MB when all are used."""

TURNS_TO_FIND: Final = 2
"""The most turns since the last search for its tree to be of use: one of each player."""
STATES_TO_FIND: Final = 500
"""The most states that are looked at for the one to search: many actions may have many orders."""


@kernel
def set_priors(tree: Tree, node: int, logits: Array) -> None:
    """Give the children of ``node`` their priors; ``logits`` are the logarithms of these, up to a constant."""
    first, count = tree.first_child[node], tree.child_count[node]
    highest, total = np.max(logits[:count]), 0.0
    for place in range(count):
        tree.prior[first + place] = math.exp(logits[place] - highest)
        total += tree.prior[first + place]
    for child in range(first, first + count):
        tree.prior[child] /= total


@kernel
def sum_weights(features: Array, weights: Array, count: int, logits: Array) -> None:
    """Write the sums of the weights of the features in the first ``count`` rows to ``logits``."""
    for place in range(count):
        logits[place] = 0.0
        for feature in features[place]:
            logits[place] += weights[feature]


@kernel
def select_guided(tree: Tree, node: int, tuning: Tuning, prior_weight: float, scores: Array) -> int:
    """Select the child to search next: a proven win at once, else the one with the best upper bound.

    Bounds are those of :func:`~tabuleiro_server.bots.engine.mcts.select_child`, and children seldom visited get
    more by their priors times ``prior_weight``. Children proven lost are left out; if all of them are lost, the
    node is proven itself and never searched. ``scores``, with at least one number a child, are overwritten.
    """
    start, count = int(tree.first_child[node]), int(tree.child_count[node])
    end = start + count
    winning = tree.mover[node] + 1
    visits_here = float(tree.visits[node])
    sign = np.float32(1.0 if winning == 1 else -1.0)
    spread = np.float32(tuning.exploration * math.sqrt(math.log(visits_here + 1.0)))
    hope = np.float32(prior_weight * math.sqrt(visits_here + 1.0))
    expected = np.float32(tuning.prior_visits * tree.total[node] / max(visits_here, 1.0))
    rave_weight, one = np.float32(tuning.rave_weight), np.float32(1.0)
    visits, totals, priors = tree.visits[start:end], tree.total[start:end], tree.prior[start:end]
    rave_visits, rave_totals = tree.rave_visits[start:end], tree.rave_total[start:end]
    # Without branches and with numbers of 32 bits alone: the compiler does many children at once.
    for place in range(count):
        own_visits, seen = np.float32(visits[place]), rave_visits[place]
        trust = one + seen * rave_weight
        mean = (rave_totals[place] + expected + trust * totals[place]) / (seen + own_visits * trust)
        share = one / (own_visits + one)
        scores[place] = sign * mean + spread * np.sqrt(share) + hope * priors[place] * share
    proofs = tree.proof[start:end]
    best, best_score = 0, np.float32(-np.inf)
    for place in range(count):
        score = scores[place]
        if proofs[place] != UNPROVEN:
            if proofs[place] == winning:
                return start + place
            score = np.float32(0.0) if proofs[place] == DRAWN else np.float32(-np.inf)
        if score > best_score:
            best, best_score = place, score
    return start + best


@kernel
def nodes_below(tree: Tree, root: int) -> Array:
    """Return ``root`` and all nodes below it, level by level: the children of a node lie side by side."""
    found = np.empty(tree.used[0], dtype=np.int32)
    found[0] = root
    count, place = 1, 0
    while place < count:
        node = found[place]
        first = tree.first_child[node]
        for child in range(first, first + tree.child_count[node]):
            found[count] = child
            count += 1
        place += 1
    return found[:count]


def keep_below(tree: Tree, root: int) -> None:
    """Make ``root`` node 0 and drop all nodes that are not below it."""
    kept = nodes_below(tree, root)
    for values in tree[:-1]:
        values[: len(kept)] = values[kept]
    counts = tree.child_count[: len(kept)]
    tree.first_child[: len(kept)] = 1 + np.cumsum(counts) - counts
    tree.used[0] = len(kept)


class _KeptTree(MctsSearcher):
    """A search that goes on with the tree of its last turn."""

    def __init__(self, kernels: GameKernels) -> None:
        super().__init__(kernels, NODE_LIMIT)
        # Compiled with the other kernels, and not in the second turn.
        nodes_below(self._tree, 0)
        self._searched: State | None = None

    def _prepare(self, state: State, *, is_timed: bool) -> None:
        searched, self._searched = self._searched, None
        node = None
        # Within a turn, nodes lack the actions that others of its start stand for.
        is_new_turn = state.actions_in_turn == 0
        if is_timed and is_new_turn and searched is not None and searched.game == state.game:
            node = self._find(searched, state)
        if node is None:
            forget(self._tree)
        else:
            keep_below(self._tree, node)

    def _find(self, searched: State, state: State) -> int | None:
        """Return the node of ``state`` in the tree of ``searched``, by actions on cells whose pieces are new.

        There is none after a pass.
        """
        if not 0 <= state.turn_number - searched.turn_number <= TURNS_TO_FIND:
            return None
        before, wanted, changed = dict(searched.pieces()), state.key(), 0
        for piece, cells in state.pieces():
            changed |= cells & ~before.get(piece, 0)
        waiting, left = [(0, searched)], STATES_TO_FIND
        while waiting and left > 0:
            node, there = waiting.pop()
            left -= 1
            if there.key() == wanted:
                return node
            first = int(self._tree.first_child[node])
            # The first children come out first.
            for child in reversed(range(first, first + int(self._tree.child_count[node]))):
                action = self._kernels.action_of(int(self._tree.action[child]))
                if changed >> action & 1:
                    waiting.append((child, there.child(action)))
        return None


class GuidedSearcher(_KeptTree):
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` with a tree for each core.

    What all of them found is added up before each action is chosen. Searches without a clock keep nothing, and
    those with a limit of nodes use one core: without a clock they always give the same result.
    """

    def __init__(self, make_kernels: Callable[[], GameKernels]) -> None:
        super().__init__(make_kernels())
        self._make_kernels = make_kernels
        self._helpers: list[Helper] = []
        self._helping: list[Helper] = []

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        self._helping = self._free_helpers() if max_nodes is None else []
        for number, helper in enumerate(self._helping, 1):
            helper.begin(state, seed + number)
        try:
            result = super().choose_turn(state, max_nodes=max_nodes, deadline_s=deadline_s, seed=seed)
        finally:
            self._helping = []
        self._searched = state
        return result

    def _free_helpers(self) -> list[Helper]:
        count = self.cores - 1
        while len(self._helpers) < count:
            self._helpers.append(Helper(self._make_kernels()))
        return [helper for helper in self._helpers[:count] if helper.is_free]

    def _grow(self, node: int, state: State, budget: Budget, rng: RandomState, share: float) -> None:
        helping = [helper for helper in self._helping if helper.is_free]
        for helper in helping:
            helper.start(state, int(self._tree.action[node]), budget.end_of(share))
        super()._grow(node, state, budget, rng, share)
        for helper in helping:
            budget.spent += helper.end(self._tree, node)


class Helper(_KeptTree):
    """The same search in a thread of its own, with a tree of its own."""

    def __init__(self, kernels: GameKernels) -> None:
        super().__init__(kernels)
        self._thread = ThreadPoolExecutor(1, "search helper")
        self._work: Future[int | None] | None = None
        self._budget = Budget(0, None)
        self._rng = new_rng(0)
        self._actions_before = 0
        self._path: list[int | None] = []
        """The nodes searched in this turn, by actions since its start; ``None`` for those that this tree lacks."""

    @property
    def is_free(self) -> bool:
        """False while it searches."""
        return self._work is None or self._work.done()

    def begin(self, state: State, seed: int) -> None:
        """Take up the turn of ``state``."""
        self._rng, self._actions_before = new_rng(seed), state.actions_in_turn

    def start(self, state: State, action: int, end_s: float | None) -> None:
        """Search ``state``, to which the action of a node led unless the turn begins there, until ``end_s``."""
        self._budget = Budget(None, end_s)
        self._work = self._thread.submit(self._search_below, state, action)

    def end(self, tree: Tree, node: int) -> int:
        """End the search and add what it found to the children of ``node`` in ``tree``; return the playouts.

        If it does not end within :data:`END_LIMIT_S`, as on a busy core, it adds nothing.
        """
        assert self._work is not None
        self._budget.is_over = True
        try:
            own = self._work.result(END_LIMIT_S)
        except TimeoutError:
            return 0
        if own is not None:
            self._add_to(tree, node, own)
        return self._budget.spent

    def _search_below(self, state: State, action: int) -> int | None:
        """Search, and return the node of ``state``, if there is one."""
        depth = state.actions_in_turn - self._actions_before
        node: int | None = 0
        if depth == 0:
            self._prepare(state, is_timed=True)
            self._searched = state
        else:
            node = self._child(self._path[depth - 1] if depth <= len(self._path) else None, action)
        self._path = [*self._path[:depth], *[None] * (depth - len(self._path)), node]
        if node is not None:
            self._budget.spend(self._kernels, self._tree, node, state, self._rng, 1.0)
        return node

    def _child(self, node: int | None, action: int) -> int | None:
        """Return the child of ``node`` with the action of a node, if there is one."""
        return None if node is None else self._children(node).get(action)

    def _children(self, node: int) -> dict[int, int]:
        first = int(self._tree.first_child[node])
        return {
            int(self._tree.action[child]): child
            for child in range(first, first + int(self._tree.child_count[node]))
        }

    def _add_to(self, tree: Tree, node: int, own: int) -> None:
        """Add the results of the children of the node ``own`` to those of ``node`` in ``tree``."""
        children, first = self._children(own), int(tree.first_child[node])
        for child in range(first, first + int(tree.child_count[node])):
            like = children.get(int(tree.action[child]))
            if like is not None:
                tree.visits[child] += self._tree.visits[like]
                tree.total[child] += self._tree.total[like]
