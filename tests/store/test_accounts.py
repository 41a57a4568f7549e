"""Guests: found by their token, unique by name whatever its case, freed when they never played."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.errors import NameTakenError, StorageUnavailableError, StoreError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import Account, AccountEntry, Accounts, Rows, Store

ANA = AccountId("a1")
RUI = AccountId("r1")
NOW = TimestampMs(1_000)


@pytest.fixture
def accounts(any_store: Store) -> Accounts:
    return any_store.accounts


async def test_guest_is_found_by_the_hash_of_the_token(accounts: Accounts) -> None:
    created = await accounts.create(ANA, "Ana", b"hash of ana", NOW)
    await accounts.create(RUI, "Rui", b"hash of rui", NOW)
    assert created == Account(ANA, "Ana", NOW, NOW)
    assert await accounts.find_by_token_hash(b"hash of ana") == created
    assert await accounts.find_by_token_hash(b"hash of eva") is None


async def test_guest_is_found_by_name_and_the_one_seen_last_without(accounts: Accounts) -> None:
    assert await accounts.seen_last() is None
    ana = await accounts.create(ANA, "Ana", b"hash of ana", NOW)
    rui = await accounts.create(RUI, "Rui", b"hash of rui", TimestampMs(2_000))
    assert await accounts.find_by_name("ANA") == ana
    assert await accounts.find_by_name("eva") is None
    assert await accounts.seen_last() == rui
    await accounts.touch(ANA, TimestampMs(3_000))
    assert await accounts.seen_last() == Account(ANA, "Ana", NOW, TimestampMs(3_000))


@pytest.mark.parametrize("name", ["Ângela", "ângela", "ÂNGELA", "A\u0302ngela"])
async def test_name_that_differs_only_in_case_or_form_is_taken(accounts: Accounts, name: str) -> None:
    await accounts.create(ANA, "Ângela", b"1", NOW)
    with pytest.raises(NameTakenError):
        await accounts.create(RUI, name, b"2", NOW)
    assert await accounts.find_by_token_hash(b"2") is None
    await accounts.create(RUI, "Angela", b"2", NOW)


async def test_name_that_looks_like_another_is_taken(accounts: Accounts) -> None:
    await accounts.create(ANA, "scope", b"1", NOW)
    for alike in ("ѕсоре", "sc0pe", "Scope"):
        with pytest.raises(NameTakenError, match=r"is taken, choose another"):
            await accounts.create(RUI, alike, b"2", NOW)
    await accounts.free_unused(TimestampMs(2_000))
    await accounts.create(RUI, "sc0pe", b"2", NOW)


async def test_of_two_guests_with_one_name_at_one_moment_one_gets_it(accounts: Accounts) -> None:
    results = await asyncio.gather(
        accounts.create(ANA, "Ana", b"1", NOW), accounts.create(RUI, "ana", b"2", NOW), return_exceptions=True
    )
    assert {type(result) for result in results} == {Account, NameTakenError}


@pytest.mark.parametrize(("id", "token_hash"), [(ANA, b"2"), (RUI, b"1")])
async def test_id_and_hash_are_never_given_twice(accounts: Accounts, id: AccountId, token_hash: bytes) -> None:
    await accounts.create(ANA, "Ana", b"1", NOW)
    with pytest.raises(StoreError):
        await accounts.create(id, "Rui", token_hash, NOW)
    await accounts.create(RUI, "Rui", b"2", NOW)


async def test_touch_notes_when_a_guest_was_seen(accounts: Accounts) -> None:
    await accounts.create(ANA, "Ana", b"1", NOW)
    await accounts.touch(ANA, TimestampMs(5_000))
    assert await accounts.find_by_token_hash(b"1") == Account(ANA, "Ana", NOW, TimestampMs(5_000))
    with pytest.raises(StoreError, match="no account z9"):
        await accounts.touch(AccountId("z9"), NOW)


async def test_names_of_guests_who_never_played_are_freed(accounts: Accounts, any_store: Store, make: Any) -> None:
    for name, seen_ms in (("ana", 100), ("rui", 100), ("eva", 200)):
        await accounts.create(AccountId(name), name, name.encode(), TimestampMs(seen_ms))
    await any_store.append(
        RoomCode("K7MQ4"), Seq(0), make.events(1, 1), Rows(make.room("K7MQ4"), [make.match("K7MQ4")])
    )
    assert await accounts.free_unused(TimestampMs(100)) == 0
    assert await accounts.free_unused(TimestampMs(200)) == 1
    assert await accounts.find_by_token_hash(b"rui") is None
    assert await accounts.find_by_token_hash(b"ana") is not None
    assert await accounts.find_by_token_hash(b"eva") is not None
    await accounts.create(AccountId("other"), "RUI", b"other", NOW)


async def test_guests_of_a_copy_are_all_there_with_their_tokens_and_names_taken(
    accounts: Accounts, open_store: Any, tmp_path: Path
) -> None:
    """Guests who look alike were let in by an older program: they stay."""
    ana = Account(AccountId("b"), "Ana", TimestampMs(2), NOW)
    alike = Account(AccountId("a"), "4na", TimestampMs(1), NOW)
    entries = [AccountEntry(alike, b"a"), AccountEntry(ana, b"b")]
    await accounts.add(entries[::-1])
    assert await accounts.entries() == entries
    assert await accounts.find_by_token_hash(b"a") == alike
    with pytest.raises(NameTakenError):
        await accounts.create(RUI, "ana", b"2", NOW)
    with pytest.raises(StoreError):
        await accounts.add([AccountEntry(Account(RUI, "Rui", NOW, NOW), b"rui"), entries[0]])
    assert await accounts.find_by_name("rui") is None
    async with open_store(tmp_path / "copy.db") as copy:
        await copy.accounts.add(await accounts.entries())
        assert await copy.accounts.entries() == entries


async def test_guest_is_not_there_when_the_storage_refused(open_store: Any, script: Any) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        accounts = store.accounts
        script.fail("COMMIT", sqlite3.SQLITE_IOERR, "disk I/O error")
        with pytest.raises(StorageUnavailableError):
            await accounts.create(ANA, "Ana", b"1", NOW)
        script.before.clear()
        await accounts.create(RUI, "Ana", b"1", NOW)
