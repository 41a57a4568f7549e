"""What the panel tells is told below the board where there is no room for the panel."""

from __future__ import annotations

import pytest

from tabuleiro.protocol.events import OfferView
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.widgets.bars import Line
from tests.client.tui.frozen import DRAW_OFFERED, frozen_app

JOINED = ["e1", "a1", "e2", "a2", "e3", "a3", "e4", "a4", "e5"]
"""A match of Minefield on 5x5 that the first player wins."""
PASSED = ["e5", "pass", "pass"]
"""A match of Iris that ends in a draw: no coloured cell is taken."""


def lines(app: TabuleiroApp) -> list[str]:
    return [str(app.screen.query_one(f"#{name}", Line).render()) for name in ("turn", "say")]


async def test_the_end_of_a_match_tells_result_reason_and_next_steps():
    app = frozen_app("minefield", JOINED, {"size": 5})
    async with app.run_test(size=(48, 16)) as pilot:
        await pilot.pause()
        assert app.screen.has_class("narrow")
        assert not app.screen.query_one("#end").region
        assert lines(app) == [
            "You win: black joined both edges",
            "^r rematch   <- look back   Esc leave",
        ]


async def test_the_end_of_a_match_tells_the_scores_and_looking_back_tells_where_one_is():
    app = frozen_app("iris", PASSED)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert lines(app) == [
            "A draw: the scores are equal",
            "black: 0   white: 0   ^r rematch   <- look back   Esc leave",
        ]
        await pilot.press("left_square_bracket")
        assert lines(app)[0].startswith("looking back: action 2 of 3")
        assert "rematch" not in lines(app)[1]


async def test_the_reason_is_in_the_same_sentence():
    app = frozen_app("minefield", JOINED, {"size": 5})
    async with app.run_test(size=(42, 16)) as pilot:
        await pilot.pause()
        assert lines(app)[0] == "You win: black joined both edges"


async def test_who_watches_is_told_other_next_steps():
    app = frozen_app("minefield", JOINED, {"size": 5}, screen=WatchScreen)
    async with app.run_test(size=(48, 16)) as pilot:
        await pilot.pause()
        assert lines(app)[1] == "<- -> step   Esc leave"


async def test_a_window_that_gets_wider_has_the_card_in_its_panel_and_the_lines_as_usual():
    app = frozen_app("minefield", JOINED, {"size": 5})
    async with app.run_test(size=(48, 16)) as pilot:
        await pilot.pause()
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        assert app.screen.query_one("#end").region
        assert lines(app) == ["the match is over", ""]
        await pilot.resize_terminal(48, 16)
        await pilot.pause()
        assert lines(app)[0].startswith("You win")


@pytest.mark.parametrize(
    ("actions", "offers", "told"),
    [
        ([], DRAW_OFFERED, "offers a draw: F7 accepts, F8 declines"),
        (JOINED, (OfferView("rematch", 1),), "offers a rematch: F7 accepts, F8 declines"),
    ],
)
async def test_an_offer_that_waits_is_told(actions, offers, told):
    app = frozen_app("minefield", actions, {"size": 5}, offers=offers)
    async with app.run_test(size=(48, 16)) as pilot:
        await pilot.pause()
        assert not app.screen.query_one("#offer").region
        assert told in str(app.screen.query_one("#note", Line).render())
