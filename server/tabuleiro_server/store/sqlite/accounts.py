"""The guests in the table of accounts."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from tabuleiro.errors import NameTakenError, StoreError
from tabuleiro.ids import AccountId, TimestampMs
from tabuleiro.protocol.names import looks_of, name_key
from tabuleiro_server.store.port import Account, AccountEntry, Accounts
from tabuleiro_server.store.sqlite.connection import Reader
from tabuleiro_server.store.sqlite.writer import Writer


class SqliteAccounts(Accounts):
    """The guests in one file; see :class:`.Accounts` for what each method promises."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer
        self._looks: set[str] | None = None

    async def create(self, id: AccountId, name: str, token_hash: bytes, now_ms: TimestampMs) -> Account:
        """Store a new guest, seen now."""

        def insert(connection: sqlite3.Connection) -> None:
            _check_name_is_free(connection, id, name)
            self._check_looks_like_none(connection, name)
            connection.execute(
                "INSERT INTO accounts (id, name, name_key, token_hash, created_at_ms, last_seen_ms)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (id, name, name_key(name), token_hash, now_ms, now_ms),
            )

        try:
            await self._writer.call(insert)
        except NameTakenError:
            raise
        except StoreError:
            self._looks = None  # what was added has not been stored
            raise
        return Account(id, name, now_ms, now_ms)

    def _check_looks_like_none(self, connection: sqlite3.Connection, name: str) -> None:
        """Check a name against all others, and count it as one of them. Runs in the thread that writes."""
        known, looks = self._looks, looks_of(name)
        if known is None:
            names = connection.execute("SELECT name FROM accounts")
            self._looks = known = {look for (other,) in names for look in looks_of(other)}
        if looks & known:
            raise NameTakenError(name, is_alike=True)
        known |= looks

    async def entries(self) -> list[AccountEntry]:
        """Return all guests, by id."""
        query = "SELECT id, name, created_at_ms, last_seen_ms, token_hash FROM accounts ORDER BY id"
        found = await self._reader.read(lambda connection: connection.execute(query).fetchall())
        return [AccountEntry(Account(*values[:4]), values[4]) for values in found]

    async def add(self, entries: Sequence[AccountEntry]) -> None:
        """Store guests as they were elsewhere, all or none."""
        rows = [
            (each.id, each.name, name_key(each.name), entry.token_hash, each.created_at_ms, each.last_seen_ms)
            for entry in entries
            for each in (entry.account,)
        ]
        query = (
            "INSERT INTO accounts (id, name, name_key, token_hash, created_at_ms, last_seen_ms)"
            " VALUES (?, ?, ?, ?, ?, ?)"
        )
        self._looks = None
        await self._writer.call(lambda connection: connection.executemany(query, rows).rowcount)

    async def find_by_token_hash(self, token_hash: bytes) -> Account | None:
        """Return the guest with this token, ``None`` when there is none."""
        return await self._find("WHERE token_hash = ?", token_hash)

    async def find_by_name(self, name: str) -> Account | None:
        """Return the guest with this name, ``None`` when there is none."""
        return await self._find("WHERE name_key = ?", name_key(name))

    async def seen_last(self) -> Account | None:
        """Return the guest who was here last, ``None`` when there was none."""
        return await self._find("ORDER BY last_seen_ms DESC, created_at_ms DESC LIMIT 1")

    async def _find(self, condition: str, *values: str | bytes) -> Account | None:
        def select(connection: sqlite3.Connection) -> Account | None:
            query = f"SELECT id, name, created_at_ms, last_seen_ms FROM accounts {condition}"
            found = connection.execute(query, values).fetchone()
            return None if found is None else Account(*found)

        return await self._reader.read(select)

    async def touch(self, id: AccountId, now_ms: TimestampMs) -> None:
        """Note that the guest is here now."""

        def update(connection: sqlite3.Connection) -> None:
            changed = connection.execute("UPDATE accounts SET last_seen_ms = ? WHERE id = ?", (now_ms, id))
            _check_is_known(changed, id)

        await self._writer.call(update)

    async def touch_all(self, ids: Collection[AccountId], now_ms: TimestampMs) -> None:
        """Note that these guests are here now."""
        rows = [(now_ms, id) for id in ids]
        query = "UPDATE accounts SET last_seen_ms = ? WHERE id = ?"
        await self._writer.call(lambda connection: connection.executemany(query, rows).rowcount)

    async def free_unused(self, before_ms: TimestampMs) -> int:
        """Remove the guests who never played and were last seen before ``before_ms``; return the count."""

        def delete(connection: sqlite3.Connection) -> int:
            query = (
                "DELETE FROM accounts WHERE last_seen_ms < ?"
                " AND NOT EXISTS (SELECT 1 FROM players WHERE players.account_id = accounts.id)"
            )
            removed_count = connection.execute(query, (before_ms,)).rowcount
            if removed_count:
                self._looks = None
            return removed_count

        return await self._writer.call(delete)


def _check_name_is_free(connection: sqlite3.Connection, id: AccountId, name: str) -> None:
    query = "SELECT 1 FROM accounts WHERE name_key = ? AND id <> ?"
    if connection.execute(query, (name_key(name), id)).fetchone() is not None:
        raise NameTakenError(name)


def _check_is_known(changed: sqlite3.Cursor, id: AccountId) -> None:
    if changed.rowcount == 0:
        raise StoreError(f"there is no account {id}")
