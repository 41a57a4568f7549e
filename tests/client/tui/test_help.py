"""The key map: it opens from everywhere, also while something is typed, and says the keys that work there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.widgets._footer import FooterKey

from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.screens.dialogs import ConnectScreen, JoinScreen
from tabuleiro_client.tui.screens.help import HelpScreen
from tabuleiro_client.tui.screens.home import HomeScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.questions import ConfirmScreen, PickerScreen
from tabuleiro_client.tui.screens.replays import ReplaysScreen
from tabuleiro_client.tui.screens.rules import RulesScreen
from tabuleiro_client.tui.screens.settings import SettingsScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_client.tui.widgets.chat import Entry
from tests.client.tui.frozen import frozen_app
from tests.client.tui.frozen_server import URL

Keys = Pilot[int]

DIALOGS: dict[str, Callable[[], Screen[Any]]] = {
    "connect": lambda: ConnectScreen(URL, "ana", ""),
    "join": JoinScreen,
    "picker": lambda: PickerScreen("Which?", {"one": "one", "two": "two"}),
    "confirm": lambda: ConfirmScreen("Do it?", "do it"),
}
PAGES: dict[str, Callable[[], Screen[Any]]] = {
    "home": HomeScreen,
    "settings": SettingsScreen,
    "replays": ReplaysScreen,
    "rules": RulesScreen,
}
FIELDS = ("connect", "join", "replays")
"""Where a line of text has the focus at first."""


def app_of(make: Callable[[], Screen[Any]]) -> TabuleiroApp:
    return TabuleiroApp(make, settings=Settings())


def page(app: TabuleiroApp) -> str:
    return str(app.screen.query_one("#keys", Static).content)


def footer(app: TabuleiroApp) -> dict[str, str]:
    return {key.description: key.key_display for key in app.screen.query(FooterKey)}


@pytest.mark.parametrize("name", [*DIALOGS, *PAGES])
async def test_f1_opens_the_key_map_and_closes_it(name):
    app = app_of({**DIALOGS, **PAGES}[name])
    async with app.run_test() as pilot:
        await pilot.pause()
        below, focused = app.screen, app.focused
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        assert "F1" in page(app)
        assert "Show the keys that work here." in page(app)
        assert "^c" in page(app)
        await pilot.press("f1")
        assert (app.screen, app.focused) == (below, focused)


@pytest.mark.parametrize("name", [name for name in (*DIALOGS, *PAGES) if name not in FIELDS])
async def test_where_nothing_is_typed_the_question_mark_opens_it_too(name):
    app = app_of({**DIALOGS, **PAGES}[name])
    async with app.run_test() as pilot:
        await pilot.press("question_mark")
        assert isinstance(app.screen, HelpScreen)
        assert page(app).count("Show the keys") == 1
        assert "? F1" in page(app)


@pytest.mark.parametrize("name", FIELDS)
async def test_in_a_line_of_text_the_question_mark_is_a_letter_and_the_page_does_not_name_it(name):
    app = app_of({**DIALOGS, **PAGES}[name])
    async with app.run_test() as pilot:
        await pilot.press("question_mark")
        field = app.screen.query(Input).first()
        assert field.value.endswith("?")
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        assert "?" not in page(app)
        await pilot.press("escape")
        assert app.focused is field


async def test_while_chatting_the_footer_names_f1_and_what_was_typed_is_kept():
    app = frozen_app("virus-wars")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert footer(app)["help"] == "?"
        await pilot.press("f4", "h", "i", "question_mark")
        await pilot.pause()
        assert footer(app)["help"] == "F1"
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        assert "Leave the line without sending it." in page(app)
        await pilot.press("escape")
        assert isinstance(app.screen, MatchScreen)
        assert app.screen.query_one(Entry).value == "hi?"


@pytest.mark.parametrize("name", PAGES)
async def test_in_a_narrow_window_the_footer_drops_other_keys_and_not_the_help(name):
    """Symptom: in a room with a bot on a seat, help and chat stood right of the window's edge."""
    app = app_of(PAGES[name])
    async with app.run_test(size=(40, 24)) as pilot:
        await pilot.pause()
        await pilot.pause()
        shown = next(key for key in app.screen.query(FooterKey) if key.description == "help")
        assert (shown.region.right, shown.region.y) == (40, 23)
        others = [key for key in app.screen.query(FooterKey) if key is not shown and key.display]
        assert others
        ends = [key.region.x + len(str(key.render()).rstrip()) for key in others]
        assert max(ends) <= shown.region.x  # no word is cut


async def test_a_page_with_a_line_of_text_names_f1_in_its_footer():
    app = app_of(ReplaysScreen)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert footer(app)["help"] == "F1"


async def test_in_the_command_palette_f1_tells_the_keys_of_the_screen_below():
    app = app_of(HomeScreen)
    async with app.run_test() as pilot:
        await pilot.press("ctrl+p")
        assert isinstance(app.screen, CommandPalette)
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        assert "Connect to a server." in page(app)
        await pilot.press("escape")
        assert isinstance(app.screen, HomeScreen)
