"""Pictures of boards without a terminal: exact rows of each game in each size, places, and the marks."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from tabuleiro.rules import State, registry
from tabuleiro_client.tui.present.glyphs import ASCII, EAST_ASIAN, UNICODE, GlyphSet
from tabuleiro_client.tui.present.ink import Role, row_text
from tabuleiro_client.tui.present.layout import TALL_SIZES, Layout, Size, fitting_layout, smallest_layout
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
    spaces = ((160, 54), (80, 30), (60, 24), (40, 20), (24, 10), (24, 8))
    sizes = [fitting_layout(view, *space) for space in spaces]
    assert [layout and layout.size for layout in sizes] == [*reversed(Size), None]
    assert fitting_layout(view, 200, 60, Size.SMALL).size is Size.SMALL
    assert (smallest_layout(view).width, smallest_layout(view).height) == (22, 9)


def test_a_board_is_drawn_bare_rather_than_not_at_all():
    view = registry.load("minefield").initial_state().view()
    layout = fitting_layout(view, 60, 14)
    assert layout.is_bare
    assert layout.height == 14
    assert [row_text(row).strip("| ") for row in board_rows(view, layout, NOTHING, ASCII)][-1].split() == list(
        "abcdefghijklm"
    )
    assert not any(layout.hit(layout.left + 3, y) in ("top", "bottom") for y in range(14))


def test_bases_that_can_be_entered_stay_on_a_bare_board():
    assert not Layout(registry.load("xero-g").initial_state().view(), Size.SMALL, is_bare=True).is_bare


@pytest.mark.parametrize("glyphs", [*GLYPHS.values(), EAST_ASIAN], ids=[*GLYPHS, "east-asian"])
@pytest.mark.parametrize("size", list(Size))
@pytest.mark.parametrize("game", list(POSITIONS))
def test_all_rows_of_a_board_are_equally_wide_wherever_it_is_drawn(game, size, glyphs):
    view = state_of(game).view()
    layout = Layout(view, size)
    overlay = Overlay(cursor=1, hint=frozenset({2}), last=frozenset({3}), shows_legal=True, shows_forbidden=True)
    rows = board_rows(view, layout, overlay, glyphs)
    texts = ["".join(span.text for span in row) for row in rows]
    assert {len(text) for text in texts} == {layout.width}
    widths = {unicodedata.east_asian_width(character) for text in texts for character in text}
    assert widths <= ({"Na", "N", "A"} if glyphs is UNICODE else {"Na", "N"})
    assert glyphs is not ASCII or all(text.isascii() for text in texts)


@pytest.mark.parametrize("size", sorted(TALL_SIZES))
def test_no_piece_touches_the_piece_below(size):
    for piece in UNICODE.sprites[size]:
        sprite = UNICODE.sprite(piece.split()[0], size, is_asleep="asleep" in piece)
        rows = Layout(state_of("xero-g").view(), size).boxes[0].height
        is_low = set(sprite[-1]) <= {" ", "\N{UPPER HALF BLOCK}"}
        assert len(sprite) < rows or (len(sprite) == rows and is_low), piece


@pytest.mark.parametrize("piece", ["x", "X", "o", "O", "b", "w"])
@pytest.mark.parametrize("glyphs", list(GLYPHS))
def test_sides_differ_by_shape_in_small_and_large(piece, glyphs):
    other = {"x": "o", "X": "O", "o": "x", "O": "X", "b": "w", "w": "b"}[piece]
    of = GLYPHS[glyphs]
    assert of.glyph(piece) != of.glyph(other)
    for size in TALL_SIZES:
        assert of.sprite(piece, size) != of.sprite(other, size)


@pytest.mark.parametrize("glyphs", list(GLYPHS))
def test_zombies_asleep_look_different_from_those_awake(glyphs):
    of = GLYPHS[glyphs]
    for piece in "XO":
        assert of.glyph(piece) != of.glyph(piece, is_asleep=True)
        for size in TALL_SIZES:
            assert of.sprite(piece, size) != of.sprite(piece, size, is_asleep=True)


@pytest.mark.parametrize("glyphs", list(GLYPHS))
@pytest.mark.parametrize("size", sorted(TALL_SIZES))
def test_a_sprite_leaves_both_sides_of_its_cell_to_the_marks(size, glyphs):
    box = Layout(state_of("xero-g").view(), size).boxes[0]
    for sprite in GLYPHS[glyphs].sprites[size].values():
        assert len({len(row) for row in sprite}) == 1
        assert len(sprite[0]) <= box.width - 2
        assert len(sprite) <= box.height


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
        hint=frozenset({22}),
    )
    assert drawn(state, Size.SMALL, overlay) == [
        "   ==== black ====",
        "5 |*** # {#} # ~#~|",
        "4 | #  #  #  #  # |",
        "3 | #  # [B] #  # |",
        "2 |=#= #  #  # !#!|",
        "1 |[W] #  #  # >#<|",
        "    a  b  c  d  e",
        "   ==== black ====",
        "white joins left and right",
    ]


def test_what_may_be_chosen_is_marked_unless_most_may():
    state = state_of("virus-wars", rows=4, cols=4, steps=2)
    assert drawn(state, Size.SMALL, Overlay(shows_legal=True))[0] == "4  x  +  .  ."
    free = state_of("minefield", size=5)
    assert drawn(free, Size.SMALL, Overlay(shows_legal=True))[1] == "5 | #  #  #  #  # |"


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


def test_the_largest_board_of_virus_wars_fits_a_window_of_120_columns_with_all_its_names():
    view = registry.load("virus-wars", {"rows": 30, "cols": 30}).initial_state().view()
    layout = fitting_layout(view, 120, 33)
    assert layout is not None
    assert layout.size is Size.SMALL
    places = [layout.column(x) for x, _ in view.column_labels]
    ends = [place + len(label) for place, (_, label) in zip(places, view.column_labels, strict=True)]
    assert all(end < place for end, place in zip(ends, places[1:], strict=False))
