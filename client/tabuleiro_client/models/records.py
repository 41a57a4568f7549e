"""Sources of records: a file, or the matches of a room on a server. Writing records is left to the commands."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from tabuleiro.errors import ClientError, ConfigError, NotationError, RecordError, shown
from tabuleiro.ids import RoomCode
from tabuleiro.notation.record import MatchRecord
from tabuleiro.notation.record_text import parse_record
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro.protocol.records import record_of
from tabuleiro.protocol.room_codes import ROOM_CODE_RULE
from tabuleiro_client.net.addresses import parse_room_address
from tabuleiro_client.net.files import STANDARD_INPUT, config_folder, read_text
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.server import remote_gallery, remote_venue

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
                raise ClientError(f"there is no match {number}: room {newest.room} has {numbers_text(self.last)}")
        return self._take(await self._ask(number))

    def _take(self, played: RecordPlayed) -> RoomMatch:
        try:
            record = record_of(played)
        except ValueError as error:
            raise ClientError(f"this version of tabuleiro cannot read the match: {error}") from error
        self._known[played.match] = RoomMatch(record, played.room, played.match)
        return self._known[played.match]


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

    ``guest`` is the name of the guest who asks, ``None`` for one that is kept for looking on.
    """

    server: str
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


def record_in_file(name: str, number: int | None = None) -> FoundRecord:
    """Read a record file, which holds one match and none of another ``number``.

    Raises: ClientError that names line and column of what is wrong, ConfigError for a number.
    """
    if number is not None:
        raise ConfigError("--match", str(number), "the code of a room beside it; a file holds one match")
    try:
        return FoundRecord(parse_record(read_text(name)))
    except RecordError as error:
        raise ClientError(f"{name}: {error}") from error


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
        identities = IdentityFolder(config_folder())
        if source.guest is None:
            gallery = remote_gallery(source.server, identities)
        else:
            gallery = remote_venue(source.server, identities, source.guest, None)
        async with gallery as venue:
            for damage in identities.damaged:
                print(damage, file=sys.stderr)
            return await venue.link.get_record(room, number, source.secret or written)

    return RoomMatches(ask)
