from __future__ import annotations

import asyncio
import gc
from dataclasses import replace

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.server import ServerConnection, serve

from tabuleiro.errors import CommandError, ConnectionLostError, RemoteProtocolError
from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.messages import Announcement, ClientMessage, Error, Hello, ListRooms, Ok, RoomList
from tabuleiro_client.net.link import Backoff, Link, LinkSettings, LinkState
from tabuleiro_client.net.subscription import LinkLost, LinkRestored, Missed, Subscription

AT_ONCE = Backoff(first_s=0, limit_s=0)


def link_to(url: str, **others: object) -> Link:
    settings = LinkSettings(backoff=AT_ONCE, **others)  # type: ignore[arg-type]
    return Link(url, name="ana", settings=settings)


async def test_hello_brings_a_welcome_with_the_token_of_the_new_guest(server):
    async with link_to(server.url) as link:
        assert (link.welcome.name, link.welcome.token, link.state) == ("ana", "token-1", LinkState.CONNECTED)
    assert link.state is LinkState.CLOSED


async def test_answers_find_their_requests_though_they_come_in_another_order(server):
    held: list[tuple[ClientMessage, ServerConnection]] = []

    def answer_backwards(message, connection):
        if not isinstance(message, ListRooms):
            return None
        held.append((message, connection))
        if len(held) == 1:
            return Announcement("wait")
        first, second = held[0][0], held[1][0]
        connection.loop.create_task(connection.send(MsgpackCodec().encode(Error(first.id, "busy", "first"))))
        return Ok(second.id, RoomList((), is_cut=True))

    server.on_message = answer_backwards
    async with link_to(server.url) as link:
        first = asyncio.create_task(link.list_rooms("one"))
        second = asyncio.create_task(link.list_rooms("two"))
        assert (await second).is_cut
        with pytest.raises(CommandError, match=r"^first$"):
            await first


async def test_a_refused_hello_is_a_command_error_and_leaves_nothing_open(server):
    server.on_message = lambda message, connection: Error(message.id, "name-taken", "ana is\x1b[2J taken")
    with pytest.raises(CommandError) as refusal:
        async with link_to(server.url):
            pass
    assert (refusal.value.code, refusal.value.message) == ("name-taken", "ana is taken")


async def test_an_unreachable_server_is_one_clear_sentence():
    with pytest.raises(ConnectionLostError, match=r"^cannot connect to ws://127\.0\.0\.1:9/?: "):
        async with link_to("ws://127.0.0.1:9"):
            pass


async def test_a_server_without_the_subprotocol_is_refused():
    async def ignore(connection: ServerConnection) -> None:
        await connection.wait_closed()

    async with serve(ignore, "127.0.0.1", 0) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        with pytest.raises(ConnectionLostError, match="no tabuleiro server"):
            async with link_to(f"ws://127.0.0.1:{port}"):
                pass


async def test_a_cut_connection_is_told_then_mended_with_the_same_token(server):
    async with link_to(server.url) as link:
        told = link.subscribe()
        await server.cut()
        lost = await anext(told)
        restored = await anext(told)
        assert isinstance(lost, LinkLost)
        assert lost.reason == "the connection broke"
        assert restored == LinkRestored()
        assert await link.list_rooms() == RoomList(())
    hellos = [message for message in server.received if isinstance(message, Hello)]
    assert [(hello.name, hello.token) for hello in hellos] == [("ana", None), (None, "token-1")]


async def test_a_request_in_flight_fails_when_the_connection_breaks(server):
    server.cut_before_reply_to = ListRooms
    async with link_to(server.url) as link:
        with pytest.raises(ConnectionLostError, match="the connection broke"):
            await link.list_rooms()


async def test_a_request_whose_connection_breaks_while_it_is_sent_leaves_no_complaint_behind(
    server, monkeypatch: pytest.MonkeyPatch
):
    """Symptom: "Future exception was never retrieved" in the log of a client that had lost its connection."""
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    sending, lost, send = asyncio.Event(), asyncio.Event(), ClientConnection.send

    async def send_slowly(connection, message):
        sending.set()
        await lost.wait()
        await send(connection, message)

    async with link_to(server.url) as link:
        told = link.subscribe()
        monkeypatch.setattr(ClientConnection, "send", send_slowly)
        asking = asyncio.create_task(link.list_rooms())
        await sending.wait()
        await server.cut()
        assert isinstance(await anext(told), LinkLost)
        lost.set()
        with pytest.raises(ConnectionLostError, match="the connection broke"):
            await asking
        del asking
    gc.collect()
    assert complaints == []


async def test_a_server_that_never_answers_is_given_up_and_connected_to_anew(server):
    server.on_message = lambda message, connection: Announcement("hm") if isinstance(message, ListRooms) else None
    async with link_to(server.url) as link:
        told, patient = link.subscribe(), link.settings
        # Only for this request: a busy machine may take longer than that for a new connection.
        link.settings = replace(patient, request_timeout_s=0.05)
        with pytest.raises(ConnectionLostError, match="no answer"):
            await link.list_rooms()
        link.settings = patient
        kinds = [type(await anext(told)) for _ in range(3)]
        assert kinds == [Announcement, LinkLost, LinkRestored]


async def test_a_token_that_is_refused_on_return_ends_the_link_with_the_reason(server):
    async with link_to(server.url) as link:
        told = link.subscribe()
        server.on_message = lambda message, connection: Error(message.id, "bad-token", "no such guest")
        await server.cut()
        assert isinstance(await anext(told), LinkLost)
        with pytest.raises(CommandError, check=lambda error: error.code == "bad-token"):
            await anext(told)
        assert link.state is LinkState.CLOSED
        with pytest.raises(CommandError, check=lambda error: error.code == "bad-token"):
            await link.list_rooms()


async def test_a_server_that_is_full_on_return_is_tried_again(server):
    async with link_to(server.url) as link:
        told = link.subscribe()
        refusals = iter(range(2))

        def refuse_twice(message, connection):
            if isinstance(message, Hello) and next(refusals, None) is not None:
                return Error(message.id, "limit-reached", "too many connections")
            return None

        server.on_message = refuse_twice
        await server.cut()
        assert [type(await anext(told)) for _ in range(2)] == [LinkLost, LinkRestored]
        assert link.connection_count == 2


async def test_attempts_end_when_the_backoff_does(server):
    settings = LinkSettings(backoff=Backoff(first_s=0, limit_s=0, attempt_count=2))
    async with Link(server.url, name="ana", settings=settings) as link:
        told = link.subscribe()
        server.on_message = lambda message, connection: Error(message.id, "busy", "later")
        await server.cut()
        assert isinstance(await anext(told), LinkLost)
        with pytest.raises(ConnectionLostError, match="later"):
            await anext(told)


async def test_closing_in_the_middle_of_a_long_wait_ends_at_once_and_ends_the_subscription(server):
    settings = LinkSettings(backoff=Backoff(first_s=3600, limit_s=3600))
    async with Link(server.url, name="ana", settings=settings) as link:
        told = link.subscribe()
        await server.cut()
        assert isinstance(await anext(told), LinkLost)
        assert link.state is LinkState.RECONNECTING
        with pytest.raises(ConnectionLostError, match="not connected"):
            await link.list_rooms()
    with pytest.raises(StopAsyncIteration):
        await anext(told)


async def test_a_message_of_a_newer_server_ends_the_link_instead_of_looping(server):
    async with link_to(server.url) as link:
        told = link.subscribe()
        await server.connections[0].send(b"\x81\xa4type\xa6mystic")
        with pytest.raises(RemoteProtocolError, match="unexpected message from the server"):
            await anext(told)


async def test_a_subscription_that_is_not_read_drops_all_and_says_so():
    told = Subscription(unread_max_count=2)
    for text in ("one", "two", "three"):
        told.put(Announcement(text))
    told.end(None)
    assert [item async for item in told] == [Missed(), Announcement("three")]


def test_jitter_only_ever_shortens_the_wait():
    shortened = Backoff(first_s=4, factor=2, limit_s=10, jitter=0.5, attempt_count=3, draw=lambda: 1.0)
    assert list(shortened.delays()) == [2, 4, 5]
