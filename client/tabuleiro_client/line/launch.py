"""The commands play, watch and rooms in line mode: what the command line asks for, done.

Menus are left to :mod:`tabuleiro_client.line.menus`, a stay in a room to :mod:`tabuleiro_client.line.match`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tabuleiro.ids import Phase
from tabuleiro.protocol.messages import (
    CreateRoom,
    SeatRequest,
    WatchRoom,
)
from tabuleiro_client.line.client import LineClient
from tabuleiro_client.line.lobby import LobbyReport
from tabuleiro_client.line.menus import MainMenu, OnlineMenu
from tabuleiro_client.line.questions import WentAway, WentBack
from tabuleiro_client.models.play_options import PlayOptions
from tabuleiro_client.net.addresses import default_server, named_room
from tabuleiro_client.net.lobby import follow_lobby, own_room
from tabuleiro_client.text.rooms import back_in_room_text

DEMO: Final = CreateRoom(
    id=0,
    game="virus-wars",
    options={"rows": 6, "cols": 6, "steps": 3},
    seats=(SeatRequest("bot", "random"), SeatRequest("bot", "minimax-1")),
)


async def play(client: LineClient, options: PlayOptions) -> None:
    """Run `tabuleiro play`. Raises: ClientError, CommandError, StoreError, ModuleNotFoundError."""
    try:
        if options.is_nothing and not client.lines.is_terminal:
            await _show_a_game(client)
        elif options.is_direct:
            await _play_directly(client, options)
        elif options.server is not None:
            async with client.remote(options.server) as venue:
                await OnlineMenu(client, venue).run()
        else:
            await MainMenu(client).run()
    except (WentAway, WentBack):
        return
    finally:
        client.screen.close_prompt()


@dataclass(frozen=True, slots=True)
class RoomFilter:
    """The rooms that `tabuleiro rooms` shows; ``None`` stands for every game, and for unfinished rooms."""

    game: str | None = None
    phases: tuple[Phase, ...] | None = None


async def watch(client: LineClient, code: str, server: str, secret: str | None = None) -> None:
    """Run `tabuleiro watch`. Raises: ClientError, CommandError."""
    try:
        room, written = named_room(code)
        async with client.gallery(server) as venue:
            request = WatchRoom(id=0, room=room, secret=secret or written)
            await client.enter(venue, request, is_watching=True)
    finally:
        client.screen.close_prompt()


async def list_rooms(client: LineClient, server: str, wanted: RoomFilter = RoomFilter()) -> None:
    """Run `tabuleiro rooms`. Raises: ClientError, CommandError."""
    async with client.gallery(server) as venue:
        listed = await venue.link.list_rooms(wanted.game, wanted.phases)
        LobbyReport(client.screen, venue.link.server_now_ms).tell(listed)


async def follow_rooms(client: LineClient, server: str, wanted: RoomFilter = RoomFilter()) -> None:
    """Run `tabuleiro rooms --follow`, until it is stopped. Raises: ClientError, CommandError."""
    async with client.gallery(server) as venue, follow_lobby(venue.link, wanted.game, wanted.phases) as lobby:
        report = LobbyReport(client.screen, venue.link.server_now_ms)
        async for news in lobby:
            report.tell(news)


async def _show_a_game(client: LineClient) -> None:
    """Let two bots play a short game, for whoever just runs the program without a terminal."""
    async with client.local() as venue:
        await client.enter(venue, DEMO)


async def _play_directly(client: LineClient, options: PlayOptions) -> None:
    request = options.request()  # what is wrong with it is told before anything is started
    server = options.server or default_server()
    async with client.remote(server) if options.is_far else client.local() as venue:
        private = client.private_rooms(venue)
        again = await own_room(venue.link, request, private) if options.is_far else None
        if again is not None:
            client.screen.say(back_in_room_text(again.room, venue.url))
        await client.enter(venue, again or request)
