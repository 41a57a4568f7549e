"""Trouble: the storage refuses, a room is behind its log, a fault of ours, rooms that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.errors import ConflictError, DamagedRoomError, StorageUnavailableError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import ActionsPlayed, MatchEnded, RoomResumed, SeatConnected, SeatDisconnected
from tabuleiro.protocol.messages import RoomEntered, Update
from tabuleiro.settings import RoomSettings

FULL = StorageUnavailableError("database or disk is full")


async def test_what_cannot_be_stored_is_refused_and_changes_nothing_and_later_it_goes(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    room = await stage.room(code)
    before, heard_count = room.state, len(rui.heard)
    stage.store.failures[code] = FULL
    for _ in range(2):
        answer = await ana.play(code, 0, "a3", "a2")
        assert (answer.code, answer.message) == (
            "storage-unavailable",
            "the server cannot store this now; try again",
        )
    assert room.state is before
    assert len(await stage.stored(code)) == before.seq
    assert not [said for said in rui.heard[heard_count:] if isinstance(said, Update) and said.events]
    stage.store.failures.clear()
    assert await ana.play(code, 0, "a3", "a2") is None
    assert (await rui.hear_event(ActionsPlayed)).actions == ("a3", "a2")


async def test_who_cannot_be_seated_is_not_in_the_room(stage: Any) -> None:
    """Taking the seat and being noted as there are stored together or not at all."""
    ana, rui = stage.client("ana"), stage.client("rui")
    code = (await ana.create()).head.room
    stage.store.failures[code] = FULL
    assert (await rui.join(code)).code == "storage-unavailable"
    assert not rui.session.is_in(code)
    assert (await stage.room(code)).subscribers.accounts() == {ana.account}
    stage.store.failures.clear()
    assert isinstance(await rui.join(code), RoomEntered)


async def test_a_room_that_cannot_be_stored_is_not_made(stage: Any) -> None:
    ana = stage.client("ana")
    stage.store.refuses_all = FULL
    answer = await ana.ask(messages.CreateRoom, game="virus-wars")
    assert answer.code == "storage-unavailable"
    assert stage.directory.rooms_count == 0


async def test_a_room_whose_code_cannot_be_looked_up_is_not_made(stage: Any, monkeypatch: Any) -> None:
    """Symptom: the connection ended with a traceback instead of an answer."""

    async def fail(code: RoomCode) -> Any:
        raise FULL

    monkeypatch.setattr(stage.store, "room", fail)
    answer = await stage.client("ana").ask(messages.CreateRoom, game="virus-wars")
    assert answer.code == "storage-unavailable"


async def test_who_is_noted_as_gone_may_look_on_while_nothing_can_be_stored(match_of: Any) -> None:
    """Symptom: a player who had gone could not see the room again while the disk was full."""
    stage, ana, rui, code = match_of
    rui.session.close()
    await ana.hear_event(SeatDisconnected)
    stage.store.failures[code] = FULL
    again = stage.client("rui")
    heard_count = len(ana.heard)
    entered = await again.watch(code)
    assert (entered.seat, entered.head.seats[1].is_connected) == (1, True)
    await ana.hear(lambda said: isinstance(said, Update) and said.head.seats[1].is_connected, heard_count)
    room = await stage.room(code)
    assert room.state.away_since_ms[1] is not None
    stage.store.failures.clear()
    assert await ana.hear_event(SeatConnected) == SeatConnected(1)
    assert room.state.away_since_ms == (None, None)
    assert await ana.play(code, 0, "a3", "a2") is None


async def test_a_room_after_a_restart_is_seen_while_nothing_can_be_stored(open_stage: Any) -> None:
    """Symptom: what a room has to note first after a restart kept everybody out of it on a full disk."""
    async with open_stage() as stage:
        ana, rui = stage.client("ana"), stage.client("rui")
        code = (await ana.create()).head.room
        await rui.join(code)
    async with open_stage(now_ms=1_001_000) as stage:
        stage.store.failures[code] = FULL
        ana, eva = stage.client("ana"), stage.client("eva")
        assert (await ana.watch(code)).seat == 0
        assert (await eva.watch(code)).seat is None
        assert (await ana.play(code, 0, "a3", "a2")).code == "storage-unavailable"
        stage.store.failures.clear()
        assert await ana.play(code, 0, "a3", "a2") is None
        kinds = [type(event.event) for event in await stage.stored(code)]
        assert kinds.count(RoomResumed) == 1
        assert kinds.index(RoomResumed) < kinds.index(ActionsPlayed)


async def test_a_private_room_takes_its_secret_while_nothing_can_be_stored(stage: Any) -> None:
    ana, eva = stage.client("ana"), stage.client("eva")
    code = (await ana.create(settings=RoomSettings(is_private=True))).head.room
    stage.store.failures[code] = FULL
    assert (await eva.watch(code)).code == "bad-secret"


async def test_a_disconnection_that_could_not_be_stored_is_stored_later(match_of: Any) -> None:
    """Symptom: after a full disk a player who had gone counted as present for ever."""
    stage, ana, rui, code = match_of
    stage.store.failures[code] = FULL
    rui.session.close()
    await stage.store.refused()
    stage.store.failures.clear()
    assert await ana.hear_event(SeatDisconnected) == SeatDisconnected(1)


async def test_a_deadline_that_could_not_be_stored_comes_later(match_of: Any) -> None:
    stage, ana, _, code = match_of
    stage.store.failures[code] = FULL
    stage.now_ms += stage.config.idle_match_ms
    await stage.store.refused()
    room = await stage.room(code)
    assert room.state.phase == "playing"
    stage.store.failures.clear()
    await stage.turn_clock_until(lambda: room.state.phase != "playing")
    assert await ana.hear_event(MatchEnded) == MatchEnded(1, None, "aborted")


async def test_a_room_behind_its_log_takes_in_what_is_there_and_tells_it(match_of: Any) -> None:
    """A write that was given up may have reached the disk: then the room must not refuse for ever."""
    stage, ana, rui, code = match_of
    stage.store.after = StorageUnavailableError("given up")
    assert (await ana.play(code, 0, "a3", "a2")).code == "storage-unavailable"
    assert (await stage.room(code)).state.match.actions == ()
    answer = await ana.play(code, 0, "a3", "a2")
    assert answer.code == "storage-unavailable"
    assert (await rui.hear_event(ActionsPlayed)).actions == ("a3", "a2")
    assert await ana.play(code, 0, "a3", "a2") is None
    assert await rui.play(code, 2, "d2", "d3") is None
    seqs = [event.seq for said in rui.heard if isinstance(said, Update) for event in said.events]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))


async def test_a_room_behind_a_log_that_cannot_be_read_tries_again(match_of: Any) -> None:
    stage, ana, _, code = match_of
    stage.store.failures[code] = ConflictError(code, 1, 2)
    stage.store.read_failure = FULL
    assert (await ana.play(code, 0, "a3", "a2")).code == "storage-unavailable"
    stage.store.failures.clear()
    stage.store.read_failure = None
    assert await ana.play(code, 0, "a3", "a2") is None


async def test_a_room_that_another_server_took_over_is_dropped_and_loaded_again(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    room = await stage.room(code)
    incarnation = (await stage.store.take_over(code)).incarnation
    events, row = await stage.store.load(code), await stage.store.room(code)
    assert (await ana.play(code, 0, "a3", "a2")).code == "storage-unavailable"
    for client in (ana, rui):
        assert (await client.hear_gone()).reason == "another server has taken over this room"
    await room.unloaded()
    assert (await stage.store.load(code), await stage.store.room(code)) == (events, row)
    assert (await stage.store.take_over(code)).incarnation > incarnation
    for client in (ana, rui):
        assert (await client.watch(code)).head.seq == len(events)
    assert await ana.play(code, 0, "a3", "a2") is None


async def test_missed_events_that_cannot_be_read_let_nobody_in_half(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    ana.session.close()
    rui.session.close()
    await stage.unloaded(code)
    again = stage.client("rui")
    await stage.room(code)
    stage.store.read_failure = FULL
    assert (await again.watch(code, since=1)).code == "storage-unavailable"
    assert not again.session.is_in(code)
    stage.store.read_failure = None
    assert (await again.watch(code, since=1)).seat == 1


async def test_a_fault_of_ours_stops_that_room_and_no_other(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    other = (await rui.create()).head.room
    stage.store.failures[code] = ZeroDivisionError("a bug")
    answer = await ana.play(code, 0, "a3", "a2")
    assert (answer.code, code in answer.message) == ("room-damaged", True)
    stage.store.failures.clear()
    assert (await rui.ask(messages.Resign, room=code, match=1)).code == "room-damaged"
    assert (await stage.client("eva").watch(code)).code == "room-damaged"
    assert isinstance(await ana.join(other), RoomEntered)
    stage.now_ms += stage.config.idle_match_ms
    assert (await ana.hear_event(MatchEnded)).termination == "aborted"
    assert len((await stage.room(code)).state.match.actions) == 0


async def test_a_damaged_room_stays_alone_when_it_has_left_memory(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    stage.store.failures[code] = ZeroDivisionError("a bug")
    await ana.play(code, 0, "a3", "a2")
    for client in (ana, rui):
        client.session.close()
    await stage.unloaded(code)
    stage.store.failures.clear()
    assert (await stage.client("ana").watch(code)).code == "room-damaged"
    stage.now_ms += stage.config.idle_match_ms
    changes_count = len(stage.changes)
    await stage.directory.wake_due_rooms()
    assert (stage.directory.rooms_count, len(stage.changes)) == (0, changes_count)


@pytest.mark.parametrize("failure", [DamagedRoomError("ABCDE", 2, "altered"), KeyError("a bug")])
async def test_a_room_that_cannot_be_read_is_left_alone(stage: Any, failure: Exception) -> None:
    """Symptom: one such room ended the rounds in which all rooms are woken."""
    ana = stage.client("ana")
    code = (await ana.create()).head.room
    other = (await ana.create()).head.room
    ana.session.close()
    await stage.unloaded(code)
    await stage.unloaded(other)
    stage.store.read_failure = failure
    eva = stage.client("eva")
    assert (await eva.watch(code)).code == "room-damaged"
    stage.store.read_failure = None
    assert (await eva.watch(code)).code == "room-damaged"
    stage.now_ms += stage.config.waiting_room_ms
    await stage.directory.wake_due_rooms()
    await stage.unloaded(other)
    assert (await eva.watch(other)).code == "no-such-room"


async def test_a_room_that_cannot_be_read_now_is_read_later(stage: Any) -> None:
    ana = stage.client("ana")
    code = (await ana.create()).head.room
    ana.session.close()
    await stage.unloaded(code)
    stage.store.read_failure = FULL
    assert (await stage.client("eva").watch(code)).code == "storage-unavailable"
    await stage.directory.wake_due_rooms()
    stage.store.read_failure = None
    assert isinstance(await stage.client("eva").watch(code), RoomEntered)
