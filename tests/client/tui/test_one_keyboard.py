"""Two people at one keyboard: a whole match of each game, second thoughts, a turn taken back, a rematch."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tabuleiro.protocol.messages import ME, CreateRoom
from tabuleiro.rules import State
from tabuleiro_client.net.room import enter
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.entrance import screen_of_room
from tabuleiro_client.tui.match_model import MatchModel
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.settings import Settings
from tests.client.tui.tables import Policy, until
from tests.client.tui.test_matches import SHORT_GAMES, quickly


@asynccontextmanager
async def keyboard(game: str, options: dict[str, int | str]) -> AsyncIterator[tuple[TabuleiroApp, Pilot[int]]]:
    """A match of which both sides are played here; the first screen is its room, which opens the board."""
    app = TabuleiroApp(
        lambda: screen_of_room(venue, room, app.writing, is_to_watch=False),
        settings=Settings(asks_before_sending=False),
    )
    venue = await app.session.go_local("ana")
    room = await enter(venue.link, CreateRoom(id=0, game=game, options=options, seats=(ME, ME)))
    async with app.run_test(size=(80, 24)) as pilot:
        yield app, pilot


def model_of(app: TabuleiroApp) -> MatchModel | None:
    return app.screen.model if isinstance(app.screen, MatchScreen) else None


def next_turn(state: State, policy: Policy) -> list[str]:
    """The texts of the actions of the turn that ``policy`` makes."""
    texts, turn = [], state.turn_number
    while not state.is_terminal and state.turn_number == turn:
        action = policy(state)
        texts.append(state.action_to_string(action))
        state = state.child(action)
    return texts


async def type_in(pilot: Pilot[int], text: str) -> None:
    signs = {" ": "space", "@": "at", "-": "minus"}
    await pilot.press(*(signs.get(sign, sign) for sign in text), "enter")


async def think_twice(pilot: Pilot[int], model: MatchModel, text: str) -> None:
    """Begin a turn of several actions and undo that; then it is not on the board any more."""
    before = model.view
    await type_in(pilot, text)
    assert model.composer.texts() == [text]
    await pilot.press("backspace")
    assert model.composer.texts() == []
    assert model.view == before


async def play_out(pilot: Pilot[int], model: MatchModel, policy: Policy) -> None:
    has_taken_back = False
    while model.mirror.head.phase == "playing":
        ply = model.timeline.last_ply
        texts = next_turn(model.mirror.state, policy)
        if len(texts) > 1:
            await think_twice(pilot, model, texts[0])
        await type_in(pilot, " ".join(texts))
        await until(pilot, lambda ply=ply: model.timeline.last_ply > ply and not model.is_sending)
        if not has_taken_back and model.mirror.head.phase == "playing":
            has_taken_back = True
            await pilot.press("ctrl+u", "y")
            await until(pilot, lambda: model.timeline.last_ply == 0)


QUICK = ("minefield",)
"""What is played in the default run; the other matches have more turns."""


@pytest.mark.parametrize(
    ("game", "options"),
    [
        pytest.param(game, options, marks=() if game in QUICK else pytest.mark.slow, id=game)
        for game, options in SHORT_GAMES
    ],
)
async def test_two_people_play_a_whole_match_at_one_keyboard_and_then_another(game, options):
    async with keyboard(game, options) as (app, pilot):
        await until(pilot, lambda: model_of(app) is not None)
        model = model_of(app)
        await play_out(pilot, model, quickly(3))
        outcome = model.mirror.state.outcome
        await until(pilot, lambda: app.screen.query_one("#end").has_class("open"))
        card = str(app.screen.query_one("#end", Static).render())
        winner = "A draw" if outcome.winner is None else model.mirror.game.sides[outcome.winner].capitalize()
        assert card.startswith(winner)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: (model.timeline.last_ply, model.mirror.match.number) == (0, 2))
        assert model.own_seats == (0, 1)
