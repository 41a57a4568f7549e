"""The client library: what a program needs to be a guest on a server. No user interface.

``connect`` is all there is to import; :class:`Client` opens rooms, and a room is an async iterator of changes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from msgspec import UNSET

from tabuleiro.ids import Phase, Player
from tabuleiro.notation.record import MatchRecord
from tabuleiro.protocol.messages import (
    ME,
    OPEN,
    CreateRoom,
    JoinRoom,
    QuickPlay,
    RoomList,
    SeatRequest,
    WantsBoards,
    WatchRoom,
)
from tabuleiro.protocol.records import record_of
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.entering import EntryRequest
from tabuleiro_client.net.link import Link, LinkSettings
from tabuleiro_client.net.lobby import LobbyNews, follow_lobby
from tabuleiro_client.net.room import EnteredRoom, enter

__all__ = ["ME", "OPEN", "Client", "bot", "connect"]


def bot(level: str) -> SeatRequest:
    """Return a seat for a bot of the server, for :meth:`Client.create`."""
    return SeatRequest("bot", level)


class Client:
    """A guest on a server. Get one from :func:`connect`."""

    def __init__(self, link: Link) -> None:
        self.link = link

    @property
    def name(self) -> str:
        """The own name on the server."""
        return self.link.welcome.name

    @property
    def token(self) -> str | None:
        """The secret that proves who one is; told once, when the guest was made, else ``None``. Keep it."""
        return self.link.welcome.token

    @property
    def levels(self) -> Mapping[str, tuple[str, ...]]:
        """The levels of the server's bots for each game, weakest first."""
        return self.link.welcome.levels

    async def rooms(self, game: str | None = None, phases: Sequence[Phase] | None = None) -> RoomList:
        """Return the listed rooms, by default the unfinished ones. Raises: CommandError, ConnectionLostError."""
        return await self.link.list_rooms(game, phases)

    def lobby(
        self, game: str | None = None, phases: Sequence[Phase] | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[LobbyNews]]:
        """Follow the listed rooms and the chat: all, then what is new; one lobby at a time.

        Raises: as :meth:`rooms`.
        """
        return follow_lobby(self.link, game, phases)

    async def say_in_lobby(self, text: str) -> None:
        """Write a line to everybody in the lobby, which has to be followed. Raises: as :meth:`rooms`."""
        await self.link.say_in_lobby(text)

    async def record(self, code: str, match: int | None = None, *, secret: str | None = None) -> MatchRecord:
        """Return a match of a room, with ``None`` the last one. Raises: CommandError, ConnectionLostError."""
        return record_of(await self.link.get_record(code, match, secret))

    def create(
        self,
        game: str,
        options: Mapping[str, int | str] | None = None,
        *,
        seats: tuple[SeatRequest, SeatRequest] = (ME, OPEN),
        settings: RoomSettings = RoomSettings(),
        boards: bool = False,
    ) -> AbstractAsyncContextManager[EnteredRoom]:
        """Make a room and enter it; with ``boards`` for programs without rules. Source: PROTOCOL.md.

        Raises on entry: CommandError, ConnectionLostError.
        """
        wanted = _wanted(boards)
        request = CreateRoom(
            id=0, game=game, options=dict(options or {}), seats=seats, settings=settings, boards=wanted
        )
        return _in_room(self.link, request)

    def quick_play(
        self,
        game: str,
        options: Mapping[str, int | str] | None = None,
        *,
        settings: RoomSettings = RoomSettings(),
        boards: bool = False,
    ) -> AbstractAsyncContextManager[EnteredRoom]:
        """Sit down in the oldest fitting open room, or make one. Raises on entry: as :meth:`create`."""
        wanted = _wanted(boards)
        request = QuickPlay(id=0, game=game, options=dict(options or {}), settings=settings, boards=wanted)
        return _in_room(self.link, request)

    def join(
        self, code: str, *, seat: Player | None = None, secret: str | None = None, boards: bool = False
    ) -> AbstractAsyncContextManager[EnteredRoom]:
        """Sit down in a room. ``secret`` is the invite of a private one. Raises on entry: as :meth:`create`."""
        return _in_room(self.link, JoinRoom(id=0, room=code, seat=seat, secret=secret, boards=_wanted(boards)))

    def watch(
        self, code: str, *, secret: str | None = None, boards: bool = False
    ) -> AbstractAsyncContextManager[EnteredRoom]:
        """Enter a room without asking for a seat. Raises on entry: as :meth:`create`."""
        return _in_room(self.link, WatchRoom(id=0, room=code, secret=secret, boards=_wanted(boards)))


def _wanted(boards: bool) -> WantsBoards:
    return True if boards else UNSET


@asynccontextmanager
async def _in_room(link: Link, request: EntryRequest) -> AsyncIterator[EnteredRoom]:
    async with await enter(link, request) as room:
        yield room


@asynccontextmanager
async def connect(
    url: str, *, name: str | None = None, token: str | None = None, settings: LinkSettings | None = None
) -> AsyncIterator[Client]:
    """Be a guest on the server at ``url``: a new one called ``name``, or the one that ``token`` belongs to.

    A lost connection is mended by itself; ``settings`` tell how, ``None`` as usual.

    Raises: ConnectionLostError when the server can't be reached, CommandError when it refuses the guest.
    """
    async with Link(url, name=name, token=token, settings=settings) as link:
        yield Client(link)
