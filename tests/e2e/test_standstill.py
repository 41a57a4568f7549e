"""A server process that is stopped and goes on: what was sent to it meanwhile arrived in time."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.protocol.events import RoomResumed
from tabuleiro.protocol.messages import CreateRoom, JoinRoom
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.room import EnteredRoom, Happened, enter
from tests.e2e.server_process import LIMIT_S, serving

STOPPED_S = 4.0
"""Longer than a player has for the whole match, and than the server waits for a pong."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="no SIGSTOP there"),
]


async def resumed(room: EnteredRoom) -> RoomResumed:
    """Wait until the room tells that the server was away."""
    while True:
        change = await room.next_change()
        if isinstance(change, Happened) and isinstance(change.step.event.event, RoomResumed):
            return change.step.event.event


async def test_a_stopped_server_takes_in_what_had_come_and_charges_nobody(tmp_path: Path) -> None:
    """Symptom: the move already in the socket was refused, lost on time, and every connection was closed."""
    message = CreateRoom(
        id=0,
        game="virus-wars",
        options={"rows": 4, "cols": 4, "steps": 2},
        settings=RoomSettings(time_control=Fischer(initial_ms=3_000, increment_ms=0)),
    )
    async with (
        asyncio.timeout(LIMIT_S),
        serving(tmp_path / "rooms.db", ping_interval_ms=1_000, ping_timeout_ms=1_000, first_turn_ms=0) as server,
        Link(server.url, name="ana") as ana,
        Link(server.url, name="rui") as rui,
        await enter(ana, message) as first,
        await enter(rui, JoinRoom(id=0, room=first.code)) as second,
    ):
        while not first.mirror.is_my_turn:
            await first.next_change()
        server.signal(signal.SIGSTOP)
        playing = asyncio.create_task(first.play(("a3", "a2")))
        # Not a wait for anything: for so long the server is to stand still.
        await asyncio.sleep(STOPPED_S)
        server.signal(signal.SIGCONT)
        await playing
        assert (await resumed(second)).is_standstill
        assert (ana.connection_count, rui.connection_count) == (1, 1)
        match = second.mirror.match
        assert match is not None
        assert match.clock is not None
        assert match.termination is None
        assert match.clock.players[0].stage_ms > 0
