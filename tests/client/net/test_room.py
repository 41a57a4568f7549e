from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest

from tabuleiro.errors import ClientError, CommandError, ConnectionLostError, UnknownOutcomeError
from tabuleiro.ids import AccountId, TimestampMs
from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.events import OfferView
from tabuleiro.protocol.messages import (
    Abort,
    Announcement,
    Answer,
    ChangeSettings,
    ClaimWin,
    Error,
    Hello,
    JoinRoom,
    LeaveRoom,
    Mute,
    Offer,
    Ok,
    Play,
    Resign,
    RoomEntered,
    RoomGone,
    Say,
    SeatBot,
    Snapshot,
    SwapSeats,
    TakeHint,
    Undo,
    Update,
    WatchRoom,
)
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.entering import Entrance
from tabuleiro_client.net.link import Backoff, Link, LinkSettings, LinkState
from tabuleiro_client.net.room import (
    EnteredRoom,
    Gone,
    Happened,
    HeadChanged,
    Lost,
    Refreshed,
    Restored,
    Said,
    enter,
)
from tabuleiro_client.net.subscription import Subscription

SETTINGS = LinkSettings(backoff=Backoff(first_s=0, limit_s=0))
CODE = "K7MQ4"
WATCH = WatchRoom(id=0, room=CODE)


@pytest.fixture
async def link(server):
    async with Link(server.url, name="ana", settings=SETTINGS) as link:
        yield link


async def test_updates_come_as_changes_with_the_position_of_each(server, link):
    async with await enter(link, WATCH) as room:
        await server.opponent_plays("b3", "c2")
        await server.tell(Update(server.room.head()))
        change = await anext(room)
        assert isinstance(change, Happened)
        assert change.step.after == server.room.state
        assert await anext(room) == HeadChanged(server.room.head())


async def test_events_of_the_time_without_connection_come_before_the_word_that_all_is_well(server, link):
    async with await enter(link, WATCH) as room:
        await server.cut()
        server.room.play(0, "b3", "c2")
        changes = [await anext(room) for _ in range(3)]
        assert [type(change) for change in changes] == [Lost, Happened, Restored]
        assert room.mirror.state == server.room.state
    assert [message.since for message in server.received if isinstance(message, WatchRoom)] == [None, 1]


async def test_an_answer_too_late_costs_no_snapshot_though_news_came_in_the_meantime(server):
    """Symptom: over a slow network the missing events came as a snapshot, so that nobody saw what had happened."""
    patient = LinkSettings(backoff=Backoff(first_s=0, limit_s=0))
    withheld = iter([True])

    def tell_but_not_answer(message, connection):
        if isinstance(message, Hello):
            # Only for the request after it: a busy machine may take longer than that for a connection.
            link.settings = replace(patient, request_timeout_s=0.2)
        if isinstance(message, WatchRoom) and message.since is not None and next(withheld, False):
            link.settings = patient
            return Update(server.room.head())
        return None

    async with Link(server.url, name="ana", settings=patient) as link, await enter(link, WATCH) as room:
        server.on_message = tell_but_not_answer
        await server.cut()
        server.room.play(0, "b3", "c2")
        changes = [await anext(room) for _ in range(4)]
        assert [type(change) for change in changes] == [Lost, Lost, Happened, Restored]
    assert [message.since for message in server.received if isinstance(message, WatchRoom)] == [None, 1, 1]


async def test_a_move_in_flight_when_the_connection_breaks_is_sent_again_and_made_once(server, link):
    async with await enter(link, WATCH) as room:
        server.cut_before_reply_to = Play
        await room.play(["b3", "c2"])
        assert server.room.actions == ["b3", "c2"]
        plays = [(message.ply, message.actions) for message in server.received if isinstance(message, Play)]
        assert plays == [(0, ("b3", "c2"))] * 2
        assert [type(await anext(room)) for _ in range(3)] == [Lost, Happened, Restored]


@pytest.fixture
def waiting(server):
    """A server that has told nothing yet of the match that has begun."""

    def entered(message, _):
        if not isinstance(message, WatchRoom):
            return None
        head = msgspec.structs.replace(server.room.head(), seq=0, phase="waiting", match=None)
        return Ok(message.id, RoomEntered(head, 0, Snapshot(())))

    server.on_message = entered
    return entered


async def test_a_move_waits_for_news_of_a_match_that_has_begun_meanwhile(server, link, waiting):
    """Symptom: "no match is being played here", because the update was still on its way."""

    def play_and_tell_all(message, connection):
        if not isinstance(message, Play):
            return waiting(message, connection)
        assert (message.match, message.ply, message.revision) == (1, 0, 0)
        server.room.play(0, *message.actions)
        server.update_to_tell = Update(server.room.head(), tuple(server.room.events))
        return Ok(message.id)

    server.on_message = play_and_tell_all
    async with await enter(link, WATCH) as room:
        assert room.mirror.match is None
        await room.play(["b3"])
        assert room.mirror.actions == ["b3"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda room: room.play(["b3"]),
        lambda room: room.consider(["b3"]),
        lambda room: room.undo(0),
        lambda room: room.take_hint(),
        lambda room: room.resign(),
        lambda room: room.abort(),
        lambda room: room.claim_win(),
    ],
    ids=["play", "consider", "undo", "take_hint", "resign", "abort", "claim_win"],
)
async def test_the_server_is_asked_if_a_match_has_begun(server, link, waiting, ask):
    def refuse(message, connection):
        if isinstance(message, WatchRoom):
            return waiting(message, connection)
        return Error(message.id, "wrong-phase", "it is waiting") if hasattr(message, "match") else None

    async with await enter(link, WATCH) as room:
        server.on_message = refuse
        with pytest.raises(ClientError, match="no match is being played here"):
            await ask(room)
        assert server.received[-1].match == 1


async def test_a_move_made_while_the_connection_is_down_waits_for_it(server, link):
    async with await enter(link, WATCH) as room:
        await server.cut()
        assert isinstance(await anext(room), Lost)
        await room.play(["b3"])
        assert server.room.actions == ["b3"]


async def test_a_move_is_done_when_the_mirror_holds_it_not_when_the_head_changes_before(server, link):
    async with await enter(link, WATCH) as room:
        head = server.room.head()
        other_clock = msgspec.structs.replace(head.match, started_at_ms=TimestampMs(1))
        event = server.room.play(0, "b3", "c2")
        server.on_message = lambda message, connection: Ok(message.id) if isinstance(message, Play) else None
        playing = asyncio.create_task(room.play(["b3", "c2"]))
        server.update_to_tell = Update(msgspec.structs.replace(head, match=other_clock))
        assert isinstance(await anext(room), HeadChanged)
        assert not playing.done()
        await server.tell(Update(server.room.head(), (event,)))
        await playing
        assert room.mirror.actions == ["b3", "c2"]


async def test_a_refused_move_is_a_command_error(server, link):
    def refuse(message, connection):
        return Error(message.id, "not-your-turn", "wait") if isinstance(message, Play) else None

    server.on_message = refuse
    async with await enter(link, WATCH) as room:
        with pytest.raises(CommandError, check=lambda error: error.code == "not-your-turn"):
            await room.play(["b3"])


REQUESTS = [
    (lambda room: room.undo(4), Undo),
    (lambda room: room.take_hint(), TakeHint),
    (lambda room: room.resign(), Resign),
    (lambda room: room.abort(), Abort),
    (lambda room: room.claim_win(), ClaimWin),
    (lambda room: room.offer("draw"), Offer),
    (lambda room: room.answer("draw", accept=False), Answer),
    (lambda room: room.say("hello"), Say),
    (lambda room: room.mute("rui"), Mute),
    (lambda room: room.seat_bot(1, "random"), SeatBot),
    (lambda room: room.swap_seats(), SwapSeats),
    (lambda room: room.change_settings(RoomSettings()), ChangeSettings),
    (lambda room: room.leave(), LeaveRoom),
]
"""Every request but `play`."""

each_request = pytest.mark.parametrize(("ask", "kind"), REQUESTS, ids=[kind.__name__ for _, kind in REQUESTS])


def sent(server, kind):
    return [message for message in server.received if isinstance(message, kind)]


@each_request
async def test_a_request_whose_answer_is_lost_is_sent_once_and_nobody_claims_to_know_what_became_of_it(
    server, link, ask, kind
):
    async with await enter(link, WATCH) as room:
        server.cut_before_reply_to = kind
        with pytest.raises(UnknownOutcomeError, match="the connection broke"):
            await ask(room)
        while not isinstance(await anext(room), Restored):
            pass
    assert len(sent(server, kind)) == 1


@each_request
async def test_a_request_without_a_connection_is_not_sent(server, link, ask, kind):
    server.lets_in.set()
    async with await enter(link, WATCH) as room:
        server.lets_in.clear()
        await server.cut()
        assert isinstance(await anext(room), Lost)
        with pytest.raises(ConnectionLostError, match="nothing was sent") as problem:
            await ask(room)
        assert not isinstance(problem.value, UnknownOutcomeError)
        server.lets_in.set()
        assert isinstance(await anext(room), Restored)
    assert sent(server, kind) == []


async def test_what_was_done_though_its_answer_was_lost_is_seen_after_coming_back(server, link):
    async with await enter(link, WATCH) as room:
        server.cut_before_reply_to = Offer
        with pytest.raises(UnknownOutcomeError):
            await room.offer("draw")
        changes = [await anext(room) for _ in range(3)]
        assert [type(change) for change in changes] == [Lost, Happened, Restored]
        assert room.mirror.head.offers == (OfferView("draw", 0),)


async def test_a_request_between_a_new_connection_and_entering_the_room_on_it_is_not_sent(server, link):
    is_asked = asyncio.Event()
    may_enter = asyncio.Event()

    async def enter_late(message, connection):
        is_asked.set()
        await may_enter.wait()
        await connection.send(MsgpackCodec().encode(Ok(message.id, server.room.entered(message.since))))

    def hold_back(message, connection):
        if isinstance(message, WatchRoom):
            tasks.append(asyncio.create_task(enter_late(message, connection)))
            return Announcement("wait")
        return None

    tasks = []
    async with await enter(link, WATCH) as room:
        server.on_message = hold_back
        await server.cut()
        await is_asked.wait()
        with pytest.raises(ConnectionLostError, match="nothing was sent"):
            await room.offer("draw")
        may_enter.set()
        while not isinstance(await anext(room), Restored):
            pass
        await room.offer("draw")
    assert len(sent(server, Offer)) == 1


@pytest.mark.parametrize("has_number", [True, False], ids=["this server", "a server that numbers no answers"])
async def test_on_return_from_a_request_the_mirror_holds_what_was_done(server, link, has_number):
    server.room.play(0, "b3")
    async with await enter(link, WATCH) as room:
        event = server.room.undo(0)
        seq = event.seq if has_number else None
        server.on_message = lambda message, connection: (
            Ok(message.id, seq=seq) if isinstance(message, Undo) else None
        )
        undoing = asyncio.create_task(room.undo(0))
        server.update_to_tell = Update(server.room.head())
        while not sent(server, Undo):
            await anext(room)
        if has_number:
            assert not undoing.done()
            await server.tell(Update(server.room.head(), (event,)))
        await undoing
        assert not has_number or room.mirror.actions == []


async def test_the_time_by_which_clocks_are_read_is_never_behind_the_servers(server, link):
    async with await enter(link, WATCH) as room:
        assert room.server_now_ms() >= 0
        await server.tell(Update(msgspec.structs.replace(server.room.head(), now_ms=TimestampMs(10**9))))
        await anext(room)
        assert room.server_now_ms() >= 10**9


async def test_another_digest_brings_a_snapshot(server, link):
    async with await enter(link, WATCH) as room:
        event = server.room.play(0, "b3", "c2")
        await server.tell(server.with_other_digest(Update(server.room.head(), (event,))))
        assert [type(await anext(room)) for _ in range(2)] == [Happened, Refreshed]
        assert not room.mirror.is_stale


async def test_a_server_whose_snapshot_contradicts_itself_ends_the_room_with_the_reason(server, link):
    async with await enter(link, WATCH) as room:
        server.room.actions.append("a1")
        await server.tell(Update(server.room.head()))
        with pytest.raises(ClientError, match="not the one its moves lead to"):
            [change async for change in room]
        with pytest.raises(ClientError):
            await room.play(["b3"])


async def test_a_room_that_the_server_takes_away_and_does_not_know_any_more_is_gone(server, link):
    async with await enter(link, WATCH) as room:
        server.on_message = lambda message, connection: Error(message.id, "no-such-room", "no room K7MQ4")
        await server.tell(RoomGone("OTHER", "not this one"))
        await server.tell(RoomGone(CODE, "it was closed"))
        assert [change async for change in room] == [Gone("it was closed")]
        with pytest.raises(ConnectionLostError, match="no longer in room"):
            await room.play(["b3"])


async def test_a_room_that_is_unknown_after_a_restart_is_gone(server, link):
    async with await enter(link, WATCH) as room:

        def forget(message, connection):
            return Error(message.id, "no-such-room", "no room K7MQ4") if isinstance(message, WatchRoom) else None

        server.on_message = forget
        await server.cut()
        assert [type(change) async for change in room] == [Lost, Gone]


async def test_words_of_the_server_are_changes(server, link):
    async with await enter(link, WATCH) as room:
        await server.tell(Announcement("restart at noon"))
        await server.tell(Error(None, "bad-message", "what?"))
        assert [await anext(room) for _ in range(2)] == [Said("restart at noon"), Said("what?")]


async def test_leaving_the_context_leaves_no_task_behind(server, link):
    before = asyncio.all_tasks()
    async with await enter(link, WATCH):
        assert len(asyncio.all_tasks() - before) == 1
    assert asyncio.all_tasks() == before


async def test_a_move_lost_on_a_connection_that_the_room_has_not_heard_of_waits_for_it(one_room):
    # It was sent again and again without letting anything else happen.
    requests = []

    async def request(message):
        requests.append(message)
        assert len(requests) < 3
        raise ConnectionLostError("the connection broke")

    link = SimpleNamespace(
        account=AccountId("a1"),
        connection_count=1,
        state=LinkState.CONNECTED,
        request=request,
        unsubscribe=lambda subscription: None,
    )
    entrance = Entrance(link, Subscription(10), 1, WATCH, one_room().entered())  # type: ignore[arg-type]
    async with EnteredRoom(entrance.link, entrance) as room:
        playing = asyncio.create_task(room.play(["b3"]))
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(requests) == 1
        assert not playing.done()
        playing.cancel()


async def test_leaving_a_room_twice_is_fine_and_a_refused_entering_leaves_nothing_behind(server, link):
    room = await enter(link, WATCH)
    await room.close()
    await room.close()
    assert await room.next_change() is None
    before = asyncio.all_tasks()
    with pytest.raises(CommandError, match="not part of this test"):
        await enter(link, JoinRoom(id=0, room=CODE))
    assert asyncio.all_tasks() == before
