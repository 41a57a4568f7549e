"""Boards as text: whole pictures, compared character by character."""

from __future__ import annotations

import re
import unicodedata
from textwrap import dedent

import pytest

from tabuleiro.ids import Player
from tabuleiro.rules import registry
from tabuleiro.rules.view import BoardView, CellView, EdgeView, Mark, Topology
from tabuleiro_client.text.board import (
    ASCII_GLYPHS,
    UNICODE_GLYPHS,
    TextStyle,
    board_lines,
    ground_letters,
    legend,
    piece_glyph,
)

ASCII = TextStyle(color=False, ascii=True)
UNICODE = TextStyle(color=False, ascii=False)
COLOUR = TextStyle(color=True, ascii=False)
SGR = re.compile(r"\x1b\[[0-9;]*m")


def picture(text: str) -> list[str]:
    """The lines of an indented block; a ``|`` at the start of a line stands for its left margin."""
    return [line.rstrip().removeprefix("|") for line in dedent(text).strip("\n").splitlines()]


def virus_wars_view(position: str, *actions: str, steps: int = 3, opening: str = "corners") -> BoardView:
    state = registry.load(
        "virus-wars", {"rows": 4, "cols": 5, "steps": steps, "opening": opening, "position": position}
    ).initial_state()
    for action in actions:
        state = state.apply(state.string_to_action(action))
    return state.view()


ASLEEP = "x..../.Xo../.oO../....O 0 3"


def test_virus_wars_tells_sides_and_zombies_apart_by_shape() -> None:
    assert board_lines(virus_wars_view(ASLEEP), ASCII) == picture("""
        |4 . . . . @
        |3 . o O . .
        |2 . X o . .
        |1 x . . . .
        |  a b c d e
    """)


def test_virus_wars_in_unicode() -> None:
    assert board_lines(virus_wars_view(ASLEEP), UNICODE) == picture("""
        |4 . . . . ◌
        |3 . o ◉ . .
        |2 . ⊠ o . .
        |1 x . . . .
        |  a b c d e
    """)


def test_legal_cells_are_marked_when_asked() -> None:
    assert board_lines(virus_wars_view(ASLEEP), ASCII, show_legal=True) == picture("""
        |4 . . . . @
        |3 +>o O . .
        |2 + X>o . .
        |1 x + + . .
        |  a b c d e
    """)


def test_the_last_action_is_bracketed() -> None:
    assert board_lines(virus_wars_view(ASLEEP, "c2", "b3"), ASCII, show_legal=True) == picture("""
        |4 + + + . @
        |3 +[X]@ + .
        |2 + X X + .
        |1 x + + + .
        |  a b c d e
    """)


def test_edges_say_where_to_start() -> None:
    view = virus_wars_view("...../...../...../..... 0 3", opening="edges")
    assert board_lines(view, ASCII, show_legal=True) == picture("""
        |4 + . . . .
        |3 + . . . .
        |2 + . . . .
        |1 + . . . .
        |  a b c d e
        |  left: + blue starts here +
        |  right: red starts here
    """)


def drawn_view(
    rows: list[str],
    marks: dict[str, set[Mark]],
    *,
    topology: Topology = "square",
    grounds: dict[str, str] | None = None,
    edges: tuple[EdgeView, ...] = (),
) -> BoardView:
    """A view from rows of pieces, top first; cells are named row letter and number, as in Iris."""
    cells: list[CellView] = []
    widest = max(map(len, rows))
    for y, row in enumerate(rows):
        shift = widest - len(row) if topology == "hex" else 0
        for number, piece in enumerate(row, start=1):
            name = f"{'abcdefg'[y]}{number}"
            owner: Player | None = {"b": 0, "w": 1}.get(piece)  # type: ignore[assignment]
            cells.append(
                CellView(
                    index=len(cells),
                    name=name,
                    x=2 * (number - 1) + shift,
                    y=y,
                    piece=piece,
                    owner=owner,
                    ground=(grounds or {}).get(name, ""),
                    marks=frozenset(marks.get(name, ())),
                )
            )
    return BoardView(
        topology=topology,
        cells=tuple(cells),
        row_labels=tuple("abcdefg"[: len(rows)]),
        column_labels=() if topology == "hex" else tuple((2 * x, str(x + 1)) for x in range(widest)),
        to_move=0,
        actions_left=None,
        edges=edges,
        piece_names={"b": "black stone", "w": "white stone"},
    )


def test_columns_of_two_letters_are_named_downwards_on_a_narrow_board() -> None:
    view = registry.load("virus-wars", {"rows": 4, "cols": 28}).initial_state().view()
    lines = board_lines(view, ASCII)
    assert lines[-2].endswith(" y z a a")
    assert lines[-1].split() == ["a", "b"]
    assert lines[-1].rindex("b") == lines[-2].rindex("a")


def test_hexagons_are_indented_and_coloured_cells_keep_their_letter() -> None:
    grounds = {"a1": "red", "a2": "green", "b1": "green", "b3": "red", "c1": "red", "c2": "green"}
    marks = {"b2": {Mark.LAST}, "b3": {Mark.LAST, Mark.WINNING}, "c1": {Mark.LEGAL, Mark.REQUIRED}}
    view = drawn_view(["bw", ".bw", ".."], marks, topology="hex", grounds=grounds)
    assert board_lines(view, ASCII) == picture("""
        |  a rB  gW  a2
        |b g.  [B][rW] b3
        |  c r*  g.  c2
    """)
    assert legend(view, ASCII) == "B black stone, W white stone, r red, g green"


def test_colours_that_begin_alike_get_different_letters() -> None:
    grounds = {"a1": "green", "a2": "grey", "a3": "gre", "a4": "red", "a5": "g"}
    view = drawn_view(["....."], {}, grounds=grounds)
    assert ground_letters(view) == {"green": "g", "grey": "r", "gre": "e", "red": "d", "g": "?"}
    assert board_lines(view, ASCII) == ["a g.  r.  e.  d.  ?.", "   1   2   3   4   5"]


def test_forbidden_cells_only_on_demand() -> None:
    view = drawn_view(["b.", ".w"], {"a2": {Mark.FORBIDDEN}, "b1": {Mark.LEGAL}})
    assert board_lines(view, ASCII) == ["a B .", "b . W", "  1 2"]
    assert board_lines(view, ASCII, show_legal=True, show_forbidden=True) == ["a B -", "b + W", "  1 2"]


def test_neighbouring_marks_share_a_column() -> None:
    last, won = {Mark.LAST}, {Mark.WINNING}
    view = drawn_view(["bbb", "bbb", "bbb"], {"a1": last, "a2": last, "b1": won, "b2": won, "c1": won, "c2": last})
    assert board_lines(view, ASCII) == ["a[B|B]B", "b(B|B)B", "c(B[B]B", "  1 2 3"]
    view = drawn_view(["bbb"], {"a1": last, "a2": {Mark.LEGAL}, "a3": last})
    assert board_lines(view, ASCII, show_legal=True)[0] == "a[B>B[B]"


def test_bases_stand_above_and_below_and_home_rows_are_named() -> None:
    edges = (
        EdgeView("top", 0, "base", is_target=True),
        EdgeView("bottom", 1, "a base with a long name"),
        EdgeView("left", 1, "joined by white"),
        EdgeView("right", 1, "joined by white"),
    )
    view = drawn_view(["...", "231"], {"b1": {Mark.HOME, Mark.LEGAL}, "b2": {Mark.HOME}}, edges=edges)
    assert board_lines(view, ASCII, show_legal=True) == picture("""
        |+ base +
        |a . . .
        |b>2 3 1 < home row
        |a base with a long name
        |  1 2 3
        |  joined by white
    """)


def test_minefield_in_ascii_has_the_letters_of_its_report_and_white_has_its_own_colour() -> None:
    state = registry.load("minefield", {"size": 5}).initial_state()
    for text in ("a1", "b2"):
        state = state.apply(state.string_to_action(text))
    lines = board_lines(state.view(), ASCII)
    assert lines[4:6] == ["2 #[W]# # #", "1 B # # # #"]
    assert legend(state.view(), ASCII) == "B black stone, W white stone, # empty"
    coloured = board_lines(state.view(), COLOUR)
    assert coloured[0].startswith("\x1b[1;34mb") or "\x1b[1;34mb\x1b[0m" in coloured[0]
    assert "\x1b[1mw\x1b[0m\x1b[1mh\x1b[0m" in coloured[-1]
    assert "\x1b[1m\N{FISHEYE}\x1b[0m" in coloured[4]


def test_colour_adds_nothing_but_colour() -> None:
    view = virus_wars_view(ASLEEP, "c2", "b3")
    coloured = board_lines(view, COLOUR, show_legal=True)
    assert [SGR.sub("", line) for line in coloured] == board_lines(view, UNICODE, show_legal=True)
    assert all(line.count("\x1b[0m") * 2 == len(SGR.findall(line)) for line in coloured)
    assert "\x1b[1m[\x1b[0m\x1b[34m⊠\x1b[0m" in coloured[1]


def test_every_glyph_is_one_column_wide_in_every_locale() -> None:
    for glyph in UNICODE_GLYPHS.values():
        assert unicodedata.east_asian_width(glyph) in ("N", "Na")
        assert not unicodedata.combining(glyph)
    assert all(glyph.isascii() for glyph in ASCII_GLYPHS.values())


@pytest.mark.parametrize("style", [ASCII, UNICODE])
@pytest.mark.parametrize("name", registry.names())
def test_pieces_of_a_game_look_different(name: str, style: TextStyle) -> None:
    view = registry.load(name).initial_state().view()
    glyphs = [piece_glyph(piece, style) for piece in view.piece_names]
    assert len({*glyphs, ".", "+", "-", "*"}) == len(glyphs) + 4


@pytest.mark.parametrize("name", registry.names())
def test_every_game_draws_every_cell_within_a_terminal(name: str) -> None:
    state = registry.load(name).initial_state()
    while not state.is_terminal and state.turn_number < 12:
        legal = state.legal_actions()
        state = state.child(legal[len(legal) // 2])
    view = state.view()
    lines = board_lines(view, ASCII, show_legal=True, show_forbidden=True)
    assert all(line.isascii() and line == line.rstrip() and len(line) < 80 for line in lines)
    drawn = "\n".join(lines)
    for piece in view.piece_names:
        glyph = piece_glyph(piece, ASCII)
        awake = [cell for cell in view.cells if cell.piece == piece and Mark.ASLEEP not in cell.marks]
        assert drawn.count(glyph) >= len(awake)
