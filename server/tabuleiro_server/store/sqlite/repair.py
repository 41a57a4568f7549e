"""Comparing the query tables with the events, and rebuilding them from the events.

The events are the truth; the query tables follow from them by a ``replay`` that the caller gives. Verifying and
rebuilding work on the file of a running server: each room is seen at one moment, and what is rebuilt from
events that have meanwhile been added to is rebuilt again.

Query tables with a damaged page are rebuilt in a fresh file, which is then written over the damaged one in
one transaction, page by page: a damaged page may lead into those of other tables, and what SQLite would free
with it would be lost to them. A copy is kept of the damaged file. Damage to events and accounts is named and
left alone.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import structlog

from tabuleiro.errors import DamagedRoomError, DatabaseFormatError, StorageUnavailableError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import BEFORE_FIRST, MatchRow, Replay, Rows
from tabuleiro_server.store.reports import (
    Difference,
    NamedRows,
    RebuildReport,
    VerifyReport,
    by_name,
    differences_of,
    replayed_rows,
)
from tabuleiro_server.store.sqlite.admin import (
    beside_a_server,
    copy_database,
    on_database,
    reading,
    serving_nobody,
)
from tabuleiro_server.store.sqlite.connection import primary_code
from tabuleiro_server.store.sqlite.file import read_promises
from tabuleiro_server.store.sqlite.owners import create_beside
from tabuleiro_server.store.sqlite.queries import (
    blaming,
    delete_rows_of,
    last_seq,
    missing_events,
    select_events,
    select_matches,
    select_room,
    upsert_matches,
    upsert_rooms,
)
from tabuleiro_server.store.sqlite.schema import MIGRATIONS, apply_migrations

TRUE_TABLES: Final = ("events", "accounts")
QUERY_TABLES: Final = ("rooms", "matches", "players")

_BATCH_ROOM_COUNT: Final = 64
_ROOMS_IN: Final = {
    "events": "SELECT DISTINCT room FROM events",
    "rooms": "SELECT code FROM rooms",
    "matches": "SELECT DISTINCT room FROM matches",
}
_MARKED_ROOMS: Final = "SELECT code FROM rooms WHERE next_deadline_ms = 0"
"""Those with the first schema's mark of a row that was not written with every move."""

log = structlog.get_logger(__name__)


async def verify(path: Path, replay: Replay) -> VerifyReport:
    """Replay every room and compare it with the query tables; check the file and every checksum.

    The last rooms are also compared with what the last server has written down beside the file.

    Raises: DatabaseFormatError; StorageUnavailableError.
    """
    promised = read_promises(path)
    return await on_database(path, lambda connection: _verify(connection, replay, promised), mode="ro")


async def rebuild(path: Path, replay: Replay) -> RebuildReport:
    """Rebuild the query tables from the events, a batch of rooms in each transaction.

    A damaged file is made whole, for which no server may have it.

    Raises: DatabaseFormatError, also when events or accounts are damaged; StorageUnavailableError, with the
    batches before it done; DatabaseLockedError.
    """
    try:
        if not await on_database(path, _file_findings, mode="ro", is_any_version=True):
            with beside_a_server(path):
                return await on_database(path, lambda connection: _rebuild_all(connection, replay), mode="rw")
        with serving_nobody(path):
            return await on_database(
                path, lambda connection: _remake(connection, path, replay), mode="rw", is_any_version=True
            )
    except DatabaseFormatError as error:
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error) and primary_code(cause) == sqlite3.SQLITE_CORRUPT:
            raise _beyond_mending(path, str(cause)) from cause
        raise


def mend_query_tables(connection: sqlite3.Connection, path: Path, replay: Replay) -> None:
    """See whether the query tables of a file can be read, before it is served; rebuild them where not.

    Raises: DatabaseFormatError when events or accounts are damaged as well; StorageUnavailableError;
    sqlite3.Error.
    """
    findings = _damage_in(connection, QUERY_TABLES)
    if not findings:
        return
    _check_can_be_mended(connection, path)
    log.warning("query tables damaged: rebuilding them from the events", path=str(path), finding=findings[0])
    report = _remake(connection, path, replay)
    log.warning("query tables rebuilt", rooms_count=report.rebuilt_count, damaged_file=str(report.kept))


def take_up_marked_rows(connection: sqlite3.Connection, replay: Replay) -> None:
    """Make the rows exact that a server of the first schema left behind their events. Raises: sqlite3.Error."""
    _rebuild(connection, replay, [code for (code,) in connection.execute(_MARKED_ROOMS)])


def _beyond_mending(path: Path, finding: str) -> DatabaseFormatError:
    recover = f"sqlite3 {shlex.quote(str(path))} .recover"
    reason = f"this file is damaged ({finding}); put a backup in its place, or take what `{recover}` can read"
    return DatabaseFormatError(str(path), reason)


def _check_can_be_mended(connection: sqlite3.Connection, path: Path) -> None:
    damage = _damage_in(connection, TRUE_TABLES)
    if damage:
        raise _beyond_mending(path, damage[0])


def _damage_in(connection: sqlite3.Connection, tables: Iterable[str]) -> list[str]:
    """Return what SQLite finds wrong with tables and their indexes, in its words; nothing where they are sound."""
    findings: list[str] = []
    for table in tables:
        try:
            found = connection.execute(f"PRAGMA quick_check({table})").fetchall()
            findings += [f"{table}: {' '.join(text.split())}" for (text,) in found if text != "ok"]
        except sqlite3.DatabaseError as error:
            if primary_code(error) != sqlite3.SQLITE_CORRUPT:
                raise
            findings.append(f"{table}: {error}")
    return findings


def _file_findings(connection: sqlite3.Connection) -> list[str]:
    """Return what SQLite finds wrong with the file."""
    try:
        return [text for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"]
    except sqlite3.DatabaseError as error:
        if primary_code(error) != sqlite3.SQLITE_CORRUPT:
            raise
        return [str(error), *_damage_in(connection, (*TRUE_TABLES, *QUERY_TABLES))]


def _verify(connection: sqlite3.Connection, replay: Replay, promised: Mapping[RoomCode, Seq]) -> VerifyReport:
    rooms, findings = _room_codes(connection)
    findings = _file_findings(connection) + findings + _missing_events(connection, promised)
    damaged: list[DamagedRoomError] = []
    differences: list[Difference] = []
    event_count = match_count = 0
    for room in rooms:
        try:
            with blaming(room), reading(connection):
                events = select_events(connection, room, BEFORE_FIRST)
                stored = _stored_rows(connection, room)
            replayed = by_name(replayed_rows(room, events, replay))
        except DamagedRoomError as error:
            damaged.append(error)
            continue
        event_count += len(events)
        match_count += sum(isinstance(row, MatchRow) for row in replayed.values())
        if stored is None:
            findings.append(f"the rows of room {room} in the query tables cannot be read")
        else:
            differences.extend(differences_of(room, stored, replayed))
    return VerifyReport(len(rooms), event_count, match_count, findings, damaged, differences)


def _missing_events(connection: sqlite3.Connection, promised: Mapping[RoomCode, Seq]) -> list[str]:
    try:
        return missing_events(connection, promised)
    except sqlite3.DatabaseError as error:
        if primary_code(error) != sqlite3.SQLITE_CORRUPT:
            raise
        return []


def _room_codes(connection: sqlite3.Connection) -> tuple[list[RoomCode], list[str]]:
    """Return the rooms that any table knows, and the tables that cannot tell."""
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


def _stored_rows(connection: sqlite3.Connection, room: RoomCode) -> NamedRows | None:
    """Return the rows of a room in the query tables, ``None`` when they are damaged there."""
    try:
        row, matches = select_room(connection, room), select_matches(connection, room)
    except sqlite3.DatabaseError as error:
        if primary_code(error) != sqlite3.SQLITE_CORRUPT:
            raise
        return None
    rows: NamedRows = {} if row is None else {"room": row}
    return rows | {f"match {match.number}": match for match in matches}


def _rebuild_all(connection: sqlite3.Connection, replay: Replay) -> RebuildReport:
    return _rebuild(connection, replay, _room_codes(connection)[0])


def _rebuild(connection: sqlite3.Connection, replay: Replay, rooms: Iterable[RoomCode]) -> RebuildReport:
    report = RebuildReport()
    waiting = deque(rooms)
    while waiting:
        batch = [waiting.popleft() for _ in range(min(_BATCH_ROOM_COUNT, len(waiting)))]
        replayed: list[tuple[RoomCode, int, Rows | None]] = []
        for room in batch:
            try:
                events = select_events(connection, room, BEFORE_FIRST)
                replayed.append((room, len(events), replayed_rows(room, events, replay)))
            except DamagedRoomError as error:
                report.damaged.append(error)
        written: list[tuple[RoomCode, bool]] = []
        # The replay above is the slow part: only now does a running server have to wait.
        connection.execute("BEGIN IMMEDIATE")
        try:
            for room, event_count, rows in replayed:
                if last_seq(connection, room) != event_count:
                    waiting.append(room)
                    continue
                delete_rows_of(connection, room)
                if rows is not None:
                    upsert_rooms(connection, [rows.room])
                    upsert_matches(connection, rows.matches)
                written.append((room, rows is None))
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        report.rebuilt_count += sum(not is_removed for _, is_removed in written)
        report.removed.extend(room for room, is_removed in written if is_removed)
    return report


def _remake(connection: sqlite3.Connection, path: Path, replay: Replay) -> RebuildReport:
    """Copy events and accounts to a fresh file, rebuild the query tables there, and put it in place of the old.

    ``connection`` is to the file at ``path``, in autocommit mode, and nobody may write to the file meanwhile.
    It takes three times the size of the file as free disk.

    Raises: DatabaseFormatError when events or accounts are damaged; StorageUnavailableError; sqlite3.Error.
    Nothing is changed then.
    """
    _check_can_be_mended(connection, path)
    with (
        _scratch_file(path) as scratch,
        contextlib.closing(sqlite3.connect(scratch, isolation_level=None)) as fresh,
    ):
        fresh.execute(f"PRAGMA page_size = {connection.execute('PRAGMA page_size').fetchone()[0]}")
        fresh.execute("PRAGMA synchronous = OFF")
        apply_migrations(fresh, MIGRATIONS, 0)
        _copy_true_tables(connection, scratch)
        fresh.execute("PRAGMA foreign_keys = ON")
        report = _rebuild_all(fresh, replay)
        report.kept = _free_name(path)
        copy_database(connection, path, report.kept, is_checked=False)
        try:
            fresh.backup(connection, progress=_refuse_to_wait)
        except BaseException:
            report.kept.unlink(missing_ok=True)  # the damaged file is still what it was
            raise
    return report


def _copy_true_tables(connection: sqlite3.Connection, scratch: Path) -> None:
    """Copy events and accounts, whatever their columns hold, to the tables of the file at ``scratch``."""
    connection.execute("ATTACH ? AS fresh", (str(scratch),))
    try:
        connection.execute("PRAGMA fresh.synchronous = OFF")
        for table in TRUE_TABLES:
            names = ", ".join(column[1] for column in connection.execute(f"PRAGMA fresh.table_info({table})"))
            connection.execute(f"INSERT INTO fresh.{table} ({names}) SELECT {names} FROM main.{table}")
    finally:
        connection.execute("DETACH fresh")


def _refuse_to_wait(status: int, remaining_count: int, total_count: int) -> None:
    """End a copying that found the file locked for as long as the connection waits: it would try for ever."""
    if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise sqlite3.OperationalError("database is locked")


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in itertools.count(1))
    return next(name for name in names if not name.exists())


@contextlib.contextmanager
def _scratch_file(path: Path) -> Iterator[Path]:
    """Make an empty file beside ``path``, and remove it in the end."""
    scratch = path.with_name(f"{path.name}.unfinished")
    try:
        _remove(scratch)
        os.close(create_beside(scratch, path))
    except OSError as error:
        raise StorageUnavailableError(f"cannot write {scratch}: {error.strerror}") from error
    try:
        yield scratch
    finally:
        _remove(scratch)


def _remove(scratch: Path) -> None:
    for name in (scratch, scratch.with_name(f"{scratch.name}-journal")):
        name.unlink(missing_ok=True)
