"""The lobby of all servers on one store: their rooms, the people connected to them, and their chat.

What others do is read when somebody asks, and while somebody looks at the lobby. Where no other server can be,
nothing is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog

from tabuleiro.errors import StoreError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro.protocol.messages import ChatLine
from tabuleiro_server.rooms.change_feed import ChangeFeed
from tabuleiro_server.rooms.journal import read_summary
from tabuleiro_server.rooms.refusals import unavailable
from tabuleiro_server.sessions.lobby import LOBBY_LINES_COUNT, Lobby
from tabuleiro_server.store.port import LobbyLine, Mark, Peers

LOOK_S: Final = 1.0
"""Time between two looks for lines and people, of which no change tells; and between two notes of people."""

FRESH_S: Final = 0.5
"""What was read less than this ago is shown as it is."""

log = structlog.get_logger(__name__)


class LobbyPeers:
    """Brings into a lobby what other servers do, and tells them who is connected here.

    ``is_here`` tells that a room is in the memory of this server, which knows more of it than the store.
    """

    def __init__(
        self, peers: Peers | None, feed: ChangeFeed, lobby: Lobby, is_here: Callable[[RoomCode], bool]
    ) -> None:
        self._peers = peers
        self._feed = feed
        self._lobby = lobby
        self._is_here = is_here
        self._mark: Mark | None = None
        self._read_at_s = float("-inf")
        self._reading = asyncio.Lock()
        self._changed = asyncio.Event()
        self._people_changed = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Read the lobby as it is, and keep it up to date from now on while it is watched. Raises: StoreError."""
        if self._peers is None:
            return
        await self._read(self._peers)
        self._telling = asyncio.create_task(self._tell_of_people(self._peers), name="people connected here")
        self._lobby.on_people = self._people_changed.set
        self._lobby.on_watched = self._watch

    async def stop(self) -> None:
        """Read no more, and let others know that nobody is connected here any more."""
        for task in (self._watching, self._telling):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        if self._peers is not None:
            with suppress(StoreError):  # they find out by themselves
                await self._peers.note_people(())

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
            if self._people_changed.is_set():
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
        for row in sorted(news.rooms, key=lambda row: row.created_at_ms):
            summary = None if self._is_here(row.code) else read_summary(row)
            if summary is not None:
                self._lobby.update(summary)
        for line in news.lines:
            self._lobby.add_line(ChatLine(line.at_ms, line.account, line.name, line.text, is_player=False))
        self._lobby.note_others(news.people)
        self._mark, self._read_at_s = news.mark, begun_s

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
        """Let others know of those who come and go, once in a while."""
        while True:
            await self._people_changed.wait()
            await self._note_people(peers)
            await asyncio.sleep(LOOK_S)

    async def _note_people(self, peers: Peers) -> None:
        self._people_changed.clear()
        try:
            await peers.note_people(self._lobby.people)
        except StoreError as error:
            unavailable(error)
            self._people_changed.set()
