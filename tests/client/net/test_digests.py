"""Client and server agree on the position after every ply, of every game, however it came about."""

from __future__ import annotations

import asyncio
import random

import pytest

from tabuleiro.rules import registry
from tabuleiro_client.net.library import ME, OPEN, connect
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server
from tests.patience import LIMIT_S

OPTIONS = {
    "virus-wars": {"rows": 4, "cols": 4, "steps": 3},
    "minefield": {"size": 5},
    "iris": {"side": 5},
    "xero-g": {"setup": "random"},
}
PLIES_COUNT = 24


@pytest.fixture
async def server(tmp_path):
    async with running_server(Config(port=0, db=str(tmp_path / "server.db"))) as running:
        yield running


def check(room):
    """The mirror's own position is the one that the server tells of, and not stale."""
    match = room.mirror.match
    assert not room.mirror.is_stale
    assert (room.mirror.state.digest(), len(room.mirror.actions)) == (match.digest, match.ply)


async def until_equal(watching, playing):
    """Read the watcher's changes until it is where the player is, checking each."""
    while watching.mirror.since < playing.mirror.since:
        await anext(watching)
        check(watching)
    assert watching.mirror.state == playing.mirror.state


def test_every_game_is_played_here():
    assert set(OPTIONS) == set(registry.names())


@pytest.mark.parametrize("game", OPTIONS)
async def test_after_every_ply_undo_and_takeback_the_digests_are_equal(server, game):
    draw = random.Random(5)
    async with (
        asyncio.timeout(LIMIT_S),
        connect(server.url, name="ana") as ana,
        connect(server.url, name="eva") as eva,
        ana.create(game, OPTIONS[game], seats=(ME, ME)) as room,
        eva.watch(room.code) as watched,
    ):
        for ply in range(PLIES_COUNT):
            if room.mirror.head.phase != "playing":
                break
            state = room.mirror.state
            await room.play([state.action_to_string(draw.choice(state.legal_actions()))])
            check(room)
            await until_equal(watched, room)
            if ply % 5 == 4 and room.mirror.to_move is not None and room.mirror.state.actions_in_turn:
                await room.undo(len(room.mirror.actions) - 1)
            elif ply % 7 == 6 and room.mirror.to_move is not None:
                await room.offer("takeback")
            check(room)
            await until_equal(watched, room)


async def test_a_late_watcher_and_a_rematch_begin_from_equal_positions(server):
    async with (
        asyncio.timeout(LIMIT_S),
        connect(server.url, name="ana") as ana,
        connect(server.url, name="rui") as rui,
        ana.create("xero-g", OPTIONS["xero-g"], seats=(ME, OPEN)) as room,
        rui.join(room.code) as other,
    ):
        await until_equal(other, room)
        while not room.mirror.is_my_turn:
            await anext(room)
        await room.play([room.mirror.state.action_to_string(room.mirror.state.legal_actions()[0])])
        await room.resign()
        first_options = dict(room.mirror.game.options)
        await other.offer("rematch")
        while not room.mirror.head.offers:
            await anext(room)
        await room.answer("rematch", accept=True)
        await until_equal(other, room)
        assert room.mirror.match.number == 2
        assert dict(room.mirror.game.options) != first_options
        async with connect(server.url, name="eva") as eva, eva.watch(room.code) as late:
            check(late)
            assert late.mirror.state == room.mirror.state
