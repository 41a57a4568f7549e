"""The rows drawn anew after a change are those that differ: the picture is the one that is drawn from nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tabuleiro.rules import State, registry
from tabuleiro.rules.view import BoardView, Target
from tabuleiro_client.tui.present.glyphs import ASCII, UNICODE
from tabuleiro_client.tui.present.layout import SIZES, Layout, Size
from tabuleiro_client.tui.present.overlay import Overlay
from tabuleiro_client.tui.present.picture import board_rows, changed_rows, some_rows


def some_of(chance: random.Random, cells: Sequence[int]) -> frozenset[int]:
    return frozenset(chance.sample(cells, chance.choice((0, 0, 1, 3))))


def overlay_of(chance: random.Random, view: BoardView) -> Overlay:
    cells = range(len(view.cells))
    places: list[Target | None] = [None, *(edge.side for edge in view.edges), *chance.choices(cells, k=12)]
    return Overlay(
        cursor=chance.choice(places),
        hover=chance.choice(places),
        targets=chance.choice((None, None, frozenset[Target](some_of(chance, cells)))),
        picked=some_of(chance, cells),
        last=some_of(chance, cells),
        route=tuple(some_of(chance, cells)),
        opposite=chance.choice((None, *cells)),
        reasons=some_of(chance, cells),
        hint=some_of(chance, cells),
        shows_legal=chance.random() < 0.2,
        shows_forbidden=chance.random() < 0.8,
    )


def some_states(chance: random.Random, game: str) -> list[State]:
    states = [registry.load(game, {}).initial_state()]
    while states[-1].to_move is not None and len(states) < 12:
        states.append(states[-1].child(chance.choice(list(states[-1].legal_actions()))))
    return states


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("game", registry.names())
def test_the_changed_rows_make_the_same_picture_as_all_of_them(game: str, size: Size) -> None:
    chance = random.Random(f"{game} {size}")
    states = some_states(chance, game)
    layout = Layout(states[0].view(), size)
    view, overlay = states[0].view(), Overlay()
    rows = board_rows(view, layout, overlay, UNICODE)
    is_partial = False
    for state in states:
        for _ in range(4):
            old, view = (view, overlay), state.view() if chance.random() < 0.3 else view
            changes = overlay_of(chance, view)
            overlay = chance.choice((changes, Overlay(cursor=changes.cursor, opposite=changes.opposite)))
            wanted = changed_rows(layout, old, (view, overlay))
            is_partial |= wanted is not None and len(wanted) < len(rows)
            drawn = some_rows(range(layout.height) if wanted is None else wanted, view, layout, overlay, UNICODE)
            for y, row in drawn.items():
                rows[y] = row
            assert rows == board_rows(view, layout, overlay, UNICODE)
    assert is_partial


def test_a_cursor_that_moves_along_a_row_changes_that_row_and_the_letters_below() -> None:
    view = registry.load("minefield", {}).initial_state().view()
    layout = Layout(view, Size.SMALL)
    old, new = (view, Overlay(cursor=0)), (view, Overlay(cursor=1))
    row = layout.boxes[0].y
    assert changed_rows(layout, old, new) == {row, layout.below}
    assert some_rows({row}, view, layout, Overlay(cursor=1), ASCII).keys() == {row}


def test_nothing_changed_means_no_row() -> None:
    view = registry.load("iris", {}).initial_state().view()
    assert changed_rows(Layout(view, Size.SMALL), (view, Overlay()), (view, Overlay())) == frozenset()
