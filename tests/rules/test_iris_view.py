"""The picture of an Iris position: shape, colours, marks and notes of a turn. Source: RULES.md, "Iris"."""

from __future__ import annotations

import pytest

from tabuleiro.rules import State, registry
from tabuleiro.rules.games.iris.board import hex_board
from tabuleiro.rules.games.iris.state import COLOURS_BY_SIDE
from tabuleiro.rules.view import CellView, Mark

BOARD = hex_board(5)


def start() -> State:
    return registry.load("iris", {"side": 5}).initial_state()


def play(state: State, *texts: str) -> State:
    for text in texts:
        state = state.apply(state.string_to_action(text))
    return state


def legal(state: State) -> set[str]:
    return {state.action_to_string(action) for action in state.legal_actions()}


def cells(state: State) -> dict[str, CellView]:
    return {cell.name: cell for cell in state.view().cells}


def marked(state: State, mark: Mark) -> set[str]:
    return {cell.name for cell in state.view().cells if mark in cell.marks}


def test_the_picture_is_a_hexagon_of_shifted_rows() -> None:
    view = registry.load("iris").initial_state().view()
    assert view.topology == "hex"
    assert view.row_labels == tuple("abcdefghijk")
    assert view.column_labels == ()
    first_of_row = {cell.y: cell.x for cell in reversed(view.cells)}
    assert [first_of_row[y] for y in range(11)] == [5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5]
    assert [(cell.name, cell.x) for cell in view.cells if cell.y == 10][-1] == ("k6", 15)


def test_side_six_is_coloured_as_the_rules_name_it() -> None:
    by_name = cells(registry.load("iris").initial_state())
    clockwise = ["a1", "a2", "a3", "a4", "a5", "a6", "b7", "c8", "d9", "e10"]
    wanted = ["red", "orange", "yellow", "green", "blue"] * 2
    assert [by_name[name].ground for name in clockwise] == wanted
    assert by_name["f6"].ground == ""


@pytest.mark.parametrize("side", COLOURS_BY_SIDE)
def test_opposite_cells_have_one_colour_and_each_colour_six_cells(side: int) -> None:
    game = registry.load("iris", {"side": side})
    view, board = game.initial_state().view(), hex_board(side)
    grounds = [view.cells[index].ground for index in board.perimeter]
    assert len(set(grounds)) == side - 1
    assert all(grounds.count(colour) == 6 for colour in grounds)
    assert all(view.cells[index].ground == view.cells[board.opposite(index)].ground for index in board.perimeter)
    assert [bool(cell.ground) for cell in view.cells] == [bool(board.rim >> cell.index & 1) for cell in view.cells]


def test_marks_follow_a_turn() -> None:
    state = start()
    assert marked(state, Mark.LEGAL) == legal(state)
    assert [note.kind for note in state.view().notes] == ["first-turn"]
    state = play(state, "e5", "d4")
    assert marked(state, Mark.LAST) == {"d4"}
    assert marked(state, Mark.FORBIDDEN) == {"c3", "c4", "d3", "d5", "e4"}
    assert marked(state, Mark.LEGAL) == legal(state) - {"pass"}
    (ban,) = state.view().notes
    assert {BOARD.names[index] for index in ban.cells} == marked(state, Mark.FORBIDDEN)
    assert (ban.kind, ban.owner) == ("ban", 1)
    state = play(state, "d6")
    assert marked(state, Mark.LAST) == {"d4", "d6"}
    assert marked(state, Mark.FORBIDDEN) == set()
    state = play(state, "a2")
    assert marked(state, Mark.LAST) == {"a2"}
    assert marked(state, Mark.REQUIRED) == marked(state, Mark.LEGAL) == {"i4"}
    assert marked(state, Mark.FORBIDDEN) == set()
    opposite = state.view().notes[0]
    assert (opposite.kind, opposite.owner, opposite.target) == ("opposite", 0, BOARD.parse_cell("i4"))
    assert opposite.text == "the second stone must go on i4, opposite a2"


def test_stones_show_their_owner() -> None:
    by_name = cells(play(start(), "e5", "a1"))
    assert (by_name["e5"].piece, by_name["e5"].owner) == ("b", 0)
    assert (by_name["a1"].piece, by_name["a1"].owner) == ("w", 1)
    assert (by_name["a2"].piece, by_name["a2"].owner) == (".", None)
