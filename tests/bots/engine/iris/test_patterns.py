"""What the priors of Iris see: patterns without direction, and features that turn with the board."""

from __future__ import annotations

from random import Random

import pytest

from tabuleiro.rules import registry
from tabuleiro.rules.games.iris import Iris, IrisState

pytest.importorskip("numba", reason="the kernels need the extra bots")

import numpy as np

from tabuleiro_server.bots.engine.iris.board import iris_tables, list_iris, pack_iris
from tabuleiro_server.bots.engine.iris.patterns import (
    FEATURE_COUNT,
    PATTERN_COUNT,
    REACH,
    find_features,
    mirror_table,
    new_look,
)


def game_of(side: int) -> Iris:
    game = registry.load("iris", {"side": side})
    assert isinstance(game, Iris)
    return game


def played(game: Iris, actions: list[int]) -> IrisState:
    state = game.initial_state()
    for action in actions:
        state = state.apply(action)
    return state


def features_by_cell(state: IrisState) -> dict[int, list[int]]:
    tables, board = iris_tables(state.game), pack_iris(state)
    look, actions = new_look(tables), np.empty(len(tables.is_rim) + 1, dtype=np.int16)
    found = list_iris(board, tables, actions)
    stones = actions[:found][actions[:found] < len(tables.is_rim)]
    find_features(board, tables, look, stones, len(stones))
    return {int(cell): look.features[place].tolist() for place, cell in enumerate(stones)}


def random_actions(game: Iris, seed: int, count: int) -> list[int]:
    rng, state, actions = Random(seed), game.initial_state(), list[int]()
    for _ in range(count):
        action = rng.choice([each for each in state.legal_actions() if each != game.pass_action])
        actions.append(action)
        state = state.child(action)
    return actions


def test_turns_and_mirror_images_have_one_pattern() -> None:
    table, rng = mirror_table(), Random(3)
    assert table.shape == (PATTERN_COUNT,)
    for _ in range(200):
        cells = [rng.randrange(4) for _ in range(6)]
        start = rng.randrange(6)
        turned = cells[start:] + cells[:start]
        codes = [
            sum(cell << 2 * place for place, cell in enumerate(each)) for each in (cells, turned, cells[::-1])
        ]
        assert len({int(table[code]) for code in codes}) == 1


@pytest.mark.parametrize("side", [5, 6, 8])
def test_a_board_turned_by_half_has_the_same_features(side: int) -> None:
    game = game_of(side)
    last = game.board.cell_count - 1
    for seed in range(6):
        actions = random_actions(game, seed, 5 + 6 * seed)
        found = features_by_cell(played(game, actions))
        turned = features_by_cell(played(game, [last - action for action in actions]))
        assert {last - cell: sorted(features) for cell, features in turned.items()} == {
            cell: sorted(features) for cell, features in found.items()
        }
        assert all(0 <= feature < FEATURE_COUNT for features in found.values() for feature in features)


def test_steps_count_the_way_over_cells() -> None:
    game = game_of(5)
    look = new_look(iris_tables(game))
    top, bottom = game.initial_state().string_to_action("a1"), game.initial_state().string_to_action("i5")
    assert look.steps[top, top] == 0
    assert look.steps[top, bottom] == REACH
    assert sorted(set(look.rings.tolist())) == [0, 1, 2, 3, 4]
