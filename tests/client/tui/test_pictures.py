"""Pictures of boards without a terminal: exact rows of each game in each size, places, and the marks."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from tabuleiro.rules import State, registry
from tabuleiro_client.tui.present.ink import ASCII, UNICODE, GlyphSet, Role, row_text
from tabuleiro_client.tui.present.layout import Layout, Size, fitting_layout, smallest_layout
from tabuleiro_client.tui.present.overlay import NOTHING, Overlay
from tabuleiro_client.tui.present.picture import board_rows
from tabuleiro_client.tui.screens.board_screen import OTHER_ROWS, PANEL_MIN_COLUMNS

PICTURES = Path(__file__).parent / "pictures"
GLYPHS = {"ascii": ASCII, "unicode": UNICODE}
POSITIONS: dict[str, dict[str, int | str]] = {
    "virus-wars": {"rows": 4, "cols": 5, "position": "x.X.o/xXX.O/.o..O/O...x 0 3"},
    "xero-g": {"position": "000000/010300/000000/002000/123120/033210 0"},
    "iris": {"side": 5, "position": "b...w/....../.b.w.../......../w.......w/......../...w.b./....../w...b 0 - 0"},
    "minefield": {"size": 5, "position": "b.bbw/.wb../w..../..w.b/..... 1"},
}


def state_of(game: str, **options: int | str) -> State:
    return registry.load(game, options or POSITIONS[game]).initial_state()


def drawn(state: State, size: Size, overlay: Overlay = NOTHING, glyphs: GlyphSet = ASCII) -> list[str]:
    view = state.view()
    return [row_text(row) for row in board_rows(view, Layout(view, size), overlay, glyphs)]


@pytest.mark.parametrize("glyphs", list(GLYPHS))
@pytest.mark.parametrize("size", list(Size))
@pytest.mark.parametrize("game", list(POSITIONS))
def test_each_game_is_drawn_row_by_row_as_kept(game, size, glyphs):
    overlay = Overlay(cursor=0, shows_legal=True, shows_forbidden=True)
    kept = (PICTURES / f"{game}-{size}-{glyphs}.txt").read_text(encoding="utf-8").splitlines()
    assert drawn(state_of(game), size, overlay, GLYPHS[glyphs]) == kept


@pytest.mark.parametrize("size", list(Size))
@pytest.mark.parametrize("game", registry.names())
def test_pointing_at_the_place_of_a_cell_or_edge_hits_it(game, size):
    view = registry.load(game).initial_state().view()
    layout = Layout(view, size)
    for target in [*range(len(view.cells)), *(edge.side for edge in view.edges if edge.side in ("top", "bottom"))]:
        assert layout.hit(*layout.place(target)) == target


@pytest.mark.parametrize("size", list(Size))
@pytest.mark.parametrize("game", registry.names())
def test_no_cell_lies_over_another_or_outside_the_picture(game, size):
    view = registry.load(game).initial_state().view()
    layout = Layout(view, size)
    places = [
        (x, y)
        for box in layout.boxes
        for x in range(box.x, box.x + box.width)
        for y in range(box.y, box.y + box.height)
    ]
    assert len(places) == len(set(places))
    assert all(0 <= x < layout.width and 0 <= y < layout.height for x, y in places)


@pytest.mark.parametrize("game", registry.names())
def test_every_default_board_fits_a_small_terminal_beside_its_panel(game):
    view = registry.load(game).initial_state().view()
    layout = fitting_layout(view, 80 - PANEL_MIN_COLUMNS - 1, 24 - OTHER_ROWS)
    assert layout is not None


def test_the_largest_size_that_fits_is_taken_and_none_when_none_does():
    view = registry.load("xero-g").initial_state().view()
    sizes = [fitting_layout(view, *space) for space in ((200, 60), (40, 20), (24, 10), (24, 8))]
    assert [layout and layout.size for layout in sizes] == [Size.LARGE, Size.MEDIUM, Size.SMALL, None]
    assert fitting_layout(view, 200, 60, Size.SMALL).size is Size.SMALL
    assert (smallest_layout(view).width, smallest_layout(view).height) == (22, 9)


@pytest.mark.parametrize("glyphs", list(GLYPHS))
@pytest.mark.parametrize("size", list(Size))
@pytest.mark.parametrize("game", list(POSITIONS))
def test_no_character_of_a_board_is_of_ambiguous_width_and_all_rows_are_equally_wide(game, size, glyphs):
    view = state_of(game).view()
    layout = Layout(view, size)
    overlay = Overlay(cursor=1, shows_legal=True, shows_forbidden=True)
    rows = board_rows(view, layout, overlay, GLYPHS[glyphs])
    texts = ["".join(span.text for span in row) for row in rows]
    assert {len(text) for text in texts} == {layout.width}
    widths = {unicodedata.east_asian_width(character) for text in texts for character in text}
    assert widths <= {"Na", "N"}
    assert glyphs == "unicode" or all(text.isascii() for text in texts)


@pytest.mark.parametrize("piece", ["x", "X", "o", "O", "b", "w"])
@pytest.mark.parametrize("glyphs", list(GLYPHS))
def test_sides_differ_by_shape_in_small_and_large(piece, glyphs):
    other = {"x": "o", "X": "O", "o": "x", "O": "X", "b": "w", "w": "b"}[piece]
    of = GLYPHS[glyphs]
    assert of.glyph(piece) != of.glyph(other)
    assert of.sprite(piece) != of.sprite(other)


@pytest.mark.parametrize("glyphs", list(GLYPHS))
def test_zombies_asleep_look_different_from_those_awake(glyphs):
    of = GLYPHS[glyphs]
    for piece in "XO":
        assert of.glyph(piece) != of.glyph(piece, is_asleep=True)
        assert of.sprite(piece) != of.sprite(piece, is_asleep=True)


@pytest.mark.parametrize("glyphs", list(GLYPHS))
def test_sprites_are_three_rows_of_five_columns(glyphs):
    sizes = {(len(sprite), *map(len, sprite)) for sprite in GLYPHS[glyphs].sprites.values()}
    assert sizes == {(3, 5, 5, 5)}


def test_what_is_marked_is_told_by_characters_alone():
    state = state_of("minefield", size=5)
    for text in ("c3", "a1"):
        state = state.apply(state.string_to_action(text))
    overlay = Overlay(
        cursor=4,
        picked=frozenset({5}),
        last=frozenset({12}),
        route=(20,),
        opposite=24,
        reasons=frozenset({9}),
    )
    assert drawn(state, Size.SMALL, overlay) == [
        "   ==== black ====",
        "5 |*** .  .  . ~.~|",
        "4 | .  .  .  .  . |",
        "3 | .  . [#] .  . |",
        "2 |=.= .  .  . !.!|",
        "1 |[O] .  .  . >.<|",
        "    a  b  c  d  e",
        "   ==== black ====",
        "white joins left and right",
    ]


def test_what_may_be_chosen_is_marked_unless_most_may():
    state = state_of("virus-wars", rows=4, cols=4, steps=2)
    assert drawn(state, Size.SMALL, Overlay(shows_legal=True))[0] == "4  x  +  .  ."
    free = state_of("minefield", size=5)
    assert drawn(free, Size.SMALL, Overlay(shows_legal=True))[1] == "5 | .  .  .  .  . |"


def test_where_most_cells_may_be_chosen_the_others_are_blank():
    state = state_of("iris", side=5)
    assert drawn(state, Size.SMALL, Overlay(shows_legal=True))[1] == "      b  b    .   .   .   .  y   b6"


def test_an_edge_that_may_be_entered_is_between_plus_signs():
    state = state_of("xero-g", position="000000/000000/000000/000000/123123/231231 0")
    base = Overlay(shows_legal=True, targets=frozenset({"top"}))
    assert drawn(state, Size.SMALL, base)[0].strip() == "=+ south enters +="
    assert drawn(state, Size.LARGE)[0].strip("= ") == "base that south enters"


def test_a_hovered_cell_lies_on_another_ground():
    view = state_of("minefield", size=5).view()
    layout = Layout(view, Size.SMALL)
    rows = board_rows(view, layout, Overlay(hover=0), ASCII)
    assert Role.HOVER in {span.ink.bg for span in rows[5]}
