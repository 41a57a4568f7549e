"""The matches of one room as records, by their numbers. How its server is asked is left to whoever makes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tabuleiro.errors import ClientError
from tabuleiro.ids import RoomCode
from tabuleiro.notation.match_record import MatchRecord
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro.protocol.records import record_of

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
        """A match as it was asked for before, ``None`` if it was not."""
        return self._known.get(number)

    async def newest(self) -> RoomMatch:
        """The last match of the room as it is now. Raises: ClientError, CommandError."""
        found = self._take(await self._ask(None))
        self.last = found.number
        return found

    async def get(self, number: int) -> RoomMatch:
        """A match by its number. Raises: ClientError also when there is no such match, CommandError."""
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
    """Which matches there are.

    >>> numbers_text(1), numbers_text(3)
    ('match 1 alone', 'matches 1 to 3')
    """
    return "match 1 alone" if last == 1 else f"matches 1 to {last}"
