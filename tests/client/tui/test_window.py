"""Boards larger than the window: the part that is shown follows the cursor, and marks tell where more is."""

from __future__ import annotations

from typing import Any

import pytest
from textual.events import MouseScrollUp

from tabuleiro.rules import registry
from tabuleiro.rules.view import BoardView
from tabuleiro_client.tui.present.glyphs import ASCII
from tabuleiro_client.tui.present.ink import row_text
from tabuleiro_client.tui.present.overlay import NOTHING
from tabuleiro_client.tui.present.picture import board_rows
from tabuleiro_client.tui.present.window import Window, fitting_window
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.widgets.board import WHEEL_ROWS
from tests.client.tui.frozen import frozen_app

LARGE: list[Any] = [
    ("minefield", {"size": 16}),
    ("minefield", {"size": 19}),
    ("virus-wars", {"rows": 30, "cols": 30}),
    ("iris", {"side": 8}),
]


def view_of(game: str, options: dict[str, int | str]) -> BoardView:
    return registry.load(game, options).initial_state().view()


def lines_of(view: BoardView, window: Window, last: frozenset[int] = frozenset()) -> list[str]:
    picture = board_rows(view, window.layout, NOTHING, ASCII)
    rows = window.rows(picture, last)
    assert [sum(len(span.text) for span in row) for row in rows if row] == [window.width] * len(rows)
    return [row_text(row) for row in rows]


@pytest.mark.parametrize(("game", "options"), LARGE)
@pytest.mark.parametrize("room", [(80, 17), (60, 13), (30, 9)])
def test_every_cell_can_be_brought_into_the_window_and_is_found_where_it_is_drawn(game, options, room):
    view = view_of(game, options)
    window = fitting_window(view, *room)
    assert window is not None
    assert window.width <= room[0]
    assert window.height <= room[1]
    for cell in view.cells:
        window = window.following(cell.index)
        place = window.place(cell.index)
        assert place is not None
        assert window.hit(*place) == cell.index
        assert 0 <= place[1] < window.height


def test_the_window_moves_as_little_as_it_can_and_keeps_two_cells_around_what_it_follows():
    view = view_of("minefield", {"size": 19})
    window = fitting_window(view, 40, 13)
    assert window is not None
    names = {cell.name: cell.index for cell in view.cells}
    down = window.following(names["e10"])
    assert (down.x, down.y) == (0, 2)
    assert down.following(names["e11"]) == down
    assert down.following(names["e15"]).y == 2
    assert down.following(names["e16"]).y == 1
    assert window.following(names["s1"]).place(names["s1"]) is not None


def test_marks_tell_how_much_is_hidden_and_the_names_of_rows_and_columns_stay():
    view = view_of("minefield", {"size": 19})
    window = fitting_window(view, 40, 12)
    assert window is not None
    names = {cell.name: cell.index for cell in view.cells}
    top = lines_of(view, window)
    assert top[0] == ""
    assert top[1].startswith("19")
    assert top[1].endswith(">")
    assert top[-2].split() == list("abcdefghijk")
    assert top[-1].strip() == "v 10 more rows v"
    middle = lines_of(view, window.following(names["k10"]), frozenset({names["a19"]}))
    assert middle[0].strip() == "^ 3 more rows and the last turn ^"
    assert middle[1].startswith("16 <")
    assert middle[-2].split() == list("cdefghijklm")
    assert middle[-1].strip() == "v 7 more rows v"
    end = lines_of(view, window.following(names["s1"]))
    assert end[-1] == ""
    assert not end[1].endswith(">")


def test_a_row_of_hexagons_that_is_whole_has_no_mark():
    view = view_of("iris", {"side": 8})
    window = fitting_window(view, 60, 14)
    assert window is not None
    lines = lines_of(view, window)
    assert lines[1].endswith("a8")
    assert lines[8].endswith(">")


def test_a_board_with_sides_to_enter_is_never_parted():
    assert fitting_window(view_of("xero-g", {"setup": "random", "seed": 1}), 40, 8) is None


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
@pytest.mark.parametrize(("game", "options"), LARGE[1:3])
async def test_a_large_board_is_played_by_arrows_typing_and_mouse(game, options, size):
    app = frozen_app(game, (), options)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        board = app.screen.board
        assert board.window is not None
        for _ in range(15):
            await pilot.press("shift+up")
        view = app.screen.current_view()
        assert view is not None
        assert view.cells[board.cursor].y == 0
        assert board.place_of(board.cursor) is not None
        await pilot.press("b", "2")
        named = view.cells[board.cursor]
        assert named.name == "b2"
        place = board.place_of(named.index)
        assert place is not None
        assert board.target_at(*place) == named.index
        drawn = board.render_line(place[1]).text
        assert drawn[place[0] - 1 : place[0] + 2].strip(" .") in ("><", ">.<", "> <", ">\N{MIDDLE DOT}<")


async def test_the_window_of_a_watcher_follows_the_last_turn():
    app = frozen_app("minefield", ["a1"], {"size": 19}, screen=WatchScreen)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        board = app.screen.board
        assert board.window is not None
        view = app.screen.current_view()
        assert view is not None
        corner = next(cell.index for cell in view.cells if cell.name == "a1")
        assert board.place_of(corner) is not None
        for _ in range(12):
            await pilot.press("shift+up")
        assert board.place_of(corner) is None


async def test_the_wheel_moves_the_window_and_leaves_the_cursor():
    app = frozen_app("virus-wars", (), {"rows": 30, "cols": 30})
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        board = app.screen.board
        assert board.window is not None
        cursor, y = board.cursor, board.window.y
        wheel = MouseScrollUp(board, 5, 5, 0, -1, 0, shift=False, meta=False, ctrl=False)
        board.post_message(wheel)
        await pilot.pause()
        assert board.window.y == y - WHEEL_ROWS
        assert board.cursor == cursor


async def test_a_board_that_fits_again_is_whole_and_one_without_room_for_five_cells_says_so():
    app = frozen_app("minefield", (), {"size": 19})
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        board = app.screen.board
        assert board.window is not None
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        assert board.window is None
        assert board.layout_shown is not None
        await pilot.resize_terminal(30, 12)
        await pilot.pause()
        said = " ".join(board.render_line(y).text.strip() for y in range(3))
        assert said.startswith("The window is too small for this board. Make it ")
