"""The tables, as numbered migrations, and bringing a file to the newest of them.

Each migration runs in one transaction together with its record in the table ``migrations``. A migration that
has been released is never edited; a change is a new one. Copying the file before is up to :mod:`.store`.

No STRICT tables and no RETURNING: Python 3.11 is still shipped with SQLite 3.34 by distributions in support.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from typing import Final

from tabuleiro.errors import DatabaseFormatError
from tabuleiro_server.store.tables import Migration, check_version

APPLICATION_ID: Final = 0x7461626C
"""The ``PRAGMA application_id`` of our files: "tabl" in ASCII."""


MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(
        number=1,
        name="events, snapshots, query tables, accounts",
        statements=(
            # In the order of arrival, with an index by room: a commit of many rooms touches few pages that way,
            # a quarter of what a table clustered by room writes.
            """CREATE TABLE events (
                id INTEGER PRIMARY KEY,
                room TEXT NOT NULL,
                seq INTEGER NOT NULL CHECK (seq > 0),
                at_ms INTEGER NOT NULL,
                version INTEGER NOT NULL,
                payload BLOB NOT NULL,
                checksum INTEGER NOT NULL,
                UNIQUE (room, seq)
            )""",
            """CREATE TABLE snapshots (
                room TEXT NOT NULL PRIMARY KEY,
                seq INTEGER NOT NULL CHECK (seq > 0),
                version INTEGER NOT NULL,
                payload BLOB NOT NULL,
                checksum INTEGER NOT NULL
            ) WITHOUT ROWID""",
            """CREATE TABLE rooms (
                code TEXT NOT NULL PRIMARY KEY,
                phase TEXT NOT NULL,
                is_listed INTEGER NOT NULL CHECK (is_listed IN (0, 1)),
                created_at_ms INTEGER NOT NULL,
                updated_at_ms INTEGER NOT NULL,
                next_deadline_ms INTEGER,
                summary BLOB NOT NULL
            ) WITHOUT ROWID""",
            "CREATE INDEX rooms_by_phase ON rooms (phase)",
            "CREATE INDEX rooms_by_deadline ON rooms (next_deadline_ms) WHERE next_deadline_ms IS NOT NULL",
            """CREATE TABLE matches (
                room TEXT NOT NULL,
                number INTEGER NOT NULL CHECK (number > 0),
                game TEXT NOT NULL,
                options_json TEXT NOT NULL,
                started_at_ms INTEGER NOT NULL,
                ended_at_ms INTEGER,
                winner INTEGER CHECK (winner IN (0, 1)),
                termination TEXT,
                action_count INTEGER NOT NULL,
                PRIMARY KEY (room, number)
            ) WITHOUT ROWID""",
            # No reference to accounts: the tables can be rebuilt from the events when an account is long gone.
            """CREATE TABLE players (
                room TEXT NOT NULL,
                match_number INTEGER NOT NULL,
                seat INTEGER NOT NULL CHECK (seat IN (0, 1)),
                account_id TEXT,
                name TEXT NOT NULL,
                bot_level TEXT,
                PRIMARY KEY (room, match_number, seat),
                FOREIGN KEY (room, match_number) REFERENCES matches (room, number) ON DELETE CASCADE
            ) WITHOUT ROWID""",
            "CREATE INDEX players_by_account ON players (account_id) WHERE account_id IS NOT NULL",
            """CREATE TABLE accounts (
                id TEXT NOT NULL PRIMARY KEY,
                name TEXT NOT NULL,
                name_key TEXT NOT NULL UNIQUE,
                token_hash BLOB NOT NULL UNIQUE,
                created_at_ms INTEGER NOT NULL,
                last_seen_ms INTEGER NOT NULL
            ) WITHOUT ROWID""",
        ),
    ),
    # Events are replayed quickly enough. Only a start asks for rooms by phase, and every move writes a row.
    Migration(
        number=2,
        name="no snapshots, no index by phase",
        statements=("DROP TABLE snapshots", "DROP INDEX rooms_by_phase"),
    ),
    # Empty in rooms from before, until a server has read it in their first events.
    Migration(
        number=3,
        name="makers of rooms",
        statements=(
            "ALTER TABLE rooms ADD COLUMN maker TEXT NOT NULL DEFAULT ''",
            "CREATE INDEX rooms_by_maker ON rooms (maker)",
        ),
    ),
)


def schema_version(connection: sqlite3.Connection) -> int:
    """Read the number of the last migration that was applied; 0 for an empty file."""
    found = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'"
    ).fetchone()
    if found is None:
        return 0
    number: int = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()[0]
    return number


def check_format(connection: sqlite3.Connection, path: str, newest: int) -> int:
    """Return the file's schema version when this program, which knows versions up to ``newest``, can work with it.

    Raises: DatabaseFormatError when the file belongs to another program or to a newer tabuleiro.
    """
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application_id != APPLICATION_ID and not is_empty:
        raise DatabaseFormatError(path, "this is the database of another program; choose another file")
    version = schema_version(connection)
    check_version(version, path, newest)
    return version


def apply_migrations(connection: sqlite3.Connection, migrations: Sequence[Migration], from_version: int) -> None:
    """Apply the migrations numbered above ``from_version``, each in a transaction of its own.

    ``connection`` must be in autocommit mode. An error leaves the file at the last migration that was completed.
    """
    for migration in migrations:
        if migration.number <= from_version:
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations (number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL,"
                " applied_at_ms INTEGER NOT NULL)"
            )
            for statement in migration.statements:
                connection.execute(statement)
            record = (migration.number, migration.name, time.time_ns() // 1_000_000)
            connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", record)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
