"""The search of the level ``master``: a Monte-Carlo tree with priors, which is kept from turn to turn.

A prior is a guess, before any playout, of how likely a child is the best.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tabuleiro.rules import State
from tabuleiro_server.bots.engine.base import SearchResult
from tabuleiro_server.bots.engine.kernels import Array, kernel
from tabuleiro_server.bots.engine.mcts import (
    DRAWN,
    UNPROVEN,
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


class GuidedSearcher(MctsSearcher):
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` that goes on with the tree of its last turn.

    Searches that are limited by nodes alone keep nothing: these always give the same result.
    """

    def __init__(self, kernels: GameKernels) -> None:
        super().__init__(kernels, NODE_LIMIT)
        # Compiled with the other kernels, and not in the second turn.
        nodes_below(self._tree, 0)
        self._searched: State | None = None

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        result = super().choose_turn(state, max_nodes=max_nodes, deadline_s=deadline_s, seed=seed)
        self._searched = state
        return result

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
