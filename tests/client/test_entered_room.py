from __future__ import annotations

import asyncio

import pytest

from tabuleiro.errors import ClientError, CommandError, ConnectionLostError
from tabuleiro.protocol.messages import Announcement, Error, Play, RoomGone, Update, WatchRoom
from tabuleiro_client.backoff import Backoff
from tabuleiro_client.entered_room import (
    Gone,
    Happened,
    HeadChanged,
    Lost,
    Refreshed,
    Restored,
    Said,
    watch_room,
)
from tabuleiro_client.link import Link, LinkSettings

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


async def test_a_refused_move_is_a_command_error(server, link):
    def refuse(message, connection):
        return Error(message.id, "not-your-turn", "wait") if isinstance(message, Play) else None

    server.on_message = refuse
    async with watch_room(link, CODE) as room:
        with pytest.raises(CommandError, match="not-your-turn"):
            await room.play(["b3"])


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
