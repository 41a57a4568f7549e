"""Files with a page that is garbage: what is mended, and what is named and left alone."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tabuleiro.errors import DamagedRoomError, DatabaseFormatError, DatabaseLockedError, StorageUnavailableError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import MatchRow, PlayerRow, RoomRow, Rows, StoredEvent
from tabuleiro_server.store.sqlite.admin import back_up, read_events, read_stats
from tabuleiro_server.store.sqlite.repair import rebuild, verify
from tabuleiro_server.store.sqlite.store import SqliteStore
from tests.store.damage import Page, spoil

ROOM_COUNT = 250
EVENT_COUNT = 6
ROOMS = [RoomCode(f"R{number:04}") for number in range(ROOM_COUNT)]
ACCOUNT_COUNT = 200


def replay(room: RoomCode, events: Sequence[StoredEvent]) -> Rows:
    """A room with one match, that has as many actions as there are events."""
    last = events[-1]
    row = RoomRow(
        *(room, "playing", True, TimestampMs(0), last.at_ms, TimestampMs(last.at_ms + 9), b"at %d" % last.seq),
        AccountId("ana"),
    )
    players = (PlayerRow(AccountId("ana"), "Ana"), PlayerRow(None, "random", "random"))
    match = MatchRow(room, 1, "counting", "{}", players, TimestampMs(0), None, None, None, len(events))
    return Rows(row, (match,))


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
    store = await SqliteStore.open(path, replay, synchronous="NORMAL")
    try:
        create = store.accounts.create
        await asyncio.gather(*(store.append(room, Seq(0), events, replay(room, events)) for room in ROOMS))
        await asyncio.gather(*(create(*account_of(n), TimestampMs(n)) for n in range(ACCOUNT_COUNT)))
    finally:
        await store.close()


@pytest.fixture
def path(sound_file: Path, tmp_path: Path) -> Path:
    """A copy of that file."""
    return Path(shutil.copy(sound_file, tmp_path / "rooms.db"))


async def assert_whole(path: Path) -> None:
    report = await verify(path, replay)
    assert report.is_sound
    assert (report.room_count, report.event_count) == (ROOM_COUNT, ROOM_COUNT * EVENT_COUNT)
    assert (await read_stats(path)).account_count == ACCOUNT_COUNT
    assert (await back_up(path, path.with_name("copy.db"))) > 0


IN_QUERY_TABLES = ["rooms", "rooms_by_deadline", "matches", "players", "players_by_account"]


@pytest.mark.parametrize(("name", "page"), [("rooms", "root"), *((name, "leaf") for name in IN_QUERY_TABLES)])
async def test_damaged_query_table_is_rebuilt_when_the_file_is_opened(path: Path, name: str, page: Page) -> None:
    """Symptom: the server did not start, and nothing mended the file."""
    spoil(path, name, page)
    damaged = path.read_bytes()  # noqa: ASYNC240
    with capture_logs() as lines:
        store = await SqliteStore.open(path, replay)
        await store.close()
    assert [line["log_level"] for line in lines] == ["warning", "warning"]
    kept = path.with_name("rooms.db.damaged-1")
    assert lines[1]["damaged_file"] == str(kept)
    assert lines[1]["rooms_count"] == ROOM_COUNT
    assert len(kept.read_bytes()) == len(damaged)
    names = sorted(file.name for file in path.parent.iterdir())
    assert names == ["rooms.db", "rooms.db.damaged-1", "rooms.db.lock"]
    await assert_whole(path)


@pytest.mark.parametrize("name", ["matches", "rooms_by_deadline"])
async def test_rebuilding_loses_nothing_where_query_tables_are_damaged(path: Path, name: str) -> None:
    damaged = path.read_bytes()  # noqa: ASYNC240
    spoil(path, name, "leaf")
    report = await rebuild(path, replay)
    assert (report.rebuilt_count, report.removed, report.damaged) == (ROOM_COUNT, [], [])
    assert report.kept == path.with_name("rooms.db.damaged-1")
    assert len(report.kept.read_bytes()) == len(damaged)
    await assert_whole(path)


async def test_sound_file_is_opened_without_a_copy_or_a_word(path: Path) -> None:
    with capture_logs() as lines:
        store = await SqliteStore.open(path, replay)
        await store.close()
    assert lines == []
    assert not list(path.parent.glob("*damaged*"))


TRUE_PAGES: list[tuple[str, Page]] = [
    ("events", "leaf"),
    ("events", "root"),
    ("sqlite_autoindex_events_1", "leaf"),
    ("accounts", "leaf"),
    ("sqlite_autoindex_accounts_2", "leaf"),
]


@pytest.mark.parametrize(("name", "page"), TRUE_PAGES)
async def test_file_with_damaged_events_or_guests_is_named_and_left_alone(
    path: Path, name: str, page: Page
) -> None:
    """What is lost for good is for the host to decide about."""
    spoil(path, name, page)
    spoil(path, "rooms", "leaf")
    before = path.read_bytes()  # noqa: ASYNC240
    assert (await verify(path, replay)).file_findings
    for mend in (rebuild(path, replay), SqliteStore.open(path, replay)):
        with pytest.raises(
            DatabaseFormatError,
            match=r"this file is damaged .*; put a backup in its place, or take what .*recover",
        ):
            await mend
    assert_untouched(path, before)


async def test_rooms_are_served_while_a_page_of_events_is_damaged(path: Path) -> None:
    spoil(path, "events", "leaf")
    damaged = {error.room for error in (await verify(path, replay)).damaged}
    assert 0 < len(damaged) < ROOM_COUNT / 2
    store = await SqliteStore.open(path, replay)
    try:
        for room in ROOMS:
            if room in damaged:
                with pytest.raises(DamagedRoomError):
                    await store.load(room)
            else:
                assert len(await store.load(room)) == EVENT_COUNT
    finally:
        await store.close()


async def test_damaged_file_that_is_served_is_not_mended(path: Path) -> None:
    store = await SqliteStore.open(path, replay)
    try:
        spoil(path, "rooms", "leaf")
        with pytest.raises(DatabaseLockedError):
            await rebuild(path, replay)
    finally:
        await store.close()


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
    monkeypatch.setattr("tabuleiro_server.store.sqlite.admin._BUSY_TIMEOUT_MS", 10)
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
    with pytest.raises(DatabaseFormatError, match=r"this file is damaged .*; put a backup in its place"):
        await rebuild(path, replay)


async def test_damaged_file_is_not_copied_as_a_backup(path: Path) -> None:
    spoil(path, "rooms_by_deadline", "leaf")
    with pytest.raises(StorageUnavailableError, match="`tabuleiro db rebuild` mends it"):
        await back_up(path, path.with_name("copy.db"))


async def test_room_is_read_though_the_query_tables_cannot_be(path: Path) -> None:
    """Symptom: no match could be exported, though all their moves were there."""
    spoil(path, "matches", "root")
    spoil(path, "rooms", "root")
    assert len(await read_events(path, ROOMS[0])) == EVENT_COUNT


async def test_text_that_is_none_does_not_stop_the_mending(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE events SET payload = CAST(x'c0c0' AS TEXT) WHERE room = ? AND seq = 2", (ROOMS[3],)
        )
        connection.execute("UPDATE rooms SET phase = CAST(x'c0c0' AS TEXT) WHERE code = ?", (ROOMS[4],))
        connection.commit()
    spoil(path, "rooms_by_deadline", "root")
    report = await rebuild(path, replay)
    assert [error.room for error in report.damaged] == [ROOMS[3]]
    assert report.rebuilt_count == ROOM_COUNT - 1
