"""The lobby of all servers on one store: their rooms, the people connected to them, and their chat.

What others do is read when somebody asks, and while somebody looks at the lobby. Where no other server can be,
nothing is.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog

from tabuleiro.errors import StoreError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro.protocol.messages import ChatLine, RoomSummary
from tabuleiro_server.rooms.change_feed import ChangeFeed
from tabuleiro_server.rooms.directory import Directory
from tabuleiro_server.rooms.followers import Followers
from tabuleiro_server.rooms.journal import read_summary
from tabuleiro_server.rooms.refusals import unavailable
from tabuleiro_server.sessions.lobby import LOBBY_LINES_COUNT, Lobby
from tabuleiro_server.store.port import LobbyLine, Mark, Peers, RoomRow
from tabuleiro_server.timers import time_limit

LOOK_S: Final = 1.0
"""Time between two looks for lines and people, of which no change tells; and between two notes of people."""

FRESH_S: Final = 0.5
"""What was read less than this ago is shown as it is."""

LISTED_LIMIT_S: Final = 2.0
"""Time to bring one room up to date: then what is known of it is shown."""

log = structlog.get_logger(__name__)


class LobbyPeers:
    """Brings into a lobby what other servers do, and tells them who is connected here.

    Of the rooms in its memory this server knows more than the store.
    """

    def __init__(
        self, peers: Peers | None, feed: ChangeFeed, lobby: Lobby, directory: Directory, followers: Followers
    ) -> None:
        self._peers = peers
        self._feed = feed
        self._lobby = lobby
        self._directory = directory
        self._followers = followers
        self._rows_here: dict[RoomCode, RoomRow] = {}
        self._told: tuple[frozenset[str], dict[RoomCode, int]] | None = None
        self._mark: Mark | None = None
        self._read_at_s = float("-inf")
        self._reading = asyncio.Lock()
        self._changed = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Read the lobby as it is, and keep it up to date from now on while it is watched. Raises: StoreError."""
        if self._peers is None:
            return
        await self._read(self._peers)
        self._telling = asyncio.create_task(self._tell_of_people(self._peers), name="people connected here")
        self._lobby.on_watched = self._watch

    async def stop(self) -> None:
        """Read no more, and let others know that nobody is connected here any more."""
        for task in (self._watching, self._telling):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        if self._peers is not None:
            with suppress(StoreError):  # they find out by themselves
                await self._peers.note_people((), {})

    async def freshen(self, age_s: float = FRESH_S) -> None:
        """Bring the lobby up to date, unless it was less than ``age_s`` ago.

        Raises: StoreError when the store cannot be read; what is known is there as it was.
        """
        asked_at_s = asyncio.get_running_loop().time()
        if self._peers is None or asked_at_s - self._read_at_s < age_s:
            return
        async with self._reading:
            if self._read_at_s < asked_at_s:
                await self._read(self._peers)

    async def listed_room(self, code: str) -> RoomSummary | None:
        """Return the line of a room, ``None`` if it is not listed; it is as old as the store makes it."""
        try:
            async with time_limit(LISTED_LIMIT_S):
                await self.freshen()
        except StoreError as error:
            unavailable(error)
        except TimeoutError:
            log.warning("the rooms of other servers are not known now", reason="the database does not answer")
        return self._lobby.listed_room(code)

    @asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        """Return a context that one server at a time is in; the lobby is up to date in it.

        Whoever is connected here is known to the others by its end.

        Raises, when it is entered: StoreError.
        """
        if self._peers is None:
            yield
            return
        async with self._peers.alone(key):
            await self.freshen(0)
            yield
            await self._note_people(self._peers)

    async def say(self, line: ChatLine) -> None:
        """Add a line to the chat of all servers. Raises: StoreError."""
        if self._peers is None:
            self._lobby.add_line(line)
        else:
            await self._peers.say(LobbyLine(line.at_ms, line.account, line.name, line.text), LOBBY_LINES_COUNT)
            await self.freshen(0)

    async def _read(self, peers: Peers) -> None:
        begun_s = asyncio.get_running_loop().time()
        news = await peers.news(self._mark)
        self._take_rows(news.rooms)
        for line in news.lines:
            self._lobby.add_line(ChatLine(line.at_ms, line.account, line.name, line.text, is_player=False))
        watchers = Counter(news.watchers)
        watchers.update(self._followers.watchers())
        self._lobby.note_others(news.people, watchers)
        self._mark, self._read_at_s = news.mark, begun_s

    def _take_rows(self, rows: Iterable[RoomRow]) -> None:
        """Take in rows of rooms; those of rooms in memory once they are not there any more."""
        left = [row for code, row in self._rows_here.items() if not self._directory.has(code)]
        for row in sorted([*left, *rows], key=lambda row: row.created_at_ms):
            self._rows_here.pop(row.code, None)
            if self._directory.has(row.code):
                self._rows_here[row.code] = row
            elif (summary := read_summary(row)) is not None:
                self._lobby.update(summary)

    def _watch(self) -> None:
        """Follow what others do while the lobby is watched."""
        if self._lobby.is_watched and self._watching is None:
            self._feed.add(self._hear)
            self._watching = asyncio.create_task(self._follow(), name="lobby of other servers")
        elif not self._lobby.is_watched and self._watching is not None:
            self._feed.remove(self._hear)
            self._watching.cancel()
            self._watching = None

    def _hear(self, _: Mapping[RoomCode, Seq]) -> None:
        self._changed.set()

    async def _follow(self) -> None:
        while True:
            self._changed.clear()
            try:
                await self.freshen(0)
            except StoreError as error:
                unavailable(error)
                await asyncio.sleep(LOOK_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._changed.wait()

    async def _tell_of_people(self, peers: Peers) -> None:
        """Let others know of those who come and go, and hear of those who watch there, once in a while."""
        while True:
            await self._note_people(peers)
            await self._hear_of_watchers(peers)
            await asyncio.sleep(LOOK_S)

    async def _hear_of_watchers(self, peers: Peers) -> None:
        """Show in rooms here how many watch them on other servers."""
        if not (self._directory.rooms_count or self._followers.rooms_count):
            return
        try:
            counts = await peers.watchers()
        except StoreError as error:
            unavailable(error)
        else:
            self._directory.note_further_watchers(counts)
            self._followers.note_further_watchers(counts)

    async def _note_people(self, peers: Peers) -> None:
        here = self._lobby.people, self._directory.watchers() | self._followers.watchers()
        if here == self._told:
            return
        try:
            await peers.note_people(*here)
            self._told = here
        except StoreError as error:
            unavailable(error)
