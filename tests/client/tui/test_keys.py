"""The key map: over a board letters and digits are typed, and commands have keys that every keyboard has."""

from __future__ import annotations

import string
from collections.abc import Iterable

import pytest
from textual import events
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Static

from tabuleiro.rules import registry
from tabuleiro_client.models.turn_composer import ShipComposer
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.questions import ConfirmScreen, MenuScreen
from tabuleiro_client.tui.screens.replay import TryScreen
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_client.tui.widgets.chat import Entry
from tabuleiro_client.tui.widgets.panel import Choices
from tests.client.tui.frozen import frozen_app
from tests.client.tui.tables import until

OVER_BOARDS = (*keys.BOARD, *keys.MATCH, keys.CLAIM, *keys.STEPPING, *keys.TUTORIAL, *keys.EVERYWHERE)
TABLES = {
    "board": (*OVER_BOARDS, *keys.REPLAY, *keys.LOOKING),
    "room": (*keys.ROOM, *keys.EVERYWHERE),
    "lobby": (*keys.LOBBY, *keys.EVERYWHERE),
    "home": (*keys.HOME, *keys.EVERYWHERE),
    "form": (*keys.FORM, *keys.EVERYWHERE),
}
WITH_ALTGR = frozenset(
    {
        "left_square_bracket",
        "right_square_bracket",
        "left_curly_bracket",
        "right_curly_bracket",
        "at",
        "backslash",
        "vertical_line",
        "tilde",
        "slash",  # Shift-7
    }
)
SENT_AS_OTHERS = frozenset({"ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+left_square_bracket"})
BOOSTABLE = {"position": "130000/200000/000000/000000/003311/223210 0"}


def each(bindings: Iterable[Binding]) -> list[tuple[str, str]]:
    return [(key, binding.action) for binding in bindings for key in binding.key.split(",")]


def test_over_a_board_no_letter_and_no_digit_is_a_command():
    typed = set(string.ascii_letters + string.digits)
    assert [(key, action) for key, action in each(OVER_BOARDS) if key in typed] == []


@pytest.mark.parametrize("name", TABLES)
def test_every_command_has_a_key_without_altgr_and_none_that_terminals_send_as_another(name):
    by_action: dict[str, set[str]] = {}
    for key, action in each(TABLES[name]):
        by_action.setdefault(action, set()).add(key)
    assert [action for action, its in by_action.items() if its <= WITH_ALTGR] == []
    assert [key for key, _ in each(TABLES[name]) if key in SENT_AS_OTHERS] == []


def test_the_letters_of_the_menu_are_all_different():
    assert len(set(keys.MENU_LETTERS.values())) == len(keys.MENU_LETTERS)


def entry(app: TabuleiroApp) -> Entry:
    return app.screen.query_one(Entry)


def said(app: TabuleiroApp, name: str = "say") -> str:
    return str(app.screen.query_one(f"#{name}", Static).render())


async def begun(app: TabuleiroApp, pilot: Pilot[int]) -> MatchScreen:
    await until(pilot, lambda: isinstance(app.screen, MatchScreen) and app.screen.is_whole)
    await until(pilot, lambda: app.screen.board.has_focus)
    assert isinstance(app.screen, MatchScreen)
    return app.screen


@pytest.mark.parametrize("game", registry.names())
async def test_typing_a_cell_names_it_on_the_board_and_enter_chooses_it(game):
    app = frozen_app(game)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await begun(app, pilot)
        state = screen.model.state
        text = state.action_to_string(state.legal_actions()[-1]).replace("@", "")
        await pilot.press(*text)
        assert (entry(app).value, entry(app).has_focus) == (text, True)
        await until(pilot, lambda: screen.board.is_named)
        assert text.endswith(screen.current_view().cells[screen.board.cursor].name)
        screen.room.play = lambda texts: until(pilot, lambda: False)  # the answer does not come
        await pilot.press("enter")
        await until(pilot, lambda: screen.model.composer.actions)
        assert screen.model.composer.actions == [state.legal_actions()[-1]]


async def test_letters_of_either_case_do_nothing_to_a_match_but_begin_a_line():
    app = frozen_app("virus-wars")
    async with app.run_test() as pilot:
        screen = await begun(app, pilot)
        for letter in "dbcpuRAC5":
            await pilot.press(letter)
            await until(pilot, lambda: entry(app).has_focus)
            assert app.screen is screen
            assert (entry(app).value, entry(app).kind) == (letter, "play")
            await pilot.press("escape")
            assert screen.board.has_focus
        assert (screen.model.message, screen.model.composer.actions) == ("", [])


async def test_a_cell_is_typed_while_the_rules_are_beside_the_board():
    app = frozen_app("virus-wars")
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await begun(app, pilot)
        await pilot.press("f2")
        await until(pilot, lambda: screen.has_class("learning"))
        await pilot.press(*"b11")
        assert entry(app).value == "b11"
        await pilot.press("enter")
        await until(pilot, lambda: screen.model.composer.texts() == ["b11"])
        assert screen.board.has_focus
        assert screen.has_class("learning")


async def test_a_line_that_is_deleted_to_its_beginning_is_left():
    app = frozen_app("virus-wars")
    async with app.run_test() as pilot:
        screen = await begun(app, pilot)
        await pilot.press("b", "backspace")
        await until(pilot, lambda: screen.board.has_focus)
        assert not entry(app).has_class("open")


async def test_nonsense_is_refused_in_words_and_stays_in_the_line():
    app = frozen_app("virus-wars")
    async with app.run_test() as pilot:
        await begun(app, pilot)
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: said(app).startswith("'hello': expected"))
        assert entry(app).value == "hello"


@pytest.mark.parametrize("key", ["ctrl+d", "ctrl+u", "ctrl+x"])
async def test_what_cannot_be_called_back_asks_first(key):
    app = frozen_app("minefield")
    async with app.run_test() as pilot:
        screen = await begun(app, pilot)
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)


async def test_the_menu_lists_the_commands_with_their_keys_and_a_letter_picks_one():
    app = frozen_app("iris")
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(app, pilot)
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, MenuScreen))
        titles = [str(option.prompt) for option in app.screen.query_one("OptionList").options]
        assert "d  Offer a draw; you are asked first (^d)" in titles
        assert not [title for title in titles if "cursor" in title or "One turn" in title]
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))


@pytest.mark.parametrize("way", ["f2", "palette"])
async def test_the_rules_opened_in_a_match_are_those_of_its_game(way):
    app = frozen_app("minefield")
    async with app.run_test() as pilot:
        await begun(app, pilot)
        if way == "palette":
            await pilot.press("ctrl+p")
            await pilot.press(*"rules", "enter")
        else:
            await pilot.press("f2")
        await until(pilot, lambda: str(app.screen.query_one("#page").content).startswith("MINEFIELD"))
        assert app.screen.has_class("learning")


async def test_a_ship_that_lands_on_another_asks_and_the_letters_answer():
    app = frozen_app("xero-g", options=BOOSTABLE)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await begun(app, pilot)
        composer = screen.model.composer
        assert isinstance(composer, ShipComposer)
        await pilot.press(*"a1xa2", "enter")
        await until(pilot, lambda: screen.query_one(Choices).has_focus)
        assert composer.is_asking
        await pilot.press("left", "b")
        assert composer.ship.way == "boost"
        assert screen.model.is_live
        await until(pilot, lambda: screen.board.has_focus)
        await pilot.press("backspace")
        await until(pilot, lambda: screen.query_one(Choices).has_focus)
        await pilot.press("r")
        assert composer.ship.way == "reprogram"
        await until(pilot, lambda: screen.board.has_focus)


async def test_who_watches_steps_with_the_arrows_and_goes_to_a_turn_by_its_number():
    app = frozen_app("virus-wars", ["b10", "c9", "b9", "d8", "c8"], screen=WatchScreen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, WatchScreen) and app.screen.is_whole)
        model = app.screen.model
        await pilot.press("left")
        assert model.ply == 4
        await pilot.press("home")
        assert model.ply == 0
        await pilot.press("1", "enter")
        await until(pilot, lambda: model.ply == 5)
        await pilot.press("t")
        assert said(app).startswith("you are watching")


async def test_a_pasted_text_of_several_lines_is_kept_whole():
    app = frozen_app("iris")
    async with app.run_test() as pilot:
        await begun(app, pilot)
        await pilot.press("f4")
        entry(app).post_message(events.Paste("hello\r\nworld\n"))
        await until(pilot, lambda: entry(app).value == "hello world")


async def test_a_game_is_tried_by_typing_too():
    app = TabuleiroApp(lambda: TryScreen("minefield", {"size": 5}), settings=Settings())
    async with app.run_test() as pilot:
        await pilot.press(*"b2", "enter")
        await until(pilot, lambda: app.screen.model.branch.actions == ["b2"])
