"""The tree: proofs that follow from proofs, for either next mover, and the child to play."""

from __future__ import annotations

import pytest

pytest.importorskip("numba", reason="the kernels need the extra bots")

import numpy as np

from tabuleiro_server.bots.engine.mcts import (
    DRAWN,
    UNPROVEN,
    Tree,
    Tuning,
    add_children,
    back_up,
    back_up_proof,
    best_child,
    children_by_worth,
    new_tree,
    select_child,
    value_of,
)

TUNING = Tuning(exploration=0.1, rave_weight=0.001, prior_visits=4.0, expand_at_visits=1)
BLACK_WINS, WHITE_WINS = 1, 2


def grown(mover: int, child_count: int, tree: Tree | None = None, node: int = 0) -> Tree:
    """Return a tree in which ``mover`` moves at ``node``, with ``child_count`` children of actions from 0 on."""
    tree = new_tree(5_000) if tree is None else tree
    actions = np.arange(child_count, dtype=np.int16)
    assert add_children(tree, node, mover, actions, child_count, TUNING, False)
    return tree


def path(*nodes: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(nodes, dtype=np.int32)


@pytest.mark.parametrize(
    ("mover", "proofs", "expected"),
    [
        (0, (BLACK_WINS, UNPROVEN), BLACK_WINS),
        (0, (WHITE_WINS, UNPROVEN), UNPROVEN),
        (0, (WHITE_WINS, WHITE_WINS), WHITE_WINS),
        (0, (WHITE_WINS, DRAWN), DRAWN),
        (0, (DRAWN, UNPROVEN), UNPROVEN),
        (0, (UNPROVEN, DRAWN), UNPROVEN),
        (1, (BLACK_WINS, BLACK_WINS), BLACK_WINS),
        (1, (DRAWN, WHITE_WINS), WHITE_WINS),
        (1, (DRAWN, BLACK_WINS), DRAWN),
    ],
)
def test_a_node_is_proven_from_its_children(mover: int, proofs: tuple[int, int], expected: int) -> None:
    tree = grown(mover, 2)
    tree.proof[1:3] = proofs
    back_up_proof(tree, path(0, 1), 2)
    assert tree.proof[0] == expected


@pytest.mark.parametrize(("second_mover", "expected"), [(0, BLACK_WINS), (1, UNPROVEN)])
def test_a_win_in_the_second_action_of_a_turn_is_a_win_for_the_first(second_mover: int, expected: int) -> None:
    tree = grown(0, 2)
    grown(second_mover, 2, tree, node=1)
    tree.proof[3] = BLACK_WINS
    back_up_proof(tree, path(0, 1, 3), 3)
    assert tree.proof[1] == (BLACK_WINS if second_mover == 0 else UNPROVEN)
    assert tree.proof[0] == expected


@pytest.mark.parametrize("mover", [0, 1])
def test_results_count_for_the_player_who_chooses(mover: int) -> None:
    tree = grown(mover, 2)
    owners = np.array([1 - mover, 1 - mover, 2], dtype=np.int16)
    for child, result in ((1, 1.0), (2, -1.0)) * 5:
        back_up(tree, path(0, child), 2, result, owners)
    good = 1 if mover == 0 else 2
    assert select_child(tree, 0, TUNING) == good
    assert value_of(tree, good, mover) == 1.0
    assert value_of(tree, good, 1 - mover) == -1.0
    assert value_of(tree, 0, mover) == 0.0


def test_actions_of_later_stones_count_for_their_owner_alone() -> None:
    tree = grown(0, 3)
    back_up(tree, path(0, 1), 2, 1.0, np.array([1, 0, -1, 2], dtype=np.int16))
    assert tree.rave_visits[1:4].tolist() == [4.0, 5.0, 4.0]
    assert tree.rave_total[1:4].tolist() == [0.0, 1.0, 0.0]


def test_a_proven_win_is_played_and_a_proven_loss_never_looked_at() -> None:
    tree = grown(1, 3)
    tree.visits[1:4], tree.visits[0] = (50, 2, 1), 53
    tree.proof[1] = BLACK_WINS
    assert select_child(tree, 0, TUNING) != 1
    assert best_child(tree, 0) == 2
    assert children_by_worth(tree, 0) == [2, 3]
    tree.proof[3] = WHITE_WINS
    assert select_child(tree, 0, TUNING) == 3
    assert best_child(tree, 0) == 3


@pytest.mark.parametrize(("mean", "played"), [(0.3, 1), (-0.3, 2)])
def test_a_proven_draw_is_played_when_nothing_promises_more(mean: float, played: int) -> None:
    tree = grown(0, 2)
    tree.visits[0:3], tree.total[1] = (21, 20, 1), 20 * mean
    tree.proof[2] = DRAWN
    assert best_child(tree, 0) == played


def test_a_full_tree_keeps_room_for_the_node_a_search_starts_from() -> None:
    tree = new_tree(2_100)
    actions = np.arange(90, dtype=np.int16)
    assert add_children(tree, 0, 0, actions, 90, TUNING, False)
    assert not add_children(tree, 1, 1, actions, 90, TUNING, False)
    assert tree.child_count[1] == 0
    assert add_children(tree, 1, 1, actions, 90, TUNING, True)
