"""A living room: store, acknowledge, announce; deadlines, presence, leaving memory and coming back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.errors import CommandError
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import (
    ActionsPlayed,
    Event,
    MatchEnded,
    RoomClosed,
    Said,
    SeatConnected,
    SeatDisconnected,
    SeatFreed,
    SeatTaken,
    SequencedEvent,
)
from tabuleiro.protocol.messages import Error, Ok, RoomEntered, Update
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room.commands import Play, Say
from tabuleiro_server.rooms import live_room
from tabuleiro_server.rooms.live_room import RECENT_EVENTS_COUNT, RoomUnloadedError

BLITZ = RoomSettings(time_control=Fischer(60_000, 0))


async def test_nothing_is_said_before_the_commit_and_the_sender_is_answered_first(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    room = await stage.room(code)
    stage.store.gate.clear()
    seq, heard_counts = room.state.seq, (len(ana.heard), len(rui.heard))
    playing = asyncio.create_task(ana.play(code, 0, "a3", "a2"))
    await stage.store.reached()
    assert (len(ana.heard), len(rui.heard)) == heard_counts
    assert (room.state.seq, room.state.match.actions) == (seq, ())
    assert len(await stage.stored(code)) == seq
    stage.store.gate.set()
    assert await playing is None
    await rui.hear_event(ActionsPlayed)
    ok, update = [said for said in ana.heard[heard_counts[0] :] if isinstance(said, Ok | Update)][:2]
    assert isinstance(ok, Ok)
    assert [type(event.event) for event in update.events] == [ActionsPlayed]
    assert len(await stage.stored(code)) == seq + 1


async def test_a_client_that_vanishes_while_it_waits_cancels_nothing(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    stage.store.gate.clear()
    playing = asyncio.create_task(ana.play(code, 0, "a3", "a2"))
    await stage.store.reached()
    playing.cancel()
    ana.session.close()
    with pytest.raises(asyncio.CancelledError):
        await playing
    stage.store.gate.set()
    played = await rui.hear_event(ActionsPlayed)
    assert played.actions == ("a3", "a2")
    assert await rui.play(code, 2, "d2", "d3") is None


async def test_who_vanishes_while_entering_has_the_seat_and_is_not_kept_as_a_visitor(stage: Any) -> None:
    ana, rui = stage.client("ana"), stage.client("rui")
    code = (await ana.create()).head.room
    stage.store.gate.clear()
    joining = asyncio.create_task(rui.join(code))
    await stage.store.reached()
    joining.cancel()
    rui.session.close()
    stage.store.gate.set()
    assert (await ana.hear_event(SeatTaken)).account == rui.account
    assert (await ana.hear_event(SeatDisconnected)).seat == 1
    assert (await stage.room(code)).subscribers.accounts() == {ana.account}


async def test_too_many_waiting_commands_are_refused_as_busy(open_stage: Any) -> None:
    async with open_stage(room_queue_count=2) as stage:
        ana = stage.client("ana")
        code = (await ana.create()).head.room
        room = await stage.room(code)
        stage.store.gate.clear()
        first = asyncio.create_task(ana.ask(messages.Say, room=code, text="one"))
        await stage.store.reached()
        waiting = [room.perform(Say(ana.account, "ana", f"{n}")) for n in range(2)]
        with pytest.raises(CommandError, match="too many commands wait"):
            await room.perform(Say(ana.account, "ana", "2"))
        stage.store.gate.set()
        assert await first is None
        await asyncio.gather(*waiting)
        assert [line.text for line in room.state.chat] == ["one", "0", "1"]


async def test_a_flag_falls_by_the_timer(open_stage: Any) -> None:
    async with open_stage() as stage:
        ana, rui = stage.client("ana"), stage.client("rui")
        code = (await ana.create(settings=BLITZ)).head.room
        await rui.join(code)
        stage.now_ms += 60_000
        assert await rui.hear_event(MatchEnded) == MatchEnded(1, 1, "timeout")


async def test_commands_that_wait_do_not_hold_a_flag_up(open_stage: Any) -> None:
    """Symptom: while lines of chat came one after the other, no deadline was looked at."""
    async with open_stage(idle_room_unload_ms=60_000) as stage:
        ana, rui = stage.client("ana"), stage.client("rui")
        code = (await ana.create(settings=BLITZ)).head.room
        await rui.join(code)
        stage.now_ms += 60_000
        await asyncio.gather(*(ana.ask(messages.Say, room=code, text="wait!") for _ in range(3)))
        kinds = [type(event.event) for event in await stage.stored(code)]
        assert kinds.index(MatchEnded) < len(kinds) - 1 - kinds[::-1].index(Said)


async def test_no_more_than_what_came_in_the_same_turn_goes_before_what_is_due(open_stage: Any) -> None:
    async with open_stage(idle_room_unload_ms=60_000) as stage:
        ana, rui = stage.client("ana"), stage.client("rui")
        code = (await ana.create(settings=BLITZ)).head.room
        await rui.join(code)
        await presence_told(rui)
        stage.now_ms += 60_000
        for text in ("just in time", "late"):
            assert await ana.ask(messages.Say, room=code, text=text) is None
        kinds = [type(event.event) for event in await stage.stored(code)]
        assert [kind for kind in kinds if kind in (MatchEnded, Said)] == [Said, MatchEnded, Said]


async def test_a_flag_falls_that_was_hung_by_a_command_to_a_room_at_rest(open_stage: Any) -> None:
    async with open_stage(idle_room_unload_ms=60_000) as stage:
        ana, rui = stage.client("ana"), stage.client("rui")
        code = (await ana.create()).head.room
        await rui.join(code)
        await ana.ask(messages.Abort, room=code, match=1)
        await presence_told(rui)
        await ana.ask(messages.ChangeSettings, room=code, settings=RoomSettings(time_control=Fischer(1_000, 0)))
        for player in (ana, rui):
            assert await player.ask(messages.Offer, room=code, kind="rematch") is None
        stage.now_ms += 1_000
        flagged = MatchEnded(2, 1, "timeout")
        await rui.hear(lambda said: isinstance(said, Update) and flagged in [event.event for event in said.events])


async def test_a_command_to_a_room_at_rest_is_under_way_when_perform_returns(match_of: Any) -> None:
    stage, ana, _, code = match_of
    room = await stage.room(code)
    await presence_told(ana)
    stage.store.gate.clear()
    first, second = (room.perform(Say(ana.account, "ana", text)) for text in ("one", "two"))
    await stage.store.reached()
    assert not first.done()
    assert room.state.chat == ()
    stage.store.gate.set()
    await asyncio.gather(first, second)
    assert [line.text for line in room.state.chat] == ["one", "two"]


async def presence_told(client: Any) -> None:
    """Wait until who is in the room was told, after which nothing of it waits to be done."""
    await client.hear(lambda said: isinstance(said, Update) and not said.events)


async def test_a_closed_room_lets_its_visitors_go(stage: Any) -> None:
    ana, eva = stage.client("ana"), stage.client("eva")
    code = (await ana.create()).head.room
    await eva.watch(code)
    stage.now_ms += stage.config.waiting_room_ms
    assert (await ana.hear_gone()).reason == "the room is closed"
    assert (await eva.hear_gone()).room == code
    assert await ana.hear_event(RoomClosed)
    await stage.unloaded(code)
    assert stage.directory.rooms_count == 0
    assert not ana.session.is_in(code)
    assert (await eva.watch(code)).code == "no-such-room"


async def test_a_command_that_waits_when_its_room_closes_is_refused(stage: Any) -> None:
    ana, eva = stage.client("ana"), stage.client("eva")
    code = (await ana.create()).head.room
    await eva.watch(code)
    await presence_told(eva)
    stage.store.gate.clear()
    leaving = asyncio.create_task(ana.ask(messages.LeaveRoom, room=code))
    await stage.store.reached()
    talking = asyncio.create_task(eva.ask(messages.Say, room=code, text="wait!"))
    await asyncio.sleep(0)
    stage.store.gate.set()
    assert await leaving is None
    assert (await talking).code == "no-such-room"


async def test_the_last_connection_of_a_player_is_noted_as_gone_and_the_first_as_back(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    phone = stage.client("rui")
    await phone.watch(code)
    rui.session.close()
    await ana.hear(lambda said: isinstance(said, Update) and not said.events and said.head.seats[1].is_connected)
    phone.session.close()
    assert await ana.hear_event(SeatDisconnected) == SeatDisconnected(1)
    desk = stage.client("rui")
    entered = await desk.watch(code)
    assert (entered.seat, entered.head.seats[1].is_connected) == (1, True)
    assert await ana.hear_event(SeatConnected) == SeatConnected(1)


def presence_in(stored: list[SequencedEvent]) -> list[type[Event]]:
    kinds = [type(event.event) for event in stored]
    return [kind for kind in kinds if kind in (SeatConnected, SeatDisconnected)]


async def is_seen(ana: Any, heard_count: int, *, is_connected: bool) -> None:
    """Wait until ana is told whether rui is there."""
    await ana.hear(
        lambda said: isinstance(said, Update) and said.head.seats[1].is_connected is is_connected, heard_count
    )


async def test_who_comes_and_goes_all_the_time_is_seen_but_not_stored_each_time(match_of: Any) -> None:
    """Symptom: a client whose connection broke every few seconds made thousands of events a day."""
    stage, ana, rui, code = match_of
    for _ in range(5):
        heard_count = len(ana.heard)
        rui.session.close()
        await is_seen(ana, heard_count, is_connected=False)
        heard_count = len(ana.heard)
        rui = stage.client("rui")
        assert (await rui.watch(code)).seat == 1
        await is_seen(ana, heard_count, is_connected=True)
    assert presence_in(await stage.stored(code)) == [SeatDisconnected, SeatConnected]


async def comes_and_goes(stage: Any, ana: Any, rui: Any, code: str) -> None:
    """Let rui go and return twice, and go for good."""
    for _ in range(2):
        heard_count = len(ana.heard)
        rui.session.close()
        await is_seen(ana, heard_count, is_connected=False)
        rui = stage.client("rui")
        await rui.watch(code)
    rui.session.close()
    await is_seen(ana, len(ana.heard), is_connected=False)


async def test_who_stays_away_after_coming_and_going_is_stored_as_gone_in_the_end(
    match_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_room, "DEPARTURE_INTERVAL_MS", 50)
    stage, ana, rui, code = match_of
    await comes_and_goes(stage, ana, rui, code)
    room = await stage.room(code)
    assert room.state.away_since_ms == (None, None)
    assert presence_in(await stage.stored(code)) == [SeatDisconnected, SeatConnected]
    stage.now_ms += 50
    await stage.until(lambda: room.state.away_since_ms[1] is not None)
    assert room.state.away_since_ms == (None, stage.now_ms - 50)
    assert presence_in(await stage.stored(code)) == [SeatDisconnected, SeatConnected, SeatDisconnected]


async def test_others_are_seen_at_once_while_a_going_waits_to_be_stored(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    await comes_and_goes(stage, ana, rui, code)
    await stage.client("eva").watch(code)
    await ana.hear(lambda said: isinstance(said, Update) and said.head.watchers == 1)


async def test_two_connections_of_one_account_both_see_the_seat(match_of: Any) -> None:
    stage, _, rui, code = match_of
    phone = stage.client("rui")
    assert (await phone.join(code)).seat == (await phone.watch(code)).seat == 1
    await phone.play(code, 0, "a3")
    room = await stage.room(code)
    assert room.watchers_count == 0
    assert len(room.subscribers) == 3
    assert rui.session.is_in(code)


async def test_watchers_are_counted_by_account_and_told_to_all(match_of: Any) -> None:
    stage, ana, _, code = match_of
    eva, eva_too = stage.client("eva"), stage.client("eva")
    await eva.watch(code)
    await eva_too.watch(code)
    await ana.hear(lambda said: isinstance(said, Update) and said.head.watchers == 1)
    eva.session.close()
    eva_too.session.close()
    room = await stage.room(code)
    await stage.until(lambda: room.watchers_count == 0)


async def test_an_idle_room_leaves_memory_and_comes_back_the_same(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    await ana.play(code, 0, "a3", "a2")
    room = await stage.room(code)
    for client in (ana, rui):
        client.session.close()
    await stage.unloaded(code)
    assert stage.directory.rooms_count == 0
    with pytest.raises(RoomUnloadedError):
        await room.perform(Play(rui.account, 1, 2, ("d2", "d3")))
    again = await stage.room(code)
    assert again is not room
    assert again.state == room.state


async def test_a_request_finds_a_room_that_has_just_left_memory(stage: Any) -> None:
    ana = stage.client("ana")
    code = (await ana.create()).head.room
    ana.session.close()
    await stage.unloaded(code)
    assert isinstance(await stage.client("ana").watch(code), RoomEntered)


async def test_a_room_with_visitors_stays_in_memory(stage: Any) -> None:
    ana = stage.client("ana")
    code = (await ana.create()).head.room
    room = await stage.room(code)
    stage.now_ms += 1_000
    await ana.hear(lambda said: isinstance(said, Update))
    assert await stage.room(code) is room


async def test_an_empty_seat_is_freed_in_a_room_that_had_left_memory(stage: Any) -> None:
    ana = stage.client("ana")
    code = (await ana.create()).head.room
    ana.session.close()
    await stage.unloaded(code)
    stage.now_ms += stage.config.empty_seat_ms
    await stage.directory.wake_due_rooms()
    await stage.unloaded(code)
    kinds = [type(event.event) for event in await stage.stored(code)]
    assert kinds[-2:] == [SeatFreed, RoomClosed]


@pytest.mark.parametrize("lines_count", [3, RECENT_EVENTS_COUNT + 20])
async def test_a_client_resumes_with_exactly_the_events_it_missed(match_of: Any, lines_count: int) -> None:
    """Also when they are so many that the oldest are read from disk."""
    stage, ana, rui, code = match_of
    room = await stage.room(code)
    since = room.state.seq
    rui.session.close()
    await ana.hear_event(SeatDisconnected)
    for number in range(lines_count):
        stage.now_ms += 10_000
        await ana.ask(messages.Say, room=code, text=f"line {number}")
    entered = await stage.client("rui").watch(code, since=since)
    assert entered.snapshot is None
    assert [event.seq for event in entered.events] == list(range(since + 1, entered.head.seq + 1))
    assert list(entered.events) == (await stage.stored(code))[since:]
    assert type(entered.events[-1].event) is SeatConnected


async def test_who_missed_very_much_gets_a_snapshot(match_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Symptom: the events of days did not fit in one message, and the room could not be entered again."""
    monkeypatch.setattr(live_room, "MISSED_EVENTS_COUNT", 5)
    stage, ana, _, code = match_of
    room = await stage.room(code)
    since = room.state.seq
    for missed_count in range(1, 7):
        stage.now_ms += 10_000
        await ana.ask(messages.Say, room=code, text="hello")
        entered = await stage.client("eva").watch(code, since=since)
        assert (entered.snapshot is None) == (missed_count <= 5)
        assert len(entered.events) == (missed_count if missed_count <= 5 else 0)


@pytest.mark.parametrize("since", [None, 10_000])
async def test_who_knows_nothing_or_the_future_gets_a_snapshot(match_of: Any, since: int | None) -> None:
    stage, ana, _, code = match_of
    await ana.play(code, 0, "a3", "a2")
    entered = await stage.client("eva").watch(code, since=since)
    assert (entered.snapshot.actions, entered.events) == (("a3", "a2"), ())


async def test_who_is_up_to_date_gets_nothing(match_of: Any) -> None:
    stage, _, _, code = match_of
    room = await stage.room(code)
    entered = await stage.client("eva").watch(code, since=room.state.seq)
    assert (entered.snapshot, entered.events) == (None, ())


async def test_a_play_in_flight_is_settled_after_resuming(match_of: Any) -> None:
    stage, ana, _, code = match_of
    assert await ana.play(code, 0, "a3", "a2") is None
    seq = (await stage.room(code)).state.seq
    ana.session.close()
    again = stage.client("ana")
    await again.watch(code, since=seq)
    assert await again.play(code, 0, "a3", "a2") is None
    assert (await stage.room(code)).state.match.actions == ("a3", "a2")
    assert isinstance(await again.play(code, 0, "b3", "b2"), Error)
