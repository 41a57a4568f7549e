"""The picture of a Xero-G position, and the moves that a client may ask for."""

from __future__ import annotations

from tabuleiro.rules import registry
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g.moves import BASE
from tabuleiro.rules.view import BoardView, Mark

NEAR_BASE = "000000/000000/000000/300003/011112/022233 0"
LOOP = "100000/300000/000000/000000/233300/111222 0"


def start(**options: int | str) -> XeroGState:
    state = registry.load("xero-g", options).initial_state()
    assert isinstance(state, XeroGState)
    return state


def play(state: XeroGState, *texts: str) -> XeroGState:
    for text in texts:
        state = state.apply(state.string_to_action(text))
    return state


def marked(view: BoardView, mark: Mark) -> list[str]:
    return [cell.name for cell in view.cells if mark in cell.marks]


def test_the_setup_shows_the_free_squares_and_what_is_left_to_place() -> None:
    view = play(start(), "3@c1", "1@a1").view()
    assert marked(view, Mark.LEGAL) == ["b1", "d1", "e1", "f1"]
    assert marked(view, Mark.LAST) == ["a1"]
    assert marked(view, Mark.HOME) == []
    assert [(note.kind, note.text) for note in view.notes] == [
        ("to-place", "south still has to place 1, 2, 2, 3"),
    ]
    assert view.actions_left == 4


def test_ships_are_digits_and_stand_where_their_names_say() -> None:
    view = start(position=LOOP).view()
    cells = {cell.name: cell for cell in view.cells}
    assert (cells["a1"].piece, cells["a2"].piece, cells["b1"].piece) == ("1", "3", ".")
    assert (cells["a1"].x, cells["a1"].y) == (0, 5)
    assert (cells["f6"].x, cells["f6"].y) == (10, 0)
    assert all(cell.owner is None for cell in view.cells)
    assert view.row_labels == ("6", "5", "4", "3", "2", "1")
    assert view.column_labels == tuple((2 * number, letter) for number, letter in enumerate("abcdef"))
    assert view.actions_left == 1


def test_home_rows_are_marked_and_noted_for_both_players() -> None:
    view = start(position=NEAR_BASE).view()
    assert marked(view, Mark.HOME) == ["a4", "b4", "c4", "d4", "e4", "f4"]
    assert marked(view, Mark.LEGAL) == ["a4", "f4"]
    notes = [(note.kind, note.owner, note.text, note.cells) for note in view.notes]
    assert notes == [
        ("home-row", 0, "home row of south: row 4", tuple(range(18, 24))),
        ("home-row", 1, "home row of north: row 6", tuple(range(30, 36))),
    ]


def test_the_bases_are_edges_and_targets_when_a_ship_can_enter() -> None:
    top, bottom = start(position=NEAR_BASE).view().edges
    assert (top.side, top.owner, top.is_target) == ("top", 0, True)
    assert (bottom.side, bottom.owner, bottom.is_target) == ("bottom", 1, False)
    assert not any(edge.is_target for edge in start(position=NEAR_BASE[:-1] + "1").view().edges)


def test_a_won_game_shows_the_ship_in_the_base() -> None:
    view = play(start(position=NEAR_BASE), "a4-base").view()
    assert [edge.text for edge in view.edges] == [
        "base that south has entered with a ship of value 3",
        "base that north enters",
    ]
    assert not any(edge.is_target for edge in view.edges)
    assert marked(view, Mark.LAST) == ["a4"]
    assert marked(view, Mark.LEGAL) == marked(view, Mark.HOME) == []
    assert (view.to_move, view.actions_left) == (None, None)


def test_the_last_action_marks_start_landing_and_drop() -> None:
    assert marked(play(start(position=LOOP), "a1xa2@c4").view(), Mark.LAST) == ["a1", "a2", "c4"]
    assert marked(play(start(position=LOOP), "a1-b1").view(), Mark.LAST) == ["a1", "b1"]


def test_the_route_shows_where_the_ship_is_boosted() -> None:
    state = start(position=LOOP)
    assert state.route(state.string_to_action("a1-a1")) == ("a1", "a2", "b2", "b1", "a1")
    assert state.route(state.string_to_action("a1-b1")) == ("a1", "b1")
    assert state.route(state.string_to_action("a1xa2@c4")) == ("a1", "a2")


def test_what_is_no_legal_move_has_no_route() -> None:
    assert start(position=LOOP).route(start().string_to_action("a1-f3")) == ()
    assert start().route(start().string_to_action("3@c1")) == ()
    assert start().route(-1) == ()


def test_a_landing_on_a_ship_leaves_boost_or_reprogram_to_choose() -> None:
    state = start(position=LOOP)
    by_name = {landing.name: landing for landing in state.landings_of(0)}
    assert by_name["b1"].action == state.string_to_action("a1-b1")
    assert by_name["b1"].drops == ()
    assert by_name["a2"].action is None
    assert (20, state.string_to_action("a1xa2@c4")) in by_name["a2"].drops
    assert {0, 9} <= set(state.boost_targets(0, 6))
    assert state.boost_targets(0, 1) == ()
    assert state.landings_of(6) == state.boost_targets(6, 0) == ()


def test_a_landing_in_the_base_is_the_last_one() -> None:
    state = start(position=NEAR_BASE)
    last = state.landings_of(18)[-1]
    assert (last.target, last.name, last.action) == (BASE, "base", state.string_to_action("a4-base"))
