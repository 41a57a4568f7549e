"""Files with a page that is garbage: what is mended, what is kept, and what is told to be lost."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from structlog.testing import capture_logs

from tabuleiro.errors import (
    DamagedRoomError,
    DatabaseFormatError,
    DatabaseLockedError,
    StorageUnavailableError,
)
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.accounts import Accounts
from tabuleiro_server.store.consistency import mend_query_tables, rebuild, verify
from tabuleiro_server.store.database import Database
from tabuleiro_server.store.event_log import EventLog, MatchRow, PlayerRow, RoomRow, StoredEvent
from tabuleiro_server.store.maintenance import back_up, read_room, read_stats

ROOM_COUNT = 250
EVENT_COUNT = 6
ROOMS = [RoomCode(f"R{number:04}") for number in range(ROOM_COUNT)]
ACCOUNT_COUNT = 200

Page = Literal["root", "leaf"]


def replay(room: RoomCode, events: Sequence[StoredEvent]) -> tuple[RoomRow, list[MatchRow]]:
    """A room with one match, that has as many actions as there are events."""
    last = events[-1]
    row = RoomRow(
        room, "playing", True, TimestampMs(0), last.at_ms, TimestampMs(last.at_ms + 9), b"at %d" % last.seq
    )
    players = (PlayerRow(AccountId("ana"), "Ana"), PlayerRow(None, "random", "random"))
    return row, [MatchRow(room, 1, "counting", "{}", players, TimestampMs(0), None, None, None, len(events))]


def account_of(number: int) -> tuple[AccountId, str, bytes]:
    return AccountId(f"id-{number:03}"), f"Guest{number}", b"token-%d" % number


@pytest.fixture(scope="module")
def sound_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of tables of several pages each, without a write-ahead log beside it."""
    path = tmp_path_factory.mktemp("sound") / "rooms.db"
    asyncio.run(fill(path))
    return path


async def fill(path: Path) -> None:
    events = [StoredEvent(Seq(seq), TimestampMs(1_000 + seq), 1, b"fact") for seq in range(1, EVENT_COUNT + 1)]
    database = await Database.open(path, synchronous="NORMAL")
    try:
        writer = database.writer
        writer.start()
        accounts = Accounts(database)
        log = EventLog(database)
        await asyncio.gather(*(log.append(room, Seq(0), events, *replay(room, events)) for room in ROOMS))
        await asyncio.gather(*(accounts.create(*account_of(n), TimestampMs(n)) for n in range(ACCOUNT_COUNT)))
        await writer.stop()
    finally:
        await database.close()


@pytest.fixture
def path(sound_file: Path, tmp_path: Path) -> Path:
    """A copy of that file."""
    return Path(shutil.copy(sound_file, tmp_path / "rooms.db"))


def spoil(path: Path, name: str, page: Page) -> None:
    """Fill a page of a table or an index with 0xFF: its first one, or one in the middle that holds rows."""
    with closing(sqlite3.connect(path)) as connection:
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        number = connection.execute(query, (name,)).fetchone()[0]
    content = bytearray(path.read_bytes())
    if page == "leaf":
        number = _leaf(content, page_bytes, number)
    content[(number - 1) * page_bytes : number * page_bytes] = b"\xff" * page_bytes
    path.write_bytes(content)


def _leaf(content: bytearray, page_bytes: int, number: int) -> int:
    """Go down the middle of a tree. Source: https://www.sqlite.org/fileformat2.html, B-tree pages."""
    start = (number - 1) * page_bytes
    while content[start] in (2, 5):
        cell_count = int.from_bytes(content[start + 3 : start + 5], "big")
        pointer = start + 12 + 2 * (cell_count // 2)
        cell = start + int.from_bytes(content[pointer : pointer + 2], "big")
        number = int.from_bytes(content[cell : cell + 4], "big")
        start = (number - 1) * page_bytes
    return number


async def open_mending(path: Path) -> Database:
    return await Database.open(path, mend=partial(mend_query_tables, replay=replay))


async def assert_whole(path: Path) -> None:
    report = await verify(path, replay)
    assert report.is_sound
    assert (report.room_count, report.event_count) == (ROOM_COUNT, ROOM_COUNT * EVENT_COUNT)
    assert (await read_stats(path)).account_count == ACCOUNT_COUNT
    assert (await back_up(path, path.with_name("copy.db"))) > 0


IN_QUERY_TABLES = ["rooms", "rooms_by_phase", "rooms_by_deadline", "matches", "players", "players_by_account"]


@pytest.mark.parametrize(("name", "page"), [("rooms", "root"), *((name, "leaf") for name in IN_QUERY_TABLES)])
async def test_damaged_query_table_is_made_anew_when_the_file_is_opened(path: Path, name: str, page: Page) -> None:
    """Symptom: the server did not start, and nothing mended the file."""
    spoil(path, name, page)
    damaged = path.read_bytes()  # noqa: ASYNC240
    with capture_logs() as lines:
        database = await open_mending(path)
        await database.close()
    assert [line["log_level"] for line in lines] == ["warning", "warning"]
    kept = path.with_name("rooms.db.damaged-1")
    assert lines[1]["damaged_file"] == str(kept)
    assert lines[1]["rooms_count"] == ROOM_COUNT
    assert len(kept.read_bytes()) == len(damaged)
    names = sorted(file.name for file in path.parent.iterdir())
    assert names == ["rooms.db", "rooms.db.damaged-1", "rooms.db.lock"]
    await assert_whole(path)


@pytest.mark.parametrize(
    "name", ["matches", "rooms_by_phase", "sqlite_autoindex_events_1", "sqlite_autoindex_accounts_2"]
)
async def test_rebuilding_loses_nothing_where_tables_that_follow_or_indexes_are_damaged(
    path: Path, name: str
) -> None:
    spoil(path, name, "leaf")
    report = await rebuild(path, replay)
    assert (report.rebuilt_count, report.removed, report.damaged) == (ROOM_COUNT, [], [])
    assert report.salvage is not None
    assert (report.salvage.lost_event_count, report.salvage.lost_names) == (0, ())
    await assert_whole(path)


async def test_sound_file_is_opened_without_a_copy_or_a_word(path: Path) -> None:
    with capture_logs() as lines:
        database = await open_mending(path)
        await database.close()
    assert lines == []
    assert not list(path.parent.glob("*damaged*"))


async def test_rooms_whose_events_cannot_be_read_stay_damaged_and_all_others_are_well(path: Path) -> None:
    """No room comes back with less than it had: a lost event keeps its place."""
    spoil(path, "events", "leaf")
    report = await rebuild(path, replay)
    assert report.salvage is not None
    assert report.salvage.lost_event_count > 0
    hurt = {error.room for error in report.damaged}
    assert 0 < len(hurt) < ROOM_COUNT / 2
    assert report.rebuilt_count == ROOM_COUNT - len(hurt)
    for room in ROOMS:
        if room in hurt:
            with pytest.raises(DamagedRoomError, match="its checksum does not fit"):
                await read_room(path, room)
        else:
            stored = await read_room(path, room)
            assert stored is not None
            assert len(stored.events) == EVENT_COUNT
    stats = await read_stats(path)
    assert stats.event_count == ROOM_COUNT * EVENT_COUNT
    assert stats.room_counts == {"playing": ROOM_COUNT}
    assert stats.match_count == ROOM_COUNT
    again = await rebuild(path, replay)
    assert (again.salvage, {error.room for error in again.damaged}) == (None, hurt)


async def test_file_of_which_nobody_can_tell_what_is_lost_is_left_as_it_is(path: Path) -> None:
    spoil(path, "events", "leaf")
    spoil(path, "sqlite_autoindex_events_1", "leaf")
    before = path.read_bytes()  # noqa: ASYNC240
    with pytest.raises(
        DatabaseFormatError, match="nobody can tell which events are lost; put a backup in its place"
    ):
        await rebuild(path, replay)
    assert path.read_bytes() == before  # noqa: ASYNC240
    assert sorted(file.name for file in path.parent.iterdir()) == ["rooms.db", "rooms.db.lock"]


async def test_guests_whose_rows_cannot_be_read_are_named_and_the_others_kept(path: Path) -> None:
    spoil(path, "accounts", "leaf")
    report = await rebuild(path, replay)
    assert report.salvage is not None
    lost = report.salvage.lost_names
    assert lost is not None
    assert 0 < len(lost) < ACCOUNT_COUNT / 2
    database = await Database.open(path)
    try:
        for id, name, token_hash in map(account_of, range(ACCOUNT_COUNT)):
            account = await Accounts(database).find_by_token_hash(token_hash)
            found = None if account is None else (account.id, account.name)
            assert found == (None if name.lower() in lost else (id, name))
    finally:
        await database.close()


async def test_guests_of_whom_nobody_can_tell_are_said_to_be_lost(path: Path) -> None:
    spoil(path, "accounts", "leaf")
    spoil(path, "sqlite_autoindex_accounts_2", "root")
    report = await rebuild(path, replay)
    assert report.salvage is not None
    assert report.salvage.lost_names is None
    assert ACCOUNT_COUNT / 2 < (await read_stats(path)).account_count < ACCOUNT_COUNT


async def test_file_without_most_of_its_events_is_left_as_it_is(path: Path) -> None:
    spoil(path, "events", "root")
    before = path.read_bytes()  # noqa: ASYNC240
    with pytest.raises(
        DatabaseFormatError, match="1500 events cannot be read, most of all; put a backup in its place"
    ):
        await rebuild(path, replay)
    assert path.read_bytes() == before  # noqa: ASYNC240


async def test_opening_leaves_a_file_alone_in_which_more_than_query_tables_is_damaged(path: Path) -> None:
    """What is lost for good is for the host to decide about."""
    spoil(path, "rooms", "leaf")
    spoil(path, "events", "leaf")
    with pytest.raises(
        DatabaseFormatError, match=r"is damaged \(events: .*\); stop the server and run `tabuleiro db rebuild"
    ):
        await open_mending(path)
    assert not list(path.parent.glob("*damaged*"))


async def test_damaged_file_that_is_served_is_not_mended(path: Path) -> None:
    database = await Database.open(path)
    try:
        spoil(path, "rooms", "leaf")
        with pytest.raises(DatabaseLockedError):
            await rebuild(path, replay)
    finally:
        await database.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of a file there")
async def test_mending_that_finds_no_room_leaves_everything_as_it_was(path: Path) -> None:
    import resource

    spoil(path, "rooms", "leaf")
    before = path.read_bytes()  # noqa: ASYNC240
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(StorageUnavailableError, match="disk I/O error"):
            await rebuild(path, replay)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_untouched(path, before)
    assert (await rebuild(path, replay)).rebuilt_count == ROOM_COUNT


async def test_mending_that_finds_a_folder_in_its_way_says_so(path: Path) -> None:
    spoil(path, "rooms", "leaf")
    path.with_name("rooms.db.unfinished").mkdir()
    with pytest.raises(StorageUnavailableError, match=r"cannot write .*rooms\.db\.unfinished"):
        await rebuild(path, replay)


async def test_mending_of_a_file_that_another_program_writes_to_leaves_everything_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: the command waited for ever."""
    spoil(path, "rooms", "leaf")
    before = path.read_bytes()  # noqa: ASYNC240
    monkeypatch.setattr("tabuleiro_server.store.maintenance._BUSY_TIMEOUT_MS", 10)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageUnavailableError, match="database is locked"):
            await rebuild(path, replay)
        other.execute("ROLLBACK")
    assert_untouched(path, before)
    assert (await rebuild(path, replay)).rebuilt_count == ROOM_COUNT


def assert_untouched(path: Path, before: bytes) -> None:
    assert path.read_bytes() == before
    assert not [file.name for file in path.parent.iterdir() if "damaged" in file.name or "unfinished" in file.name]


async def test_what_cannot_be_mended_is_said(path: Path) -> None:
    spoil(path, "migrations", "root")
    with pytest.raises(
        DatabaseFormatError, match=r"damaged beyond what can be mended .*; put a backup in its place"
    ):
        await rebuild(path, replay)


async def test_damaged_file_is_not_copied_as_a_backup(path: Path) -> None:
    spoil(path, "rooms_by_phase", "leaf")
    with pytest.raises(StorageUnavailableError, match="`tabuleiro db rebuild` mends it"):
        await back_up(path, path.with_name("copy.db"))


async def test_room_is_read_though_the_query_tables_cannot_be(path: Path) -> None:
    """Symptom: no match could be exported, though all their moves were there."""
    spoil(path, "matches", "root")
    spoil(path, "rooms", "root")
    stored = await read_room(path, ROOMS[0])
    assert stored is not None
    assert len(stored.events) == EVENT_COUNT
    assert (stored.row, stored.matches) == (None, [])


async def test_text_that_is_none_does_not_stop_the_mending(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE events SET payload = CAST(x'c0c0' AS TEXT) WHERE room = ? AND seq = 2", (ROOMS[3],)
        )
        connection.execute("UPDATE rooms SET phase = CAST(x'c0c0' AS TEXT) WHERE code = ?", (ROOMS[4],))
        connection.commit()
    spoil(path, "rooms_by_phase", "root")
    report = await rebuild(path, replay)
    assert [error.room for error in report.damaged] == [ROOMS[3]]
    assert report.rebuilt_count == ROOM_COUNT - 1
