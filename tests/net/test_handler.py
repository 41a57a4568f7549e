"""What becomes of a connection whose request meets a fault of ours, or is never answered."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tabuleiro.protocol.events import Said
from tabuleiro.protocol.messages import (
    CreateRoom,
    Error,
    GetRecord,
    Hello,
    JoinRoom,
    ListRooms,
    Ok,
    Say,
    SeatRequest,
    SubscribeLobby,
    TakeHint,
)
from tabuleiro.settings import RoomSettings
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.net import handler as handler_module
from tabuleiro_server.rooms.archive import Archive
from tabuleiro_server.rooms.refusals import no_such_room
from tabuleiro_server.sessions.guests import Guests
from tabuleiro_server.sessions.lobby import Lobby
from tests.net.wire_client import LIMIT_S, SMALL, StartServer, wire


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the log is told of faults, kept from the log that must stay quiet."""
    told: list[str] = []

    class Log:
        def error(self, event: str, **_: Any) -> None:
            told.append(event)

        def info(self, event: str, **_: Any) -> None: ...

        debug = info

    monkeypatch.setattr(handler_module, "log", Log())
    return told


async def test_a_fault_in_answering_ends_the_connection_and_no_other(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch, faults: list[str]
) -> None:
    def stumble(*_: Any) -> Any:
        raise ZeroDivisionError

    async with start_server() as server, wire(server.url) as ana, wire(server.url) as rui:
        await ana.hello("ana")
        await rui.hello("rui")
        with monkeypatch.context() as patch:
            patch.setattr(Lobby, "subscribe", stumble)
            await ana.send_frame(ana.codec.encode(SubscribeLobby(id=2)))
            await ana.send_frame(ana.codec.encode(ListRooms(id=3)))
            assert await ana.closing() == (1011, "the server made a mistake; connect again")
        await rui.do(ListRooms)
    assert faults == ["connection failed"]


async def test_a_fault_in_a_hello_ends_the_connection(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch, faults: list[str]
) -> None:
    async def stumble(*_: Any) -> Any:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    async with start_server() as server, wire(server.url) as ana:
        monkeypatch.setattr(Guests, "identify", stumble)
        await ana.send_frame(ana.codec.encode(Hello(id=1, name="ana")))
        assert (await ana.closing())[0] == 1011
    assert faults == ["connection failed"]


async def test_a_request_that_takes_its_time_is_ended_with_a_connection_that_had_too_little(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def identify_for_ever(*_: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set_result(True)

    monkeypatch.setattr(Guests, "identify", identify_for_ever)
    async with start_server(hello_timeout_ms=200) as server, wire(server.url) as ana:
        await ana.send_frame(ana.codec.encode(Hello(id=1, name="ana")))
        assert (await ana.closing())[0] == 4002
        assert await asyncio.wait_for(ended, LIMIT_S)


async def test_requests_sent_right_before_the_connection_breaks_are_carried_out(start_server: StartServer) -> None:
    async with start_server() as server, wire(server.url) as rui:
        await rui.hello("rui")
        code = (await rui.do(CreateRoom, game="virus-wars", options=SMALL)).head.room
        async with wire(server.url) as ana:
            await ana.hello("ana")
            await ana.do(JoinRoom, room=code)
            for number in range(5):
                await ana.send_frame(ana.codec.encode(Say(id=10 + number, room=code, text=f"line {number}")))
            ana.connection.transport.close()
        texts = [(await rui.next_event(Said)).text for _ in range(5)]
        assert texts == [f"line {number}" for number in range(5)]


async def test_what_was_read_is_answered_before_the_server_stops(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_reached, may_go_on = asyncio.Event(), asyncio.Event()

    async def wait(archive: Any, text: str, *_: Any) -> Any:
        is_reached.set()
        await may_go_on.wait()
        raise no_such_room(text)

    monkeypatch.setattr(Archive, "find", wait)
    async with start_server() as server, wire(server.url) as ana:
        await ana.hello("ana")
        await ana.send_frame(ana.codec.encode(GetRecord(id=8, room="K7MQ4")))
        await ana.send_frame(ana.codec.encode(ListRooms(id=9)))
        await is_reached.wait()
        stopping = asyncio.create_task(server._sockets.stop())
        await asyncio.sleep(0)
        may_go_on.set()
        refused = await ana.answer_to(8)
        assert isinstance(refused, Error)
        assert refused.code == "no-such-room"
        assert isinstance(await ana.answer_to(9), Ok)
        assert (await ana.closing())[0] == 1012
        await stopping


async def test_a_hint_that_is_still_being_found_is_refused_before_the_server_stops(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: the connections were closed first, and nobody was left to be answered."""

    async def think_for_ever(*_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(BotPool, "think", think_for_ever)
    async with AsyncExitStack() as stack:
        server_stack = await stack.enter_async_context(AsyncExitStack())
        server = await server_stack.enter_async_context(start_server())
        ana = await stack.enter_async_context(wire(server.url))
        await ana.hello("ana")
        seats = (SeatRequest("me"), SeatRequest("me"))
        settings = RoomSettings(hints=True)
        code = (
            await ana.do(CreateRoom, game="virus-wars", options=SMALL, seats=seats, settings=settings)
        ).head.room
        await ana.send_frame(ana.codec.encode(TakeHint(id=9, room=code, match=1, ply=0)))
        await ana.do(ListRooms)
        stopping = asyncio.create_task(server_stack.aclose())
        refused = await ana.answer_to(9)
        assert isinstance(refused, Error)
        assert refused.code == "shutting-down"
        assert (await ana.closing())[0] == 1012
        await stopping
