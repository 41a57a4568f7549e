"""The menus of `tabuleiro play`: matches on this machine, and rooms of a server."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from tabuleiro.errors import ClientError, CommandError
from tabuleiro.ids import Player, RoomCode, opponent
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro.protocol.messages import (
    ME,
    OPEN,
    CreateRoom,
    JoinRoom,
    QuickPlay,
    RoomSummary,
    SeatRequest,
    WatchRoom,
)
from tabuleiro.rules import Game
from tabuleiro.rules.options import Options
from tabuleiro.settings import RoomSettings
from tabuleiro_client.line.client import LineClient, seats_for
from tabuleiro_client.line.lobby import LobbyChat
from tabuleiro_client.line.match import Stay
from tabuleiro_client.line.questions import WentAway, WentBack, ask_settings, ask_time_control
from tabuleiro_client.models.saved_matches import delete_match, end_match
from tabuleiro_client.net.addresses import default_server, parse_room_address
from tabuleiro_client.net.link import own_now_ms
from tabuleiro_client.net.server import Venue
from tabuleiro_client.text import matches as matches_text
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.text.rooms import game_title, room_lines
from tabuleiro_client.text.rules import page_lines

Choice = Callable[[], Awaitable[None]]


class MainMenu:
    """The menu of matches on this machine, and the way to a server."""

    def __init__(self, client: LineClient) -> None:
        self._client = client
        self._menu = client.menu
        self._stack = AsyncExitStack()
        self._local: Venue | None = None

    async def run(self) -> None:
        """Ask and obey until the person leaves by WentAway or WentBack."""
        choices: list[tuple[str, Choice]] = [
            ("two players on this keyboard", self._two_players),
            ("a player against a bot", self._against_bot),
            ("bot against bot", self._bots),
            ("continue, end or delete a match on this machine", self._go_on),
            ("play over the network", self._online),
            ("read the rules of a game", self._rules),
        ]
        async with self._stack:
            while True:
                await obey(self._client, await self._menu.choose("What would you like to do?", choices))

    async def _venue(self) -> Venue:
        """Return the server of this process, started when it is first needed."""
        if self._local is None:
            self._local = await self._stack.enter_async_context(self._client.local())
        return self._local

    async def _two_players(self) -> None:
        game = await self._menu.game()
        options = await self._menu.options(game)
        venue = await self._venue()
        stay(await self._client.enter(venue, CreateRoom(id=0, game=game.name, options=options, seats=(ME, ME))))

    async def _against_bot(self) -> None:
        game = await self._menu.game()
        options = await self._menu.options(game)
        venue = await self._venue()
        bot = SeatRequest("bot", await self._menu.level(venue.levels(game)))
        seats = seats_for(await ask_who_begins(self._client, game, options), ME, bot)
        stay(await self._client.enter(venue, CreateRoom(id=0, game=game.name, options=options, seats=seats)))

    async def _bots(self) -> None:
        game = await self._menu.game()
        options = await self._menu.options(game)
        venue = await self._venue()
        levels = venue.levels(game)
        first = game.from_options(options).first_player
        beginner = await self._menu.level(levels, f"Which bot plays {game.sides[first]}, who begins?")
        other = await self._menu.level(levels, f"Which bot plays {game.sides[opponent(first)]}?")
        seats = seats_for(first, SeatRequest("bot", beginner), SeatRequest("bot", other))
        stay(await self._client.enter(venue, CreateRoom(id=0, game=game.name, options=options, seats=seats)))

    async def _go_on(self) -> None:
        venue = await self._venue()
        rooms = (await venue.link.list_rooms(phases=("playing",))).rooms
        if not rooms:
            self._client.screen.say("there is no unfinished match on this machine")
            return
        heading, *lines = room_lines(rooms, venue.link.server_now_ms())
        choices = [(line, room) for line, room in zip(lines, rooms, strict=True)]
        room = await self._menu.choose("Which match?", choices, heading=heading)
        match = f"{game_title(room.game)} ({room.room})"
        ways = [(matches_text.CONTINUE_MATCH, "continue"), (matches_text.DELETE_MATCH, "delete")]
        if any(seat.account == venue.link.account for seat in room.seats):
            ways.insert(1, (matches_text.END_MATCH, "end"))
        saved = self._client.saved_matches
        way = await self._menu.choose(match, ways)
        if way == "continue":
            stay(await self._client.enter(venue, WatchRoom(id=0, room=room.room)))
        elif way == "end" and await self._is_sure(matches_text.end_question(match), "end it"):
            await end_match(saved, venue, room.room, None, own_now_ms())
            self._client.screen.say(matches_text.ended_text(match))
        elif way == "delete" and await self._is_sure(matches_text.delete_question(match), "delete it"):
            await delete_match(saved, venue, room.room)
            self._client.screen.say(matches_text.deleted_text(match))

    async def _is_sure(self, question: str, yes: str) -> bool:
        return await self._menu.choose(question, [("no", False), (yes, True)])

    async def _online(self) -> None:
        url = await self._menu.ask("address of the server", parse_server_url, default_server())
        async with self._client.remote(url) as venue:
            await OnlineMenu(self._client, venue).run()

    async def _rules(self) -> None:
        game = await self._menu.game()
        self._client.screen.say(*page_lines(game, self._client.screen.style))


class OnlineMenu:
    """The menu of the server of ``venue``."""

    def __init__(self, client: LineClient, venue: Venue) -> None:
        self._client = client
        self._menu = client.menu
        self._venue = venue

    async def run(self) -> None:
        """Ask and obey until the person leaves by WentAway or WentBack."""
        choices: list[tuple[str, Choice]] = [
            ("play against anyone who waits for the same game", self._quick),
            ("open a room and wait for an opponent", self._open),
            ("open a room against a bot", self._open_against_bot),
            ("join a room by its code", self._join),
            ("watch a room by its code", self._watch),
            ("list the rooms", self._list),
            ("chat with the people who are here", self._chat),
        ]
        while True:
            chosen = await self._menu.choose(f"On {self._venue.url}", choices)
            await obey(self._client, chosen)

    async def _open(self) -> None:
        await self._open_against(OPEN, await self._menu.game())

    async def _open_against_bot(self) -> None:
        game = await self._menu.game()
        level = await self._menu.level(self._venue.levels(game))
        await self._open_against(SeatRequest("bot", level), game)

    async def _open_against(self, other: SeatRequest, game: type[Game]) -> None:
        options = await self._menu.options(game)
        seats = seats_for(await ask_who_begins(self._client, game, options), ME, other)
        settings = await ask_settings(self._menu, self._venue.levels(game))
        request = CreateRoom(id=0, game=game.name, options=options, seats=seats, settings=settings)
        stay(await self._client.enter(self._venue, request))

    async def _quick(self) -> None:
        game = await self._menu.game()
        options = await self._menu.options(game)
        settings = RoomSettings(time_control=await ask_time_control(self._menu))
        request = QuickPlay(id=0, game=game.name, options=options, settings=settings)
        stay(await self._client.enter(self._venue, request))

    async def _join(self) -> None:
        code, secret = await self._ask_room()
        stay(await self._client.enter(self._venue, JoinRoom(id=0, room=code, secret=secret)))

    async def _watch(self) -> None:
        code, secret = await self._ask_room()
        request = WatchRoom(id=0, room=code, secret=secret)
        stay(await self._client.enter(self._venue, request, is_watching=True))

    async def _ask_room(self) -> tuple[RoomCode, str | None]:
        """Ask for a code, and for the secret of a private room unless that is written behind the code."""
        code, secret = await self._menu.ask("code of the room", parse_room_address)
        return code, secret or await self._menu.ask_or_skip("secret part of a private room", str)

    async def _list(self) -> None:
        rooms = (await self._venue.link.list_rooms()).rooms
        if not rooms:
            self._client.screen.say("there are no rooms now")
            return
        heading, *lines = room_lines(rooms, self._venue.link.server_now_ms())
        choices = [(line, room) for line, room in zip(lines, rooms, strict=True)]
        room = await self._menu.choose("Which room?", choices, heading=heading)
        await self._enter(room)

    async def _chat(self) -> None:
        if not await LobbyChat(self._venue.link, self._client.lines, self._client.screen).stay():
            raise WentAway

    async def _enter(self, room: RoomSummary) -> None:
        """Take the own seat again, or a free one, or watch."""
        is_free = any(seat.kind == "open" for seat in room.seats)
        is_own = any(seat.account == self._venue.link.account for seat in room.seats)
        is_playing = is_own or is_free
        request = JoinRoom(id=0, room=room.room) if is_playing else WatchRoom(id=0, room=room.room)
        stay(await self._client.enter(self._venue, request, is_watching=not is_playing))


async def obey(client: LineClient, choice: Choice) -> None:
    """Do what was chosen; going back returns here, and what goes wrong is told. Raises: WentAway."""
    try:
        await choice()
    except WentBack:
        return
    except (CommandError, ClientError) as error:
        client.screen.say(problem_text(error))


async def ask_who_begins(client: LineClient, game: type[Game], options: Options) -> Player:
    """Ask who begins and return the seat of the person."""
    first = game.from_options(options).first_player
    second = opponent(first)
    drawn: Player = random.choice((0, 1))
    choices: list[tuple[str, Player]] = [
        (f"you begin, as {game.sides[first]}", first),
        (f"the other begins, you are {game.sides[second]}", second),
        ("at random", drawn),
    ]
    return await client.menu.choose("Who begins?", choices)


def stay(ended: Stay) -> None:
    """Continue the menu after a stay in a room. Raises: WentAway when the input has ended."""
    if ended is Stay.INPUT_ENDED:
        raise WentAway
