"""Comparing the query tables with the events, and making them anew from the events.

The events are the truth, all else follows from them by the ``replay`` that the caller gives. Both commands work on
the file of a running server: each room is seen at one moment, and what is rebuilt from events that have meanwhile
been added to is rebuilt again.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import structlog
from msgspec.structs import fields

from tabuleiro.errors import DamagedRoomError, DatabaseFormatError, TabuleiroError, shown
from tabuleiro.ids import RoomCode
from tabuleiro_server.store.connection import damage_error, primary_code
from tabuleiro_server.store.event_log import BEFORE_FIRST
from tabuleiro_server.store.log_tables import (
    blaming,
    last_seq,
    select_events,
)
from tabuleiro_server.store.maintenance import beside_a_server, on_database, query_rows, reading, serving_nobody
from tabuleiro_server.store.query_tables import (
    delete_rows_of,
    upsert_matches,
    upsert_rooms,
)
from tabuleiro_server.store.rows import MatchRow, RoomRow, StoredEvent
from tabuleiro_server.store.salvage import ALL_TABLES, QUERY_TABLES, Salvage, damage_in, salvage

Replay = Callable[[RoomCode, Sequence[StoredEvent]], tuple[RoomRow, list[MatchRow]]]
"""From a room's events to its rows. Raises a TabuleiroError for events that cannot be; runs in another thread."""

_BATCH_ROOM_COUNT = 64
_ROOMS_IN: Final = {
    "events": "SELECT DISTINCT room FROM events",
    "rooms": "SELECT code FROM rooms",
    "matches": "SELECT DISTINCT room FROM matches",
}

_ROOMS_LEFT_BEHIND: Final = "SELECT code FROM rooms WHERE next_deadline_ms = 0"
"""The first schema's mark of a row that was not written with every move of its room."""

VALUE_MAX_CHARS: Final = 200
"""How much of a value is told: a whole match would be pages."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a query table does not say what the events say.

    ``row`` is ``room`` or ``match N``. ``field`` is ``None`` when the whole row is missing
    (``stored`` is ``None``) or should not be there (``replayed`` is ``None``).
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
    """What was looked at and what was found. ``file_findings`` are SQLite's own about the file."""

    room_count: int
    event_count: int
    match_count: int
    file_findings: list[str]
    damaged: list[DamagedRoomError]
    differences: list[Difference]

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found."""
        return not (self.file_findings or self.damaged or self.differences)


@dataclass(slots=True)
class RebuildReport:
    """What became of the rooms: ``removed`` had rows but no events, ``damaged`` were left as they were.

    ``salvage`` tells of the file where it was damaged, and is ``None`` where it was sound.
    """

    rebuilt_count: int = 0
    removed: list[RoomCode] = field(default_factory=list)
    damaged: list[DamagedRoomError] = field(default_factory=list)
    salvage: Salvage | None = None


async def verify(path: Path, replay: Replay) -> VerifyReport:
    """Replay every room and compare it with the query tables; check the file and every checksum.

    Raises: DatabaseFormatError; StorageUnavailableError.
    """
    return await on_database(path, lambda connection: _verify(connection, replay), mode="ro")


async def rebuild(path: Path, replay: Replay) -> RebuildReport:
    """Write the query tables anew from the events, a batch of rooms in each transaction.

    A damaged file is made whole, for which no server may have it.

    Raises: DatabaseFormatError; StorageUnavailableError, with the batches before it done; DatabaseLockedError.
    """
    try:
        if not await on_database(path, _findings, mode="ro"):
            with beside_a_server(path):
                return await on_database(path, lambda connection: _rebuild_all(connection, replay), mode="rw")
        with serving_nobody(path):
            return await on_database(path, lambda connection: _salvage(connection, path, replay), mode="rw")
    except DatabaseFormatError as error:
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error) and primary_code(cause) == sqlite3.SQLITE_CORRUPT:
            reason = f"this file is damaged beyond what can be mended ({cause}); put a backup in its place"
            raise DatabaseFormatError(str(path), reason) from cause
        raise


def mend_query_tables(connection: sqlite3.Connection, path: Path, replay: Replay) -> None:
    """See whether a file's query tables can be read, before it is served; make them anew where not.

    Where they can, only the rows are made anew that a server of the first schema left behind the events.
    Raises: DatabaseFormatError when other parts are damaged as well, which is for the operator to decide about;
    StorageUnavailableError; sqlite3.Error.
    """
    findings = damage_in(connection, QUERY_TABLES)
    if not findings:
        _rebuild(connection, replay, [code for (code,) in connection.execute(_ROOMS_LEFT_BEHIND)])
        return
    beyond = damage_in(connection, ("events", "accounts"))
    if beyond:
        raise damage_error(path, beyond[0])
    log.warning("query tables damaged: they are made anew from the events", path=str(path), finding=findings[0])
    report = _salvage(connection, path, replay)
    assert report.salvage is not None
    log.warning("query tables made anew", rooms_count=report.rebuilt_count, damaged_file=str(report.salvage.kept))


def _salvage(connection: sqlite3.Connection, path: Path, replay: Replay) -> RebuildReport:
    found, report = salvage(connection, path, lambda fresh: _rebuild_all(fresh, replay))
    report.salvage = found
    return report


def _verify(connection: sqlite3.Connection, replay: Replay) -> VerifyReport:
    rooms, findings = _room_codes(connection)
    findings = _findings(connection) + findings
    damaged: list[DamagedRoomError] = []
    differences: list[Difference] = []
    event_count = match_count = 0
    for room in rooms:
        try:
            with blaming(room), reading(connection):
                events = select_events(connection, room, BEFORE_FIRST)
                stored = query_rows(connection, room)
            replayed = _keyed(*_replay_room(room, events, replay))
        except DamagedRoomError as error:
            damaged.append(error)
            continue
        event_count += len(events)
        match_count += sum(isinstance(row, MatchRow) for row in replayed.values())
        if stored is None:
            findings.append(f"the rows of room {room} in the query tables cannot be read")
        else:
            differences.extend(_compare(room, _keyed(*stored), replayed))
    return VerifyReport(len(rooms), event_count, match_count, findings, damaged, differences)


def _findings(connection: sqlite3.Connection) -> list[str]:
    """What SQLite finds wrong with the file."""
    try:
        return [text for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"]
    except sqlite3.DatabaseError as error:
        if primary_code(error) != sqlite3.SQLITE_CORRUPT:
            raise
        return [str(error), *damage_in(connection, ALL_TABLES)]


def _room_codes(connection: sqlite3.Connection) -> tuple[list[RoomCode], list[str]]:
    """The rooms that any table knows, and which tables cannot tell."""
    codes: set[RoomCode] = set()
    findings = []
    for table, query in _ROOMS_IN.items():
        try:
            codes.update(code for (code,) in connection.execute(query))
        except sqlite3.DatabaseError as error:
            if primary_code(error) != sqlite3.SQLITE_CORRUPT:
                raise
            findings.append(f"not all rooms of the table {table} can be listed: {error}")
    return sorted(codes), findings


def _replay_room(
    room: RoomCode, events: Sequence[StoredEvent], replay: Replay
) -> tuple[RoomRow | None, list[MatchRow]]:
    if not events:
        return None, []
    try:
        return replay(room, events)
    except TabuleiroError as error:
        raise DamagedRoomError(room, None, f"it cannot be replayed: {error}") from error


def _keyed(room_row: RoomRow | None, match_rows: Sequence[MatchRow]) -> dict[str, RoomRow | MatchRow]:
    rows: dict[str, RoomRow | MatchRow] = {} if room_row is None else {"room": room_row}
    return rows | {f"match {row.number}": row for row in match_rows}


def _compare(
    room: RoomCode, stored: dict[str, RoomRow | MatchRow], replayed: dict[str, RoomRow | MatchRow]
) -> Iterator[Difference]:
    for name in stored | replayed:
        before, after = stored.get(name), replayed.get(name)
        if before is None or after is None:
            yield Difference(room, name, None, before, after)
            continue
        for column in fields(before):
            old, new = getattr(before, column.name), getattr(after, column.name)
            if old != new:
                yield Difference(room, name, column.name, old, new)


def _rebuild_all(connection: sqlite3.Connection, replay: Replay) -> RebuildReport:
    return _rebuild(connection, replay, _room_codes(connection)[0])


def _rebuild(connection: sqlite3.Connection, replay: Replay, rooms: Iterable[RoomCode]) -> RebuildReport:
    report = RebuildReport()
    waiting = deque(rooms)
    while waiting:
        batch = [waiting.popleft() for _ in range(min(_BATCH_ROOM_COUNT, len(waiting)))]
        replayed: list[tuple[RoomCode, int, RoomRow | None, list[MatchRow]]] = []
        for room in batch:
            try:
                events = select_events(connection, room, BEFORE_FIRST)
                replayed.append((room, len(events), *_replay_room(room, events, replay)))
            except DamagedRoomError as error:
                report.damaged.append(error)
        written: list[tuple[RoomCode, bool]] = []
        # The replay above is the slow part: only now does a running server have to wait.
        connection.execute("BEGIN IMMEDIATE")
        try:
            for room, event_count, room_row, match_rows in replayed:
                if last_seq(connection, room) != event_count:
                    waiting.append(room)
                    continue
                delete_rows_of(connection, room)
                if room_row is not None:
                    upsert_rooms(connection, [room_row])
                upsert_matches(connection, match_rows)
                written.append((room, room_row is None))
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        report.rebuilt_count += sum(not is_removed for _, is_removed in written)
        report.removed.extend(room for room, is_removed in written if is_removed)
    return report
