"""A room's row says what its events say, after each of them, and so tells the next server what is due."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tabuleiro.clock import Fischer
from tabuleiro.ids import RoomCode
from tabuleiro.protocol import messages
from tabuleiro.protocol.messages import RoomSummary
from tabuleiro.settings import RoomSettings
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.store.port import RoomRow
from tabuleiro_server.store.sqlite.repair import rebuild, verify

LIMIT_MS = 60_000


async def row_of(stage: Any, code: str) -> RoomRow:
    row = await stage.store.room(RoomCode(code))
    assert row is not None
    return row


def plies_of(row: RoomRow) -> int:
    return msgspec.msgpack.decode(row.summary, type=RoomSummary).plies


async def findings(path: Path) -> list[str]:
    report = await verify(path, rows_of)
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


async def test_the_row_tells_the_deadline_of_the_first_turn(timed_match: Any) -> None:
    stage, _, _, code = timed_match
    row = await row_of(stage, code)
    assert (row.phase, row.next_deadline_ms) == ("playing", stage.now_ms + LIMIT_MS)


async def test_each_move_is_in_the_row_once_it_is_acknowledged(timed_match: Any, tmp_path: Path) -> None:
    stage, ana, rui, code = timed_match
    for ply, (player, text) in enumerate([(ana, "a3"), (ana, "a2"), (rui, "d2")]):
        stage.now_ms += 1_000
        assert await player.play(code, ply, text) is None
        row = await row_of(stage, code)
        assert (plies_of(row), row.updated_at_ms) == (ply + 1, stage.now_ms)
        assert await findings(tmp_path / "rooms.db") == []
    # Rui has used one of his seconds so far.
    assert row.next_deadline_ms == stage.now_ms + LIMIT_MS - 1_000


async def test_the_end_of_the_match_is_in_the_row_at_once(timed_match: Any) -> None:
    stage, ana, _, code = timed_match
    await play_moves(ana, code, "a3", "a2")
    await ana.ask(messages.Resign, room=code, match=1)
    row = await row_of(stage, code)
    assert (row.phase, plies_of(row)) == ("finished", 2)


async def test_what_is_due_in_a_room_left_by_a_crash_happens(open_stage: Any) -> None:
    async with open_stage() as stage:
        ana, _, code = await timed_room(stage, counts_downtime=True)
        await play_moves(ana, code, "a3", "a2")
        later_ms = stage.now_ms + LIMIT_MS
    async with open_stage(now_ms=later_ms - 1) as stage:
        await stage.directory.wake_due_rooms()
        assert stage.directory.rooms_count == 0
    async with open_stage(now_ms=later_ms) as stage:
        await stage.directory.wake_due_rooms()
        room = await stage.room(code)
        await stage.until(lambda: room.state.phase == "finished")
        assert room.state.match.termination == "timeout"


async def test_a_room_in_memory_is_not_woken(timed_match: Any) -> None:
    stage, ana, _, code = timed_match
    await play_moves(ana, code, "a3")
    stage.now_ms += LIMIT_MS
    assert await stage.journal.due_rooms(stage.clock()) == [code]
    stage.changes.clear()
    await stage.directory.wake_due_rooms()
    assert stage.changes == []


async def test_rebuilding_beside_the_server_changes_nothing_in_sound_rows(
    timed_match: Any, tmp_path: Path
) -> None:
    stage, ana, _, code = timed_match
    await play_moves(ana, code, "a3", "a2")
    before = await row_of(stage, code)
    await rebuild(tmp_path / "rooms.db", rows_of)
    assert await row_of(stage, code) == before


async def test_rows_that_a_server_of_the_first_schema_left_behind_are_taken_up(
    open_stage: Any, tmp_path: Path
) -> None:
    """It marked the rows of rooms in its memory, and wrote them when a room rested."""
    async with open_stage() as stage:
        ana, _, code = await timed_room(stage)
        await play_moves(ana, code, "a3", "a2")
        exact = await row_of(stage, code)
    with closing(sqlite3.connect(tmp_path / "rooms.db")) as connection:
        connection.execute("UPDATE rooms SET next_deadline_ms = 0, updated_at_ms = 5, summary = x'00'")
        connection.commit()
    async with open_stage() as stage:
        assert await row_of(stage, code) == exact
        await stage.directory.wake_due_rooms()
        assert stage.directory.rooms_count == 0
