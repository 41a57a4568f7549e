"""Sources of records: a file, or the matches of a room on a server. Writing records is left to the commands."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from tabuleiro.errors import ClientError, ConfigError, ConnectionLostError, NotationError, RecordError, shown
from tabuleiro.ids import RoomCode
from tabuleiro.notation.formats import FILE_MAX_BYTES, find_records
from tabuleiro.notation.record import MatchRecord
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro.protocol.records import record_of
from tabuleiro.protocol.room_codes import ROOM_CODE_RULE
from tabuleiro.rules import Game
from tabuleiro_client.models.saved_matches import SavedMatch, SavedMatches
from tabuleiro_client.net.addresses import default_server, parse_room_address
from tabuleiro_client.net.files import STANDARD_INPUT, config_folder, read_bytes
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.server import local_record, remote_gallery, remote_venue

AskForMatch = Callable[[int | None], Awaitable[RecordPlayed]]
"""Asks the server for a match of the room, with ``None`` for the last one.

Raises: CommandError, ClientError.
"""


@dataclass(frozen=True, slots=True)
class RoomMatch:
    """A match of a room, and its ``number`` from 1."""

    record: MatchRecord
    room: RoomCode
    number: int

    @property
    def name(self) -> str:
        """The name of the match on its server, e.g. ``K7MQ4-2``."""
        return f"{self.room}-{self.number}"

    @property
    def place(self) -> str:
        """The place where it is, in words."""
        return f"room {self.room}"


@dataclass(frozen=True, slots=True)
class FileMatch:
    """A match in a file, and its ``number`` from 1; no server has a name for it."""

    record: MatchRecord
    place: str
    number: int
    name: None = None


class RoomMatches:
    """The matches of a room, from 1 to ``last``, which is 0 until :meth:`newest` was asked for.

    A match that is over is asked for once; one that goes on is asked for every time.
    """

    def __init__(self, ask: AskForMatch) -> None:
        self.last = 0
        self._ask = ask
        self._known: dict[int, RoomMatch] = {}

    def known(self, number: int) -> RoomMatch | None:
        """Return a match that was asked for before; ``None`` if it was not."""
        return self._known.get(number)

    async def newest(self) -> RoomMatch:
        """Ask for the last match of the room as it is now. Raises: ClientError, CommandError."""
        found = self._take(await self._ask(None))
        self.last = found.number
        return found

    async def get(self, number: int) -> RoomMatch:
        """Return a match by its number. Raises: ClientError, also for no such match; CommandError."""
        known = self._known.get(number)
        if known is not None and known.record.outcome is not None:
            return known
        if self.last and not 1 <= number <= self.last:
            newest = await self.newest()
            if not 1 <= number <= self.last:
                raise no_such_match(number, newest.place, self.last)
        return self._take(await self._ask(number))

    def _take(self, played: RecordPlayed) -> RoomMatch:
        try:
            record = record_of(played)
        except ValueError as error:
            raise ClientError(f"this version of tabuleiro cannot read the match: {error}") from error
        self._known[played.match] = RoomMatch(record, played.room, played.match)
        return self._known[played.match]


class FileMatches:
    """The matches in the file ``name``, from 1 to ``last``; each is checked when it is asked for.

    ``game`` is that of records which name none.

    Raises: ClientError, also for a file without a record.
    """

    def __init__(self, name: str, game: Game | None = None) -> None:
        self._name = name
        self._game = game
        try:
            self._found = find_records(read_bytes(name, FILE_MAX_BYTES + 1))
        except RecordError as error:
            raise ClientError(f"{name}: {error}") from error
        self.last = len(self._found)
        self._known: dict[int, FileMatch] = {}

    @property
    def place(self) -> str:
        """The name of the file, in words."""
        return "standard input" if self._name == STANDARD_INPUT else self._name

    def known(self, number: int) -> FileMatch | None:
        """Return a match that was asked for before; ``None`` if it was not."""
        return self._known.get(number)

    async def get(self, number: int) -> FileMatch:
        """Return a match by its number. Raises: as :meth:`read`."""
        return self.read(number)

    def read(self, number: int | None = None) -> FileMatch:
        """Return a match by its number, ``None`` for the last one.

        Raises: ClientError that names line and column of what is wrong, also for no such match; ConfigError for a
        game given beside a record that names its own.
        """
        wanted = self.last if number is None else number
        if not 1 <= wanted <= self.last:
            raise no_such_match(wanted, self._name, self.last)
        if wanted not in self._known:
            self._known[wanted] = FileMatch(self._checked(wanted), self.place, wanted)
        return self._known[wanted]

    def _checked(self, number: int) -> MatchRecord:
        found = self._found[number - 1]
        if self._game is not None and found.names_game:
            raise ConfigError(
                "--game", self._game.name, f"a record that names no game; {self._name} names its own"
            )
        if self._game is None and not found.names_game:
            raise ClientError(
                f"{self._name}: nothing names the game: a record begins with a header such as "
                '[Game "minefield"]; for a list of moves give --game'
            )
        try:
            return found.read(self._game)
        except RecordError as error:
            of_several = f"match {number} of {self.last}: " if self.last > 1 else ""
            raise ClientError(f"{self._name}: {of_several}{error}") from error


Match = RoomMatch | FileMatch
Matches = RoomMatches | FileMatches


def no_such_match(number: int, place: str, last: int) -> ClientError:
    """Return the error for a number that no match has."""
    return ClientError(f"there is no match {number}: {place} has {numbers_text(last)}")


def numbers_text(last: int) -> str:
    """Return the numbers of the matches as text.

    >>> numbers_text(1), numbers_text(3)
    ('match 1 alone', 'matches 1 to 3')
    """
    return "match 1 alone" if last == 1 else f"matches 1 to {last}"


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record, and the name of its match on its server, ``None`` for one from a file."""

    record: MatchRecord
    game_id: str | None = None


@dataclass(frozen=True, slots=True)
class RoomSource:
    """A server, and how it is asked there: ``secret`` is for private rooms, ``None`` otherwise.

    With ``server`` ``None`` the own matches are looked through first, then the server is asked that is used when
    none is named. ``guest`` is the name of the guest who asks, ``None`` for one that is kept for looking on.
    """

    server: str | None
    secret: str | None = None
    guest: str | None = None


def is_file(source: str) -> bool:
    """Return whether ``source`` names a file or standard input.

    Raises: ClientError when it is neither a file nor could be the code of a room.
    """
    if source == STANDARD_INPUT or Path(source).exists():
        return True
    try:
        if "." in source or "/" in source:
            raise NotationError(source, ROOM_CODE_RULE)  # the name of a file, though it may begin like a code
        parse_room_address(source)
    except NotationError as error:
        raise ClientError(f"there is no file {shown(source)}, and it is no code of a room either") from error
    return False


async def record_of_room(code: str, number: int | None, source: RoomSource) -> FoundRecord:
    """Ask a server for a match of a room, with ``None`` for the last one.

    Raises: ClientError, CommandError, NotationError for no code.
    """
    matches = matches_of_room(code, source)
    match = await (matches.newest() if number is None else matches.get(number))
    return FoundRecord(match.record, match.name)


def matches_of_room(code: str, source: RoomSource) -> RoomMatches:
    """Return the matches of the room ``code``, which may hold the secret; each is asked for by a connection.

    Raises: NotationError for no code.
    """
    room, written = parse_room_address(code)

    async def ask(number: int | None) -> RecordPlayed:
        server, secret = source.server, source.secret or written
        if server is not None:
            return await _ask_server(server, room, number, secret, source.guest)
        found = await local_record(room, number)
        if found is not None:
            return found
        own = _own_match(room)
        if own is not None:
            return await _ask_server(own.server, room, number, secret or own.secret, source.guest)
        try:
            return await _ask_server(default_server(), room, number, secret, source.guest)
        except ConnectionLostError as error:
            raise ClientError(
                f"room {room} is none of your matches here, and {error}; name its --server"
            ) from error

    return RoomMatches(ask)


def _own_match(room: RoomCode) -> SavedMatch | None:
    """Return the own match in a room of a server, the last one if there are several."""
    matches = SavedMatches(config_folder()).all()
    return next((match for match in matches if match.room == room and not match.is_local), None)


async def _ask_server(
    server: str, room: RoomCode, number: int | None, secret: str | None, guest: str | None
) -> RecordPlayed:
    identities = IdentityFolder(config_folder())
    if guest is None:
        gallery = remote_gallery(server, identities)
    else:
        gallery = remote_venue(server, identities, guest, None)
    async with gallery as venue:
        for notice in identities.notices:
            print(notice, file=sys.stderr)
        return await venue.link.get_record(room, number, secret)
