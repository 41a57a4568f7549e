"""The log as its callers see it: what is appended is loaded, in order, with the rows that go with it."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.errors import ConflictError, DamagedRoomError, StorageUnavailableError, StoreError
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro_server.store.event_log import EventLog, StoredEvent

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")


async def test_appended_events_are_loaded_in_order_with_all_their_fields(log: EventLog, make: Any) -> None:
    first = [StoredEvent(Seq(1), TimestampMs(17), 3, b"\x00\xff"), StoredEvent(Seq(2), TimestampMs(16), 4, b"")]
    await log.append(ROOM, Seq(0), first)
    await log.append(OTHER, Seq(0), make.events(1, 1))
    await log.append(ROOM, Seq(2), make.events(3, 150))
    assert await log.load(ROOM) == first + make.events(3, 150)
    assert await log.load(ROOM, after_seq=Seq(149)) == make.events(150, 150)
    assert await log.load(RoomCode("AAAAA")) == []


async def test_log_is_there_again_after_closing_and_opening(open_log: Any, make: Any) -> None:
    async with open_log() as log:
        await log.append(ROOM, Seq(0), make.events(1, 3))
    async with open_log() as log:
        await log.append(ROOM, Seq(3), make.events(4, 4))
        assert await log.load(ROOM) == make.events(1, 4)


@pytest.mark.parametrize("expected", [0, 2, 4])
async def test_append_in_the_wrong_place_is_refused_and_changes_nothing(
    log: EventLog, make: Any, expected: int
) -> None:
    await log.append(ROOM, Seq(0), make.events(1, 3))
    with pytest.raises(ConflictError) as caught:
        await log.append(ROOM, Seq(expected), make.events(expected + 1, expected + 2), make.room(ROOM))
    assert (caught.value.expected_seq, caught.value.actual_seq) == (expected, 3)
    assert await log.load(ROOM) == make.events(1, 3)
    assert await log.rooms() == []
    await log.append(ROOM, Seq(3), make.events(4, 4))


async def test_conflict_is_found_by_a_log_that_has_not_seen_the_room_before(open_log: Any, make: Any) -> None:
    async with open_log() as log:
        await log.append(ROOM, Seq(0), make.events(1, 3))
    async with open_log() as log:
        with pytest.raises(ConflictError, match="it is 3"):
            await log.append(ROOM, Seq(0), make.events(1, 1))


async def test_of_two_appends_for_one_place_the_first_wins_and_the_rest_of_the_group_goes_through(
    log: EventLog, make: Any
) -> None:
    results = await asyncio.gather(
        log.append(ROOM, Seq(0), make.events(1, 1, b"first")),
        log.append(ROOM, Seq(0), make.events(1, 1, b"second")),
        log.append(OTHER, Seq(0), make.events(1, 2)),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), ConflictError, type(None)]
    assert await log.load(ROOM) == make.events(1, 1, b"first")
    assert await log.load(OTHER) == make.events(1, 2)
    assert (log.metrics.commit_count, log.metrics.conflict_count) == (1, 1)


@pytest.mark.parametrize("name", ["\ud800", 2**70], ids=["lone surrogate", "too big"])
async def test_values_that_cannot_be_stored_refuse_their_own_append_alone(
    log: EventLog, make: Any, name: Any
) -> None:
    bad = make.room(ROOM, phase=name)
    results = await asyncio.gather(
        log.append(OTHER, Seq(0), make.events(1, 2), make.room(OTHER)),
        log.append(ROOM, Seq(0), make.events(1, 1), bad),
        log.append(RoomCode("CCCCC"), Seq(5), make.events(6, 6)),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), StoreError, ConflictError]
    assert [row.code for row in await log.rooms()] == [OTHER]
    assert await log.load(ROOM) == []
    await log.append(ROOM, Seq(0), make.events(1, 1))


async def test_events_that_are_not_numbered_on_are_refused_at_once(log: EventLog, make: Any) -> None:
    with pytest.raises(ValueError, match="event 3 stands in the place of event 2"):
        await log.append(ROOM, Seq(1), make.events(3, 3))


async def test_rows_are_kept_with_the_events_and_the_latest_counts(log: EventLog, make: Any) -> None:
    running, ended = make.match(ROOM), make.match(ROOM, winner=1)
    await log.append(ROOM, Seq(0), make.events(1, 1), make.room(ROOM, "waiting"), [running])
    assert await log.matches(ROOM) == [running]
    await log.append(
        ROOM, Seq(1), make.events(2, 2), make.room(ROOM, summary=b"more"), [ended, make.match(ROOM, 2)]
    )
    assert await log.room(ROOM) == make.room(ROOM, summary=b"more")
    assert await log.matches(ROOM) == [ended, make.match(ROOM, 2)]
    assert await log.room(OTHER) is None
    assert await log.matches(OTHER) == []


async def test_rooms_are_found_by_phase(log: EventLog, make: Any) -> None:
    for code, phase in (("AAAAA", "waiting"), ("BBBBB", "playing"), ("CCCCC", "over"), ("DDDDD", "playing")):
        await log.append(RoomCode(code), Seq(0), make.events(1, 1), make.room(code, phase))
    assert [row.code for row in await log.rooms()] == ["AAAAA", "BBBBB", "CCCCC", "DDDDD"]
    assert [row.code for row in await log.rooms({"waiting", "playing"})] == ["AAAAA", "BBBBB", "DDDDD"]
    assert await log.rooms(()) == []


async def test_rooms_are_due_from_their_deadline_on(log: EventLog, make: Any) -> None:
    for code, deadline_ms in (("AAAAA", 500), ("BBBBB", None), ("CCCCC", 300), ("DDDDD", 501)):
        await log.append(RoomCode(code), Seq(0), make.events(1, 1), make.room(code, deadline_ms=deadline_ms))
    assert await log.due_rooms(TimestampMs(299)) == []
    assert await log.due_rooms(TimestampMs(500)) == ["CCCCC", "AAAAA"]
    await log.append(RoomCode("CCCCC"), Seq(1), make.events(2, 2), make.room("CCCCC"))
    assert await log.due_rooms(TimestampMs(500)) == ["AAAAA"]


@pytest.mark.parametrize(
    ("damage", "seq"),
    [
        ("UPDATE events SET payload = x'00' WHERE seq = 2", 2),
        ("UPDATE events SET payload = 'text' WHERE seq = 2", 2),
        ("UPDATE events SET at_ms = 0 WHERE seq = 3", 3),
        ("DELETE FROM events WHERE seq = 1", 1),
        ("DELETE FROM events WHERE seq = 2", 2),
        ("UPDATE events SET room = 'K7MQ4', seq = 4 WHERE room = 'W2XYZ'", 4),
    ],
)
async def test_altered_log_is_not_loaded_and_other_rooms_are(
    open_log: Any, make: Any, database_path: Path, damage: str, seq: int
) -> None:
    async with open_log() as log:
        await log.append(ROOM, Seq(0), make.events(1, 3))
        await log.append(OTHER, Seq(0), make.events(1, 1))
        await log.append(RoomCode("CCCCC"), Seq(0), make.events(1, 3))
    alter(database_path, damage.replace("WHERE seq", "WHERE room = 'K7MQ4' AND seq"))
    async with open_log() as log:
        with pytest.raises(DamagedRoomError) as caught:
            await log.load(ROOM)
        assert (caught.value.room, caught.value.seq) == (ROOM, seq)
        assert await log.load(RoomCode("CCCCC")) == make.events(1, 3)


async def test_log_that_is_not_running_refuses(open_log: Any, make: Any) -> None:
    async with open_log() as log:
        await log.stop()
        with pytest.raises(StorageUnavailableError, match="not running"):
            await log.append(ROOM, Seq(0), make.events(1, 1))
        with pytest.raises(StoreError, match="once only"):
            await log.start()


def alter(path: Path, statement: str) -> None:
    """Change the file behind the store's back."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(statement).rowcount == 1
        connection.commit()


async def test_openings_are_the_first_events_of_the_rooms_asked_for(
    open_log: Any, make: Any, database_path: Path
) -> None:
    rooms = {"AAAAA": "waiting", "BBBBB": "playing", "CCCCC": "finished", "DDDDD": "playing"}
    async with open_log() as log:
        for code, phase in rooms.items():
            events = make.events(1, 2, payload=code.encode())
            await log.append(RoomCode(code), Seq(0), events, room_row=make.room(code, phase))
    with closing(sqlite3.connect(database_path)) as connection, connection:
        connection.execute("UPDATE events SET payload = x'00' WHERE room = 'DDDDD' AND seq = 1")
    async with open_log() as log:
        found = await log.openings(("waiting", "playing"))
    wanted = {code: make.events(1, 1, payload=code.encode())[0] for code in ("AAAAA", "BBBBB")}
    assert found == wanted
