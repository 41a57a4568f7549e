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
    for text in ("ae1", "aaa1", "ad31", "zz1"):
        with pytest.raises(NotationError, match="a cell from a1 to ad30"):
            board.parse_cell(text)


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
    with pytest.raises(NotationError, match="a cell from a1 to d4"):
        square_board(4, 4).parse_cell(text)
