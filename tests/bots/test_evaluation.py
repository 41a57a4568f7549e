"""Evaluations: the terms of the reports on positions that can be counted by hand, and own value functions."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabuleiro.errors import BotError
from tabuleiro.rules import registry
from tabuleiro_server.bots.evaluation import EVALUATIONS, find_evaluation
from tabuleiro_server.bots.greedy import connection_lead, ship_progress
from tabuleiro_server.bots.minimax import mobility


def start(game: str, **options: int | str) -> Any:
    return registry.load(game, options).initial_state()


def after_random_play(state: Any, seed: int, action_count: int) -> Any:
    rng = Random(seed)
    for _ in range(action_count):
        later = state.child(rng.choice(state.legal_actions()))
        if later.is_terminal:
            break
        state = later
    return state


@pytest.mark.parametrize("seed", range(12))
def test_the_first_evaluation_of_a_game_is_that_of_its_report(seed: int) -> None:
    reports = {
        ("virus-wars", "rows=5", "cols=5"): mobility,
        ("xero-g", "setup=random"): ship_progress,
        ("minefield", "size=6"): connection_lead,
    }
    for (game, *options), value in reports.items():
        state = after_random_play(start(game, **registry.read_options(game, options)), seed, 3 * seed)
        for player in (0, 1):
            assert find_evaluation(game).value(state, player) == value(state, player)


def test_a_value_is_the_sum_of_terms_times_weights() -> None:
    assert find_evaluation("xero-g").weights == (1, 5, 6, 8, 10, 12, 20)
    for game, evaluations in EVALUATIONS.items():
        for evaluation in evaluations:
            state = after_random_play(start(game), 4, 12)
            terms = evaluation.terms(state, 1)
            assert [term.name for term in terms] == list(evaluation.term_names)
            assert evaluation.value(state, 1) == sum(term.measure * term.weight for term in terms)


def test_terms_are_what_can_be_counted_on_the_board() -> None:
    state = start("virus-wars", rows=4, cols=4, steps=2, position="x.../.o../..../.... 0 1")
    assert [term.measure for term in find_evaluation("virus-wars").terms(state, 0)] == [3, 8]
    assert find_evaluation("virus-wars", "mobility", (1, -1)).value(state, 0) == -5
    assert [term.measure for term in find_evaluation("virus-wars", "pieces").terms(state, 1)] == [1, 0, 1, 0]
    state = start("minefield", size=5)
    assert [term.measure for term in find_evaluation("minefield").terms(state, 0)] == [5, 5]


def test_the_first_difference_of_groups_decides() -> None:
    rows = ["bb.w.", "......", ".......", "........", "..b...w..", "........", ".......", "......", ".w.bb"]
    state = start("iris", side=5, position=f"{'/'.join(rows)} 0 - 0")
    groups = find_evaluation("iris")
    assert [term.measure for term in groups.terms(state, 0)] == [1, 1, 0, 0]
    assert groups.value(state, 0) == -groups.value(state, 1) > 0


def test_unknown_evaluations_and_wrong_weights_are_named() -> None:
    with pytest.raises(BotError, match="iris has no evaluation 'mobility', expected groups or a file"):
        find_evaluation("iris", "mobility")
    with pytest.raises(BotError, match=r"rows has 7 weights \(row 1, .*far base\), got 2"):
        find_evaluation("xero-g", None, (1, 2))


def test_an_own_value_function_is_used(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def value(state, player):\n    return 10 * player + len(state.legal_actions())\n")
    mine = find_evaluation("minefield", str(file))
    assert mine.value(start("minefield", size=5), 1) == 35
    assert [(term.name, term.weight) for term in mine.terms(start("minefield", size=5), 0)] == [("value", 1)]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import nowhere_to_be_found", "cannot be run: ModuleNotFoundError"),
        ("values = 3", "has no function value"),
        ("def value(state, player): return 1 / 0", "value failed: ZeroDivisionError"),
        ("def value(state, player): return 'good'", "returned \"'good'\", expected a number"),
        ("def value(state, player): return float('nan')", "expected a number"),
    ],
)
def test_what_is_wrong_with_an_own_value_function_is_told(tmp_path: Path, source: str, told: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(source)
    with pytest.raises(BotError, match=told):
        find_evaluation("minefield", str(file)).value(start("minefield", size=5), 0)
    with pytest.raises(BotError, match="there is no file"):
        find_evaluation("minefield", str(tmp_path / "other.py"))
