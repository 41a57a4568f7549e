"""A table for tests of the Textual client: a room on a real server, the application, somebody opposite."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from textual.pilot import Pilot

from tabuleiro.protocol.messages import ME, OPEN, CreateRoom, JoinRoom, WatchRoom
from tabuleiro.rules import State
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.room import EnteredRoom, enter
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.open_room import OpenRoom
from tabuleiro_client.tui.screens.live import LiveScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_server.wiring import RunningServer
from tests.patience import PATIENCE

Policy = Callable[[State], int]


async def until(pilot: Pilot[int], is_so: Callable[[], object]) -> None:
    """Let the application work until ``is_so``; the patience of the tests is the limit."""
    PATIENCE.renew()
    while not is_so():
        await pilot.pause(0.005)
    PATIENCE.renew()


def any_action(seed: int) -> Policy:
    """A player who chooses at random, the same way every time."""
    chance = random.Random(seed)
    return lambda state: chance.choice(state.legal_actions())


@dataclass
class Opponent:
    """Somebody at the other seat, over a connection of their own."""

    room: EnteredRoom
    link: Link

    async def play_on(self, policy: Policy) -> None:
        """Play by ``policy`` whenever it is our turn, until the match is over."""
        mirror = self.room.mirror
        while True:
            if mirror.is_my_turn:
                state = mirror.state
                await self.room.play([state.action_to_string(policy(state))])
            elif mirror.head.phase == "finished" or await self.room.next_change() is None:
                return


@dataclass
class Table:
    """A match between the person at ``app`` (seat 0) and ``opponent``."""

    app: TabuleiroApp
    opponent: Opponent

    @property
    def screen(self) -> LiveScreen:
        screen = self.app.screen_stack[1]
        assert isinstance(screen, LiveScreen)
        return screen


@asynccontextmanager
async def table(
    server: RunningServer,
    game: str,
    options: dict[str, int | str],
    *,
    settings: RoomSettings | None = None,
    looks: Settings | None = None,
    is_watching: bool = False,
) -> AsyncIterator[Table]:
    """Seat both players, and make the application whose first screen is the match.

    ``is_watching``: nobody sits opposite yet, and the person at the application looks on.
    """
    async with Link(server.url, name="rui") as link:
        message = CreateRoom(
            id=0,
            game=game,
            options=options,
            seats=(OPEN, ME),
            settings=settings or RoomSettings(),
        )
        async with await enter(link, message) as room:
            app = TabuleiroApp(
                lambda: show(OpenRoom(own, app.writing, is_watching=is_watching)), settings=looks or Settings()
            )
            venue = await app.session.go_online(server.url, "ana")
            request = WatchRoom if is_watching else JoinRoom
            show = WatchScreen if is_watching else MatchScreen
            own = await enter(venue.link, request(id=0, room=room.code, secret=room.secret))
            yield Table(app, Opponent(room, link))
