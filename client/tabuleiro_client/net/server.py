"""A server to play on, far away or in this process, with the link to it and the commands that lead there."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from tabuleiro.errors import ClientError, ConfigError, DatabaseLockedError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro.protocol.events import RoomSecrets
from tabuleiro.rules import Game
from tabuleiro_client.net.addresses import format_room_address
from tabuleiro_client.net.files import data_folder
from tabuleiro_client.net.identity import LOOKING_ON, AskName, IdentityFolder, introduced_link, login_name
from tabuleiro_client.net.link import Link, is_loopback


@dataclass(frozen=True, slots=True)
class Signposts:
    """``join`` is how somebody else takes a seat, ``watch`` how they look on, ``back`` how this guest comes back.

    ``join`` and ``watch`` are empty where nobody can be told: a private room whose secrets are the host's. With
    ``is_here_only`` they lead there from this machine, and from no other.
    """

    join: str
    watch: str
    back: str
    is_here_only: bool = False


_DATABASES_MAX_COUNT: Final = 50


@dataclass(frozen=True, slots=True)
class EmbeddedServer:
    """A server of this process. ``key`` names it among the servers that guests are kept for."""

    url: str
    key: str


@asynccontextmanager
async def embedded_server() -> AsyncIterator[EmbeddedServer]:
    """Run a server on a free loopback port for as long as the context lasts.

    The first of ``local.db``, ``local-2.db``, ... that no other terminal is using holds its rooms.

    Raises: ModuleNotFoundError when the extra `server` is not installed, StoreError, ClientError.
    """
    from tabuleiro_server.cli.serve import embedded_server as run_embedded

    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClientError(f"the folder {folder} for local matches cannot be made: {error.strerror}") from error
    async with AsyncExitStack() as stack:
        for number in range(1, _DATABASES_MAX_COUNT + 1):
            database = folder / ("local.db" if number == 1 else f"local-{number}.db")
            try:
                server = await stack.enter_async_context(run_embedded(database))
            except DatabaseLockedError:
                continue
            yield EmbeddedServer(server.url, f"local {database.name}")
            return
    raise ClientError(f"all {_DATABASES_MAX_COUNT} databases in {folder} are in use by other terminals")


@dataclass(frozen=True, slots=True)
class Venue:
    """A connected server. ``is_local``: it lives in this process and ends with it.

    ``server`` is what its guests and matches are kept under: the address, or the name of a local database.
    """

    link: Link
    url: str
    server: str
    is_local: bool

    def levels(self, game: type[Game]) -> tuple[str, ...]:
        """Return the levels of the bots of a game, weakest first."""
        return self.link.welcome.levels.get(game.name, ())

    def _url_for_others(self) -> str:
        """Return the address that the server wants to be known by, if it is one, else the one used here."""
        with suppress(ConfigError):
            return parse_server_url(self.link.welcome.public_url or "")
        return self.url

    def signposts(self, code: RoomCode, secrets: RoomSecrets | None, *, is_private: bool) -> Signposts:
        """Return the commands that lead to a room; ``secrets`` of a private one are ``None`` if unknown."""
        back = f"tabuleiro play --server {shlex.quote(self.url)} --room {code}"
        back += f" --name {shlex.quote(self.link.welcome.name)}"
        if self.is_local:
            back = "tabuleiro play   (and there: continue a match on this machine)"
        if is_private and secrets is None:
            return Signposts("", "", back)
        url = self._url_for_others()
        server = f"--server {shlex.quote(url)}"
        to_play = format_room_address(code, secrets.invite if secrets else None)
        to_watch = format_room_address(code, secrets.watch if secrets else None)
        return Signposts(
            join=f"tabuleiro play {server} --room {to_play}",
            watch=f"tabuleiro watch {to_watch} {server}",
            back=back,
            is_here_only=is_loopback(url),
        )


@asynccontextmanager
async def remote_venue(
    url: str, identities: IdentityFolder, name: str | None, ask_name: AskName | None
) -> AsyncIterator[Venue]:
    """Connect to a server; arguments and errors as of :func:`introduced_link`."""
    async with introduced_link(url, server=url, identities=identities, name=name, ask_name=ask_name) as link:
        yield Venue(link, url, url, is_local=False)


@asynccontextmanager
async def remote_gallery(url: str, identities: IdentityFolder) -> AsyncIterator[Venue]:
    """Connect to a server only to look on, as a guest that this machine keeps for that alone.

    A player's own guest would count as that player being here. Raises: as :func:`introduced_link`.
    """
    server = f"{url}{LOOKING_ON}"
    async with introduced_link(url, server=server, identities=identities, name=None, ask_name=None) as link:
        yield Venue(link, url, server, is_local=False)


@asynccontextmanager
async def local_venue(identities: IdentityFolder, name: str | None) -> AsyncIterator[Venue]:
    """Run a server in this process and connect to it, without asking for a name.

    Raises: as :func:`embedded_server` and :func:`introduced_link`.
    """
    async with embedded_server() as server:
        known = identities.find(server.key, name)
        wanted = name or (known.name if known is not None else login_name())
        async with introduced_link(
            server.url, server=server.key, identities=identities, name=wanted, ask_name=None
        ) as link:
            yield Venue(link, server.url, server.key, is_local=True)
