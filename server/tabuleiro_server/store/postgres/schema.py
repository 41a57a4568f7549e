"""The tables, as numbered migrations, and bringing a database to the newest of them.

They are in a schema of their own, ``tabuleiro``, beside whatever else the database holds. All migrations of a
start run in one transaction. A migration that has been released is never edited; a change is a new one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import asyncpg

from tabuleiro.errors import DatabaseFormatError
from tabuleiro_server.store.tables import Migration, check_version

MIGRATING: Final = 0x7461_6262
"""The key of the advisory lock: of several servers that start at once, one migrates."""


MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(
        number=1,
        name="nodes, events, query tables, accounts",
        statements=(
            # A server on this database. Whoever raises its epoch makes sure that nothing comes any more of what it
            # sent before, by whatever connection: every commit holds on to the row.
            """CREATE TABLE tabuleiro.nodes (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                epoch integer NOT NULL DEFAULT 0
            )""",
            # Apart from the nodes, so that no sign of life ever waits for a commit.
            """CREATE TABLE tabuleiro.signs_of_life (
                node bigint PRIMARY KEY REFERENCES tabuleiro.nodes (id) ON DELETE CASCADE,
                alive_ms bigint,
                seen_at timestamptz NOT NULL DEFAULT now()
            )""",
            # The order of letters is that of their bytes, on every machine: rows are locked in the order of codes.
            """CREATE TABLE tabuleiro.rooms (
                code text COLLATE "C" PRIMARY KEY,
                seq integer NOT NULL,
                incarnation integer NOT NULL DEFAULT 0,
                phase text NOT NULL,
                is_listed boolean NOT NULL,
                created_at_ms bigint NOT NULL,
                updated_at_ms bigint NOT NULL,
                next_deadline_ms bigint,
                summary bytea NOT NULL
            ) WITH (fillfactor = 70)""",
            """CREATE INDEX rooms_by_deadline ON tabuleiro.rooms (next_deadline_ms)
                WHERE next_deadline_ms IS NOT NULL""",
            """CREATE TABLE tabuleiro.events (
                room text COLLATE "C" NOT NULL,
                seq integer NOT NULL CHECK (seq > 0),
                at_ms bigint NOT NULL,
                version integer NOT NULL,
                payload bytea NOT NULL,
                checksum bigint NOT NULL,
                PRIMARY KEY (room, seq)
            )""",
            """CREATE TABLE tabuleiro.matches (
                room text COLLATE "C" NOT NULL,
                number integer NOT NULL CHECK (number > 0),
                game text NOT NULL,
                options_json text NOT NULL,
                started_at_ms bigint NOT NULL,
                ended_at_ms bigint,
                winner integer CHECK (winner IN (0, 1)),
                termination text,
                action_count integer NOT NULL,
                PRIMARY KEY (room, number)
            )""",
            # No reference to accounts: the tables can be rebuilt from the events when an account is long gone.
            """CREATE TABLE tabuleiro.players (
                room text COLLATE "C" NOT NULL,
                match_number integer NOT NULL,
                seat integer NOT NULL CHECK (seat IN (0, 1)),
                account_id text,
                name text NOT NULL,
                bot_level text,
                PRIMARY KEY (room, match_number, seat),
                FOREIGN KEY (room, match_number) REFERENCES tabuleiro.matches (room, number) ON DELETE CASCADE
            )""",
            """CREATE INDEX players_by_account ON tabuleiro.players (account_id)
                WHERE account_id IS NOT NULL""",
            """CREATE TABLE tabuleiro.accounts (
                id text PRIMARY KEY,
                name text NOT NULL,
                name_key text COLLATE "C" NOT NULL UNIQUE,
                token_hash bytea NOT NULL UNIQUE,
                created_at_ms bigint NOT NULL,
                last_seen_ms bigint NOT NULL
            )""",
            # What names can be taken for: a row that is there keeps all servers from giving a name like it.
            """CREATE TABLE tabuleiro.looks (
                look text COLLATE "C" PRIMARY KEY,
                account_id text NOT NULL REFERENCES tabuleiro.accounts (id) ON DELETE CASCADE
            )""",
            "CREATE INDEX looks_by_account ON tabuleiro.looks (account_id)",
        ),
    ),
    Migration(
        number=2,
        name="makers of rooms, what servers tell each other",
        statements=(
            # By the transaction that wrote a row last a server finds what it has not seen yet. Those of a database
            # that was dumped and restored are far ahead: `migrate` sets them back.
            "ALTER TABLE tabuleiro.rooms ADD COLUMN changed_in xid8 NOT NULL DEFAULT pg_current_xact_id()",
            "CREATE INDEX rooms_by_change ON tabuleiro.rooms (changed_in)",
            # Empty in rooms from before, until a server has read it in their first events.
            "ALTER TABLE tabuleiro.rooms ADD COLUMN maker text NOT NULL DEFAULT ''",
            "CREATE INDEX rooms_by_maker ON tabuleiro.rooms (maker)",
            # The names of those who are connected to a server, and the numbers of those who watch rooms on it.
            """CREATE TABLE tabuleiro.people (
                node bigint PRIMARY KEY REFERENCES tabuleiro.nodes (id) ON DELETE CASCADE,
                names text[] NOT NULL,
                watched text[] NOT NULL,
                watchers integer[] NOT NULL
            )""",
            """CREATE TABLE tabuleiro.lobby_lines (
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                at_ms bigint NOT NULL,
                account_id text NOT NULL,
                name text NOT NULL,
                text text NOT NULL
            )""",
        ),
    ),
    Migration(
        number=3,
        name="owners of rooms, leases of nodes",
        statements=(
            # The node, which may be gone; nobody for NULL. No reference: it would lock the node's row.
            "ALTER TABLE tabuleiro.rooms ADD COLUMN owner bigint",
            # A node is alive until its lease runs out, or it has left. It has renewed without a break since...
            """ALTER TABLE tabuleiro.signs_of_life
                ADD COLUMN name text NOT NULL DEFAULT '',
                ADD COLUMN url text NOT NULL DEFAULT '',
                ADD COLUMN rooms_count integer NOT NULL DEFAULT 0,
                ADD COLUMN is_draining boolean NOT NULL DEFAULT false,
                ADD COLUMN has_left boolean NOT NULL DEFAULT false,
                ADD COLUMN lease_until timestamptz NOT NULL DEFAULT '-infinity',
                ADD COLUMN steady_since timestamptz NOT NULL DEFAULT now(),
                ADD COLUMN started_at timestamptz NOT NULL DEFAULT now()""",
        ),
    ),
)


async def schema_version(connection: asyncpg.Connection) -> int:
    """Read the number of the last migration that was applied; 0 for a database without our tables."""
    if await connection.fetchval("SELECT to_regclass('tabuleiro.migrations')") is None:
        return 0
    number: int = await connection.fetchval("SELECT coalesce(max(number), 0) FROM tabuleiro.migrations")
    return number


async def migrate(connection: asyncpg.Connection, place: str, migrations: Sequence[Migration]) -> None:
    """Bring a database to the newest schema; servers that start at the same moment wait for each other.

    An error leaves the database as it was.

    Raises: DatabaseFormatError for a newer schema, or tables of another program; asyncpg.PostgresError.
    """
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATING)
        version = await schema_version(connection)
        check_version(version, place, migrations[-1].number)
        if version == 0:
            await _make_schema(connection, place)
        for migration in migrations[version:]:
            for statement in migration.statements:
                await connection.execute(statement)
            record = (migration.number, migration.name, time.time_ns() // 1_000_000)
            await connection.execute("INSERT INTO tabuleiro.migrations VALUES ($1, $2, $3)", *record)
        # Only after a restore: transactions are counted anew there.
        await connection.execute(
            "UPDATE tabuleiro.rooms SET changed_in = pg_current_xact_id() WHERE changed_in > pg_current_xact_id()"
        )


async def _make_schema(connection: asyncpg.Connection, place: str) -> None:
    """Make the schema, or take an empty one that somebody has made for us, who may not make any."""
    is_there = await connection.fetchval("SELECT to_regnamespace('tabuleiro') IS NOT NULL")
    if not is_there:
        await connection.execute("CREATE SCHEMA tabuleiro")
    elif await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'tabuleiro'"):
        raise DatabaseFormatError(
            place, "its schema `tabuleiro` has tables of another program; choose another database"
        )
    await connection.execute(
        "CREATE TABLE tabuleiro.migrations (number integer PRIMARY KEY, name text NOT NULL,"
        " applied_at_ms bigint NOT NULL)"
    )
