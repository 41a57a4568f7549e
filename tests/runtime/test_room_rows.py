"""A room's row: written when it tells something new, provisional while moves go by, exact when the room rests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tabuleiro.clock import Fischer
from tabuleiro.errors import StorageUnavailableError
from tabuleiro.ids import RoomCode, TimestampMs
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import ActionsPlayed
from tabuleiro.protocol.settings import RoomSettings
from tabuleiro_server.rooms.journal import read_events, rows_of
from tabuleiro_server.rooms.room_rows import read_summary
from tabuleiro_server.store.consistency import rebuild, verify
from tabuleiro_server.store.event_log import BEFORE_FIRST, RoomRow

LIMIT_MS = 60_000


async def row_of(stage: Any, code: str) -> RoomRow:
    row = await stage.log.room(RoomCode(code))
    assert row is not None
    return row


async def findings(path: Path) -> list[str]:
    report = await verify(path, lambda code, events, row: rows_of(read_events(code, events), row))
    assert report.damaged == []
    return [str(difference) for difference in report.differences]


async def timed_room(stage: Any, *, counts_downtime: bool = False) -> tuple[Any, Any, str]:
    """Ana, who is to move, rui, and the code of their room with a clock."""
    ana, rui = stage.client("ana"), stage.client("rui")
    settings = RoomSettings(time_control=Fischer(LIMIT_MS, 0), counts_downtime=counts_downtime)
    code = (await ana.create(settings=settings)).head.room
    await rui.join(code)
    return ana, rui, code


@pytest.fixture
async def timed_match(open_stage: Any) -> Any:
    """As ``match_of``, with a clock."""
    async with open_stage() as stage:
        yield (stage, *await timed_room(stage))


async def play_moves(ana: Any, code: str, *texts: str) -> None:
    """Ana's actions; her turns have two of them, and the first two are hers."""
    for ply, text in enumerate(texts):
        assert await ana.play(code, ply, text) is None


async def test_a_row_is_exact_as_long_as_nothing_has_been_played(timed_match: Any) -> None:
    stage, _, _, code = timed_match
    row = await row_of(stage, code)
    assert (row.phase, row.next_deadline_ms) == ("playing", stage.now_ms + LIMIT_MS)


async def test_the_first_move_marks_the_row_and_later_ones_leave_it(timed_match: Any, tmp_path: Path) -> None:
    stage, ana, _, code = timed_match
    await play_moves(ana, code, "a3")
    marked = await row_of(stage, code)
    assert marked.is_provisional
    assert read_summary(marked).plies == 1
    assert await ana.play(code, 1, "a2") is None
    assert await row_of(stage, code) == marked
    assert await findings(tmp_path / "rooms.db") == []


async def test_the_end_of_the_match_is_in_the_row_at_once(timed_match: Any) -> None:
    stage, ana, _, code = timed_match
    await play_moves(ana, code, "a3", "a2")
    await ana.ask(messages.Resign, room=code, match=1)
    row = await row_of(stage, code)
    assert (row.phase, row.is_provisional, read_summary(row).plies) == ("finished", False, 2)


async def test_a_room_that_leaves_memory_leaves_an_exact_row(timed_match: Any) -> None:
    stage, ana, rui, code = timed_match
    await play_moves(ana, code, "a3", "a2")
    ana.session.close()
    rui.session.close()
    await stage.unloaded(code)
    row = await row_of(stage, code)
    assert (row.next_deadline_ms, read_summary(row).plies) == (stage.now_ms + LIMIT_MS, 2)


async def test_a_room_stays_in_memory_while_its_row_cannot_be_written(
    timed_match: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, ana, rui, code = timed_match
    await play_moves(ana, code, "a3")
    refused: list[RoomRow] = []

    async def refuse(row: RoomRow) -> None:
        refused.append(row)
        stage._changed.set()
        raise StorageUnavailableError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(stage.log, "save_room_row", refuse)
        ana.session.close()
        rui.session.close()
        await stage.until(lambda: len(refused) == 2)
        assert stage.directory.rooms_count == 1
    await stage.unloaded(code)
    assert not (await row_of(stage, code)).is_provisional


async def test_a_server_that_stops_leaves_exact_rows(open_stage: Any) -> None:
    async with open_stage() as stage:
        ana, rui = stage.client("ana"), stage.client("rui")
        code = (await ana.create()).head.room
        await rui.join(code)
        await play_moves(ana, code, "a3")
    async with open_stage() as stage:
        row = await row_of(stage, code)
        assert (row.is_provisional, read_summary(row).plies) == (False, 1)


def mark(path: Path, code: str) -> None:
    """Leave the row as a server that dies does."""
    with closing(sqlite3.connect(path)) as connection:
        statement = "UPDATE rooms SET next_deadline_ms = 0, updated_at_ms = 5 WHERE code = ?"
        assert connection.execute(statement, (code,)).rowcount == 1
        connection.commit()


async def test_after_a_crash_the_room_is_loaded_and_its_row_made_exact(open_stage: Any, tmp_path: Path) -> None:
    async with open_stage() as stage:
        ana, _, code = await timed_room(stage, counts_downtime=True)
        await play_moves(ana, code, "a3", "a2")
        exact = replace(await row_of(stage, code), next_deadline_ms=TimestampMs(stage.now_ms + LIMIT_MS))
    mark(tmp_path / "rooms.db", code)
    assert await findings(tmp_path / "rooms.db") == []
    async with open_stage() as stage:
        await stage.directory.wake_due_rooms()
        assert stage.directory.rooms_count == 1
        await stage.unloaded(code)
        row = await row_of(stage, code)
        assert (row.next_deadline_ms, read_summary(row).plies) == (exact.next_deadline_ms, 2)
        await stage.directory.wake_due_rooms()
        assert stage.directory.rooms_count == 0


async def test_what_is_due_in_a_room_left_by_a_crash_happens(open_stage: Any, tmp_path: Path) -> None:
    async with open_stage() as stage:
        _, _, code = await timed_room(stage, counts_downtime=True)
        later_ms = stage.now_ms + LIMIT_MS
    mark(tmp_path / "rooms.db", code)
    async with open_stage(now_ms=later_ms) as stage:
        await stage.directory.wake_due_rooms()
        room = await stage.room(code)
        await stage.until(lambda: room.state.phase == "finished")
        assert room.state.match.termination == "timeout"


async def test_a_room_in_memory_is_not_woken(timed_match: Any) -> None:
    stage, ana, _, code = timed_match
    await play_moves(ana, code, "a3")
    assert await stage.journal.due_rooms(stage.clock()) == [code]
    stage.changes.clear()
    await stage.directory.wake_due_rooms()
    assert stage.changes == []


async def test_a_marked_row_may_be_behind_in_moves_and_times_only(timed_match: Any, tmp_path: Path) -> None:
    stage, ana, _, code = timed_match
    path = tmp_path / "rooms.db"
    await play_moves(ana, code, "a3", "a2")
    row = await row_of(stage, code)
    events = await stage.log.load(RoomCode(code), BEFORE_FIRST)
    (exact, _) = rows_of(read_events(RoomCode(code), events))
    assert (row.summary, row.next_deadline_ms) != (exact.summary, exact.next_deadline_ms)
    await stage.log.save_room_row(replace(row, phase="waiting", created_at_ms=TimestampMs(7)))
    assert [text.split(":")[0] for text in await findings(path)] == [
        f"room {code}, room, phase",
        f"room {code}, room, created_at_ms",
    ]
    seats = read_summary(row).seats
    swapped = stage.client("eva").codec  # any encoder of the protocol's structs will do
    summary = swapped._encoder.encode(replace(read_summary(row), seats=seats[::-1]))
    await stage.log.save_room_row(replace(row, summary=summary))
    assert [text.split(":")[0] for text in await findings(path)] == [f"room {code}, room, summary"]
    await stage.log.save_room_row(replace(row, updated_at_ms=TimestampMs(exact.updated_at_ms + 1)))
    assert [text.split(":")[0] for text in await findings(path)] == [f"room {code}, room, updated_at_ms"]


async def test_rebuilding_keeps_the_mark_that_a_running_server_counts_on(timed_match: Any, tmp_path: Path) -> None:
    stage, ana, _, code = timed_match
    path = tmp_path / "rooms.db"
    await play_moves(ana, code, "a3", "a2")
    await rebuild(path, lambda code, events, row: rows_of(read_events(code, events), row))
    row = await row_of(stage, code)
    assert (row.is_provisional, read_summary(row).plies) == (True, 2)
    assert await findings(path) == []
    played = [event for event in await stage.stored(code) if isinstance(event.event, ActionsPlayed)]
    assert len(played) == 2
