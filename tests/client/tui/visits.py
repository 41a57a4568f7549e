"""Going about in the Textual client: an application at its home screen, and words for what a person does there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.places import to_lobby, travel
from tabuleiro_client.tui.screens.home import HomeScreen
from tabuleiro_client.tui.screens.lobby import LobbyScreen
from tabuleiro_client.tui.screens.new_match import NewMatchScreen
from tabuleiro_client.tui.screens.room import RoomScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_client.tui.widgets.forms import FieldRow
from tabuleiro_server.wiring import RunningServer
from tests.client.tui.tables import until

ScreenT = TypeVar("ScreenT", bound=Screen[Any])


class Visit:
    """An application that runs, and its pilot."""

    def __init__(self, app: TabuleiroApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Empty the line under the cursor and type another text into it."""
        await self.pilot.press("ctrl+u", *("space" if letter == " " else letter for letter in text))

    async def arrive(self, kind: type[ScreenT]) -> ScreenT:
        """Wait until a screen of this kind is shown, and return it."""
        await until(self.pilot, lambda: isinstance(self.app.screen, kind))
        await self.pilot.pause()
        screen = self.app.screen
        assert isinstance(screen, kind)
        return screen

    def text(self, name: str) -> str:
        """What is written in a line of the present screen."""
        return str(self.app.screen.query_one(f"#{name}", Static).render())

    async def says(self, text: str, name: str = "say") -> None:
        """Wait until a line of the present screen holds a text."""
        await until(self.pilot, lambda: text in self.text(name))

    def row(self, name: str) -> FieldRow:
        """A field of the present form."""
        return next(row for row in self.app.screen.query(FieldRow) if row.field.name == name)

    async def fill(self, name: str, text: str) -> None:
        """Go to a field of the present form and fill it in, by choosing or by typing."""
        await until(self.pilot, lambda: any(row.field.name == name for row in self.app.screen.query(FieldRow)))
        self.row(name).take_focus()
        await self.pilot.pause()
        if self.row(name).field.choices is None:
            await self.type(text)
            return
        for _ in self.row(name).field.choices or ():
            if self.row(name).text == text:
                return
            await self.press("right")
        raise AssertionError(f"{name} offers no {text!r}")

    def problem(self, name: str) -> str:
        """What is said beside a field of the present form."""
        return str(self.row(name).query_one(".hint", Static).render())

    def footer(self) -> set[str]:
        """What the footer of the present screen offers."""
        shown = self.app.screen.active_bindings.values()
        return {active.binding.description for active in shown if active.binding.show and active.enabled}


@asynccontextmanager
async def visit(size: tuple[int, int] = (80, 24), *, looks: Settings | None = None) -> AsyncIterator[Visit]:
    """An application at its home screen."""
    app = TabuleiroApp(HomeScreen, settings=looks or Settings())
    async with app.run_test(size=size) as pilot:
        yield Visit(app, pilot)


@asynccontextmanager
async def lobby_visit(
    server: RunningServer, name: str = "ana", size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Visit]:
    """An application in the lobby of ``server``, as if chosen from the home screen, where leaving goes back to."""
    async with visit(size) as at:
        travel(at.app, to_lobby(at.app, server.url, name))
        screen = await at.arrive(LobbyScreen)
        await until(at.pilot, lambda: screen.model is not None and screen.model.people)
        yield at


async def own_room(at: Visit) -> RoomScreen:
    """Make a room with the form of the lobby, and wait in it."""
    await at.press("n")
    await at.arrive(NewMatchScreen)
    await at.press("ctrl+s")
    return await at.arrive(RoomScreen)
