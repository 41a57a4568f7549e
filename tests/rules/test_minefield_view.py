"""The picture of a Minefield position, and the distance to a connection. Source: RULES.md, "Minefield"."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.ids import Player
from tabuleiro.rules import registry
from tabuleiro.rules.board import bit_indexes, square_board
from tabuleiro.rules.games.minefield import MinefieldState
from tabuleiro.rules.games.minefield.connection import connection_distance, is_joined, shortest_path
from tabuleiro.rules.view import BoardView, Mark
from tests.bench.naive_minefield import NaiveMinefield

EMPTY_ROWS = "/....." * 3


def start(position: str, rules: str = "standard") -> MinefieldState:
    state = registry.load("minefield", {"size": 5, "rules": rules, "position": position}).initial_state()
    assert isinstance(state, MinefieldState)
    return state


def play(state: MinefieldState, text: str) -> MinefieldState:
    return state.apply(state.string_to_action(text))


def marked(view: BoardView, mark: Mark) -> list[str]:
    return [cell.name for cell in view.cells if mark in cell.marks]


def names(view: BoardView, cells: tuple[int, ...]) -> list[str]:
    return [view.cells[cell].name for cell in cells]


def test_view_places_cells_pieces_and_labels() -> None:
    view = start(f"b...w/.....{EMPTY_ROWS} 0").view()
    a1, e1, a5 = view.cells[0], view.cells[4], view.cells[20]
    assert [(cell.name, cell.x, cell.y, cell.piece, cell.owner) for cell in (a1, e1, a5)] == [
        ("a1", 0, 4, "b", 0),
        ("e1", 8, 4, "w", 1),
        ("a5", 0, 0, ".", None),
    ]
    assert view.row_labels == ("5", "4", "3", "2", "1")
    assert view.column_labels == ((0, "a"), (2, "b"), (4, "c"), (6, "d"), (8, "e"))
    assert view.piece_names == {"b": "black stone", "w": "white stone"}
    assert (view.topology, view.to_move, view.actions_left, view.scores) == ("square", 0, None, None)


def test_view_names_the_edges_of_both_players() -> None:
    edges = [(edge.side, edge.owner) for edge in start(f"b..../.....{EMPTY_ROWS} 1").view().edges]
    assert edges == [("top", 0), ("bottom", 0), ("left", 1), ("right", 1)]


def test_view_says_why_a_cell_is_forbidden_to_the_player_to_move() -> None:
    view = start(f"b.w../w....{EMPTY_ROWS} 0").view()
    assert marked(view, Mark.FORBIDDEN) == ["b2", "c2"]
    assert [(note.kind, note.owner, names(view, note.cells)) for note in view.notes] == [
        ("hard-corner", 0, ["a1", "a2"]),
        ("switch", 0, ["a1", "c1", "a2"]),
    ]
    assert view.notes[1].target == view.cells[7].index
    assert view.notes[1].text == (
        "Black may not take c2: it would make a switch with black a1, white c1 and white a2."
    )
    assert set(marked(view, Mark.LEGAL)) | {"b2", "c2", "a1", "c1", "a2"} == {cell.name for cell in view.cells}


def test_view_marks_only_what_is_forbidden_to_the_player_to_move() -> None:
    view = start(f"...../.bw..{EMPTY_ROWS} 1").view()
    assert marked(view, Mark.FORBIDDEN) == ["b1", "b3"]
    assert [note.text for note in view.notes] == [
        "White may not take b1: it would make a hard corner with black b2 and white c2.",
        "White may not take b3: it would make a hard corner with black b2 and white c2.",
    ]


def test_a_cell_forbidden_twice_has_two_notes() -> None:
    view = start(f"...../.bwb.{EMPTY_ROWS} 0").view()
    assert [names(view, note.cells) for note in view.notes if note.target == 2] == [["b2", "c2"], ["c2", "d2"]]


def test_beginners_view_forbids_nothing() -> None:
    view = start(f"...../.bw..{EMPTY_ROWS} 0", "beginner").view()
    assert marked(view, Mark.FORBIDDEN) == []
    assert view.notes == ()


def test_view_marks_the_last_stone() -> None:
    assert marked(play(start(f"b..../.....{EMPTY_ROWS} 1"), "c3").view(), Mark.LAST) == ["c3"]


def test_view_tells_a_forced_skip() -> None:
    state = play(start("bbbww/wb.ww/.b.ww/b..b./wwb.b 0"), "c2")
    assert state.view().notices == ("White has no legal cell and is skipped: black moves again.",)
    assert play(state, "d5").view().notices == ()


def test_view_shows_the_winning_path_of_black() -> None:
    view = play(start("b.w../bbw../b.w../b.w../..... 0"), "a5").view()
    assert marked(view, Mark.WINNING) == ["a1", "a2", "a3", "a4", "a5"]
    (note,) = view.notes
    assert (note.kind, note.owner, names(view, note.cells)) == ("path", 0, ["a5", "a4", "a3", "a2", "a1"])
    assert note.text == "black joined top and bottom with a chain of 5 stones"
    assert marked(view, Mark.LEGAL) == marked(view, Mark.FORBIDDEN) == []


def test_view_shows_the_winning_path_of_white() -> None:
    view = play(start("bbb../ww.../.ww../..ww./b...b 1"), "e4").view()
    assert view.notes[0].kind == "path"
    assert names(view, view.notes[0].cells) == ["a2", "b2", "b3", "c3", "c4", "d4", "e4"]
    assert view.notes[0].text == "white joined left and right with a chain of 7 stones"


def test_a_draw_shows_no_path() -> None:
    view = play(start("bwbwb/wbwbw/bwbwb/wbwbw/bwbw. 0", "beginner"), "e5").view()
    assert view.notes == ()
    assert marked(view, Mark.WINNING) == []


@pytest.mark.parametrize(
    ("rows", "black", "white"),
    [
        (f"b..../.....{EMPTY_ROWS}", 4, 5),
        (f"bbbb./www..{EMPTY_ROWS}", 4, 2),
        ("...../...../bbbb./wwww./.....", 5, 1),
        ("...../...../.b.../wwwww/.....", None, 0),
        ("b..../b..../b..../b..../b....", 0, None),
        ("..w../..w../..w../..w../..bbb", 4, 4),
    ],
)
def test_connection_distance_counts_the_stones_still_needed(rows: str, black: int, white: int) -> None:
    state = start(f"{rows} {1 if black == 0 else 0}")
    assert [
        connection_distance(state.game.board, state.stones, 0),
        connection_distance(state.game.board, state.stones, 1),
    ] == [black, white]


@settings(max_examples=25)
@given(
    random=st.randoms(use_true_random=False),
    size=st.integers(5, 8),
    rules=st.sampled_from(["standard", "beginner"]),
)
def test_connection_distance_agrees_with_a_naive_search(random: Random, size: int, rules: str) -> None:
    state = registry.load("minefield", {"size": size, "rules": rules}).initial_state()
    assert isinstance(state, MinefieldState)
    while True:
        stones = {
            divmod(cell, size)[::-1]: player for player in (0, 1) for cell in bit_indexes(state.stones[player])
        }
        naive = NaiveMinefield(size, rules, stones)
        for player in (0, 1):
            assert connection_distance(state.game.board, state.stones, player) == naive.distance(player)
        if state.is_terminal:
            break
        state = state.child(random.choice(state.legal_actions()))


@settings(max_examples=60)
@given(stones=st.integers(0, 2**36 - 1), more=st.integers(0, 2**36 - 1), player=st.sampled_from([0, 1]))
def test_shortest_path_is_a_chain_from_edge_to_edge(stones: int, more: int, player: Player) -> None:
    board, own = square_board(6, 6), stones | more
    path = shortest_path(board, own, player)
    assert bool(path) == is_joined(board, own, player)
    if path:
        along = [divmod(cell, 6)[player] for cell in path]
        assert {along[0], along[-1]} == {0, 5}
        assert all(own >> cell & 1 for cell in path)
        for one, other in itertools.pairwise(path):
            assert sum(abs(a - b) for a, b in zip(divmod(one, 6), divmod(other, 6), strict=True)) == 1
