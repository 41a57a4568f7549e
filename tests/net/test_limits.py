"""Every limit of the config on the real server: who goes over it is told, and the server lives on."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.errors import CommandError
from tabuleiro.ids import TimestampMs
from tabuleiro.protocol.events import ActionsPlayed
from tabuleiro.protocol.messages import (
    CreateRoom,
    Error,
    Hello,
    JoinRoom,
    LeaveRoom,
    ListRooms,
    Ok,
    QuickPlay,
    Resign,
    WatchRoom,
)
from tabuleiro_server import wiring
from tabuleiro_server.config import Config
from tabuleiro_server.net import connection as connection_module
from tabuleiro_server.net import handler as handler_module
from tabuleiro_server.net.rate_limit import ANSWERED_TIMES
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.run_clock import RunClock, wall_ms
from tabuleiro_server.sessions.budgets import Budgets
from tabuleiro_server.sessions.guests import AWAY_MS, Guests
from tabuleiro_server.store.sqlite.store import SqliteStore
from tabuleiro_server.wiring import RunningServer
from tests.budgets import NO_BUDGETS
from tests.net.wire_client import LIMIT_S, SMALL, MatchOnTheWire, StartServer, WireClient, raw_request, wire


async def closing_of(url: str, **settings: Any) -> tuple[int, str]:
    """How a connection ends that does nothing."""
    async with wire(url, **settings) as client:
        return await client.closing()


async def test_connections_in_all(start_server: StartServer) -> None:
    async with start_server(connections_count=2) as server, wire(server.url) as ana:
        async with wire(server.url):
            code, reason = await closing_of(server.url)
            assert (code, reason) == (4004, "connections_count: at most 2 connections; try later")
            await ana.hello("ana")
        async with wire(server.url) as rui:
            await rui.hello("rui")


async def test_connections_of_one_address_behind_a_trusted_proxy(start_server: StartServer) -> None:
    def coming_from(address: str) -> dict[str, Any]:
        return {"additional_headers": {"X-Forwarded-For": address}}

    async with (
        start_server(connections_per_address_count=1, trusted_proxies=("127.0.0.1",)) as server,
        wire(server.url, **coming_from("192.0.2.1")) as ana,
        wire(server.url, **coming_from("192.0.2.2")) as rui,
    ):
        code, reason = await closing_of(server.url, **coming_from("192.0.2.1"))
        assert (code, reason.split(":")[0]) == (4004, "connections_per_address_count")
        await ana.hello("ana")
        await rui.hello("rui")


async def test_a_header_of_anybody_else_is_not_believed(start_server: StartServer) -> None:
    async with start_server(connections_per_address_count=1) as server, wire(server.url):
        code, _ = await closing_of(server.url, additional_headers={"X-Forwarded-For": "192.0.2.1"})
        assert code == 4004


async def test_sockets_that_say_nothing_keep_nobody_out(start_server: StartServer) -> None:
    async with asyncio.timeout(LIMIT_S):
        async with start_server(handshakes_count=2, handshake_timeout_ms=86_400_000) as server:
            silent = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(2)]
            async with wire(server.url) as client:
                await client.hello("ana")
            assert await read_to_end(silent[0][0]) == b""
            for _, writer in silent:
                writer.close()


async def test_pages_that_were_answered_take_no_place_from_handshakes(start_server: StartServer) -> None:
    limits = {"connections_per_address_count": 2, "handshakes_count": 2, "close_timeout_ms": 86_400_000}
    async with asyncio.timeout(LIMIT_S), start_server(**limits) as server:
        places_count = ANSWERED_TIMES * 2
        answered = []
        for _ in range(places_count):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (await reader.read()).startswith(b"HTTP/1.1 200")
            answered.append(writer)
        async with wire(server.url) as client:
            await client.hello("ana")
        # All of them still wait for their end, and none was cut.
        _, metrics = await raw_request(server.port, ["GET /metrics HTTP/1.1"])
        assert "handshakes_count" not in metrics
        # That page was one too many: the oldest went.
        _, metrics = await raw_request(server.port, ["GET /metrics HTTP/1.1"])
        assert 'limit="handshakes_count"} 1.0' in metrics
        for writer in answered:
            writer.close()


async def read_to_end(reader: asyncio.StreamReader) -> bytes:
    """What comes until the server ends the connection, politely or not."""
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


async def test_a_handshake_that_does_not_come_is_cut(start_server: StartServer) -> None:
    async with asyncio.timeout(LIMIT_S), start_server(handshake_timeout_ms=1) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        assert await read_to_end(reader) == b""
        writer.close()


async def test_no_hello_in_time(start_server: StartServer) -> None:
    async with start_server(hello_timeout_ms=1) as server:
        assert await closing_of(server.url) == (4002, "hello_timeout_ms: no hello within 1 ms")


async def test_a_hello_that_is_refused_does_not_stop_the_time(start_server: StartServer) -> None:
    async with start_server(hello_timeout_ms=200) as server, wire(server.url) as client:
        assert (await client.refused(Hello, name="?")).code == "bad-name"
        assert (await client.closing())[0] == 4002


async def test_messages_a_second(start_server: StartServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async with start_server(messages_per_second_count=1, messages_burst_count=4) as server:
        # Time stands still for the limiter, so that the test does not depend on how fast it runs.
        stopped = StoppedLimiter.of(monkeypatch)
        async with wire(server.url) as client:
            await client.hello("ana")
            for number in range(2, 9):
                await client.send_frame(client.codec.encode(ListRooms(id=number)))
            answers = [await client.receive() for _ in range(7)]
            assert [type(answer) for answer in answers] == [Ok, Ok, Ok, Error, Error, Error, Error]
            refusal = answers[-1]
            assert isinstance(refusal, Error)
            assert (refusal.id, refusal.code) == (None, "limit-reached")
            limit = "messages_per_second_count: at most 1 messages a second, and 4 at once"
            assert refusal.message == limit
            await client.send_frame(b"not even looked at")
            assert await client.closing() == (4003, limit)
        assert stopped.count == 9


async def test_control_frames_count_as_messages(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start_server(messages_per_second_count=1, messages_burst_count=4) as server:
        stopped = StoppedLimiter.of(monkeypatch)
        async with wire(server.url) as client:
            await client.hello("ana")
            for _ in range(3):
                await client.connection.pong()
            await client.send_frame(client.codec.encode(ListRooms(id=2)))
            refusal = await client.receive()
            assert isinstance(refusal, Error)
            assert (refusal.id, refusal.code) == (None, "limit-reached")
            for _ in range(4):
                await client.connection.pong()
            assert (await client.closing())[0] == 4003
        assert stopped.count == 9


class StoppedLimiter(handler_module.RateLimiter):
    """A rate limiter by a clock that stands still."""

    count = 0

    @classmethod
    def of(cls, monkeypatch: pytest.MonkeyPatch) -> type[StoppedLimiter]:
        class Stopped(cls):  # type: ignore[misc,valid-type]
            pass

        monkeypatch.setattr(handler_module, "RateLimiter", Stopped)
        return Stopped

    def spend(self, now_s: float) -> Any:
        type(self).count += 1
        return super().spend(self._counted_s)


@pytest.mark.parametrize("subprotocol", ["tabuleiro.v1.msgpack", "tabuleiro.v1.json"])
async def test_a_frame_too_long(start_server: StartServer, subprotocol: str) -> None:
    async with start_server(client_frame_bytes=1024) as server, wire(server.url, subprotocol) as client:
        await client.hello("ana")
        await client.send_frame(b" " * 1025)
        assert (await client.closing())[0] == 1009


async def test_unfinished_rooms_of_one_guest_also_after_a_restart(start_server: StartServer) -> None:
    settings = {"rooms_per_account_count": 2}
    async with start_server(**settings) as server, wire(server.url) as ana, wire(server.url) as rui:
        token = (await ana.hello("ana")).token
        await rui.hello("rui")
        first = (await ana.do(CreateRoom, game="virus-wars", options=SMALL)).head.room
        await ana.do(CreateRoom, game="virus-wars", options=SMALL, settings={"is_private": True})
        refusal = await ana.refused(CreateRoom, game="virus-wars", options=SMALL)
        assert refusal.code == "limit-reached"
        assert refusal.message.startswith("rooms_per_account_count: at most 2 unfinished rooms of one guest")
        assert (await ana.refused(QuickPlay, game="iris")).code == "limit-reached"
        await rui.do(CreateRoom, game="virus-wars", options=SMALL)
    async with start_server(**settings) as server, wire(server.url) as ana, wire(server.url) as eva:
        await ana.do(Hello, token=token)
        await eva.hello("eva")
        assert (await ana.refused(CreateRoom, game="virus-wars")).code == "limit-reached"
        await eva.do(JoinRoom, room=first)
        await ana.do(WatchRoom, room=first)
        await ana.do(Resign, room=first, match=1)
        await ana.do(CreateRoom, game="virus-wars")
        assert (await ana.refused(CreateRoom, game="virus-wars")).code == "limit-reached"


async def test_rooms_entered_on_one_connection(start_server: StartServer) -> None:
    async with start_server(entered_rooms_count=2) as server, wire(server.url) as ana, wire(server.url) as rui:
        await ana.hello("ana")
        await rui.hello("rui")
        rooms = [(await ana.do(CreateRoom, game="virus-wars", options=SMALL)).head.room for _ in range(2)]
        refusal = await ana.refused(CreateRoom, game="virus-wars", options=SMALL)
        assert (refusal.code, refusal.message.split(":")[0]) == ("limit-reached", "entered_rooms_count")
        assert len((await rui.do(ListRooms)).rooms) == 2
        other = (await rui.do(CreateRoom, game="iris")).head.room
        for request in (JoinRoom, WatchRoom):
            assert (await ana.refused(request, room=other)).code == "limit-reached"
        await ana.do(WatchRoom, room=rooms[0])
        await ana.do(LeaveRoom, room=rooms[0])
        await ana.do(WatchRoom, room=other)


@pytest.mark.parametrize("name", ["a", "a" * 21, "two words", "a\x1b[2J", "ana\u202e", "", "a/b", "🙂🙂"])
async def test_names_follow_the_rules(server: RunningServer, name: str) -> None:
    async with wire(server.url) as client:
        refusal = await client.refused(Hello, name=name)
        assert refusal.code == "bad-name"
        assert "2 to 20 letters, digits, '-' or '_'" in refusal.message
        assert refusal.message.isprintable()
        await client.hello("ana")


async def test_a_name_is_taken_whatever_its_case(server: RunningServer) -> None:
    async with wire(server.url) as ana, wire(server.url) as other:
        await ana.hello("Ana")
        assert (await other.refused(Hello, name="aNA")).code == "name-taken"


async def test_the_name_of_a_guest_who_never_played_is_free_after_a_while(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start_server() as server, wire(server.url) as ana, wire(server.url) as rui, wire(server.url) as eva:
        tokens = [(await client.hello(name)).token for client, name in ((ana, "ana"), (rui, "rui"), (eva, "eva"))]
        await MatchOnTheWire.begin(ana, rui)
    monkeypatch.setattr(wiring, "RunClock", lambda: RunClock(lambda: wall_ms() + 3_600_001))
    async with start_server(unused_guest_ms=3_600_000) as server, wire(server.url) as client:
        async with asyncio.timeout(LIMIT_S):
            while isinstance(await client.ask(Hello, name="eva"), Error):
                pass
        async with wire(server.url) as other:
            assert (await other.refused(Hello, token=tokens[2])).code == "bad-token"
            assert (await other.refused(Hello, name="ana")).code == "name-taken"
            assert (await other.do(Hello, token=tokens[0])).name == "ana"


async def test_guests_who_come_back_soon_are_noted_together_and_do_not_wait_for_it(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "guests.db", rows_of)
    now_ms = TimestampMs(0)
    guests = Guests(store.accounts, Budgets(Config()), lambda: now_ms)
    tokens = [(await guests.identify(name, None, "")).token for name in ("ana", "rui", "eva")]
    now_ms = TimestampMs(AWAY_MS - 1)
    await guests.identify(None, tokens[0], "")
    await guests.identify(None, tokens[1], "")

    async def seen_ms() -> dict[str, int]:
        return {entry.account.name: entry.account.last_seen_ms for entry in await store.accounts.entries()}

    assert await seen_ms() == {"ana": 0, "rui": 0, "eva": 0}
    await guests.note_visits()
    assert await seen_ms() == {"ana": now_ms, "rui": now_ms, "eva": 0}
    now_ms = TimestampMs(AWAY_MS)
    await guests.identify(None, tokens[2], "")
    assert (await seen_ms())["eva"] == now_ms
    await store.close()


async def test_a_guest_who_is_connected_is_not_forgotten(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "guests.db", rows_of)
    now_ms = TimestampMs(0)
    guests = Guests(store.accounts, Budgets(Config()), lambda: now_ms)
    here, gone = [(await guests.identify(name, None, "")).account for name in ("here", "gone")]
    guests.arrive(here.id)
    guests.arrive(here.id)
    guests.depart(here.id)
    now_ms = TimestampMs(5_000)
    assert await guests.free_unused(1_000) == 1
    with pytest.raises(CommandError, check=lambda error: error.code == "name-taken"):
        await guests.identify("here", None, "")
    assert (await guests.identify("gone", None, "")).account.id != gone.id
    guests.depart(here.id)
    now_ms = TimestampMs(50_000)
    assert await guests.free_unused(1_000) == 2
    await store.close()


MANY_ROOMS = {"rooms_per_account_count": 1_000, "entered_rooms_count": 1_000} | NO_BUDGETS


def narrow_socket(port: int) -> socket.socket:
    """A connected socket that takes in little before it is read."""
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.connect(("127.0.0.1", port))
    narrow.setblocking(False)
    return narrow


async def fill_lobby(client: WireClient) -> None:
    """Make so many rooms with such long options that a list of them takes many kilobytes."""
    options: dict[str, int | str] = {"rows": 19, "cols": 19}
    options["position"] = "/".join(["." * 18 + "o", *["." * 19] * 17, "x" + "." * 18]) + " 0 5"
    for _ in range(60):
        await client.do(CreateRoom, game="virus-wars", options=options)


async def ask_without_reading(slow: WireClient, log_entries: list[dict[str, Any]]) -> None:
    """Ask for so much that no buffer on the way holds the answers, until the server has enough of it."""
    frame = slow.codec.encode(ListRooms(id=0))
    async with asyncio.timeout(LIMIT_S):
        while not any(entry["event"] == "slow reader closed" for entry in log_entries):
            await slow.connection.send(frame)
            await asyncio.sleep(0)


async def test_who_does_not_read_is_told_so_and_delays_nobody(
    start_server: StartServer, log_entries: list[dict[str, Any]]
) -> None:
    async with (
        start_server(outbox_frames_count=20, close_timeout_ms=86_400_000, **MANY_ROOMS) as server,
        wire(server.url) as ana,
        wire(server.url) as rui,
        wire(server.url, max_queue=1, sock=(slow_socket := narrow_socket(server.port))) as slow,
    ):
        await ana.hello("ana")
        await rui.hello("rui")
        await slow.hello("slow")
        await fill_lobby(ana)
        match = await MatchOnTheWire.begin(ana, rui)
        await slow.do(WatchRoom, room=match.room)
        asking = asyncio.create_task(ask_without_reading(slow, log_entries))
        await match.play_out()
        await asking
        slow_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024 * 1024)
        assert await slow.closing() == (4001, "you read too slowly; connect again and resume")


async def test_who_does_not_even_read_that_is_cut(
    start_server: StartServer, log_entries: list[dict[str, Any]]
) -> None:
    async with (
        start_server(
            outbox_bytes=65_536, outbox_frames_count=1_000_000, close_timeout_ms=1, **MANY_ROOMS
        ) as server,
        wire(server.url) as ana,
        wire(server.url, max_queue=1, sock=narrow_socket(server.port)) as slow,
    ):
        await ana.hello("ana")
        await slow.hello("slow")
        await fill_lobby(ana)
        room = (await ana.do(CreateRoom, game="virus-wars", options=SMALL)).head.room
        await slow.do(WatchRoom, room=room)
        await ask_without_reading(slow, log_entries)
        await until_connections(server, 1)
        async with asyncio.timeout(LIMIT_S):
            while (await ana.do(WatchRoom, room=room)).head.watchers:
                pass
        # Its own goodbye would wait for the one who does not read.
        slow.connection.transport.abort()


async def until_connections(server: RunningServer, count: int) -> None:
    """Wait until the server has so many connections."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            _, page = await raw_request(server.port, ["GET /metrics HTTP/1.1"])
            if f"\ntabuleiro_connections {count}.0\n" in page:
                return


async def test_a_half_open_peer_is_found_by_pings(start_server: StartServer) -> None:
    """It finished its handshake and was never heard of again: no frame, no pong, no end."""
    async with start_server(ping_interval_ms=1, ping_timeout_ms=1, close_timeout_ms=1) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        lines = (
            "GET / HTTP/1.1",
            "Host: localhost",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Protocol: tabuleiro.v1.json",
        )
        writer.write(("\r\n".join([*lines, "", ""])).encode())
        async with asyncio.timeout(LIMIT_S):
            received = await read_to_end(reader)
        assert received.startswith(b"HTTP/1.1 101 ")
        await until_connections(server, 0)
        writer.close()


async def test_lag_is_told_with_every_action(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "one_way_ms", lambda round_trip_s: 123 if round_trip_s >= 0 else -1)
    async with wire(server.url) as ana, wire(server.url) as rui:
        await ana.hello("ana")
        await rui.hello("rui")
        match = await MatchOnTheWire.begin(ana, rui)
        await match.play_one()
        assert (await rui.next_event(ActionsPlayed)).lag_ms == 123
