"""What a server finds when it starts: unfinished rooms, loaded when touched or when their hour has come."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import (
    CreateRoom,
    JoinRoom,
    LobbyUpdate,
    RoomEntered,
    RoomSummary,
    SeatRequest,
    WatchRoom,
)
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Backoff, Link, LinkSettings, result_of
from tabuleiro_client.net.room import EnteredRoom, Restored, enter
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server
from tests.e2e.server_process import LIMIT_S, serving
from tests.e2e.stored_rooms import fill, room_code

ME, OPEN, BOT = SeatRequest("me"), SeatRequest(), SeatRequest("bot", "random")
QUICKLY = LinkSettings(backoff=Backoff(first_s=0.02, limit_s=0.2))


async def listed(link: Link, code: RoomCode, is_wanted: Callable[[RoomSummary], bool]) -> RoomSummary:
    """Wait until the line of a room in the list is as wanted, and return it."""
    subscription = link.subscribe()
    rooms = await link.follow_lobby(phases=("waiting", "playing", "finished"))
    lines = {line.room: line for line in rooms.rooms}
    while not is_wanted(lines[code]):
        told = await anext(subscription)
        if isinstance(told, LobbyUpdate):
            lines |= {line.room: line for line in told.rooms}
    link.unsubscribe(subscription)
    return lines[code]


async def test_rooms_are_listed_but_not_loaded_until_they_are_touched(tmp_path: Path) -> None:
    db = tmp_path / "rooms.db"
    await fill(db, 150)
    async with asyncio.timeout(LIMIT_S), running_server(Config(db=str(db), port=0)) as server:
        async with Link(server.url, name="eva") as link:
            assert len((await link.list_rooms()).rooms) == 150
            assert server.directory.rooms_count == 0
            entered = result_of(await link.request(WatchRoom(id=0, room=room_code(77))), RoomEntered)
            assert entered.head.phase == "playing"
            assert entered.snapshot is not None
            assert len(entered.snapshot.actions) == 6
            assert server.directory.rooms_count == 1


async def test_bot_that_was_to_move_moves_though_nobody_touches_its_room(tmp_path: Path) -> None:
    db = tmp_path / "rooms.db"
    # Bots in rooms that nobody is in rest between their turns, so that more rooms would take long.
    await fill(db, 1, seats=(BOT, ME))
    config = Config(db=str(db), port=0, lobby_wake_ms=20, bot_workers=1)
    async with asyncio.timeout(LIMIT_S), running_server(config) as server, Link(server.url, name="eva") as link:
        assert (await listed(link, room_code(0), lambda line: line.plies > 0)).phase == "playing"


async def test_flag_falls_though_nobody_touches_the_room(tmp_path: Path) -> None:
    db = tmp_path / "rooms.db"
    await fill(db, 1, settings=RoomSettings(time_control=Fischer(initial_ms=1_000, increment_ms=0)))
    config = Config(db=str(db), port=0, lobby_wake_ms=20)
    async with asyncio.timeout(LIMIT_S), running_server(config) as server, Link(server.url, name="eva") as link:
        line = await listed(link, room_code(0), lambda line: line.phase == "finished")
        assert line.termination == "timeout"


def of_room(room: EnteredRoom) -> tuple[object, ...]:
    """What must be the same after a restart."""
    head, match = room.mirror.head, room.mirror.match
    assert match is not None
    return head.seats[0].holder, head.seats[1].holder, head.offers, match.digest, match.to_move


def times_left(room: EnteredRoom) -> tuple[int, ...]:
    """What the clocks of both players stand at, in milliseconds; time may run, but never back."""
    match = room.mirror.match
    assert match is not None
    assert match.clock is not None
    return tuple(player.stage_ms for player in match.clock.players)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
async def test_seats_clocks_offers_and_chat_survive_a_kill_and_clients_go_on_by_themselves(tmp_path: Path) -> None:
    db = tmp_path / "rooms.db"
    settings = RoomSettings(time_control=Fischer(initial_ms=600_000, increment_ms=1_000))
    message = CreateRoom(id=0, game="minefield", options={"size": 5}, settings=settings)
    async with (
        asyncio.timeout(LIMIT_S),
        serving(db) as server,
        Link(server.url, name="ana", settings=QUICKLY) as ana,
        Link(server.url, name="rui", settings=QUICKLY) as rui,
        await enter(ana, message) as first,
        await enter(rui, JoinRoom(id=0, room=first.code)) as second,
    ):
        await play(first, second)
        await second.say("good luck")
        await first.offer("draw")
        while not second.mirror.head.offers:
            await second.next_change()
        before, before_ms = of_room(second), times_left(second)
        server.signal(signal.SIGKILL)
        await server.wait()
        async with serving(db) as next_server:
            ana.url = rui.url = next_server.url
            while not isinstance(await second.next_change(), Restored):
                pass
            while not both_are_here(second):
                await second.next_change()
            assert of_room(second) == before
            assert all(left <= before for left, before in zip(times_left(second), before_ms, strict=True))
            assert second.mirror.own_seats == (1,)
            entered = result_of(await rui.request(WatchRoom(id=0, room=first.code)), RoomEntered)
            assert entered.snapshot is not None
            assert [line.text for line in entered.snapshot.chat] == ["good luck"]
            await play(second, first)


def both_are_here(room: EnteredRoom) -> bool:
    """Whether both players have a connection."""
    return all(seat.is_connected for seat in room.mirror.head.seats)


async def play(mover: EnteredRoom, other: EnteredRoom) -> None:
    """Let ``mover`` play an action and wait until both have it."""
    while not mover.mirror.is_my_turn:
        await mover.next_change()
    state = mover.mirror.state
    ply = len(mover.mirror.actions)
    await mover.play([state.action_to_string(state.legal_actions()[0])])
    while len(other.mirror.actions) <= ply:
        await other.next_change()
