"""Hexagon geometry: names, report forms, the rim and the spreading of bit sets."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import NotationError
from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.games.iris.board import hex_board

SIDES = (2, 3, 5, 6, 7, 8, 13)
every_side = pytest.mark.parametrize("side", SIDES)


def names_of(side: int, cells: int) -> set[str]:
    return {hex_board(side).names[index] for index in bit_indexes(cells)}


def test_rows_of_side_six_are_lettered_from_the_top() -> None:
    board = hex_board(6)
    assert board.row_lengths == (6, 7, 8, 9, 10, 11, 10, 9, 8, 7, 6)
    assert "".join(board.row_labels) == "abcdefghijk"
    assert (board.names[0], board.names[6], board.names[-1], board.cell_count) == ("a1", "b1", "k6", 91)


@every_side
def test_cell_names_round_trip(side: int) -> None:
    board = hex_board(side)
    assert board.cell_count == 3 * side * (side - 1) + 1 == len(set(board.names)) == sum(board.row_lengths)
    assert [board.parse_cell(name) for name in board.names] == list(range(board.cell_count))
    assert [board.parse_cell(f" {name.upper()}\t") for name in board.names] == list(range(board.cell_count))


@every_side
def test_neighbours_are_the_cells_at_distance_one_in_the_picture(side: int) -> None:
    board = hex_board(side)
    for index in range(board.cell_count):
        near = {
            other
            for other in range(board.cell_count)
            if (abs(board.xs[other] - board.xs[index]), abs(board.ys[other] - board.ys[index])) in ((2, 0), (1, 1))
        }
        assert set(bit_indexes(board.neighbours[index])) == near


@every_side
def test_rim_cells_are_those_with_fewer_than_six_neighbours(side: int) -> None:
    board = hex_board(side)
    open_cells = {index for index in range(board.cell_count) if board.neighbours[index].bit_count() < 6}
    assert set(bit_indexes(board.rim)) == set(board.perimeter) == open_cells
    assert len(board.perimeter) == 6 * (side - 1)


@every_side
def test_perimeter_goes_round_clockwise_cell_by_cell(side: int) -> None:
    board = hex_board(side)
    assert [board.names[index] for index in board.perimeter[:side]] == [f"a{col + 1}" for col in range(side)]
    for index, following in itertools.pairwise([*board.perimeter, board.perimeter[0]]):
        assert board.neighbours[index] >> following & 1
        # Seen from the centre, the next cell is to the right hand (y grows downwards).
        center = board.cell_count // 2
        x, y = board.xs[index] - board.xs[center], board.ys[index] - board.ys[center]
        next_x, next_y = board.xs[following] - board.xs[center], board.ys[following] - board.ys[center]
        assert x * next_y - y * next_x > 0


@every_side
def test_opposite_cells_mirror_through_the_centre(side: int) -> None:
    board = hex_board(side)
    half = len(board.perimeter) // 2
    for place, index in enumerate(board.perimeter):
        assert board.opposite(index) == board.perimeter[(place + half) % len(board.perimeter)]
    for index in range(board.cell_count):
        opposite = board.opposite(index)
        assert board.opposite(opposite) == index
        assert board.xs[index] + board.xs[opposite] == 4 * (side - 1)
        assert board.ys[index] + board.ys[opposite] == 2 * (side - 1)


@pytest.mark.parametrize("text", ["c4", "C4", " c4 ", "(3,4)", "3-4", "[3, 4]", " ( 3 , 4 ) "])
def test_report_forms_count_rows_from_the_top(text: str) -> None:
    assert hex_board(6).names[hex_board(6).parse_cell(text)] == "c4"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a0",
        "a7",
        "k7",
        "f12",
        "l1",
        "a01",
        "(0,1)",
        "(1,0)",
        "(1,7)",
        "(12,1)",
        "0-1",
        "99-1",
        "a1 b1",
        "٣-٤",
        "1",
    ],
)
def test_text_that_is_no_cell_is_refused(text: str) -> None:
    with pytest.raises(NotationError) as caught:
        hex_board(6).parse_cell(text)
    assert caught.value.expected == "a cell from a1 to k6 (row a has 6 cells, row f 11)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("l 1", "row l does not exist: rows are a to k"),
        ("(12,1)", "row 12 does not exist: rows are 1 to 11"),
        ("b8", "row b has cells 1 to 7, not 8"),
        ("2-8.", "row 2 has cells 1 to 7, not 8"),
        ("(1,x)", "the column 'x' is no number"),
        ("foo", "expected a cell from a1 to k6 (row a has 6 cells, row f 11)"),
    ],
)
def test_each_wrong_cell_is_told_what_is_wrong_with_it(text: str, problem: str) -> None:
    with pytest.raises(NotationError) as caught:
        hex_board(6).parse_cell(text)
    assert caught.value.problem == problem


def test_spread_of_a_corner_an_edge_and_the_centre() -> None:
    board = hex_board(5)
    assert names_of(5, board.spread(1 << board.parse_cell("a1"))) == {"a1", "a2", "b1", "b2"}
    assert names_of(5, board.spread(1 << board.parse_cell("a2"))) == {"a1", "a2", "a3", "b2", "b3"}
    assert names_of(5, board.spread(1 << board.parse_cell("e5"))) == {"e5", "e4", "e6", "d4", "d5", "f4", "f5"}
    assert board.spread(0) == 0


@settings(max_examples=40)
@given(side=st.sampled_from(SIDES), data=st.data())
def test_components_part_a_set_into_connected_pieces_that_do_not_touch(side: int, data: st.DataObject) -> None:
    board = hex_board(side)
    cells = data.draw(st.integers(0, board.full))
    parts = board.components(cells)
    assert sum(parts) == cells
    for part in parts:
        assert board.spread(part) & cells == part
        reached = part & -part
        for _ in range(part.bit_count()):
            reached = board.spread(reached) & part
        assert reached == part
