"""What is told about a database: its figures, and where its query tables differ from the events.

The events are the truth; the rows of the query tables follow from them by a replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec.structs import fields

from tabuleiro.errors import DamagedRoomError, TabuleiroError, shown
from tabuleiro.ids import RoomCode
from tabuleiro_server.store.port import MatchRow, Replay, RoomRow, Rows, StoredEvent

VALUE_MAX_CHARS: Final = 200
"""The characters of a value that are told: a whole match would be pages."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Figures of one database. ``size_bytes`` is what it takes on disk.

    ``free_bytes`` is the part of it that a vacuum would give back, ``wal_bytes`` the size of the log beside it:
    ``None`` where the database looks after both by itself.
    """

    schema_version: int
    size_bytes: int
    wal_bytes: int | None
    free_bytes: int | None
    event_count: int
    room_counts: dict[str, int]
    match_count: int
    ended_match_count: int
    account_count: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a query table does not say what the events say.

    ``row`` is ``room`` or ``match N``. ``field`` is ``None`` when the whole row is missing (``stored`` is
    ``None``) or should not be there (``replayed`` is ``None``).
    """

    room: RoomCode
    row: str
    field: str | None
    stored: object
    replayed: object

    def __str__(self) -> str:
        """Say it in one line.

        >>> print(Difference(RoomCode("K7MQ4"), "match 2", "winner", 0, 1))
        room K7MQ4, match 2, winner: stored 0, the events say 1
        """
        where = f"room {self.room}, {self.row}"
        if self.field is not None:
            stored, replayed = shown(self.stored, VALUE_MAX_CHARS), shown(self.replayed, VALUE_MAX_CHARS)
            return f"{where}, {self.field}: stored {stored}, the events say {replayed}"
        return f"{where}: " + (
            "missing in the tables" if self.stored is None else "in the tables, not in the events"
        )


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The findings in a database. ``file_findings`` are those of the database itself, not of one room."""

    room_count: int
    event_count: int
    match_count: int
    file_findings: list[str]
    damaged: list[DamagedRoomError]
    differences: list[Difference]

    @property
    def is_sound(self) -> bool:
        """True when nothing was found."""
        return not (self.file_findings or self.damaged or self.differences)


@dataclass(slots=True)
class RebuildReport:
    """The fate of the rooms: ``removed`` had rows but no events, ``damaged`` were left as they were.

    ``kept`` is a copy of the file as it was found, where it was damaged; ``None`` where it was sound.
    """

    rebuilt_count: int = 0
    removed: list[RoomCode] = field(default_factory=list)
    damaged: list[DamagedRoomError] = field(default_factory=list)
    kept: Path | None = None


NamedRows = dict[str, RoomRow | MatchRow]
"""The rows of a room by their names: ``room``, ``match 1`` and so on."""


def by_name(rows: Rows | None) -> NamedRows:
    """Return the rows of a room by their names; nothing for a room without events."""
    if rows is None:
        return {}
    return {"room": rows.room, **{f"match {row.number}": row for row in rows.matches}}


def replayed_rows(room: RoomCode, events: Sequence[StoredEvent], replay: Replay) -> Rows | None:
    """Return the rows that a room's events lead to, ``None`` without any events. Raises: DamagedRoomError."""
    if not events:
        return None
    try:
        return replay(room, events)
    except TabuleiroError as error:
        raise DamagedRoomError(room, None, f"it cannot be replayed: {error}") from error


def differences_of(room: RoomCode, stored: NamedRows, wanted: NamedRows) -> Iterator[Difference]:
    """Yield the places where the stored rows of a room are not those that its events lead to."""
    for name in stored | wanted:
        before, after = stored.get(name), wanted.get(name)
        if before is None or after is None:
            yield Difference(room, name, None, before, after)
            continue
        for column in fields(before):
            old, new = getattr(before, column.name), getattr(after, column.name)
            if old != new:
                yield Difference(room, name, column.name, old, new)
