"""Copying everything from one store to another, of whatever kind, and reading it back to compare."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from tabuleiro.errors import StoreError
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import BEFORE_FIRST, Rows, Store

AT_ONCE_COUNT: Final = 100
"""Rooms that are copied in one go: few enough for memory, enough for one commit of many."""


@dataclass(slots=True)
class CopyReport:
    """What was copied, and found the same afterwards."""

    room_count: int = 0
    match_count: int = 0
    event_count: int = 0
    account_count: int = 0


async def copy_all(source: Store, target: Store) -> CopyReport:
    """Copy all rooms and guests to an empty store, and compare what can be read there with what was there.

    The query tables of ``source`` have to fit its events: verify it before.

    Raises: StoreError when ``target`` is not empty, or something cannot be read, stored, or is not the same.
    """
    if await target.rooms() or await target.accounts.entries():
        raise StoreError("there are rooms or guests in it already; choose an empty database")
    report = CopyReport()
    codes = [row.code for row in await source.rooms()]
    for start in range(0, len(codes), AT_ONCE_COUNT):
        await asyncio.gather(*(_copy_room(source, target, code) for code in codes[start : start + AT_ONCE_COUNT]))
    await target.accounts.add(await source.accounts.entries())
    if source.last_alive_ms is not None:
        target.beat(TimestampMs(source.last_alive_ms))
    if await target.rooms() != await source.rooms():
        raise StoreError("the copy has other rooms than the database that was copied")
    for code in codes:
        await _compare_room(source, target, code, report)
    accounts = await source.accounts.entries()
    if await target.accounts.entries() != accounts:
        raise StoreError("the copy has other guests than the database that was copied")
    report.room_count, report.account_count = len(codes), len(accounts)
    return report


async def _copy_room(source: Store, target: Store, code: RoomCode) -> None:
    row = await source.room(code)
    if row is None:
        raise StoreError(f"room {code} was removed meanwhile")
    events = await source.load(code)
    await target.append(code, Seq(BEFORE_FIRST), events, Rows(row, await source.matches(code)))


async def _compare_room(source: Store, target: Store, code: RoomCode, report: CopyReport) -> None:
    events, matches = await source.load(code), await source.matches(code)
    if (events, matches) != (await target.load(code), await target.matches(code)):
        raise StoreError(f"the copy of room {code} is not the same")
    report.event_count += len(events)
    report.match_count += len(matches)
