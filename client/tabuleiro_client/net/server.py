"""A server to play on, far away or in this process, with the link to it and the commands that lead there."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from tabuleiro.errors import ClientError, ConfigError, DatabaseLockedError, NotationError
from tabuleiro.ids import SECOND_MS, RoomCode
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro.protocol.events import RoomSecrets
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro.rules import Game
from tabuleiro_client.net.addresses import format_room_address
from tabuleiro_client.net.files import data_folder, usual_data_folder
from tabuleiro_client.net.identity import LOOKING_ON, AskName, IdentityFolder, introduced_link, login_name
from tabuleiro_client.net.link import Link, is_loopback


@dataclass(frozen=True, slots=True)
class Signposts:
    """``join`` is how somebody else takes a seat, ``watch`` how they look on, ``back`` how this guest comes back.

    ``join_page`` and ``watch_page`` are the same as links for a browser, empty if the server has no page.
    ``join`` and ``watch`` are empty where nobody can be told: a private room whose secrets are the host's. With
    ``is_here_only`` they lead there from this machine, and from no other.
    """

    join: str
    watch: str
    back: str
    join_page: str = ""
    watch_page: str = ""
    is_here_only: bool = False


_DATABASES_MAX_COUNT: Final = 50


@dataclass(frozen=True, slots=True)
class EmbeddedServer:
    """A server of this process, with its rooms in ``database``.

    ``token_of`` returns a token for the guest with a name, ``None``: for the one who was here last; its second
    argument is the name of the first guest of all. Raises: NotationError, StoreError.
    ``remove`` removes a room with all that was played in it. Raises: CommandError.
    """

    url: str
    database: Path
    token_of: Callable[[str | None, str], Awaitable[str]]
    remove: Callable[[RoomCode], Awaitable[None]]


_LOCAL: Final = "local "


def key_of_database(database: Path) -> str:
    """Return what the matches in a local database are kept under: its name in the usual folder, else its path."""
    is_usual = database.parent == usual_data_folder().resolve()
    return f"{_LOCAL}{database.name if is_usual else database}"


def database_of_key(key: str) -> Path:
    """Return the database of a key.

    Earlier keys were names in any folder: where the usual one has no such file, the folder of now is meant.
    """
    named = Path(key.removeprefix(_LOCAL))
    usual = usual_data_folder().resolve() / named
    return usual if named.is_absolute() or usual.exists() else data_folder().resolve() / named


@asynccontextmanager
async def embedded_server(wanted: Path | None, tell: Callable[[str], None]) -> AsyncIterator[EmbeddedServer]:
    """Run a server on a free loopback port for as long as the context lasts.

    The database ``wanted`` holds its rooms, ``None``: the first of ``local.db``, ``local-2.db``, ... that no other
    terminal is using. Where none can be written, ``tell`` is told, and the rooms are gone at the end. It is told,
    too, if the clock of this machine is behind what is in the database.

    Raises: ModuleNotFoundError when the extra `server` is not installed, StoreError, ClientError.
    """
    from tabuleiro_server.cli.serve import clock_line
    from tabuleiro_server.cli.serve import embedded_server as run_embedded

    async with AsyncExitStack() as stack:
        for database in _local_databases(stack, tell) if wanted is None else _existing(wanted):
            try:
                server = await stack.enter_async_context(run_embedded(database))
            except DatabaseLockedError:
                continue
            if server.clock_behind_ms >= SECOND_MS:
                tell(clock_line(server.clock_behind_ms))
            yield EmbeddedServer(server.url, database, server.guests.vouch_for, server.directory.remove)
            return
    if wanted is not None:
        raise ClientError("this match is open in another terminal, or another program is using its file")
    raise ClientError(f"all {_DATABASES_MAX_COUNT} databases in {data_folder()} are in use by other terminals")


def _existing(database: Path) -> list[Path]:
    if not database.exists():
        raise ClientError(f"the file of this match is gone: {database}")
    return [database]


def _local_databases(stack: AsyncExitStack, tell: Callable[[str], None]) -> list[Path]:
    folder = data_folder().resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        tell(f"matches cannot be kept in {folder} ({error.strerror}): those of now are gone at the end")
        passing = tempfile.TemporaryDirectory(prefix="tabuleiro-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(passing))
    numbers = range(1, _DATABASES_MAX_COUNT + 1)
    return [folder / ("local.db" if number == 1 else f"local-{number}.db") for number in numbers]


async def local_record(room: RoomCode, number: int | None, database: Path | None = None) -> RecordPlayed | None:
    """Return a match of a room in a database of this machine, also while another terminal is using that.

    Args:
        room: The code of the room.
        number: The match, ``None`` for the last one.
        database: The file; ``None``: any of this user's that has the room.

    Returns:
        The match; ``None`` if no database has the room, or nothing here can read one.

    Raises: ClientError for a room without such a match, StoreError for a database that cannot be read.
    """
    try:
        from tabuleiro_server.cli.db import matches_of
    except ModuleNotFoundError:  # without the server's side there are no local matches
        return None
    folders = dict.fromkeys((data_folder().resolve(), usual_data_folder().resolve()))
    usual = [path for folder in folders for path in sorted(folder.glob("local*.db"))]
    for path in usual if database is None else _existing(database):
        played = await matches_of(path, room)
        if played is None:
            continue
        found = [record for record in played if number in (None, record.match)]
        if not found:
            raise ClientError(f"there is no match {number} in room {room}")
        return found[-1]
    return None


@dataclass(frozen=True, slots=True)
class Venue:
    """A connected server. ``is_local``: it lives in this process and ends with it.

    ``server`` is what its matches are kept under: the address, or the key of a local database. ``remove`` removes
    a room from that database with all that was played in it, ``None`` where that is not for us to do.
    """

    link: Link
    url: str
    server: str
    is_local: bool
    remove: Callable[[RoomCode], Awaitable[None]] | None = None

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
            back = "tabuleiro play"
        if is_private and secrets is None:
            return Signposts("", "", back)
        url = self._url_for_others()
        server = f"--server {shlex.quote(url)}"
        to_play = format_room_address(code, secrets.invite if secrets else None)
        to_watch = format_room_address(code, secrets.watch if secrets else None)
        has_page = self.link.welcome.has_page
        return Signposts(
            join=f"tabuleiro play {server} --room {to_play}",
            watch=f"tabuleiro watch {to_watch} {server}",
            back=back,
            join_page=_page_link(url, code, secrets.invite if secrets else None) if has_page else "",
            watch_page=_page_link(url, code, secrets.watch if secrets else None) if has_page else "",
            is_here_only=is_loopback(url),
        )


def _page_link(url: str, code: RoomCode, secret: str | None) -> str:
    """Return the address of a room for a browser; the secret stands where no server logs it."""
    fragment = "" if secret is None else f"#{quote(secret, safe='')}"
    return f"http{url.removeprefix('ws').rstrip('/')}/r/{code}{fragment}"


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
async def local_venue(
    identities: IdentityFolder, name: str | None, database: Path | None = None
) -> AsyncIterator[Venue]:
    """Run a server in this process and connect to it as ``name``, ``None``: as the guest who was there last.

    Its database is this user's own, so that nothing kept elsewhere has to prove who they are; ``identities`` only
    takes what they have to be told.

    Raises: as :func:`embedded_server`; ClientError for a bad name, ConnectionLostError.
    """
    async with embedded_server(database, identities.note) as server:
        try:
            token = await server.token_of(name, login_name())
        except NotationError as error:
            raise ClientError(str(error)) from error
        async with Link(server.url, token=token) as link:
            yield Venue(link, server.url, key_of_database(server.database), is_local=True, remove=server.remove)
