"""Cells by the names of the reports: read, shown and drawn, in every game. Source: RULES.md, "Words"."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import NotationError
from tabuleiro.rules import Game, registry
from tabuleiro_client.text.board import TextStyle, board_lines
from tabuleiro_client.text.coordinates import coordinates_of

PLAIN = TextStyle(color=False, ascii=True)
SHIPS = {"setup": "random", "seed": 1}


def game_of(name: str, **options: int | str) -> Game:
    return registry.load(name, options)


@pytest.mark.parametrize(
    ("name", "typed", "own"),
    [
        ("virus-wars", "B5", "b6"),
        ("virus-wars", "a0 K 10.", "a11 k1."),
        ("virus-wars", "(5,2)", "b6"),
        ("xero-g", "a6-b4", "a1-b3"),
        ("xero-g", "A6xB4@C3", "a1xb3@c4"),
        ("xero-g", "3@c6", "3@c1"),
        ("xero-g", "c1-base", "c6-base"),
        ("xero-g", "(6,1)-(4,2)", "a1-b3"),
        ("iris", "A4", "a1"),
        ("iris", "a 9", "a6"),
        ("iris", "F1 f11", "f1 f11"),
        ("iris", "K 4", "k1"),
        ("iris", "(1,4)", "a1"),
        ("iris", "pass", "pass"),
        ("minefield", "3-4", "3-4"),
        ("minefield", "[3, 4].", "[3, 4]."),
    ],
)
def test_what_is_typed_as_in_the_report_is_read_as_our_cell(name: str, typed: str, own: str) -> None:
    assert coordinates_of(game_of(name), is_report=True).typed(typed) == own


@pytest.mark.parametrize(
    ("name", "typed", "problem"),
    [
        ("virus-wars", "b11", "row 11 does not exist: rows are 0 to 10"),
        ("virus-wars", "L3", "column L does not exist: columns are A to K"),
        ("virus-wars", "(11,1)", "row 11 does not exist: rows are 0 to 10"),
        ("virus-wars", "(1,12)", "column 12 does not exist: columns are 1 to 11"),
        ("virus-wars", "(1,x)", "the column 'x' is no number"),
        ("xero-g", "a7-b2", "row 7 does not exist: rows are 1 to 6"),
        ("iris", "A3", "row A has columns 4 to 9, not 3"),
        ("iris", "L4", "row L does not exist: rows are A to K"),
    ],
)
def test_a_cell_that_is_not_there_is_told_in_the_terms_of_the_report(name: str, typed: str, problem: str) -> None:
    with pytest.raises(NotationError) as caught:
        coordinates_of(game_of(name), is_report=True).typed(typed)
    assert caught.value.problem == problem


@pytest.mark.parametrize("name", registry.names())
@settings(max_examples=15)
@given(random=st.randoms(use_true_random=False))
def test_every_action_shown_can_be_typed_back(name: str, random: object) -> None:
    game = game_of(name, **(SHIPS if name == "xero-g" else {}))
    cells, state = coordinates_of(game, is_report=True), game.initial_state()
    for _ in range(12):
        if state.is_terminal:
            break
        for action in state.legal_actions()[:60]:
            shown = cells.shown(state.action_to_string(action))
            assert state.string_to_action(cells.typed(shown)) == action, shown
        state = state.child(random.choice(state.legal_actions()))  # type: ignore[attr-defined]


def test_virus_wars_is_drawn_with_letters_and_rows_from_0_at_the_top() -> None:
    game = game_of("virus-wars", rows=4, cols=4, steps=2)
    view = coordinates_of(game, is_report=True).picture(game.initial_state().view())
    assert board_lines(view, PLAIN) == ["0 x . . .", "1 . . . .", "2 . . . .", "3 . . . o", "  A B C D"]


def test_iris_is_drawn_as_a_board_of_eleven_columns_with_the_rows_in_their_middle() -> None:
    game = game_of("iris")
    view = coordinates_of(game, is_report=True).picture(game.initial_state().view())
    lines = board_lines(view, PLAIN)
    assert lines[0].split()[0] == "A4"
    last = [line.split()[-1] for line in lines]
    assert last == ["A9", "B9", "C10", "D10", "E11", "F11", "G11", "H10", "I10", "J9", "K9"]


def test_xero_g_counts_rows_from_the_top_also_in_sentences() -> None:
    game = game_of("xero-g", **SHIPS)
    cells, state = coordinates_of(game, is_report=True), game.initial_state()
    assert cells.picture(state.view()).row_labels == ("1", "2", "3", "4", "5", "6")
    assert [note.text for note in state.view().notes] == [
        "home row of south: row 1",
        "home row of north: row 6",
    ]
    assert [note.text for note in cells.picture(state.view()).notes] == [
        "home row of south: row 6",
        "home row of north: row 1",
    ]


def test_minefield_is_shown_by_row_and_column() -> None:
    game = game_of("minefield", size=10)
    view = coordinates_of(game, is_report=True).picture(game.initial_state().view())
    assert view.cells[0].name == "1-1"
    assert view.cells[-1].name == "10-10"
    assert [label for _, label in view.column_labels] == [*list("123456789"), "10"]
    assert board_lines(view, PLAIN)[-3:-1] == ["   1 2 3 4 5 6 7 8 9 1", "                     0"]


@pytest.mark.parametrize(
    ("name", "typed", "meant"),
    [("iris", "A4", "a1"), ("virus-wars", "B5", "b6"), ("xero-g", "A6", "a1"), ("iris", "a1 A 4", "a1")],
)
def test_a_cell_written_as_in_the_report_gets_a_remark(name: str, typed: str, meant: str) -> None:
    remark = coordinates_of(game_of(name), is_report=False).remark(typed)
    assert f"is {meant}: the option --coordinates report" in remark


@pytest.mark.parametrize(
    ("name", "typed"), [("iris", "a4"), ("iris", "F6"), ("minefield", "A4"), ("iris", "pass")]
)
def test_other_input_gets_none(name: str, typed: str) -> None:
    assert coordinates_of(game_of(name), is_report=False).remark(typed) == ""


def test_without_the_option_everything_is_left_as_it_is() -> None:
    game = game_of("iris")
    cells, view = coordinates_of(game, is_report=False), game.initial_state().view()
    assert cells.picture(view) is view
    assert (cells.shown("c3"), cells.typed("A4"), cells.explanation) == ("c3", "A4", "")
