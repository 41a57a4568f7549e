"""The boards of the games beyond Virus Wars, as a player sees them in a terminal without colours."""

from __future__ import annotations

from textwrap import dedent

from tabuleiro.rules import registry
from tabuleiro_client.text.board import TextStyle, board_lines, legend

ASCII = TextStyle(color=False, ascii=True)
UNICODE = TextStyle(color=False, ascii=False)
SHIPS = "000000/000000/000000/000000/123123/231231 0"


def picture(text: str) -> list[str]:
    """The lines of an indented block; a ``|`` at the start of a line stands for its left margin."""
    return [line.rstrip().removeprefix("|") for line in dedent(text).strip("\n").splitlines()]


def drawn(
    name: str, actions: str, style: TextStyle = ASCII, *, asks: bool = False, **options: int | str
) -> list[str]:
    state = registry.load(name, options).initial_state()
    for text in actions.split():
        state = state.apply(state.string_to_action(text))
    return board_lines(state.view(), style, show_legal=asks, show_forbidden=asks)


def test_xero_g_marks_the_ships_that_move_and_the_base_they_reach() -> None:
    assert drawn("xero-g", "", asks=True, position=SHIPS) == picture("""
        |+ base that south enters +
        |6 2 3 1 2 3 1
        |5>1>2>3>1>2>3 < home row
        |4 . . . . . .
        |3 . . . . . .
        |2 . . . . . .
        |1 . . . . . .
        |base that north enters
        |  a b c d e f
    """)


def test_xero_g_brackets_both_squares_and_the_reprogrammed_ship() -> None:
    assert drawn("xero-g", "a5xa6@b1", position=SHIPS) == picture("""
        |base that south enters
        |6[1]3 1 2 3 1 < home row
        |5[.]2 3 1 2 3
        |4 . . . . . .
        |3 . . . . . .
        |2 . . . . . .
        |1 .[2]. . . .
        |base that north enters
        |  a b c d e f
    """)


def test_iris_shows_the_one_cell_left_without_being_asked() -> None:
    assert drawn("iris", "c3 a1", side=5) == picture("""
        |        a[rW] y.  g.  b.  r.  a5
        |      b b.   .   .   .   .  y.  b6
        |    c g.   .   B   .   .   .  g.  c7
        |  d y.   .   .   .   .   .   .  b.  d8
        |e r.   .   .   .   .   .   .   .  r.  e9
        |  f b.   .   .   .   .   .   .  y.  f8
        |    g g.   .   .   .   .   .  g.  g7
        |      h y.   .   .   .   .  b.  h6
        |        i r.  b.  g.  y.  r*  i5
    """)


def test_iris_shows_what_the_first_stone_bans() -> None:
    assert drawn("iris", "c3 b2", asks=True, side=5)[:5] == picture("""
        |        a r.  y.  g.  b.  r.  a5
        |      b b.  [W]  -   +   +  y.  b6
        |    c g.   -   B   +   +   +  g.  c7
        |  d y.   +   +   +   +   +   +  b.  d8
        |e r.   +   +   +   +   +   +   +  r.  e9
    """)


def test_iris_names_its_colours() -> None:
    view = registry.load("iris").initial_state().view()
    expected = "\u25fc black stone, \u25c9 white stone, r red, o orange, y yellow, g green, b blue"
    assert legend(view, UNICODE) == expected


def test_minefield_shows_forbidden_cells_on_demand() -> None:
    position = "b..../.w.../...../w.b../.w... 0"
    asked = picture("""
        |black joins top and bottom
        |5 - W + + +
        |4 W - B + +
        |3 + + + + +
        |2 + W + + +
        |1 B + + + +
        |black joins top and bottom
        |  a b c d e
        |  white joins left and right
    """)
    assert drawn("minefield", "", asks=True, size=5, position=position) == asked
    plain = [line.replace("+", "#").replace("-", "#") for line in asked]
    assert drawn("minefield", "", size=5, position=position) == plain


def test_minefield_shows_the_winning_path() -> None:
    assert drawn("minefield", "c5", UNICODE, size=5, position="..b../..b../..b../wwbww/..... 0") == picture("""
        |black joins top and bottom
        |5 . .[\u25fc]. .
        |4 \u25c9 \u25c9(\u25fc)\u25c9 \u25c9
        |3 . .(\u25fc). .
        |2 . .(\u25fc). .
        |1 . .(\u25fc). .
        |black joins top and bottom
        |  a b c d e
        |  white joins left and right
    """)
