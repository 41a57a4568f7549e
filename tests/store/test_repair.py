"""Verifying and rebuilding the query tables against the events."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import Rows, StoredEvent
from tabuleiro_server.store.sqlite.admin import read_events
from tabuleiro_server.store.sqlite.repair import rebuild, verify
from tabuleiro_server.store.sqlite.store import SqliteStore
from tests.store.replays import counting as replay

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")


async def append(store: SqliteStore, room: RoomCode, expected: int, events: list[StoredEvent]) -> None:
    former = await store.load(room)
    await store.append(room, Seq(expected), events, replay(room, former + events))


@pytest.fixture
async def sound(open_store: Any, make: Any, database_path: Path) -> Path:
    """A file of 70 rooms whose tables fit their events: more rooms than one batch."""
    async with open_store() as store:
        await append(store, ROOM, 0, make.events(1, 7))
        await append(store, OTHER, 0, make.events(1, 2))
        others = [RoomCode(f"R{number:04}") for number in range(68)]
        await asyncio.gather(*(append(store, room, 0, make.events(1, 4)) for room in others))
    return database_path


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
        connection.commit()


async def test_sound_file_has_no_findings(sound: Path) -> None:
    report = await verify(sound, replay)
    assert report.is_sound
    assert (report.room_count, report.event_count, report.match_count) == (70, 7 + 2 + 68 * 4, 3 + 1 + 68 * 2)


DIFFERENCES = [
    (
        ["UPDATE rooms SET phase = 'over' WHERE code = 'K7MQ4'"],
        ["room K7MQ4, room, phase: stored 'over', the events say 'playing'"],
    ),
    (
        ["UPDATE matches SET winner = 0, action_count = 9 WHERE room = 'K7MQ4' AND number = 1"],
        [
            "room K7MQ4, match 1, winner: stored 0, the events say 1",
            "room K7MQ4, match 1, action_count: stored 9, the events say 3",
        ],
    ),
    (["DELETE FROM rooms WHERE code = 'W2XYZ'"], ["room W2XYZ, room: missing in the tables"]),
    (
        ["DELETE FROM players WHERE room = 'K7MQ4' AND match_number = 2 AND seat = 1"],
        ["room K7MQ4, match 2: missing in the tables"],
    ),
    (
        ["DELETE FROM matches WHERE room = 'K7MQ4' AND number = 3"],
        ["room K7MQ4, match 3: missing in the tables"],
    ),
    (
        ["DELETE FROM events WHERE room = 'W2XYZ'"],
        [
            "room W2XYZ, room: in the tables, not in the events",
            "room W2XYZ, match 1: in the tables, not in the events",
        ],
    ),
    (
        ["UPDATE players SET account_id = 'eva', bot_level = 'x' WHERE room = 'W2XYZ' AND seat = 0"],
        [
            "room W2XYZ, match 1, players: stored"
            " (PlayerRow(account='eva', name='Ana', bot_level='x'),"
            " PlayerRow(account=None, name='random', bot_level='random')), the events say"
            " (PlayerRow(account='ana', name='Ana', bot_level=None),"
            " PlayerRow(account=None, name='random', bot_level='random'))"
        ],
    ),
]


@pytest.mark.parametrize(("statements", "found"), DIFFERENCES)
async def test_altered_tables_are_reported_and_rebuilt(
    sound: Path, statements: list[str], found: list[str]
) -> None:
    change(sound, *statements)
    report = await verify(sound, replay)
    assert sorted(str(difference) for difference in report.differences) == sorted(found)
    assert report.damaged == []
    assert not report.is_sound
    rebuilt = await rebuild(sound, replay)
    assert rebuilt.rebuilt_count + len(rebuilt.removed) == 70
    assert rebuilt.damaged == []
    assert (await verify(sound, replay)).is_sound


async def test_emptied_tables_are_rebuilt(sound: Path) -> None:
    change(sound, "DELETE FROM players", "DELETE FROM matches", "DELETE FROM rooms")
    assert len((await verify(sound, replay)).differences) == 70 + 3 + 1 + 68 * 2
    assert (await rebuild(sound, replay)).rebuilt_count == 70
    assert (await verify(sound, replay)).is_sound


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            "UPDATE events SET payload = x'00' WHERE room = 'K7MQ4' AND seq = 5",
            "at event 5: its checksum does not fit",
        ),
        ("DELETE FROM events WHERE room = 'K7MQ4' AND seq = 5", "at event 5: it is missing, the next one is 6"),
    ],
)
async def test_damaged_room_is_reported_and_the_others_are_looked_at(
    sound: Path, statement: str, text: str
) -> None:
    change(sound, statement, "UPDATE rooms SET phase = 'over' WHERE code = 'W2XYZ'")
    report = await verify(sound, replay)
    assert [str(error) for error in report.damaged] == [f"room K7MQ4 is damaged {text}"]
    assert [difference.room for difference in report.differences] == [OTHER]


async def test_room_that_cannot_be_replayed_is_reported_and_left_as_it_is(
    sound: Path, open_store: Any, make: Any
) -> None:
    async with open_store() as store:
        await store.append(OTHER, Seq(2), make.events(3, 3, b"bad"), make.rows(OTHER))
    before = await read_events(sound, OTHER)
    text = "room W2XYZ is damaged: it cannot be replayed: cannot read 'bad': expected a number"
    assert [str(error) for error in (await verify(sound, replay)).damaged] == [text]
    rebuilt = await rebuild(sound, replay)
    assert [str(error) for error in rebuilt.damaged] == [text]
    assert rebuilt.rebuilt_count == 69
    assert await read_events(sound, OTHER) == before


async def test_malformed_file_is_reported(sound: Path) -> None:
    with closing(sqlite3.connect(sound)) as connection:
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()[0]
    content = bytearray(sound.read_bytes())  # noqa: ASYNC240
    content[(root - 1) * page_bytes : root * page_bytes] = bytes(page_bytes)
    sound.write_bytes(content)  # noqa: ASYNC240
    report = await verify(sound, replay)
    assert not report.is_sound
    assert report.file_findings
    assert {error.room for error in report.damaged} >= {ROOM, OTHER}


async def test_file_whose_table_of_rooms_is_damaged_is_reported_with_all_rooms(sound: Path) -> None:
    with closing(sqlite3.connect(sound)) as connection:
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'rooms'").fetchone()[0]
    content = bytearray(sound.read_bytes())  # noqa: ASYNC240
    content[(root - 1) * page_bytes : root * page_bytes] = bytes(page_bytes)
    sound.write_bytes(content)  # noqa: ASYNC240
    report = await verify(sound, replay)
    assert "rooms: database disk image is malformed" in report.file_findings
    assert "the rows of room K7MQ4 in the query tables cannot be read" in report.file_findings
    assert (report.room_count, report.damaged) == (70, [])


async def test_served_file_is_verified_and_rebuilt_while_rooms_play_on(
    sound: Path, open_store: Any, make: Any
) -> None:
    async with open_store() as store:
        last = 7

        async def play() -> None:
            nonlocal last
            while not checking.done():
                await append(store, ROOM, last, make.events(last + 1, last + 1))
                last += 1

        async def check() -> None:
            assert (await verify(sound, replay)).is_sound
            assert (await rebuild(sound, replay)).rebuilt_count == 70
            assert (await verify(sound, replay)).is_sound

        checking = asyncio.create_task(check())
        await asyncio.gather(play(), checking)
        assert await store.load(ROOM) == make.events(1, last)


async def test_room_that_moves_on_during_the_rebuild_is_rebuilt_again(
    sound: Path, open_store: Any, make: Any
) -> None:
    change(sound, "DELETE FROM rooms WHERE code = 'K7MQ4'")
    async with open_store() as store:
        loop = asyncio.get_running_loop()
        seen: list[int] = []

        async def append() -> None:
            await store.append(ROOM, Seq(7), make.events(8, 8), make.rows(ROOM))

        def replay_slowly(room: RoomCode, events: Sequence[StoredEvent]) -> Rows:
            if room == ROOM:
                seen.append(len(events))
                if len(seen) == 1:
                    asyncio.run_coroutine_threadsafe(append(), loop).result()
            return replay(room, events)

        report = await rebuild(sound, replay_slowly)
        assert seen == [7, 8]
        assert report.rebuilt_count == 70
    assert (await verify(sound, replay)).is_sound
