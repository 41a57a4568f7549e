"""Group commit: what waits together goes together, and nothing is answered before it is in the file."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tabuleiro.errors import ConflictError, StorageUnavailableError, StoreError
from tabuleiro.ids import DurationMs, RoomCode, Seq
from tabuleiro_server.store.sqlite.store import SqliteStore


def stored(path: Path) -> list[tuple[str, int]]:
    """Return the events that another connection sees in the file."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT room, seq FROM events ORDER BY room, seq").fetchall()


def room(number: int) -> RoomCode:
    return RoomCode(f"R{number:04}")


async def test_appends_waiting_at_one_moment_share_one_transaction(
    store: SqliteStore, make: Any, database_path: Path
) -> None:
    await asyncio.gather(
        *(store.append(room(n), Seq(0), make.events(1, 2), make.rows(room(n))) for n in range(150))
    )
    assert len(stored(database_path)) == 300
    assert len(await store.rooms()) == 150
    metrics = store.metrics
    assert (metrics.commit_count, metrics.append_count, metrics.event_count) == (1, 150, 300)
    assert metrics.group_sizes.counts[metrics.group_sizes.bounds.index(256)] == 1
    assert metrics.commit_durations_us.observed_count == 1
    assert metrics.waiting_count == 0


async def test_appends_that_come_during_a_commit_wait_for_the_next(
    open_store: Any, make: Any, script: Any, database_path: Path
) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        gate = script.hold("COMMIT")
        first = asyncio.ensure_future(store.append(room(0), Seq(0), make.events(1, 1), make.rows(room(0))))
        await gate.reached()
        later = [
            asyncio.ensure_future(store.append(room(n), Seq(0), make.events(1, 1), make.rows(room(n))))
            for n in range(1, 9)
        ]
        await asyncio.sleep(0)
        assert store.metrics.waiting_count == 8
        gate.open()
        await asyncio.gather(first, *later)
        assert store.metrics.commit_count == 2
    assert len(stored(database_path)) == 9


async def test_append_is_answered_after_its_commit_and_not_before(
    open_store: Any, make: Any, script: Any, database_path: Path
) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        gate = script.hold("COMMIT")
        appending = asyncio.ensure_future(store.append(room(1), Seq(0), make.events(1, 2), make.rows(room(1))))
        seen: list[list[tuple[str, int]]] = []
        appending.add_done_callback(lambda _: seen.append(stored(database_path)))
        await gate.reached()
        assert not appending.done()
        assert stored(database_path) == []
        gate.open()
        await appending
    assert seen == [[("R0001", 1), ("R0001", 2)]]


async def test_every_acknowledged_append_is_seen_by_another_connection(
    store: SqliteStore, database_path: Path, make: Any
) -> None:
    with closing(sqlite3.connect(database_path)) as other:

        async def play(code: RoomCode) -> None:
            for seq in range(1, 31):
                await store.append(code, Seq(seq - 1), make.events(seq, seq), make.rows(code))
                found = other.execute("SELECT count(*), max(seq) FROM events WHERE room = ?", (code,)).fetchone()
                assert found == (seq, seq)

        await asyncio.gather(*(play(room(n)) for n in range(20)))
    assert store.metrics.append_count == 600
    assert store.metrics.commit_count < 300


async def test_one_room_may_append_again_before_the_first_append_is_answered(
    store: SqliteStore, make: Any
) -> None:
    await asyncio.gather(
        store.append(room(1), Seq(0), make.events(1, 2), make.rows(room(1))),
        store.append(room(1), Seq(2), make.events(3, 3), make.rows(room(1))),
        store.append(room(1), Seq(3), make.events(4, 6), make.rows(room(1))),
    )
    assert await store.load(room(1)) == make.events(1, 6)
    assert store.metrics.commit_count == 1


async def test_cancelled_append_is_dropped_while_it_waits_and_stored_once_its_group_has_begun(
    open_store: Any, make: Any, script: Any, database_path: Path
) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        gate = script.hold("COMMIT")
        begun = asyncio.ensure_future(store.append(room(1), Seq(0), make.events(1, 1), make.rows(room(1))))
        beside = asyncio.ensure_future(store.append(room(2), Seq(0), make.events(1, 1), make.rows(room(2))))
        await gate.reached()
        waiting = asyncio.ensure_future(store.append(room(3), Seq(0), make.events(1, 1), make.rows(room(3))))
        behind = asyncio.ensure_future(store.append(room(4), Seq(0), make.events(1, 1), make.rows(room(4))))
        await asyncio.sleep(0)
        begun.cancel()
        waiting.cancel()
        results = asyncio.gather(begun, beside, waiting, behind, return_exceptions=True)
        gate.open()
        assert [type(result) for result in await results] == [
            asyncio.CancelledError,
            type(None),
            asyncio.CancelledError,
            type(None),
        ]
        await store.append(room(1), Seq(1), make.events(2, 2), make.rows(room(1)))
        await store.append(room(3), Seq(0), make.events(1, 1), make.rows(room(3)))
    assert [code for code, _ in stored(database_path)] == ["R0001", "R0001", "R0002", "R0003", "R0004"]


async def test_stop_commits_what_waits(open_store: Any, make: Any, script: Any, database_path: Path) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        gate = script.hold("COMMIT")
        first = asyncio.ensure_future(store.append(room(1), Seq(0), make.events(1, 1), make.rows(room(1))))
        await gate.reached()
        second = asyncio.ensure_future(store.append(room(2), Seq(0), make.events(1, 1), make.rows(room(2))))
        await asyncio.sleep(0)
        stopping = asyncio.create_task(store.stop())
        await asyncio.sleep(0)
        with pytest.raises(StorageUnavailableError, match="not running"):
            await store.append(room(3), Seq(0), make.events(1, 1), make.rows(room(3)))
        gate.open()
        await asyncio.gather(first, second, stopping)
        await store.stop()
    assert stored(database_path) == [("R0001", 1), ("R0002", 1)]


async def test_stop_gives_up_at_its_limit_and_answers_everybody(open_store: Any, make: Any, script: Any) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        gate = script.hold("COMMIT")
        begun = asyncio.ensure_future(store.append(room(1), Seq(0), make.events(1, 1), make.rows(room(1))))
        await gate.reached()
        waiting = asyncio.ensure_future(store.append(room(2), Seq(0), make.events(1, 1), make.rows(room(2))))
        await asyncio.sleep(0)
        await store.stop(DurationMs(1))
        with pytest.raises(StoreError, match="may be stored or not"):
            await begun
        with pytest.raises(StorageUnavailableError, match="has stopped"):
            await waiting
        gate.open()


async def test_bug_in_one_write_fails_it_alone_and_the_writer_lives_on(
    store: SqliteStore, make: Any, database_path: Path
) -> None:
    """Symptom: every room answered storage-unavailable until the server was started again."""

    def stumble(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM events")
        raise ZeroDivisionError("a bug")

    await store.append(room(1), Seq(0), make.events(1, 1), make.rows(room(1)))
    with capture_logs() as logged:
        before, failure, after = await asyncio.gather(
            store.append(room(1), Seq(1), make.events(2, 2), make.rows(room(1))),
            store.writer.call(stumble),
            store.append(room(2), Seq(0), make.events(1, 1), make.rows(room(2))),
            return_exceptions=True,
        )
    assert (before, after) == (None, None)
    assert isinstance(failure, StoreError)
    assert "ZeroDivisionError('a bug')" in str(failure)
    assert isinstance(failure.__cause__, ZeroDivisionError)
    assert [(line["event"], line["log_level"], line["exc_info"]) for line in logged] == [
        ("write failed", "error", failure.__cause__)
    ]
    await store.append(room(2), Seq(1), make.events(2, 2), make.rows(room(2)))
    assert stored(database_path) == [("R0001", 1), ("R0001", 2), ("R0002", 1), ("R0002", 2)]
    await store.stop()


async def test_append_of_what_is_no_event_fails_alone_and_the_writer_lives_on(
    store: SqliteStore, make: Any, database_path: Path
) -> None:
    """Symptom: every room answered storage-unavailable until the server was started again."""
    with capture_logs() as logged:
        failure, beside = await asyncio.gather(
            store.append(room(1), Seq(0), make.events(1, 1, payload=None), make.rows(room(1))),
            store.append(room(2), Seq(0), make.events(1, 1), make.rows(room(2))),
            return_exceptions=True,
        )
    assert isinstance(failure, StoreError)
    assert isinstance(failure.__cause__, TypeError)
    assert beside is None
    assert [line["event"] for line in logged] == ["write failed"]
    await store.append(room(1), Seq(0), make.events(1, 1), make.rows(room(1)))
    assert stored(database_path) == [("R0001", 1), ("R0002", 1)]


async def test_commit_that_fails_for_another_reason_than_the_disk_is_told_and_the_next_one_goes(
    store: SqliteStore, make: Any, monkeypatch: pytest.MonkeyPatch, database_path: Path
) -> None:
    """Symptom: after one failed try to start a thread nothing was stored until the server was started again."""

    def refuse(*_: Any) -> Any:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as faulty, capture_logs() as logged:
        faulty.setattr("tabuleiro_server.store.sqlite.writer.commit_group", refuse)
        results = await asyncio.gather(
            *(store.append(room(n), Seq(0), make.events(1, 1), make.rows(room(n))) for n in range(3)),
            return_exceptions=True,
        )
    assert [type(result) for result in results] == [StoreError] * 3
    assert all("can't start new thread" in str(result) for result in results)
    assert [line["event"] for line in logged] == ["commit failed"]
    assert store.metrics.failed_commit_count == 1
    await store.append(room(1), Seq(0), make.events(1, 1), make.rows(room(1)))
    assert stored(database_path) == [("R0001", 1)]


async def test_cancelled_writer_answers_everybody_and_refuses_what_comes_later(
    open_store: Any, make: Any, script: Any
) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        gate = script.hold("COMMIT")
        begun = store.append(room(1), Seq(0), make.events(1, 1), make.rows(room(1)))
        await gate.reached()
        next(task for task in asyncio.all_tasks() if task.get_name() == "store-writer").cancel()
        with pytest.raises(StoreError, match="may be stored or not"):
            await begun
        gate.open()
        with pytest.raises(StorageUnavailableError, match="not running"):
            await store.append(room(1), Seq(0), make.events(1, 1), make.rows(room(1)))


async def test_more_rooms_than_are_known_by_heart_keep_their_places(
    store: SqliteStore, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabuleiro_server.store.sqlite.writer._KNOWN_ROOMS_COUNT", 2)
    for seq in range(1, 4):
        for number in range(5):
            await store.append(room(number), Seq(seq - 1), make.events(seq, seq), make.rows(room(number)))
            with pytest.raises(ConflictError):
                await store.append(room(number), Seq(seq - 1), make.events(seq, seq), make.rows(room(number)))
    for number in range(5):
        assert await store.load(room(number)) == make.events(1, 3)


async def test_last_events_are_asked_for_again_after_a_group_that_failed(
    open_store: Any, make: Any, script: Any
) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        await store.append(room(1), Seq(0), make.events(1, 1), make.rows(room(1)))
        script.fail("COMMIT", sqlite3.SQLITE_FULL, "database or disk is full")
        with pytest.raises(StorageUnavailableError):
            await store.append(room(1), Seq(1), make.events(2, 4, b"refused"), make.rows(room(1)))
        script.before.clear()
        with pytest.raises(ConflictError):
            await store.append(room(1), Seq(4), make.events(5, 5), make.rows(room(1)))
        await store.append(room(1), Seq(1), make.events(2, 2), make.rows(room(1)))
        assert await store.load(room(1)) == make.events(1, 2)
