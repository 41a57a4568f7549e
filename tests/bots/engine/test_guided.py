"""The tree of ``master`` where playouts decide: what it searches first, and what it keeps from turn to turn."""

from __future__ import annotations

import time
from functools import partial
from threading import Event

import pytest

from tabuleiro.rules import State, registry
from tabuleiro.rules.games.minefield import Minefield

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import numpy as np

from tabuleiro_server.bots.engine.guided import (
    NODE_LIMIT,
    GuidedSearcher,
    Helper,
    children_by_action,
    keep_below,
    select_guided,
    set_priors,
)
from tabuleiro_server.bots.engine.kernels import Array, RandomState, new_rng
from tabuleiro_server.bots.engine.mcts import Budget, Tree, Tuning, add_children, new_tree
from tabuleiro_server.bots.engine.minefield.master import MasterMinefieldKernels
from tabuleiro_server.bots.engine.virus_wars.master import MasterVirusWarsKernels
from tests.bots.engine.counting_searcher import CountingSearcher

TUNING = Tuning(exploration=0.05, rave_weight=0.001, prior_visits=4.0, expand_at_visits=2)
PRIOR_WEIGHT = 0.3
LIMIT_S = 20


def tree_of(chances: list[float]) -> Tree:
    """Return a tree whose root has children of such chances; the action of each is its place in the list."""
    tree, actions = new_tree(5_000), np.arange(len(chances), dtype=np.int16)
    assert add_children(tree, 0, 0, actions, len(chances), TUNING, True)
    set_priors(tree, 0, np.log(np.array(chances, dtype=np.float32)))
    return tree


def small_game() -> Minefield:
    game = registry.load("minefield", {"size": 7})
    assert isinstance(game, Minefield)
    return game


def test_priors_add_up_to_one_and_the_likeliest_child_is_selected_first() -> None:
    tree = tree_of([0.2, 1.2, 0.6])
    assert tree.prior[1:4] == pytest.approx([0.1, 0.6, 0.3])
    assert select_guided(tree, 0, TUNING, PRIOR_WEIGHT, np.empty(9, dtype=np.float32)) == 2


def test_a_child_that_does_badly_makes_room_for_one_less_likely() -> None:
    tree = tree_of([0.4, 0.3, 0.3])
    tree.visits[:2], tree.total[:2] = 50, -50.0
    assert select_guided(tree, 0, TUNING, PRIOR_WEIGHT, np.empty(9, dtype=np.float32)) == 2


def test_lost_children_are_left_out() -> None:
    tree = tree_of([0.5, 0.2, 0.1, 0.1, 0.1])
    tree.proof[1:5] = 2
    assert select_guided(tree, 0, TUNING, PRIOR_WEIGHT, np.empty(9, dtype=np.float32)) == 5


def test_a_proven_win_is_selected_before_all_others() -> None:
    tree = tree_of([0.5, 0.3, 0.2])
    tree.proof[3] = 1
    assert select_guided(tree, 0, TUNING, PRIOR_WEIGHT, np.empty(9, dtype=np.float32)) == 3


def shape(tree: Tree, node: int) -> object:
    """Return all that a tree holds below ``node``, wherever its nodes lie."""
    children = range(tree.first_child[node], tree.first_child[node] + tree.child_count[node])
    values = [array[node] for array in tree[2:-1]]
    return (*map(float, values), [shape(tree, child) for child in children])


def test_what_lies_below_a_kept_node_stays_as_it_was() -> None:
    game, tree, rng = small_game(), new_tree(100_000), new_rng(1)
    kernels = MasterMinefieldKernels(game)
    kernels.grow(tree, 0, kernels.pack(game.initial_state()), rng, 2_000)
    first = int(tree.first_child[0])
    most = first + int(np.argmax(tree.visits[first : first + tree.child_count[0]]))
    before, used = shape(tree, most), int(tree.used[0])
    keep_below(tree, most)
    assert shape(tree, 0) == before
    assert tree.used[0] < used


def test_nothing_is_lost_when_the_first_child_got_its_children_last() -> None:
    """Symptom: nodes took the places of others that had not moved yet, and the process died of it."""
    tree = tree_of([0.5, 0.5])
    for node, count in ((2, 2), (3, 1), (4, 1), (1, 60), (5, 3), (20, 2)):
        assert add_children(tree, node, 0, np.arange(count, dtype=np.int16), count, TUNING, False)
    tree.visits[: tree.used[0]] = range(tree.used[0])
    before = shape(tree, 0)
    keep_below(tree, 0)
    assert shape(tree, 0) == before


def counting(game: Minefield) -> CountingSearcher:
    return CountingSearcher(partial(MasterMinefieldKernels, game))


def deadline_s() -> float:
    return time.monotonic() + 60


def test_by_time_a_search_goes_on_with_the_tree_of_the_last_turn() -> None:
    game = small_game()
    searcher, state = counting(game), game.initial_state()
    nodes = 3_000
    chosen = searcher.choose_turn(state, max_nodes=nodes, deadline_s=deadline_s(), seed=1)
    # The answer that it expected.
    answered = state.child(chosen.lines[0][0]).child(chosen.lines[0][1])
    searcher.choose_turn(answered, max_nodes=nodes, deadline_s=deadline_s(), seed=2)
    searcher.choose_turn(state, max_nodes=nodes, deadline_s=deadline_s(), seed=3)
    assert searcher.kept[0] == 0
    assert searcher.kept[1] > 0
    assert searcher.kept[2] == 0


def test_by_nodes_alone_a_search_keeps_nothing_and_always_gives_the_same_result() -> None:
    game = small_game()
    searcher, state = counting(game), game.initial_state()
    first = searcher.choose_turn(state, max_nodes=3_000, deadline_s=None, seed=1)
    answered = state.child(first.lines[0][0]).child(first.lines[0][1])
    searcher.choose_turn(answered, max_nodes=3_000, deadline_s=None, seed=1)
    assert searcher.choose_turn(state, max_nodes=3_000, deadline_s=None, seed=1) == first
    assert searcher.kept == [0, 0, 0]


def test_an_analysis_drops_the_tree_of_the_last_turn() -> None:
    game = small_game()
    searcher, state = counting(game), game.initial_state()
    searcher.choose_turn(state, max_nodes=500, deadline_s=deadline_s(), seed=1)
    *_, analysis = searcher.analyse(state, candidate_count=3, max_nodes=500, deadline_s=None, seed=1)
    searcher.choose_turn(state, max_nodes=500, deadline_s=deadline_s(), seed=1)
    assert len(analysis.candidates) == 3
    assert searcher.kept == [0, 0, 0]


def test_a_tree_takes_less_room_than_that_of_the_other_levels() -> None:
    tree = new_tree(NODE_LIMIT)
    assert sum(array.nbytes for array in tree) < 60e6


def visits_of(tree: Tree, node: int) -> dict[int, int]:
    """Return the visits of the children of ``node``, by their actions."""
    children = range(tree.first_child[node], tree.first_child[node] + tree.child_count[node])
    return {int(tree.action[child]): int(tree.visits[child]) for child in children}


def test_a_helper_adds_what_it_found_below_each_action_of_a_turn() -> None:
    game = registry.load("virus-wars", {"rows": 7, "cols": 7})
    make_kernels = partial(MasterVirusWarsKernels, game)
    kernels, tree, state, node = make_kernels(), new_tree(100_000), game.initial_state(), 0
    helper = Helper(make_kernels())
    helper.begin(state, 2)
    for _ in range(2):
        kernels.grow(tree, node, kernels.pack(state), new_rng(1), 500)
        before = visits_of(tree, node)
        end_s = time.monotonic() + 0.05
        if node == 0:
            helper.start(state, None, None, end_s)
        else:
            helper.go_on(state, int(tree.action[node]), end_s)
        while not helper.is_free:
            time.sleep(0.01)
        assert helper.add_to(tree, node, time.monotonic()) > 0
        added = {action: count - before[action] for action, count in visits_of(tree, node).items()}
        assert helper.is_free
        assert sum(added.values()) > 0
        node = int(tree.first_child[node]) + max(range(len(added)), key=list(added.values()).__getitem__)
        state = state.child(kernels.action_of(int(tree.action[node])))


def test_a_helper_goes_on_below_another_action_when_the_first_choice_proved_bad() -> None:
    game = registry.load("virus-wars", {"rows": 7, "cols": 7})
    kernels, state = MasterVirusWarsKernels(game), game.initial_state()
    helper = Helper(kernels)
    helper.begin(state, 2)
    helper.start(state, None, None, time.monotonic() + 0.05)
    while not helper.is_free:
        time.sleep(0.01)
    visits = visits_of(helper.tree, 0)
    for action in sorted(visits, key=visits.__getitem__)[-2:]:
        helper.go_on(state.child(kernels.action_of(action)), action, time.monotonic() + 0.05)
        while not helper.is_free:
            time.sleep(0.01)
        assert visits_of(helper.tree, 0)[action] > visits[action]


def root_visits(helper: Helper, state: State, kept_from: State | None, played: list[int]) -> int:
    """Have ``helper`` search ``state`` for no time, and return what it kept of its root."""
    helper.begin(state, 1)
    helper.start(state, kept_from, played, time.monotonic() - 1)
    while not helper.is_free:
        time.sleep(0.01)
    return int(helper.tree.visits[0])


def test_a_helper_keeps_its_tree_only_from_the_state_that_it_searched() -> None:
    kernels, start = MasterMinefieldKernels(small_game()), small_game().initial_state()
    helper = Helper(kernels)
    # As if it had searched.
    root_visits(helper, start, None, [])
    kernels.grow(helper.tree, 0, kernels.pack(start), new_rng(1), 3_000)
    visits = visits_of(helper.tree, 0)
    first = max(visits, key=visits.__getitem__)
    answers = visits_of(helper.tree, children_by_action(helper.tree, 0)[first])
    second = max(answers, key=answers.__getitem__)
    later = start.child(kernels.action_of(first))
    assert root_visits(helper, later, start, [first]) > max(visits.values())
    assert root_visits(helper, later.child(kernels.action_of(second)), start, [first, second]) < 100


class HeldKernels(MasterMinefieldKernels):
    """Kernels whose search waits until the test lets it go."""

    def __init__(self, game: Minefield) -> None:
        super().__init__(game)
        self.has_begun, self.may_go_on = Event(), Event()

    def grow(self, tree: Tree, root: int, board: Array, rng: RandomState, playout_count: int) -> int:
        self.has_begun.set()
        assert self.may_go_on.wait(LIMIT_S)
        return super().grow(tree, root, board, rng, playout_count)


def test_a_helper_that_is_late_adds_nothing_and_is_not_waited_for() -> None:
    game, tree = small_game(), new_tree(100_000)
    kernels, state = MasterMinefieldKernels(game), game.initial_state()
    kernels.grow(tree, 0, kernels.pack(state), new_rng(1), 500)
    before = visits_of(tree, 0)
    held = HeldKernels(game)
    helper = Helper(held)
    helper.begin(state, 2)
    helper.start(state, None, None, time.monotonic() + LIMIT_S)
    assert held.has_begun.wait(LIMIT_S)
    helper.stop()
    assert helper.add_to(tree, 0, time.monotonic() + 0.01) == 0
    assert not helper.is_free
    assert visits_of(tree, 0) == before
    held.may_go_on.set()


def test_a_helper_that_was_late_sits_out_the_rest_of_the_turn() -> None:
    """Symptom: it went on below an action that was not the one chosen meanwhile."""
    game = small_game()
    state, held = game.initial_state(), HeldKernels(game)
    helper, searcher = Helper(held), GuidedSearcher(partial(MasterMinefieldKernels, game))
    helper.begin(state, 2)
    helper.start(state, None, None, time.monotonic() + LIMIT_S)
    assert held.has_begun.wait(LIMIT_S)
    searcher._helping = [helper]
    searcher._grow(0, state, Budget(10, None), new_rng(1), 1.0)
    held.may_go_on.set()
    helper.stop()
    while not helper.is_free:
        time.sleep(0.01)
    assert searcher._helping == []
