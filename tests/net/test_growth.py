"""Whoever has come and gone leaves nothing in memory, and nothing for the garbage collector to find."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from typing import Any

from tabuleiro.protocol.messages import CreateRoom, JoinRoom, LeaveRoom, ListRooms, Resign, SubscribeLobby
from tabuleiro_server.wiring import RunningServer
from tests.budgets import NO_BUDGETS
from tests.net.test_metrics import samples_of
from tests.net.wire_client import LIMIT_S, SMALL, MatchOnTheWire, StartServer, raw_request, wire

VISITS_COUNT = 12


async def visit(server: RunningServer, number: int) -> None:
    """Do a little of everything that a connection can do, and go."""
    async with wire(server.url) as ana, wire(server.url, "tabuleiro.v1.json") as rui, wire(server.url) as eva:
        await ana.hello(f"ana-{number}")
        await rui.hello(f"rui-{number}")
        await ana.do(SubscribeLobby)
        match = await MatchOnTheWire.begin(ana, rui)
        await match.play_one()
        await rui.do(ListRooms)
        await rui.refused(JoinRoom, room="?")
        await ana.do(Resign, room=match.room, match=1)
        left = (await rui.do(CreateRoom, game="virus-wars", options=SMALL)).head.room
        await rui.do(LeaveRoom, room=left)
        await rui.do(CreateRoom, game="virus-wars", options=SMALL)
        # One that never says hello, and one that is no connection at all.
        await eva.connection.send(b"\xc1", text=False)
        await eva.closing()
    await raw_request(server.port, ["GET /health HTTP/1.1"])


async def visited(server: RunningServer, first: int) -> None:
    """Let people come and go, and wait until nothing of theirs is under way."""
    for number in range(first, first + VISITS_COUNT):
        await visit(server, number)
    async with asyncio.timeout(LIMIT_S):
        while (await samples_of(server))["tabuleiro_connections", ()]:
            pass
        await asyncio.gather(*(room.unloaded() for room in tuple(server.directory._rooms.values())))


def kept() -> Counter[str]:
    """Count the objects of the server that the collector knows, without having it look for garbage."""
    return Counter(
        type(each).__qualname__
        for each in gc.get_objects()
        if str(type(each).__module__).startswith("tabuleiro_server")
    )


def sizes(server: RunningServer) -> dict[str, int]:
    """Return the sizes of the tables of those who are here."""
    sockets: Any = server._sockets
    services = sockets._requests._services
    return {
        "connections": len(sockets._addresses),
        "addresses of connections": len(sockets._limiter._by_address),
        "handshakes": len(sockets._handshakes.waiting),
        "addresses of handshakes": len(sockets._handshakes._by_address),
        "guests": len(services.guests._connected),
        "people in the lobby": len(services.lobby._people),
        "subscriptions": len(services.lobby._subscriptions),
        "lines to be made": len(services.lobby._stale),
        "rooms": len(services.directory._rooms),
        "rooms being loaded": len(services.directory._loading),
        "hints": len(services.hints._pending),
        "thoughts": len(server._bot_seats._thoughts),
        "late thoughts": len(server._bot_seats._misses),
    }


async def test_connections_and_rooms_leave_nothing_behind(start_server: StartServer) -> None:
    """Symptom: 34 MB more after 9,105 connections, and none of it after a restart of the same file."""
    async with start_server(idle_room_unload_ms=1, rooms_per_account_count=100, **NO_BUDGETS) as server:
        await visited(server, 0)
        gc.collect()
        gc.disable()
        try:
            before = kept()
            await visited(server, VISITS_COUNT)
            grown = {name: count for name, count in (kept() - before).items() if count >= VISITS_COUNT // 2}
        finally:
            gc.enable()
        assert grown == {}
        assert sizes(server) == dict.fromkeys(sizes(server), 0)
