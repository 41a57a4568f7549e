"""The matches this user takes or took part in, remembered so that they can be continued and looked through.

A small file a room, so that two terminals never write the same one. Servers keep the records of rooms, as long as
they do; the records that were imported are kept here.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from tabuleiro.errors import ClientError, CommandError
from tabuleiro.ids import PLAYERS, Phase, RoomCode, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import WatchRoom
from tabuleiro_client.net.files import replacement
from tabuleiro_client.text.clocks import format_date
from tabuleiro_client.text.matches import UNFINISHED

if TYPE_CHECKING:
    from tabuleiro_client.net.room import EnteredRoom
    from tabuleiro_client.net.server import Venue

KEPT_COUNT: Final = 500
"""How many matches that are over are kept; the oldest ones are forgotten. Unfinished ones stay."""


class SavedMatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """A room this user plays in, or has made for two bots. ``server`` is an address, or names a local database.

    ``game`` and ``board`` say what is played there, for people: kept as words, so that listing loads no rules.
    ``guest`` is who they are there, ``opponent`` the name of the other player, empty when there is none.
    ``secret`` is what a private room wants, ``None`` otherwise. ``result`` tells how the last match ended for the
    guest, in a word; it is empty while none has ended. ``players`` names both bots, and is empty for own seats.
    """

    server: str
    guest: str
    room: RoomCode
    game: str
    board: str
    phase: Phase
    opponent: str
    seen_at_ms: TimestampMs
    is_local: bool = False
    secret: str | None = None
    result: str = ""
    players: str = ""

    @property
    def against(self) -> str:
        """Who plays against whom, for people: the opponent, or both bots."""
        if self.players:
            return self.players
        return self.opponent or ("nobody yet" if self.phase == "waiting" else "yourself")

    @property
    def title(self) -> str:
        """The match in a few words."""
        return f"{self.game}{',' if self.players else ' against'} {self.against} ({self.room})"

    @property
    def place(self) -> str:
        """Where it is played, for people."""
        return "this machine" if self.is_local else self.server.partition("://")[2]

    @property
    def is_over(self) -> bool:
        """True if the match cannot be continued."""
        return self.phase in ("finished", "closed")

    def says_the_same(self, other: SavedMatch) -> bool:
        """Return whether ``other`` differs in the time at most."""
        return msgspec.structs.replace(self, seen_at_ms=other.seen_at_ms) == other


def match_in(venue: Venue, room: EnteredRoom, now_ms: int) -> SavedMatch | None:
    """Return the match in a room of ``venue`` as it is to be remembered.

    It is ``None`` for those who only look on; whoever has two bots play has made their match.
    """
    # It loads the rules, which listing matches does without.
    from tabuleiro_client.text.endings import own_result_text
    from tabuleiro_client.text.rooms import brief_options_text

    game, head, own = room.mirror.game, room.mirror.head, room.mirror.own_seats
    name = venue.link.welcome.name
    are_bots = all(seat.holder.kind == "bot" for seat in head.seats)
    if not own and not (are_bots and head.host_name == name):
        return None
    ending = head.match
    others = [head.seats[seat].holder.name or "" for seat in PLAYERS if seat not in own]
    return SavedMatch(
        server=venue.server,
        guest=name,
        room=head.room,
        game=game.title,
        board=brief_options_text(type(game), head.options),
        phase=head.phase,
        opponent=others[0] if own and others else "",
        seen_at_ms=TimestampMs(now_ms),
        is_local=venue.is_local,
        secret=room.secret,
        result=""
        if ending is None or ending.termination is None
        else own_result_text(game.sides, own, ending.winner, ending.termination),
        players="" if own else " - ".join(others),
    )


class RoomMemory:
    """Keeps what ``saved`` remembers of the match in ``room`` in step with it."""

    def __init__(self, saved: SavedMatches, venue: Venue, room: EnteredRoom) -> None:
        self._saved = saved
        self._venue = venue
        self._room = room
        self._kept: SavedMatch | None = None

    def note(self, now_ms: int) -> None:
        """Remember the match as it is now, if something in that has changed."""
        match = match_in(self._venue, self._room, now_ms)
        if match is None or (self._kept is not None and self._kept.says_the_same(match)):
            return
        self._kept = match
        with suppress(ClientError):  # a full disk is no reason to disturb a match
            self._saved.keep(match)

    def forget_unplayed(self) -> None:
        """Remember a room no longer that has seen no match: its seat was given up."""
        if self._kept is not None and self._kept.phase == "waiting":
            self._saved.forget(self._kept)


async def end_match(saved: SavedMatches, venue: Venue, room: RoomCode, secret: str | None, now_ms: int) -> None:
    """End the unfinished match of this user in a room, and remember how it ended.

    It ends without a result while that is allowed, else this user resigns. A seat in a waiting room is given up.

    Raises: CommandError, ClientError.
    """
    # It loads the rules, which listing matches does without.
    from tabuleiro_client.net.room import enter

    way_in = WatchRoom(id=0, room=room, secret=secret)
    async with await enter(venue.link, way_in) as entered:
        if entered.mirror.head.phase == "waiting":
            memory = RoomMemory(saved, venue, entered)
            memory.note(now_ms)
            await entered.leave()
            memory.forget_unplayed()
            return
        try:
            await entered.abort()
        except CommandError as error:
            if error.code != ErrorCode.NOT_ALLOWED:
                raise
            await entered.resign()
    async with await enter(venue.link, way_in) as entered:
        RoomMemory(saved, venue, entered).note(now_ms)


async def delete_match(saved: SavedMatches, venue: Venue, room: RoomCode) -> None:
    """Remove a room of this machine with all that was played in it, and remember it no longer.

    Raises: CommandError.
    """
    assert venue.remove is not None
    await venue.remove(room)
    for match in saved.all():
        if (match.server, match.room) == (venue.server, room):
            saved.forget(match)


class ImportedRecord(msgspec.Struct, frozen=True):
    """A record that was imported. ``text`` holds it; the other fields are words for a list.

    ``players`` names both, ``result`` tells the end.
    """

    game: str
    board: str
    players: str
    result: str
    imported_at_ms: TimestampMs
    text: str


def row_of(match: SavedMatch | ImportedRecord) -> tuple[str, ...]:
    """Return what lists tell of a match, below the headings of :mod:`tabuleiro_client.text.matches`."""
    if isinstance(match, ImportedRecord):
        date = format_date(match.imported_at_ms)
        return ("", match.game, match.players, match.result, date, "imported", match.board)
    result = match.result or (match.phase if match.is_over else UNFINISHED)
    return (
        match.room,
        match.game,
        match.against,
        result,
        format_date(match.seen_at_ms),
        match.place,
        match.board,
    )


def moment_ms(match: SavedMatch | ImportedRecord) -> int:
    """Return when a match was seen last, or imported."""
    return match.imported_at_ms if isinstance(match, ImportedRecord) else match.seen_at_ms


def fits(row: tuple[str, ...], wanted: str) -> bool:
    """Return whether a row of a list has all words of ``wanted``.

    >>> fits(("K7MQ4", "Iris", "rui", "won"), "iris WON"), fits(("K7MQ4", "Iris"), "eva")
    (True, False)
    """
    text = " ".join(row).lower()
    return all(word in text for word in wanted.lower().split())


class SavedMatches:
    """The remembered matches, in files below ``folder``; what cannot be read or written is passed over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "matches"
        self._records_folder = folder / "records"

    def all(self) -> list[SavedMatch]:
        """Return the matches, the one seen last first."""
        found = []
        for path in self._folder.glob("*.json"):
            with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
                found.append(msgspec.json.decode(path.read_bytes(), type=SavedMatch))
        return sorted(found, key=lambda match: -match.seen_at_ms)

    def keep(self, match: SavedMatch) -> None:
        """Remember a match, and forget the oldest of too many that are over. Raises: ClientError."""
        path = self._path(match)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with replacement(path, msgspec.json.encode(match) + b"\n"):
                pass
        except OSError as error:
            raise ClientError(f"your matches cannot be kept in {path.parent}: {error.strerror}") from error
        if match.is_over:
            for old in [other for other in self.all() if other.is_over][KEPT_COUNT:]:
                self.forget(old)

    def forget(self, match: SavedMatch) -> None:
        """Remember a match no longer."""
        with suppress(OSError):
            self._path(match).unlink()

    def private_rooms(self, server: str, guest: str) -> list[tuple[RoomCode, str]]:
        """Return codes and secrets of the private rooms of ``guest`` on ``server`` that are not over."""
        return [
            (match.room, match.secret)
            for match in self.all()
            if (match.server, match.guest) == (server, guest) and match.secret is not None and not match.is_over
        ]

    def played(self) -> list[SavedMatch | ImportedRecord]:
        """Return the matches that have begun, and the imported records, the last ones first."""
        found: list[SavedMatch | ImportedRecord] = [match for match in self.all() if match.phase != "waiting"]
        return sorted([*found, *self.records()], key=moment_ms, reverse=True)

    def records(self) -> list[ImportedRecord]:
        """Return the imported records, the last one first."""
        found = []
        for path in self._records_folder.glob("*.json"):
            with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
                found.append(msgspec.json.decode(path.read_bytes(), type=ImportedRecord))
        return sorted(found, key=lambda record: -record.imported_at_ms)

    def import_record(self, record: ImportedRecord) -> bool:
        """Keep a record; return False if it is kept already. Raises: ClientError."""
        name = hashlib.sha256(record.text.encode()).hexdigest()[:24]
        path = self._records_folder / f"{name}.json"
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if path.exists():
                return False
            with replacement(path, msgspec.json.encode(record) + b"\n"):
                return True
        except OSError as error:
            raise ClientError(f"the record cannot be kept in {path.parent}: {error.strerror}") from error

    def _path(self, match: SavedMatch) -> Path:
        key = f"{match.server}\n{match.guest}\n{match.room}"
        return self._folder / f"{match.room}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"
