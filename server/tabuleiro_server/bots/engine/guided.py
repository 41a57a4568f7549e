"""The search of the level ``master``: a Monte-Carlo tree with priors, which is kept from turn to turn.

A prior is a guess, before any playout, of how likely a child is the best.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
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
    new_tree,
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


def children_by_action(tree: Tree, node: int) -> dict[int, int]:
    """Return the children of ``node``, by the actions that lead to them."""
    first = int(tree.first_child[node])
    return {int(tree.action[child]): child for child in range(first, first + int(tree.child_count[node]))}


def keep_after(tree: Tree, actions: Sequence[int] | None) -> None:
    """Keep what lies below the node after ``actions`` of nodes from the root on; all is forgotten without one."""
    node: int | None = None if actions is None else 0
    for action in actions or ():
        node = None if node is None else children_by_action(tree, node).get(action)
    if node is None:
        forget(tree)
    else:
        keep_below(tree, node)


class GuidedSearcher(MctsSearcher):
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` that goes on with the tree of its last turn.

    There is a tree for each core, and what all of them found is added up before each action is chosen. Searches
    without a clock keep nothing, and those with a limit of nodes use one core: without a clock they always give
    the same result.
    """

    def __init__(self, make_kernels: Callable[[], GameKernels]) -> None:
        super().__init__(make_kernels(), NODE_LIMIT)
        # Compiled with the other kernels, and not in the second turn.
        nodes_below(self._tree, 0)
        self._make_kernels = make_kernels
        self._searched: State | None = None
        self._kept_from: State | None = None
        self._played: list[int] | None = None
        """The actions from the state searched before, ``_kept_from``, to this one, if its tree has them."""
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
        # One that was late sits out the rest of the turn: it may not know which action was chosen.
        self._helping = [helper for helper in self._helping if helper.is_free]
        for helper in self._helping:
            if node == 0:
                helper.start(state, self._kept_from, self._played, budget.end_of(share))
            else:
                helper.go_on(state, int(self._tree.action[node]), budget.end_of(share))
        super()._grow(node, state, budget, rng, share)
        for helper in self._helping:
            helper.stop()
        end_s = time.monotonic() + END_LIMIT_S
        for helper in self._helping:
            budget.spent += helper.add_to(self._tree, node, end_s)

    def _prepare(self, state: State, *, is_timed: bool) -> None:
        searched = self._kept_from = self._searched
        self._searched = self._played = None
        # Within a turn, nodes lack the actions that others of its start stand for.
        is_new_turn = state.actions_in_turn == 0
        if is_timed and is_new_turn and searched is not None and searched.game == state.game:
            self._played = self._find(searched, state)
        keep_after(self._tree, self._played)

    def _find(self, searched: State, state: State) -> list[int] | None:
        """Return the actions of nodes that lead from ``searched`` to ``state``, on cells whose pieces are new.

        There are none after a pass.
        """
        if not 0 <= state.turn_number - searched.turn_number <= TURNS_TO_FIND:
            return None
        before, wanted, changed = dict(searched.pieces()), state.key(), 0
        for piece, cells in state.pieces():
            changed |= cells & ~before.get(piece, 0)
        waiting, left = [(0, searched, list[int]())], STATES_TO_FIND
        while waiting and left > 0:
            node, there, played = waiting.pop()
            left -= 1
            if there.key() == wanted:
                return played
            # The first children come out first.
            for number, child in reversed(children_by_action(self._tree, node).items()):
                action = self._kernels.action_of(number)
                if changed >> action & 1:
                    waiting.append((child, there.child(action), [*played, number]))
        return None


class Helper:
    """The same search in a thread of its own, with a tree of its own."""

    def __init__(self, kernels: GameKernels) -> None:
        self.tree = new_tree(NODE_LIMIT)
        self._kernels = kernels
        self._thread = ThreadPoolExecutor(1, "search helper")
        self._work: Future[int | None] | None = None
        self._budget = Budget(0, None)
        self._rng = new_rng(0)
        self._root: State | None = None
        self._actions_before = 0
        self._path: list[int | None] = []
        """The nodes searched in this turn, by actions since its start; ``None`` for those that this tree lacks."""

    @property
    def is_free(self) -> bool:
        """False while it searches."""
        return self._work is None or self._work.done()

    def begin(self, state: State, seed: int) -> None:
        """Take up the turn of ``state``."""
        self._rng, self._actions_before, self._path = new_rng(seed), state.actions_in_turn, []

    def start(
        self, state: State, kept_from: State | None, played: Sequence[int] | None, end_s: float | None
    ) -> None:
        """Search ``state`` until ``end_s``; actions of nodes led there from the state ``kept_from``, if known."""
        self._budget = Budget(None, end_s)
        # It may not have searched in the last turn.
        known = played if self._root is kept_from else None
        self._root = state
        self._work = self._thread.submit(self._search_root, state, known)

    def go_on(self, state: State, action: int, end_s: float | None) -> None:
        """Search ``state``, to which the action of a node led within the turn, until ``end_s``."""
        self._budget = Budget(None, end_s)
        self._work = self._thread.submit(self._search_later, state, action)

    def stop(self) -> None:
        """Have the search end soon."""
        self._budget.is_over = True

    def add_to(self, tree: Tree, node: int, end_s: float) -> int:
        """Add what was found to the children of ``node`` in ``tree``; return the number of playouts.

        A search that has not ended at ``end_s``, as on a busy core, adds nothing.
        """
        assert self._work is not None
        try:
            own = self._work.result(max(0.0, end_s - time.monotonic()))
        except TimeoutError:
            return 0
        if own is not None:
            likes = children_by_action(self.tree, own)
            for action, child in children_by_action(tree, node).items():
                if action in likes:
                    tree.visits[child] += self.tree.visits[likes[action]]
                    tree.total[child] += self.tree.total[likes[action]]
        return self._budget.spent

    def _search_root(self, state: State, played: Sequence[int] | None) -> int:
        keep_after(self.tree, played)
        self._path = [0]
        self._budget.spend(self._kernels, self.tree, 0, state, self._rng, 1.0)
        return 0

    def _search_later(self, state: State, action: int) -> int | None:
        """Search, and return the node of ``state``, if there is one."""
        depth = state.actions_in_turn - self._actions_before
        before = self._path[depth - 1]
        node = None if before is None else children_by_action(self.tree, before).get(action)
        self._path[depth:] = [node]
        if node is not None:
            self._budget.spend(self._kernels, self.tree, node, state, self._rng, 1.0)
        return node
