"""A command repeated: it leads back to the room that it made, and only there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import ME, OPEN, CreateRoom, JoinRoom, SeatRequest
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.lobby import own_room
from tabuleiro_client.net.room import enter
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server

MADE = CreateRoom(id=0, game="iris", options={"side": 5}, seats=(ME, OPEN))
OTHERS = {
    "another game": msgspec.structs.replace(MADE, game="minefield", options={}),
    "another board": msgspec.structs.replace(MADE, options={}),
    "another seat": msgspec.structs.replace(MADE, seats=(OPEN, ME)),
    "a bot": msgspec.structs.replace(MADE, seats=(ME, SeatRequest("bot", "random"))),
    "other settings": msgspec.structs.replace(MADE, settings=RoomSettings(hints=True)),
}


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    async with running_server(Config(db=str(tmp_path / "server.db"), port=0)) as server:
        yield server.url


async def test_a_request_made_again_finds_its_room_until_that_is_over(url):
    async with Link(url, name="ana") as ana, Link(url, name="rui") as rui:
        assert await own_room(ana, MADE) is None
        async with await enter(ana, MADE) as room:
            assert await own_room(ana, MADE) == JoinRoom(id=0, room=room.code)
            assert await own_room(rui, MADE) is None
            for other in OTHERS.values():
                assert await own_room(ana, other) is None
            async with await enter(rui, JoinRoom(id=0, room=room.code)):
                assert await own_room(ana, MADE) == JoinRoom(id=0, room=room.code)
                assert await own_room(rui, MADE) is None
                await room.resign()
                assert await own_room(ana, MADE) is None


async def test_a_board_drawn_by_chance_is_found_whatever_its_seed_is(url):
    drawn = CreateRoom(id=0, game="xero-g", options={"setup": "random"}, seats=(ME, OPEN))
    async with Link(url, name="ana") as ana, await enter(ana, drawn) as room:
        assert await own_room(ana, drawn) == JoinRoom(id=0, room=room.code)
        assert await own_room(ana, msgspec.structs.replace(drawn, options={"setup": "random", "seed": 7})) is None


async def test_only_making_a_room_is_a_reason_to_look_for_one(url):
    async with Link(url, name="ana") as ana, await enter(ana, MADE) as room:
        assert await own_room(ana, JoinRoom(id=0, room=room.code)) is None


async def test_a_private_room_is_found_by_what_was_kept_of_it(url):
    private = msgspec.structs.replace(MADE, settings=RoomSettings(is_private=True))
    async with Link(url, name="ana") as ana, await enter(ana, private) as room:
        assert await own_room(ana, private) is None
        kept = [(RoomCode("XXXXX"), "a-secret"), (room.code, room.secret)]
        assert await own_room(ana, private, kept) == JoinRoom(id=0, room=room.code, secret=room.secret)
        other = msgspec.structs.replace(private, options={})
        assert await own_room(ana, other, kept) is None
