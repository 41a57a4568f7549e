"""Square geometry: names, report forms and the spreading of bit sets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabuleiro.errors import NotationError
from tabuleiro.rules.board import bit_indexes, iter_bits, square_board

sizes = st.tuples(st.integers(1, 30), st.integers(1, 30))


@given(size=sizes)
def test_cell_names_round_trip(size: tuple[int, int]) -> None:
    board = square_board(*size)
    assert [board.parse_cell(name) for name in board.names] == list(range(board.cell_count))


def test_columns_beyond_z_have_two_letters() -> None:
    board = square_board(30, 30)
    assert board.names[25:31] == ("z1", "aa1", "ab1", "ac1", "ad1", "a2")
    assert board.parse_cell(" AD30 ") == 899
    assert board.parse_cell("(30,30)") == 899
    for text, problem in (
        ("ae1", "column ae does not exist: columns are a to ad"),
        ("aaa1", "expected a cell from a1 to ad30"),
        ("ad31", "row 31 does not exist: rows are 1 to 30"),
        ("zz31", "row 31 does not exist: rows are 1 to 30; column zz does not exist: columns are a to ad"),
    ):
        with pytest.raises(NotationError) as caught:
            board.parse_cell(text)
        assert caught.value.problem == problem


@given(size=sizes, data=st.data())
def test_spreading_agrees_with_counting_neighbours(size: tuple[int, int], data: st.DataObject) -> None:
    rows, cols = size
    board = square_board(rows, cols)
    cell = data.draw(st.integers(0, board.cell_count - 1))
    row, col = divmod(cell, cols)
    near8 = {
        board.index(row + down, col + right)
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if 0 <= row + down < rows and 0 <= col + right < cols
    }
    near4 = {other for other in near8 if row == other // cols or col == other % cols}
    assert set(iter_bits(board.spread8(1 << cell))) == near8
    assert set(bit_indexes(board.spread4(1 << cell))) == near4


@pytest.mark.parametrize(
    "text", ["", "a", "a0", "a5", "e1", "(0,1)", "(1,5)", "3--4", "a1 b1", "(1,2", "٣-٤", "1", "a01"]
)
def test_text_that_is_no_cell_is_refused(text: str) -> None:
    with pytest.raises(NotationError) as caught:
        square_board(4, 4).parse_cell(text)
    assert caught.value.expected in ("a cell from a1 to d4", "a row and a column as numbers, e.g. (3,4)")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(1,x)", "the column 'x' is no number"),
        ("[?, 2]", "the row '?' is no number"),
        ("(1,)", "the column is missing"),
        ("3-x", "the column 'x' is no number"),
        ("(11,1)", "row 11 does not exist: rows are 1 to 10"),
        ("1,11", "column 11 does not exist: columns are 1 to 10"),
        ("12-13", "row 12 does not exist: rows are 1 to 10; column 13 does not exist: columns are 1 to 10"),
        ("b12", "row 12 does not exist: rows are 1 to 10"),
        ("m 2", "column m does not exist: columns are a to j"),
        ("foo", "expected a cell from a1 to j10"),
    ],
)
def test_each_wrong_cell_is_told_what_is_wrong_with_it(text: str, problem: str) -> None:
    """Symptom: (1,x), (11,1) and foo had the same sentence."""
    with pytest.raises(NotationError) as caught:
        square_board(10, 10).parse_cell(text)
    assert caught.value.problem == problem


@pytest.mark.parametrize(
    "text", ["(3,4)", "3-4", "[3, 4]", "3,4", "3, 4.", "d3", "D 3", "d3.", "3-4.", " [ 3 ,4 ]. "]
)
def test_a_cell_is_read_in_every_form_of_the_reports(text: str) -> None:
    assert square_board(10, 10).parse_cell(text) == square_board(10, 10).index(2, 3)
