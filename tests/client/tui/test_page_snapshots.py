"""Pictures of the screens around matches, at which nothing moves. `pytest --snapshot-update` takes them anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, OptionList

from tabuleiro.ids import RoomCode, TimestampMs
from tabuleiro_client.models.saved_matches import SavedMatch, SavedMatches
from tabuleiro_client.net.files import config_folder
from tabuleiro_client.net.identity import Identity, IdentityFolder
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.room_form import RoomForm
from tabuleiro_client.tui.screens.connect import ConnectScreen
from tabuleiro_client.tui.screens.home import HomeScreen
from tabuleiro_client.tui.screens.join import JoinScreen
from tabuleiro_client.tui.screens.lobby import LobbyScreen
from tabuleiro_client.tui.screens.new_match import NewMatchScreen
from tabuleiro_client.tui.screens.picker import PickerScreen
from tabuleiro_client.tui.screens.replays import ReplaysScreen
from tabuleiro_client.tui.screens.rules import RulesScreen
from tabuleiro_client.tui.screens.settings import SettingsScreen
from tabuleiro_client.tui.screens.try_board import TryScreen
from tabuleiro_client.tui.settings import Settings
from tests.client.tui.frozen import NOW_MS
from tests.client.tui.frozen_server import LEVELS, URL, frozen_room_screen, frozen_venue
from tests.client.tui.tables import until

SMALL, LARGE = (80, 24), (120, 40)


def form(*, is_quick: bool = False, **values: str) -> RoomForm:
    """A form for a room of the frozen server."""
    made = RoomForm("person", is_local=False, is_quick=is_quick)
    made.know_levels(LEVELS)
    for name, text in values.items():
        made.set(name.replace("__", ":"), text)
    return made


SCREENS: dict[str, Callable[[], Screen[Any]]] = {
    "home": HomeScreen,
    "form": lambda: NewMatchScreen(form()),
    "wrong form": lambda: NewMatchScreen(form(option__rows="99")),
    "quick play": lambda: NewMatchScreen(form(is_quick=True, game="xero-g")),
    "lobby": lambda: LobbyScreen(frozen_venue()),
    "room": lambda: frozen_room_screen(TextStyle(color=True, ascii=False)),
    "settings": SettingsScreen,
    "rules": RulesScreen,
    "try": lambda: TryScreen("minefield", {"size": 7}),
    "replays": ReplaysScreen,
    "connect": lambda: ConnectScreen(URL, "ana", "cannot connect to it: no server listens there"),
    "join": JoinScreen,
    "picker": lambda: PickerScreen("Which bot?", {level: level for level in LEVELS["iris"]}),
}


def frozen(screen: str, settings: Settings | None = None, *, is_ascii: bool = False) -> TabuleiroApp:
    """The application with a screen, on the frozen server."""
    app = TabuleiroApp(
        SCREENS[screen], settings=settings or Settings(), force_ascii=is_ascii, now_ms=lambda: NOW_MS
    )
    app.session.venue = frozen_venue()
    return app


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands on a screen must not depend on the machine, nor on how busy it is."""
    monkeypatch.setattr(Input, "cursor_blink", False)  # half a second more or less would be seen
    monkeypatch.setenv("LOGNAME", "ana")
    monkeypatch.setattr("tabuleiro_client.tui.screens.settings.config_folder", lambda: Path("~/.config/tabuleiro"))
    monkeypatch.setattr("tabuleiro_client.tui.session.Session.state", frozen_venue().link.state)
    guests = IdentityFolder(config_folder())
    guests.save(Identity(URL, "ana", "token"))
    saved = SavedMatches(config_folder())
    for code, game, opponent, phase in (
        ("9JKRM", "Xero-G", "zoe", "playing"),
        ("W2PXA", "Iris", "rui", "playing"),
        ("K7MQ4", "Minefield", "bea", "finished"),
    ):
        seen_at_ms = TimestampMs(NOW_MS - len(saved.all()))
        saved.keep(SavedMatch(URL, "ana", RoomCode(code), game, "default board", phase, opponent, seen_at_ms))  # type: ignore[arg-type]


@pytest.mark.parametrize("screen", list(SCREENS))
def test_each_screen(snap_compare, screen):
    assert snap_compare(frozen(screen), terminal_size=SMALL)


@pytest.mark.parametrize("screen", ["home", "lobby", "room"])
def test_a_screen_that_shows_more_in_a_large_window(snap_compare, screen):
    assert snap_compare(frozen(screen), terminal_size=LARGE)


def test_a_screen_in_plain_characters_without_colour(snap_compare, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(frozen("form", is_ascii=True), terminal_size=SMALL)


async def open_whole_palette(pilot: Pilot[int]) -> None:
    """Open the palette and wait until its last command is listed: they come one after another."""
    await pilot.press("ctrl+p")

    def last_command() -> str:
        found = pilot.app.screen.query(OptionList)
        count = found.first().option_count if found else 0
        return str(found.first().get_option_at_index(count - 1).prompt) if count else ""

    await until(pilot, lambda: "quit" in last_command())
    await pilot.pause()


def test_the_command_palette(snap_compare):
    assert snap_compare(frozen("home"), terminal_size=SMALL, run_before=open_whole_palette)


@pytest.mark.parametrize("keys", ["zoe", "nobody"])
def test_looking_for_rooms(snap_compare, keys):
    assert snap_compare(frozen("lobby"), terminal_size=SMALL, press=["slash", *keys])
