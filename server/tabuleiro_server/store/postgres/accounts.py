"""The guests in the table of accounts, and what their names look like."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import asyncpg

from tabuleiro.errors import NameTakenError, StoreError
from tabuleiro.ids import AccountId, TimestampMs
from tabuleiro.protocol.names import looks_of, name_key
from tabuleiro_server.store.port import Account, AccountEntry, Accounts
from tabuleiro_server.store.postgres.connection import Database


class PostgresAccounts(Accounts):
    """The guests in one database; see :class:`.Accounts` for what each method promises."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, id: AccountId, name: str, token_hash: bytes, now_ms: TimestampMs) -> Account:
        """Store a new guest, seen now."""

        async def insert(connection: asyncpg.Connection) -> None:
            # Whose answer was lost comes again, and finds the guest there.
            known = await connection.fetchval(
                "INSERT INTO tabuleiro.accounts (id, name, name_key, token_hash, created_at_ms, last_seen_ms)"
                " VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING RETURNING id",
                *(id, name, name_key(name), token_hash, now_ms),
            )
            if known is None:
                await _check_is_the_same(connection, id, name, token_hash)
                return
            looks = sorted(looks_of(name))
            added = await connection.fetch(
                "INSERT INTO tabuleiro.looks (look, account_id) SELECT look, $2 FROM unnest($1::text[]) AS look"
                " ON CONFLICT DO NOTHING RETURNING look",
                *(looks, id),
            )
            if len(added) < len(looks):
                raise NameTakenError(name, is_alike=True)

        await self._database.change(insert)
        return Account(id, name, now_ms, now_ms)

    async def entries(self) -> list[AccountEntry]:
        """Return all guests, by id."""
        query = (
            "SELECT id, name, created_at_ms, last_seen_ms, token_hash FROM tabuleiro.accounts"
            ' ORDER BY id COLLATE "C"'
        )
        found = await self._database.read(lambda connection: connection.fetch(query))
        return [AccountEntry(Account(*values[:4]), values[4]) for values in found]

    async def add(self, entries: Sequence[AccountEntry]) -> None:
        """Store guests as they were elsewhere, all or none."""

        async def insert(connection: asyncpg.Connection) -> None:
            rows = [
                (each.id, each.name, name_key(each.name), entry.token_hash, each.created_at_ms, each.last_seen_ms)
                for entry in entries
                for each in (entry.account,)
            ]
            await connection.executemany(
                "INSERT INTO tabuleiro.accounts (id, name, name_key, token_hash, created_at_ms, last_seen_ms)"
                " VALUES ($1, $2, $3, $4, $5, $6)",
                rows,
            )
            await add_looks(connection, [entry.account for entry in entries])

        await self._database.change(insert)

    async def find_by_token_hash(self, token_hash: bytes) -> Account | None:
        """Return the guest with this token, ``None`` when there is none."""
        return await self._find("WHERE token_hash = $1", token_hash)

    async def find_by_name(self, name: str) -> Account | None:
        """Return the guest with this name, ``None`` when there is none."""
        return await self._find("WHERE name_key = $1", name_key(name))

    async def seen_last(self) -> Account | None:
        """Return the guest who was here last, ``None`` when there was none."""
        return await self._find("ORDER BY last_seen_ms DESC, created_at_ms DESC LIMIT 1")

    async def _find(self, condition: str, *values: str | bytes) -> Account | None:
        async def select(connection: asyncpg.Connection) -> Account | None:
            query = f"SELECT id, name, created_at_ms, last_seen_ms FROM tabuleiro.accounts {condition}"
            found = await connection.fetchrow(query, *values)
            return None if found is None else Account(*found)

        return await self._database.read(select)

    async def touch(self, id: AccountId, now_ms: TimestampMs) -> None:
        """Note that the guest is here now."""

        async def update(connection: asyncpg.Connection) -> None:
            query = "UPDATE tabuleiro.accounts SET last_seen_ms = $1 WHERE id = $2 RETURNING id"
            if await connection.fetchval(query, now_ms, id) is None:
                raise StoreError(f"there is no account {id}")

        await self._database.change(update)

    async def touch_all(self, ids: Collection[AccountId], now_ms: TimestampMs) -> None:
        """Note that these guests are here now."""

        async def update(connection: asyncpg.Connection) -> None:
            # In one order on all servers: none waits for another that waits for it.
            query = (
                "UPDATE tabuleiro.accounts SET last_seen_ms = $1 WHERE id IN"
                " (SELECT id FROM tabuleiro.accounts WHERE id = ANY($2) ORDER BY id FOR NO KEY UPDATE)"
            )
            await connection.execute(query, now_ms, list(ids))

        await self._database.change(update)

    async def free_unused(self, before_ms: TimestampMs) -> int:
        """Remove the guests who never played and were last seen before ``before_ms``; return the count."""
        removed_count = 0

        async def delete(connection: asyncpg.Connection) -> None:
            nonlocal removed_count
            removed = await connection.fetch(
                "DELETE FROM tabuleiro.accounts WHERE id IN (SELECT id FROM tabuleiro.accounts"
                " WHERE last_seen_ms < $1 AND NOT EXISTS"
                " (SELECT FROM tabuleiro.players WHERE players.account_id = accounts.id) ORDER BY id FOR UPDATE)"
                " AND last_seen_ms < $1 RETURNING id",
                before_ms,
            )
            # What was removed by an attempt whose answer was lost counts as well.
            removed_count = max(removed_count, len(removed))

        await self._database.change(delete)
        return removed_count


async def add_looks(connection: asyncpg.Connection, guests: Sequence[Account]) -> None:
    """Write down what the names of guests look like; of two that look alike the older guest's counts."""
    looks = [
        (look, guest.id)
        for guest in sorted(guests, key=lambda guest: (guest.created_at_ms, guest.id))
        for look in sorted(looks_of(guest.name))
    ]
    query = "INSERT INTO tabuleiro.looks (look, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING"
    await connection.executemany(query, looks)


async def _check_is_the_same(connection: asyncpg.Connection, id: AccountId, name: str, token_hash: bytes) -> None:
    """Check that the guest who is in the way is this very one.

    Raises: NameTakenError; StoreError when the id or the token is somebody else's.
    """
    found = await connection.fetch(
        "SELECT id, name, token_hash, name_key = $2 FROM tabuleiro.accounts"
        " WHERE id = $1 OR name_key = $2 OR token_hash = $3",
        *(id, name_key(name), token_hash),
    )
    for known_id, known_name, known_hash, has_name in found:
        if (known_id, known_name, known_hash) == (id, name, token_hash):
            # Written once more, so that this commit waits for the standby, which the lost one may not have done.
            await connection.execute("UPDATE tabuleiro.accounts SET name = name WHERE id = $1", id)
            return
        if has_name and known_id != id:
            raise NameTakenError(name)
    raise StoreError("this account cannot be stored: its id or its token is in use")
