"""SIGTERM: clients are told, rooms are kept, bots finish their thoughts, and nothing waits without a limit."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tabuleiro.errors import CommandError
from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.codes import CloseCode, ErrorCode
from tabuleiro.protocol.events import ActionsPlayed
from tabuleiro.protocol.messages import (
    Announcement,
    CreateRoom,
    Hello,
    QuickPlay,
    RoomEntered,
    SeatRequest,
    WatchRoom,
)
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tabuleiro_client.net.link import Backoff, Link, LinkSettings
from tabuleiro_client.net.room import EnteredRoom, Happened, enter
from tests.e2e.server_process import LIMIT_S, ServerProcess, serving

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM there")

LONG_MS = 3_600_000
QUICKLY = LinkSettings(backoff=Backoff(first_s=0.02, limit_s=0.2))
ME, OPEN = SeatRequest("me"), SeatRequest()
BOT_SEATS = (ME, SeatRequest("bot", "minimax-3"))
SLOW_BOT = CreateRoom(id=0, game="virus-wars", options={"rows": 6, "cols": 6, "steps": 3}, seats=BOT_SEATS)
VERY_SLOW_BOT = CreateRoom(id=0, game="virus-wars", seats=BOT_SEATS)


@pytest.fixture
async def link_and_server(tmp_path: Path) -> AsyncIterator[tuple[Link, ServerProcess]]:
    """A guest on a server that would give notice for an hour."""
    async with (
        serving(tmp_path / "rooms.db", shutdown_notice_ms=LONG_MS) as server,
        Link(server.url, name="ana", settings=QUICKLY) as link,
    ):
        yield link, server


async def announcement(link: Link) -> Announcement:
    """Wait for what the server says to everybody."""
    subscription = link.subscribe()
    async for told in subscription:
        if isinstance(told, Announcement):
            link.unsubscribe(subscription)
            return told
    raise AssertionError("the link was closed")


async def play_turn(room: EnteredRoom) -> None:
    """Play any whole turn."""
    while room.mirror.is_my_turn:
        state = room.mirror.state
        await room.play([state.action_to_string(state.legal_actions()[0])])


@pytest.mark.slow
async def test_clients_are_told_and_no_new_rooms_are_made_but_matches_go_on(
    link_and_server: tuple[Link, ServerProcess],
) -> None:
    link, server = link_and_server
    message = CreateRoom(id=0, game="minefield", options={"size": 5}, seats=(ME, ME))
    async with asyncio.timeout(LIMIT_S), await enter(link, message) as room:
        waiting = asyncio.create_task(announcement(link))
        await asyncio.sleep(0)
        server.signal(signal.SIGTERM)
        told = await waiting
        assert told.restart_in_ms is not None
        assert 0 < told.restart_in_ms <= LONG_MS
        for refused in (message, QuickPlay(id=0, game="minefield")):
            with pytest.raises(CommandError) as caught:
                await link.request(refused)
            assert caught.value.code == ErrorCode.SHUTTING_DOWN
        await play_turn(room)
        assert room.mirror.actions
        async with Link(server.url, name="rui") as late:
            assert isinstance((await late.request(WatchRoom(id=0, room=room.code))).result, RoomEntered)
        server.signal(signal.SIGTERM)
        assert await server.wait() == 0


@pytest.mark.slow
async def test_whoever_comes_during_the_notice_is_told_as_well(
    link_and_server: tuple[Link, ServerProcess],
) -> None:
    link, server = link_and_server
    async with asyncio.timeout(LIMIT_S):
        waiting = asyncio.create_task(announcement(link))
        await asyncio.sleep(0)
        server.signal(signal.SIGTERM)
        await waiting
        codec = MsgpackCodec()
        async with connect(server.url, subprotocols=[Subprotocol(SUBPROTOCOL_MSGPACK)]) as late:
            await late.send(codec.encode(Hello(id=1, name="rui")))
            frames = [await late.recv(), await late.recv()]
            assert isinstance(frames[1], bytes)
            assert isinstance(codec.decode_server(frames[1]), Announcement)
            server.signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosed) as caught:
                await late.recv()
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == CloseCode.SERVICE_RESTART
        assert await server.wait() == 0


@pytest.mark.slow
async def test_bot_finishes_its_thought_and_the_client_goes_on_at_the_next_server(tmp_path: Path) -> None:
    db = tmp_path / "rooms.db"
    async with (
        asyncio.timeout(LIMIT_S),
        serving(db, shutdown_notice_ms=0) as server,
        Link(server.url, name="ana", settings=QUICKLY) as link,
        await enter(link, SLOW_BOT) as room,
    ):
        await play_turn(room)
        while room.mirror.head.thinking is None:
            await room.next_change()
        server.signal(signal.SIGTERM)
        movers = []
        while 1 not in movers:
            change = await room.next_change()
            if isinstance(change, Happened) and isinstance(change.step.event.event, ActionsPlayed):
                movers.append(change.step.event.event.player)
        assert await server.wait() == 0
        before = list(room.mirror.actions)
        async with serving(db, shutdown_notice_ms=0) as next_server:
            link.url = next_server.url
            assert room.mirror.is_my_turn
            await play_turn(room)
            assert room.mirror.actions[: len(before)] == before
            assert len(room.mirror.actions) > len(before)


@pytest.mark.slow
async def test_thought_longer_than_the_limit_is_given_up_and_thought_again_after_the_start(tmp_path: Path) -> None:
    db = tmp_path / "rooms.db"
    async with (
        asyncio.timeout(LIMIT_S),
        serving(db, shutdown_notice_ms=0, shutdown_limit_ms=1) as server,
        Link(server.url, name="ana", settings=QUICKLY) as link,
        await enter(link, VERY_SLOW_BOT) as room,
    ):
        await play_turn(room)
        while room.mirror.head.thinking is None:
            await room.next_change()
        assert await server.stop() == 0
        assert any("given up while stopping" in line and "bots that think" in line for line in server.log)
        async with serving(db) as next_server:
            link.url = next_server.url
            while not room.mirror.is_my_turn:
                await room.next_change()


async def test_server_without_clients_stops_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path / "rooms.db", shutdown_notice_ms=LONG_MS) as server:
        assert await server.stop() == 0
        assert any("stopped" in line for line in server.log)


@pytest.mark.slow
async def test_client_that_does_not_answer_the_close_is_cut_off(tmp_path: Path) -> None:
    db = tmp_path / "rooms.db"
    async with serving(db, shutdown_notice_ms=0, shutdown_limit_ms=50) as server:
        host, port = server.url.removeprefix("ws://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Protocol: " + SUBPROTOCOL_MSGPACK.encode() + b"\r\n\r\n"
        )
        await reader.readuntil(b"\r\n\r\n")
        assert await server.stop() == 0
        writer.close()


@pytest.mark.slow
def test_process_that_hangs_is_ended_all_the_same() -> None:
    script = (
        "import threading; from tabuleiro_server.cli.serve import end_at_last; "
        "end_at_last(0); threading.Event().wait()"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT_S)
    assert (ended.returncode, ended.stderr) == (1, "tabuleiro did not stop in time and is ended\n")
