"""Rooms after a standstill of the server, and at deadlines found late: nobody pays for the server's time."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.ids import SECOND_MS, TimestampMs
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import MatchEnded, RoomResumed, Said, SeatDisconnected
from tabuleiro.protocol.messages import Error, Update
from tabuleiro.settings import RoomSettings
from tabuleiro_server.rooms import directory as directories

GAP_MS = 30_000


def timed(**settings: Any) -> RoomSettings:
    return RoomSettings(time_control=Fischer(60_000, 0), **settings)


async def begin(stage: Any, settings: RoomSettings) -> tuple[Any, Any, str]:
    """Let ana, who is to move, play rui."""
    ana, rui = stage.client("ana"), stage.client("rui")
    code = (await ana.create(settings=settings)).head.room
    await rui.join(code)
    return ana, rui, code


def stand_still(stage: Any, gap_ms: int = GAP_MS) -> None:
    since_ms = TimestampMs(stage.now_ms)
    stage.now_ms += gap_ms
    stage.directory.note_standstill(since_ms, TimestampMs(stage.now_ms))


async def kinds(stage: Any, code: str) -> list[type]:
    return [type(event.event) for event in await stage.stored(code)]


async def test_a_standstill_is_charged_to_nobody_and_the_move_that_had_come_counts(open_stage: Any) -> None:
    """Symptom: the server was stopped for 30 s, and the move that lay in its socket came after the flag."""
    async with open_stage() as stage:
        ana, rui, code = await begin(stage, timed())
        stage.now_ms += 40_000
        stand_still(stage)
        assert await ana.play(code, 0, "a3", "a2") is None
        room = await stage.room(code)
        assert [player.stage_ms for player in room.state.match.clock.players] == [20_000, 60_000]
        resumed = await rui.hear_event(RoomResumed)
        assert resumed == RoomResumed(stage.now_ms - GAP_MS, stage.now_ms, is_standstill=True)


async def test_a_flag_falls_after_the_time_left_before_the_standstill(open_stage: Any) -> None:
    async with open_stage() as stage:
        _, rui, code = await begin(stage, timed())
        stage.now_ms += 40_000
        stand_still(stage)
        await rui.hear_event(RoomResumed)
        room = await stage.room(code)
        stage.now_ms += 19_999
        room._advance()
        assert room.state.phase == "playing"
        stage.now_ms += 1
        assert await rui.hear_event(MatchEnded) == MatchEnded(1, 1, "timeout")


async def test_all_of_it_is_charged_where_downtime_counts_but_what_had_come_is_taken_in(open_stage: Any) -> None:
    async with open_stage() as stage:
        ana, rui, code = await begin(stage, timed(counts_downtime=True))
        stand_still(stage)
        assert await ana.play(code, 0, "a3", "a2") is None
        room = await stage.room(code)
        assert room.state.match.clock.players[0].stage_ms == 60_000 - GAP_MS
        stand_still(stage, 70_000)
        assert await rui.play(code, 2, "d2", "d3") is None
        assert 1 <= room.state.match.clock.players[1].stage_ms <= SECOND_MS
        stand_still(stage, 70_000)
        assert await rui.hear_event(MatchEnded) == MatchEnded(1, 1, "timeout")


async def test_a_standstill_in_the_middle_of_a_commit_is_spared_too(open_stage: Any) -> None:
    """The first action of the match is on its way to the disk when the server is stopped."""
    async with open_stage() as stage:
        ana, rui, code = await begin(stage, timed())
        stage.store.gate.clear()
        playing = ana.session.receive(
            ana.codec.encode(messages.Play(id=77, room=code, match=1, ply=0, actions=("a3", "a2")))
        )
        await stage.store.reached()
        stand_still(stage)
        stage.store.gate.set()
        await playing
        assert await rui.play(code, 2, "d2", "d3") is None
        room = await stage.room(code)
        assert [player.stage_ms for player in room.state.match.clock.players] == [60_000, 60_000]


async def test_rooms_on_disk_are_spared_all_standstills_they_missed_at_once(
    open_stage: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(directories, "DOWNTIMES_COUNT", 3)
    async with open_stage() as stage:
        ana, rui, code = await begin(stage, timed())
        for client in (ana, rui):
            client.session.close()
        await stage.unloaded(code)
        begun_ms = stage.now_ms
        for _ in range(5):
            stage.now_ms += 1_000
            stand_still(stage)
        entered = await stage.client("ana").watch(code)
        assert entered.head.match.clock.players[0].stage_ms == 60_000 - (stage.now_ms - begun_ms - 5 * GAP_MS)
        assert (await kinds(stage, code)).count(RoomResumed) == 1


async def test_nothing_is_noted_where_nothing_is_timed(open_stage: Any) -> None:
    async with open_stage() as stage:
        ana, _, code = await begin(stage, RoomSettings())
        stand_still(stage)
        await ana.ask(messages.Say, room=code, text="hello?")
        assert RoomResumed not in await kinds(stage, code)


async def test_who_was_absent_before_is_so_for_as_long_as_before(open_stage: Any) -> None:
    """Symptom: the minutes in which nobody could connect counted for the claim."""
    async with open_stage() as stage:
        ana, rui, code = await begin(stage, RoomSettings(away_after_ms=60_000))
        rui.session.close()
        await ana.hear_event(SeatDisconnected)
        stage.now_ms += 20_000
        stand_still(stage)
        refusal = await ana.ask(messages.ClaimWin, room=code, match=1)
        assert refusal.message == "the opponent may still come back for 40 seconds"
        await ana.hear_event(RoomResumed)
        assert (await stage.room(code)).state.away_since_ms == (None, stage.now_ms - 20_000)


async def test_what_has_come_by_the_time_a_deadline_is_found_to_be_due_counts_as_just_in_time(
    open_stage: Any,
) -> None:
    """Symptom: a server that was busy for a moment refused the move that lay in its socket meanwhile."""
    async with open_stage(idle_room_unload_ms=60_000) as stage:
        ana, rui, code = await begin(stage, timed())
        stage.now_ms += 60_700
        assert await ana.play(code, 0, "a3", "a2") is None
        room = await stage.room(code)
        assert room.state.match.clock.players[0].stage_ms == 1
        assert room.state.updated_at_ms == stage.now_ms - 701
        assert await rui.play(code, 2, "d2", "d3") is None


async def test_a_move_after_that_turn_is_late(open_stage: Any) -> None:
    async with open_stage() as stage:
        ana, rui, code = await begin(stage, timed())
        stage.now_ms += 60_000
        await rui.hear_event(MatchEnded)
        assert isinstance(await ana.play(code, 0, "a3", "a2"), Error)


@pytest.mark.parametrize("back_ms", [1, 3_600_000])
async def test_a_clock_that_is_behind_the_room_is_not_believed(open_stage: Any, back_ms: int) -> None:
    """Symptom: events went back in time when the machine's clock was set."""
    async with open_stage() as stage:
        ana, rui, code = await begin(stage, timed())
        stage.now_ms -= back_ms
        assert await ana.ask(messages.Say, room=code, text="back then") is None
        times_ms = [event.at_ms for event in await stage.stored(code)]
        assert times_ms == sorted(times_ms)
        room = await stage.room(code)
        assert room.head().now_ms == times_ms[-1]
        assert await rui.hear_event(Said)


async def test_a_clock_set_back_between_a_deadline_and_its_decision_costs_nothing(open_stage: Any) -> None:
    """Symptom: the room went round and round, and with it the whole server."""
    async with open_stage() as stage:
        _, rui, _ = await begin(stage, timed())
        looks = 0

        def unsteady() -> TimestampMs:
            nonlocal looks
            looks += 1
            assert looks < 10_000, "the room goes round and round"
            return TimestampMs(stage.now_ms + (60_000 if looks % 2 else 0))

        stage.clock_now = unsteady
        assert await rui.hear_event(MatchEnded) == MatchEnded(1, 1, "timeout")


async def test_who_comes_and_goes_is_away_for_everybody_from_the_moment_of_going(open_stage: Any) -> None:
    """Symptom: "the opponent is here", for half a minute beside a head that said not connected."""
    async with open_stage() as stage:
        ana, rui, code = await begin(stage, RoomSettings(away_after_ms=10_000))
        rui.session.close()
        await ana.hear_event(SeatDisconnected)
        again = stage.client("rui")
        await again.watch(code)
        stage.now_ms += 3_000
        heard_count = len(ana.heard)
        again.session.close()
        update = await ana.hear(
            lambda said: isinstance(said, Update) and not said.head.seats[1].is_connected, heard_count
        )
        gone_ms = stage.now_ms
        assert update.head.seats[1].away_since_ms == gone_ms
        stage.now_ms += 2_000
        refusal = await ana.ask(messages.ClaimWin, room=code, match=1)
        assert refusal.message == "the opponent may still come back for 8 seconds"
        assert (await kinds(stage, code)).count(SeatDisconnected) == 1
        stage.now_ms += 8_000
        assert await ana.ask(messages.ClaimWin, room=code, match=1) is None
        left = [event.event for event in await stage.stored(code) if isinstance(event.event, SeatDisconnected)]
        assert left == [SeatDisconnected(1), SeatDisconnected(1, gone_ms)]


async def test_a_first_turn_that_does_not_come_aborts_the_match_for_everybody_to_see(open_stage: Any) -> None:
    async with open_stage(first_turn_ms=30_000) as stage:
        ana, rui, code = await begin(stage, timed())
        entered = await stage.client("eva").watch(code)
        assert entered.head.match.first_turn == messages.FirstTurn(TimestampMs(stage.now_ms + 30_000), 30_000)
        assert entered.head.match.clock.running is None
        await ana.play(code, 0, "a3", "a2")
        stage.now_ms += 30_000
        assert await rui.hear_event(MatchEnded) == MatchEnded(1, None, "aborted", late_player=1)
