"""Monte-Carlo tree search for any game, as kernels: the tree, selection, backing up of results and of proofs.

The kernels of a game descend, expand and play out; they call these. Nothing here assumes that
players alternate: every node says who moves there, and results are kept from the side of player 0.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from tabuleiro_server.bots.engine.compiled import Array, kernel

UNPROVEN: Final = 0
DRAWN: Final = 3
"""Proofs: :data:`UNPROVEN`, 1 + the player who wins, or :data:`DRAWN`."""


ROOT_RESERVE: Final = 2_000
"""Nodes kept for the children of roots: more than the actions of a turn have children together."""


class Tree(NamedTuple):
    """A pool of nodes, as arrays by node; the children of a node stand side by side.

    ``mover`` is who moves at a node, set when its children are added. ``total`` is the sum of the results of
    ``visits`` playouts, 1 for each that player 0 won and -1 for each lost; ``rave_total`` is the same for the
    ``rave_visits`` playouts in which the player who chooses the node played its action then or later. ``used``
    holds the number of nodes.
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
    used: Array


def new_tree(node_limit: int) -> Tree:
    """A tree of at most ``node_limit`` nodes that holds a root, node 0."""
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
        np.zeros(1, dtype=np.int64),
    )
    tree.used[0] = 1
    return tree


class Tuning(NamedTuple):
    """How a game's tree is grown.

    ``exploration`` is the weight of curiosity about children seldom visited; ``rave_weight`` says how soon a
    child's own results outweigh those of its action played later; a new child starts as if its action had been
    seen ``prior_visits`` (above 0) times with the mean result of its parent; a node gets children when it is
    visited again after ``expand_at_visits`` visits.
    """

    exploration: float
    rave_weight: float
    prior_visits: float
    expand_at_visits: int


@kernel
def add_children(
    tree: Tree, node: int, mover: int, actions: Array, count: int, tuning: Tuning, is_root: bool
) -> bool:
    """Give ``node`` the first ``count`` (1 or more) of ``actions`` as children; False when the tree is full.

    Some room is kept for the node that a search starts from (``is_root``), which cannot do without children.
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
    """The child to look at next: a proven win at once, else the best in view of what is not yet known.

    Children proven lost are left out; a node all of whose children are lost is proven itself and never asked.
    """
    first = tree.first_child[node]
    winning = tree.mover[node] + 1
    curiosity = tuning.exploration * math.sqrt(math.log(tree.visits[node] + 1.0))
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
            score = sign * mean + curiosity / math.sqrt(visits + 1.0)
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

    ``result`` is 1 when player 0 won, -1 when player 1 did, 0 for a draw; ``owners`` says, by action, which
    player's stone was there at the end; other numbers stand for nobody.
    """
    for depth in range(length):
        node = path[depth]
        tree.visits[node] += 1
        tree.total[node] += result
        mover = tree.mover[node]
        first = tree.first_child[node]
        for child in range(first, first + tree.child_count[node]):
            if owners[tree.action[child]] == mover:
                tree.rave_visits[child] += 1.0
                tree.rave_total[child] += result


@kernel
def back_up_proof(tree: Tree, path: Array, length: int) -> None:
    """Prove what follows from a new proof of the last node of a path from the root."""
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
    """The result of a proven node: 1 when player 0 wins, -1 when player 1 does, 0 for a draw."""
    return 0.0 if proof == DRAWN else 3.0 - 2.0 * proof


def best_child(tree: Tree, node: int) -> int:
    """The child of an expanded ``node`` to play.

    A proven win; else a proven draw, if nothing unproven does better than even; else the most visited that is not
    lost. What has equal visits, as among lost ones, is told apart by the results of the action played later.
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
    """How many visits the most visited unproven child of an expanded ``node`` is ahead of the next such child."""
    children = _children(tree, node)
    visits = np.sort(tree.visits[children][tree.proof[children] == UNPROVEN])
    return int(visits[-1] - visits[-2]) if len(visits) > 1 else 0


def children_by_worth(tree: Tree, node: int) -> list[int]:
    """The children of ``node``: :func:`best_child` first, then those not proven lost by falling visits."""
    if tree.child_count[node] == 0:
        return []
    best, losing = best_child(tree, node), 2 - tree.mover[node]
    others = [child for child in _children(tree, node) if child != best and tree.proof[child] != losing]
    return [best, *sorted(map(int, others), key=lambda child: -int(tree.visits[child]))]


def value_of(tree: Tree, node: int, mover: int) -> float:
    """What ``node`` is worth to ``mover``: -1 to 1, exact when it is proven."""
    proof = int(tree.proof[node])
    if proof != UNPROVEN:
        return 0.0 if proof == DRAWN else 1.0 if proof == mover + 1 else -1.0
    mean = float(tree.total[node]) / max(int(tree.visits[node]), 1)
    return mean if mover == 0 else -mean


def _children(tree: Tree, node: int) -> Array:
    first = int(tree.first_child[node])
    return np.arange(first, first + int(tree.child_count[node]))
