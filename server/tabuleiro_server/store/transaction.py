"""One group of writes in one transaction: the part of the writer that runs in the connection's thread.

A write that is refused (a conflict, a name taken, a value that SQLite cannot hold) or that stumbles over a fault
of ours is left out and the others go through. A fault of the storage undoes the whole group: it is raised as
``sqlite3.Error`` for the caller to translate.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from tabuleiro.errors import ConflictError, StorageUnavailableError, StoreError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.connection import primary_code
from tabuleiro_server.store.log_tables import insert_events, last_seqs
from tabuleiro_server.store.query_tables import upsert_matches, upsert_rooms
from tabuleiro_server.store.rows import MatchRow, RoomRow, StoredEvent

_REFUSED_VALUES: Final = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
    UnicodeEncodeError,
)
"""What Python and SQLite raise for the values of one write, rather than for the state of the storage."""


class Append(msgspec.Struct, frozen=True):
    """Events to add behind ``expected_seq``, with the rows of the query tables that follow from them."""

    room: RoomCode
    expected_seq: Seq
    events: Sequence[StoredEvent]
    room_row: RoomRow | None
    match_rows: Sequence[MatchRow]


class Call(msgspec.Struct, frozen=True):
    """Any other write: ``function`` runs in the group's transaction and may refuse with a StoreError."""

    function: Callable[[sqlite3.Connection], Any]


Write = Append | Call
Outcome = Any
"""What the write returned (``None`` for an append), or the StoreError that refused it.

A StoreError with a cause tells of a fault of ours."""


def commit_group(connection: sqlite3.Connection, writes: Sequence[Write]) -> list[Outcome]:
    """Run the writes in one transaction and commit it; one outcome for each, in their order.

    Raises: sqlite3.Error, and then nothing of the group is stored.
    """
    try:
        return _commit(connection, writes, _append_together)
    except _REFUSED_VALUES:
        return _commit(connection, writes, _append_each)
    except sqlite3.Error as error:
        if primary_code(error) == sqlite3.SQLITE_CORRUPT:
            # Only those whose rows lie on the damaged page have to be refused; no transaction that came upon it
            # can be committed.
            return [_commit_alone(connection, write) for write in writes]
        if primary_code(error) == sqlite3.SQLITE_FULL:
            _make_room(connection)
        raise
    except Exception:
        # A fault of ours in one append, which is told from the others, and answered for, by adding each alone.
        return _commit(connection, writes, _append_each)


def _commit_alone(connection: sqlite3.Connection, write: Write) -> Outcome:
    try:
        return _commit(connection, [write], _append_each)[0]
    except sqlite3.Error as error:
        if primary_code(error) == sqlite3.SQLITE_CORRUPT:
            return _damage(error)
        return StorageUnavailableError(str(error))


def _damage(error: sqlite3.Error) -> StoreError:
    return StoreError(
        f"what this changes is damaged in the file ({error}); stop the server and run `tabuleiro db rebuild`"
    )


def _commit(
    connection: sqlite3.Connection,
    writes: Sequence[Write],
    append: Callable[[sqlite3.Connection, Sequence[Append]], list[StoreError | None]],
) -> list[Outcome]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        refusals = iter(append(connection, [write for write in writes if isinstance(write, Append)]))
        outcomes = [
            next(refusals) if isinstance(write, Append) else _run_alone(connection, write.function)
            for write in writes
        ]
    except BaseException:
        _roll_back(connection)
        raise
    try:
        connection.execute("COMMIT")
    except sqlite3.Error:
        _roll_back(connection)
        _overwrite_refused_group(connection)
        raise
    return outcomes


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _make_room(connection: sqlite3.Connection) -> None:
    """Have what the write-ahead log holds written to its place, so that the log begins anew in the space it has.

    Megabytes of it may be all that is needed until somebody clears the disk up.
    """
    with contextlib.suppress(sqlite3.Error):  # there may be no room for that either
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def _overwrite_refused_group(connection: sqlite3.Connection) -> None:
    """Make sure that a group whose flush to the disk failed does not come back.

    It stands complete in the write-ahead log, behind what counts as committed: a start after a crash would take it
    for committed too. Whatever is written next comes in its place, so something is, that nobody reads.
    """
    with contextlib.suppress(sqlite3.Error):  # the disk may refuse again, it is the writing that counts
        value = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {1 - value}")


def _append_together(connection: sqlite3.Connection, appends: Sequence[Append]) -> list[StoreError | None]:
    """Add what fits, table by table; the conflicts are returned in the appends' places."""
    found = last_seqs(connection, list(dict.fromkeys(append.room for append in appends)))
    refusals: list[StoreError | None] = []
    accepted: list[Append] = []
    for append in appends:
        room = append.room
        if found[room] == append.expected_seq:
            accepted.append(append)
            refusals.append(None)
            found[room] = Seq(append.expected_seq + len(append.events))
        else:
            refusals.append(ConflictError(room, append.expected_seq, found[room]))
    insert_events(connection, [(append.room, event) for append in accepted for event in append.events])
    upsert_rooms(connection, [append.room_row for append in accepted if append.room_row is not None])
    upsert_matches(connection, [row for append in accepted for row in append.match_rows])
    return refusals


def _append_each(connection: sqlite3.Connection, appends: Sequence[Append]) -> list[StoreError | None]:
    """Add one append after the other, leaving out those with values that cannot be stored."""
    return [_run_alone(connection, partial(_append_alone, append)) for append in appends]


def _append_alone(append: Append, connection: sqlite3.Connection) -> StoreError | None:
    return _append_together(connection, [append])[0]


def _run_alone(connection: sqlite3.Connection, function: Callable[[sqlite3.Connection], Any]) -> Outcome:
    """Run one write so that its refusal, or a fault of ours in it, undoes it alone."""
    connection.execute("SAVEPOINT alone")
    try:
        outcome = function(connection)
    except StoreError as error:
        outcome = error
    except _REFUSED_VALUES as error:
        outcome = StoreError(f"this cannot be stored: {error}")
    except sqlite3.Error as error:
        if primary_code(error) != sqlite3.SQLITE_CORRUPT or not connection.in_transaction:
            raise
        outcome = _damage(error)
    except Exception as error:
        # Whoever wrote the function made a mistake; whoever else is in the group did not. Nothing is hidden: the
        # caller gets it as the cause of this error. Nothing is cancelled in this thread, so nothing is swallowed.
        outcome = StoreError(f"this write failed by a fault of the program: {error!r}")
        outcome.__cause__ = error
    if isinstance(outcome, StoreError):
        connection.execute("ROLLBACK TO alone")
    connection.execute("RELEASE alone")
    return outcome
