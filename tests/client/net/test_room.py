from __future__ import annotations

import asyncio
from types import SimpleNamespace

import msgspec
import pytest

from tabuleiro.errors import ClientError, CommandError, ConnectionLostError
from tabuleiro.ids import AccountId, TimestampMs
from tabuleiro.protocol.events import OfferView, SeatsSwapped
from tabuleiro.protocol.messages import (
    Announcement,
    Answer,
    Error,
    Offer,
    Ok,
    Play,
    RoomGone,
    Say,
    Undo,
    Update,
    WatchRoom,
)
from tabuleiro_client.net.link import Backoff, Link, LinkSettings
from tabuleiro_client.net.room import (
    EnteredRoom,
    Gone,
    Happened,
    HeadChanged,
    Lost,
    Refreshed,
    Restored,
    Said,
    watch_room,
)
from tabuleiro_client.net.subscription import Subscription

SETTINGS = LinkSettings(backoff=Backoff(first_s=0, limit_s=0))
CODE = "K7MQ4"


@pytest.fixture
async def link(server):
    async with Link(server.url, name="ana", settings=SETTINGS) as link:
        yield link


async def test_updates_come_as_changes_with_the_position_of_each(server, link):
    async with watch_room(link, CODE) as room:
        await server.opponent_plays("b3", "c2")
        await server.tell(Update(server.room.head()))
        change = await anext(room)
        assert isinstance(change, Happened)
        assert change.step.after == server.room.state
        assert await anext(room) == HeadChanged(server.room.head())


async def test_events_of_the_time_without_connection_come_before_the_word_that_all_is_well(server, link):
    async with watch_room(link, CODE) as room:
        await server.cut()
        server.room.play(0, "b3", "c2")
        changes = [await anext(room) for _ in range(3)]
        assert [type(change) for change in changes] == [Lost, Happened, Restored]
        assert room.mirror.state == server.room.state
    assert [message.since for message in server.received if isinstance(message, WatchRoom)] == [None, 1]


async def test_an_answer_too_late_costs_no_snapshot_though_news_came_in_the_meantime(server):
    """Symptom: over a slow network the missing events came as a snapshot, so that nobody saw what had happened."""
    settings = LinkSettings(backoff=Backoff(first_s=0, limit_s=0), request_timeout_s=0.2)
    withheld = iter([True])

    def tell_but_not_answer(message, connection):
        if isinstance(message, WatchRoom) and message.since is not None and next(withheld, False):
            return Update(server.room.head())
        return None

    async with Link(server.url, name="ana", settings=settings) as link, watch_room(link, CODE) as room:
        server.on_message = tell_but_not_answer
        await server.cut()
        server.room.play(0, "b3", "c2")
        changes = [await anext(room) for _ in range(4)]
        assert [type(change) for change in changes] == [Lost, Lost, Happened, Restored]
    assert [message.since for message in server.received if isinstance(message, WatchRoom)] == [None, 1, 1]


async def test_a_move_in_flight_when_the_connection_breaks_is_sent_again_and_made_once(server, link):
    async with watch_room(link, CODE) as room:
        server.cut_before_reply_to = Play
        await room.play(["b3", "c2"])
        assert server.room.actions == ["b3", "c2"]
        plays = [(message.ply, message.actions) for message in server.received if isinstance(message, Play)]
        assert plays == [(0, ("b3", "c2"))] * 2
        assert [type(await anext(room)) for _ in range(3)] == [Lost, Happened, Restored]


async def test_a_move_made_while_the_connection_is_down_waits_for_it(server, link):
    async with watch_room(link, CODE) as room:
        await server.cut()
        assert isinstance(await anext(room), Lost)
        await room.play(["b3"])
        assert server.room.actions == ["b3"]


async def test_a_move_is_done_when_the_mirror_holds_it_not_when_the_head_changes_before(server, link):
    async with watch_room(link, CODE) as room:
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
    async with watch_room(link, CODE) as room:
        with pytest.raises(CommandError, match="not-your-turn"):
            await room.play(["b3"])


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda room: room.offer("draw"), Offer),
        (lambda room: room.say("hello"), Say),
        (lambda room: room.undo(4), Undo),
        (lambda room: room.answer("draw", accept=False), Answer),
    ],
)
@pytest.mark.parametrize("fault", ["answer lost", "request lost", "link down"])
async def test_what_is_asked_over_a_lost_connection_is_done_once(server, link, ask, kind, fault):
    def lose_the_first(message, connection):
        if isinstance(message, kind) and not lost:
            lost.append(message)
            connection.transport.abort()
            return Ok(message.id)
        return None

    lost = []
    server.room.play(0, "b3", "c2")
    server.room.play(2, "c1", "d2")
    server.room.play(4, "b2")
    server.room.undo(4)
    server.room.play(4, "b2")
    server.room.offers = (OfferView("draw", 1),)
    async with watch_room(link, CODE) as room:
        seq = len(server.room.events)
        if fault == "answer lost":
            server.cut_before_reply_to = kind
        elif fault == "request lost":
            server.on_message = lose_the_first
        else:
            await server.cut()
            assert isinstance(await anext(room), Lost)
        await ask(room)
        while room.mirror.since == seq:
            await anext(room)
        assert len(server.room.events) == seq + 1
        assert room.mirror.state.digest() == server.room.state.digest()


async def test_an_answer_to_an_offer_that_has_lapsed_meanwhile_is_not_sent(server, link):
    server.room.offers = (OfferView("takeback", 1),)
    async with watch_room(link, CODE) as room:
        await server.cut()
        assert isinstance(await anext(room), Lost)
        server.room.offers = ()
        with pytest.raises(ClientError, match="has lapsed"):
            await room.answer("takeback", accept=True)
    assert not [message for message in server.received if isinstance(message, Answer)]


async def test_an_offer_is_known_again_after_the_players_have_changed_seats(server, link, monkeypatch):
    # It was waited for without end, or made once more in the match after.
    head, perform = server.room.head, server.room.perform

    def swapped_head():
        return msgspec.structs.replace(head(), seats=head().seats[::-1])

    def perform_and_swap(message):
        made = perform(message)
        server.room.add(SeatsSwapped())
        monkeypatch.setattr(server.room, "head", swapped_head)
        return made

    async with watch_room(link, CODE) as room:
        monkeypatch.setattr(server.room, "perform", perform_and_swap)
        server.cut_before_reply_to = Offer
        await room.offer("draw")
        assert room.mirror.own_seats == (1,)
    assert len([message for message in server.received if isinstance(message, Offer)]) == 1


async def test_what_became_of_a_request_before_a_snapshot_is_not_guessed(server, link):
    async with watch_room(link, CODE) as room:
        server.cut_before_reply_to = Offer
        server.on_message = lambda message, connection: (
            Ok(message.id, server.room.entered()) if isinstance(message, WatchRoom) else None
        )
        with pytest.raises(ClientError, match="look whether it was done"):
            await room.offer("draw")


async def test_the_time_by_which_clocks_are_read_is_never_behind_the_servers(server, link):
    async with watch_room(link, CODE) as room:
        assert room.server_now_ms() >= 0
        await server.tell(Update(msgspec.structs.replace(server.room.head(), now_ms=TimestampMs(10**9))))
        await anext(room)
        assert room.server_now_ms() >= 10**9


async def test_another_digest_brings_a_snapshot(server, link):
    async with watch_room(link, CODE) as room:
        event = server.room.play(0, "b3", "c2")
        await server.tell(server.with_other_digest(Update(server.room.head(), (event,))))
        assert [type(await anext(room)) for _ in range(2)] == [Happened, Refreshed]
        assert not room.mirror.is_stale


async def test_a_server_whose_snapshot_contradicts_itself_ends_the_room_with_the_reason(server, link):
    async with watch_room(link, CODE) as room:
        server.room.actions.append("a1")
        await server.tell(Update(server.room.head()))
        with pytest.raises(ClientError, match="not the one its moves lead to"):
            [change async for change in room]
        with pytest.raises(ClientError):
            await room.play(["b3"])


async def test_a_room_that_the_server_takes_away_is_gone(server, link):
    async with watch_room(link, CODE) as room:
        await server.tell(RoomGone("OTHER", "not this one"))
        await server.tell(RoomGone(CODE, "it was closed"))
        assert [change async for change in room] == [Gone("it was closed")]
        with pytest.raises(ConnectionLostError, match="no longer in room"):
            await room.play(["b3"])


async def test_a_room_that_is_unknown_after_a_restart_is_gone(server, link):
    async with watch_room(link, CODE) as room:

        def forget(message, connection):
            return Error(message.id, "no-such-room", "no room K7MQ4") if isinstance(message, WatchRoom) else None

        server.on_message = forget
        await server.cut()
        assert [type(change) async for change in room] == [Lost, Gone]


async def test_words_of_the_server_are_changes(server, link):
    async with watch_room(link, CODE) as room:
        await server.tell(Announcement("restart at noon"))
        await server.tell(Error(None, "bad-message", "what?"))
        assert [await anext(room) for _ in range(2)] == [Said("restart at noon"), Said("what?")]


async def test_leaving_the_context_leaves_no_task_behind(server, link):
    before = asyncio.all_tasks()
    async with watch_room(link, CODE):
        assert len(asyncio.all_tasks() - before) == 1
    assert asyncio.all_tasks() == before


async def test_a_request_lost_on_a_connection_that_the_room_has_not_heard_of_waits_for_it(one_room):
    # It was sent again and again without letting anything else happen.
    link = SimpleNamespace(account=AccountId("a1"), connection_count=1)
    room = EnteredRoom(link, Subscription(10), one_room().entered())  # type: ignore[arg-type]
    link.connection_count = 2
    sent = []

    async def send() -> None:
        sent.append(None)
        assert len(sent) < 3
        raise ConnectionLostError("the connection broke")

    asking = asyncio.create_task(room._send_until_answered(send))
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(sent) == 1
    assert not asking.done()
    asking.cancel()
