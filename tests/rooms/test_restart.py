"""Rooms found on disk: loaded once, told of the restart, woken when their hour has come."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tabuleiro.clock import Fischer
from tabuleiro.protocol.events import MatchEnded, RoomResumed
from tabuleiro.protocol.messages import RoomEntered
from tabuleiro.settings import RoomSettings

UP_MS, DOWN_MS = 20_000, 5_000_000


async def room_before(open_stage: Any, settings: RoomSettings) -> tuple[str, int]:
    """A room of a server that ran for UP_MS after ana's turn began, and when it was last alive."""
    async with open_stage() as stage:
        ana, rui = stage.client("ana"), stage.client("rui")
        code = (await ana.create(settings=settings)).head.room
        await rui.join(code)
        return code, stage.now_ms + UP_MS


def timed(*, counts_downtime: bool) -> RoomSettings:
    return RoomSettings(time_control=Fischer(60_000, 0), counts_downtime=counts_downtime)


@pytest.mark.parametrize(("counts_downtime", "left_ms"), [(False, 60_000 - UP_MS), (True, None)])
async def test_a_running_clock_over_a_restart(open_stage: Any, counts_downtime: bool, left_ms: int | None) -> None:
    code, alive_ms = await room_before(open_stage, timed(counts_downtime=counts_downtime))
    async with open_stage(now_ms=alive_ms + DOWN_MS, last_alive_ms=alive_ms) as stage:
        ana = stage.client("ana")
        entered = await ana.watch(code)
        (resumed,) = [event.event for event in await stage.stored(code) if isinstance(event.event, RoomResumed)]
        assert resumed == RoomResumed(alive_ms, alive_ms + DOWN_MS)
        if left_ms is None:
            room = await stage.room(code)
            await stage.until(lambda: room.state.phase == "finished")
            assert room.state.match.termination == "timeout"
        else:
            assert entered.head.match.clock.players[0].stage_ms == left_ms


async def test_time_between_the_restart_and_the_first_visit_counts(open_stage: Any) -> None:
    code, alive_ms = await room_before(open_stage, timed(counts_downtime=False))
    async with open_stage(now_ms=alive_ms + DOWN_MS, last_alive_ms=alive_ms) as stage:
        stage.now_ms += 60_000 - UP_MS
        await stage.directory.wake_due_rooms()
        room = await stage.room(code)
        await stage.until(lambda: room.state.phase == "finished")
        assert [event.event for event in await stage.stored(code)][-1] == MatchEnded(1, 1, "timeout")


async def test_a_room_is_told_of_a_restart_once(open_stage: Any) -> None:
    code, alive_ms = await room_before(open_stage, RoomSettings())
    async with open_stage(now_ms=alive_ms + DOWN_MS, last_alive_ms=alive_ms) as stage:
        for name in ("ana", "rui"):
            client = stage.client(name)
            assert (await client.watch(code)).seat is not None
            client.session.close()
            await stage.unloaded(code)
        kinds = [type(event.event) for event in await stage.stored(code)]
        assert kinds.count(RoomResumed) == 1


async def test_after_a_restart_everything_of_the_room_is_there(open_stage: Any) -> None:
    async with open_stage() as stage:
        ana, rui = stage.client("ana"), stage.client("rui")
        code = (await ana.create()).head.room
        await rui.join(code)
        await ana.play(code, 0, "a3")
        before = (await stage.room(code)).state
    async with open_stage(now_ms=stage.now_ms + DOWN_MS, last_alive_ms=stage.now_ms) as again:
        assert isinstance(await again.client("ana").watch(code), RoomEntered)
        after = (await again.room(code)).state
        assert (after.match.state, after.match.actions, after.game) == (
            before.match.state,
            before.match.actions,
            before.game,
        )
        assert (after.phase, after.host, after.settings) == (before.phase, before.host, before.settings)


async def test_many_who_look_for_a_room_at_once_find_the_same(open_stage: Any) -> None:
    code, alive_ms = await room_before(open_stage, RoomSettings())
    async with open_stage(now_ms=alive_ms, last_alive_ms=alive_ms) as stage:
        rooms = await asyncio.gather(*(stage.room(code) for _ in range(20)))
        assert set(rooms) == {rooms[0]}
        assert stage.directory.rooms_count == 1


@pytest.mark.parametrize("typed", ["", "ABC", "ABCDE", "ABCDEF", "A1CDE", "\ud800BCDE", "АBCDE"])
async def test_what_names_no_room_is_answered_so(stage: Any, typed: str) -> None:
    with pytest.raises(Exception, match=r"there is no room") as caught:
        await stage.room(typed)
    assert str(caught.value).isprintable()


async def test_codes_are_read_as_people_type_them(stage: Any) -> None:
    code = (await stage.client("ana").create()).head.room
    typed = f" {code[:2].lower()} {code[2:]} "
    assert (await stage.client("eva").watch(typed)).head.room == code


async def test_a_room_whose_line_in_the_list_is_damaged_keeps_no_server_from_starting(
    open_stage: Any, tmp_path: Path
) -> None:
    """Symptom: the server ended with a traceback at every start."""
    async with open_stage() as stage:
        ana = stage.client("ana")
        damaged, other = (await ana.create()).head.room, (await ana.create()).head.room
    with closing(sqlite3.connect(tmp_path / "rooms.db")) as connection:
        connection.execute("UPDATE rooms SET summary = x'c1' WHERE code = ?", (damaged,))
        connection.commit()
    async with open_stage() as stage:
        with capture_logs() as lines:
            assert [line.room for line in await stage.journal.summaries()] == [other]
        assert [(line["event"], line["room"]) for line in lines] == [("room not listed", damaged)]
        assert isinstance(await stage.client("ana").watch(damaged), RoomEntered)
