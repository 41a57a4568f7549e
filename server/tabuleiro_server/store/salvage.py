"""Making a damaged file whole: what can be read of it goes into a fresh one, and that in its place.

Query tables and indexes follow from the rest, so that damage there costs nothing. Of the events none is
dropped: in the place of one that cannot be read stands one that does not fit its checksum, so that its room stays
in quarantine. The file is overwritten page by page in one transaction rather than mended: a damaged page may lead
into those of other tables, and what SQLite would free with it would be lost to them. A copy is kept of the file as
it was found.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from tabuleiro.errors import DatabaseFormatError, StorageUnavailableError
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro_server.store.backup import copy_database
from tabuleiro_server.store.connection import primary_code
from tabuleiro_server.store.log_tables import checksum
from tabuleiro_server.store.rows import StoredEvent
from tabuleiro_server.store.schema import MIGRATIONS, apply_migrations

T = TypeVar("T")

QUERY_TABLES: Final = ("rooms", "matches", "players")
ALL_TABLES: Final = ("events", "accounts", *QUERY_TABLES)

_EVENT_COLUMNS: Final = "room, seq, at_ms, version, payload, checksum"
_INSERT_EVENT: Final = f"INSERT OR IGNORE INTO events ({_EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_ACCOUNT_COLUMNS: Final = "id, name, name_key, token_hash, created_at_ms, last_seen_ms"
_INSERT_ACCOUNT: Final = f"INSERT OR IGNORE INTO accounts ({_ACCOUNT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Salvage:
    """What became of a damaged file. ``kept`` is a copy of it as it was found.

    Lost events leave their rooms damaged. ``lost_names`` are those of the guests that are lost, in lower case;
    ``None`` when nobody can tell who was there.
    """

    kept: Path
    lost_event_count: int
    lost_names: tuple[str, ...] | None


def damage_in(connection: sqlite3.Connection, tables: Iterable[str]) -> list[str]:
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


def salvage(
    connection: sqlite3.Connection, path: Path, rebuild: Callable[[sqlite3.Connection], T]
) -> tuple[Salvage, T]:
    """Put all that can be read of the file at ``path`` in its place; return also what ``rebuild`` returns.

    ``connection`` is to that file, in autocommit mode, and nobody may write to the file meanwhile. ``rebuild``
    writes the query tables of a file from its events. It takes three times the size of the file as free disk.

    Raises: DatabaseFormatError when most events are lost, or some of which nobody can tell what room they were of;
    StorageUnavailableError; sqlite3.Error. Nothing is changed then.
    """
    with _scratch_database(path, connection) as fresh:
        with _raw_text(connection), _transaction(fresh):
            lost_event_count = _copy_events(connection, fresh, path)
            lost_names = _copy_accounts(connection, fresh)
            _copy_query_tables(connection, fresh)
        fresh.execute("PRAGMA foreign_keys = ON")
        rebuilt = rebuild(fresh)
        kept = _free_name(path)
        copy_database(connection, kept, is_checked=False)
        try:
            fresh.backup(connection, progress=_refuse_to_wait)
        except BaseException:
            kept.unlink(missing_ok=True)  # the damaged file is still what it was
            raise
    return Salvage(kept, lost_event_count, lost_names), rebuilt


def _refuse_to_wait(status: int, remaining_count: int, total_count: int) -> None:
    """End a copying that found the file locked for as long as the connection waits: it would try for ever."""
    if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise sqlite3.OperationalError("database is locked")


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in itertools.count(1))
    return next(name for name in names if not name.exists())


@contextmanager
def _scratch_database(path: Path, like: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """An empty database of our schema beside ``path``, that is removed in the end: a power cut may spoil it."""
    scratch = path.with_name(f"{path.name}.unfinished")
    try:
        _remove(scratch)
        os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    except OSError as error:
        raise StorageUnavailableError(f"cannot write {scratch}: {error.strerror}") from error
    try:
        with contextlib.closing(sqlite3.connect(scratch, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size = {like.execute('PRAGMA page_size').fetchone()[0]}")
            connection.execute("PRAGMA synchronous = OFF")
            apply_migrations(connection, MIGRATIONS, 0)
            yield connection
    finally:
        _remove(scratch)


def _remove(scratch: Path) -> None:
    for name in (scratch, scratch.with_name(f"{scratch.name}-journal")):
        name.unlink(missing_ok=True)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def _raw_text(connection: sqlite3.Connection) -> Iterator[None]:
    """Have text read as bytes, of which damaged ones need not be text, and everything at the same moment."""
    factory, connection.text_factory = connection.text_factory, bytes
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.text_factory = factory
        if connection.in_transaction:
            connection.execute("ROLLBACK")


class _Rows:
    """The rows of a query as far as they can be read; ``is_complete`` tells afterwards whether that were all."""

    def __init__(self, connection: sqlite3.Connection, query: str) -> None:
        self._connection = connection
        self._query = query
        self.is_complete = False

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(self._query)
        except sqlite3.DatabaseError as error:
            if primary_code(error) != sqlite3.SQLITE_CORRUPT:
                raise
        else:
            self.is_complete = True


def _copy_events(source: sqlite3.Connection, fresh: sqlite3.Connection, path: Path) -> int:
    """Copy the events and return how many are lost, in each of whose places there is one that fits no checksum.

    Sound events come first, whatever else a damaged page may pretend; then what only the index knows of.
    """
    rows = _Rows(source, f"SELECT {_EVENT_COLUMNS} FROM events NOT INDEXED ORDER BY id")
    fresh.executemany(_INSERT_EVENT, (_with_room(row) for row in rows if _is_sound(row)))
    places = _Rows(source, "SELECT room, seq, id FROM events INDEXED BY sqlite_autoindex_events_1")
    lost_count = 0
    is_there = "SELECT 1 FROM events WHERE room = ? AND seq = ?"
    for room, seq, id in places:
        code = _text(room)
        if fresh.execute(is_there, (code, seq)).fetchone() is None:
            row = _event_at(source, id)
            is_lost = row is None or (_text(row[0]), row[1]) != (code, seq)
            lost_count += is_lost
            fresh.execute(_INSERT_EVENT, _stand_in(code, seq) if row is None or is_lost else _with_room(row))
    if not places.is_complete:
        if not rows.is_complete:
            raise DatabaseFormatError(
                str(path), "nobody can tell which events are lost; put a backup in its place"
            )
        fresh.executemany(_INSERT_EVENT, (_with_room(row) for row in rows))
    if lost_count > fresh.execute("SELECT count(*) FROM events").fetchone()[0] / 2:
        raise DatabaseFormatError(
            str(path), f"{lost_count} events cannot be read, most of all; put a backup in its place"
        )
    return lost_count


def _event_at(source: sqlite3.Connection, id: int) -> tuple[Any, ...] | None:
    return next(iter(_Rows(source, f"SELECT {_EVENT_COLUMNS} FROM events WHERE id = {id:d}")), None)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _with_room(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return _with_text(row, (0,))


def _is_sound(row: tuple[Any, ...]) -> bool:
    room, seq, at_ms, version, payload, stored_checksum = row
    return (
        isinstance(payload, bytes)
        and checksum(payload, RoomCode(_text(room)), seq, at_ms, version) == stored_checksum
    )


def _stand_in(room: str, seq: int) -> tuple[Any, ...]:
    event = StoredEvent(Seq(seq), TimestampMs(0), 0, b"")
    identity = (RoomCode(room), event.seq, event.at_ms, event.version)
    return (*identity, event.payload, checksum(event.payload, *identity) ^ 1)


def _copy_accounts(source: sqlite3.Connection, fresh: sqlite3.Connection) -> tuple[str, ...] | None:
    """Copy the accounts; return the names of those that cannot be read, ``None`` when nobody can tell."""
    query = f"SELECT {_ACCOUNT_COLUMNS} FROM accounts ORDER BY id"
    rows, backwards = _Rows(source, query), _Rows(source, f"{query} DESC")
    fresh.executemany(_INSERT_ACCOUNT, (_with_text(row, (0, 1, 2)) for row in rows))
    if not rows.is_complete:
        fresh.executemany(_INSERT_ACCOUNT, (_with_text(row, (0, 1, 2)) for row in backwards))
    # This much is in the index alone.
    keys = _Rows(source, "SELECT name_key FROM accounts INDEXED BY sqlite_autoindex_accounts_2")
    known = {_text(key) for (key,) in keys}
    copied = {key for (key,) in fresh.execute("SELECT name_key FROM accounts")}
    return tuple(sorted(known - copied)) if rows.is_complete or keys.is_complete else None


def _copy_query_tables(source: sqlite3.Connection, fresh: sqlite3.Connection) -> None:
    """Copy what can be read of them, which is kept of rooms whose events are damaged."""
    for table in QUERY_TABLES:
        types = [column[2] for column in fresh.execute(f"PRAGMA table_info({table})")]
        places = [place for place, type in enumerate(types) if type == "TEXT"]
        insert = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(types))})"
        fresh.executemany(insert, [_with_text(row, places) for row in _Rows(source, f"SELECT * FROM {table}")])


def _with_text(row: tuple[Any, ...], places: Sequence[int]) -> tuple[Any, ...]:
    values = list(row)
    for place in places:
        if isinstance(values[place], bytes):
            values[place] = _text(values[place])
    return tuple(values)
