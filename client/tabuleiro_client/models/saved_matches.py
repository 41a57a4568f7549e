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

from tabuleiro.errors import ClientError
from tabuleiro.ids import PLAYERS, Phase, RoomCode, TimestampMs
from tabuleiro_client.net.files import replacement

if TYPE_CHECKING:
    from tabuleiro_client.net.room import EnteredRoom
    from tabuleiro_client.net.server import Venue

KEPT_COUNT: Final = 50
"""How many matches are kept; the oldest ones are forgotten."""


class SavedMatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """A room this user has a seat in. ``server`` is an address, or the name of a database on this machine.

    ``game`` and ``board`` say what is played there, for people: kept as words, so that listing loads no rules.
    ``guest`` is who they are there, ``opponent`` the name of the other player, empty when there is none.
    ``secret`` is what a private room wants, ``None`` otherwise. ``result`` tells how the last match ended for the
    guest, in a word; it is empty while none has ended.
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

    @property
    def is_over(self) -> bool:
        """True if the match cannot be continued."""
        return self.phase in ("finished", "closed")

    def says_the_same(self, other: SavedMatch) -> bool:
        """Return whether ``other`` differs in the time at most."""
        return msgspec.structs.replace(self, seen_at_ms=other.seen_at_ms) == other


def match_in(venue: Venue, room: EnteredRoom, now_ms: int) -> SavedMatch | None:
    """Return the match in a room of ``venue`` as it is to be remembered; ``None`` for those who only look on."""
    # It loads the rules, which listing matches does without.
    from tabuleiro_client.text.endings import own_result_text
    from tabuleiro_client.text.rooms import brief_options_text

    game, head, own = room.mirror.game, room.mirror.head, room.mirror.own_seats
    if not own:
        return None
    ending = head.match
    others = [head.seats[seat].holder.name or "" for seat in PLAYERS if seat not in own]
    return SavedMatch(
        server=venue.server,
        guest=venue.link.welcome.name,
        room=head.room,
        game=game.title,
        board=brief_options_text(type(game), head.options),
        phase=head.phase,
        opponent=others[0] if others else "",
        seen_at_ms=TimestampMs(now_ms),
        is_local=venue.is_local,
        secret=room.secret,
        result=""
        if ending is None or ending.termination is None
        else own_result_text(game.sides, own, ending.winner, ending.termination),
    )


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
        """Remember a match, and forget the oldest ones of too many. Raises: ClientError."""
        path = self._path(match)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with replacement(path, msgspec.json.encode(match) + b"\n"):
                pass
        except OSError as error:
            raise ClientError(f"your matches cannot be kept in {path.parent}: {error.strerror}") from error
        for old in self.all()[KEPT_COUNT:]:
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
