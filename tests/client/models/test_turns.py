"""Matches that wait for a turn of this user, on real servers: on the command line and as a model."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress

import msgspec
import pytest

from tabuleiro.clock import Correspondence
from tabuleiro.ids import TimestampMs
from tabuleiro.settings import RoomSettings
from tabuleiro_client.cli.main import exit_status
from tabuleiro_client.models.saved_matches import SavedMatch, SavedMatches
from tabuleiro_client.models.turns import find_turns
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.library import connect
from tabuleiro_client.net.room import EnteredRoom
from tabuleiro_client.text.rooms import turn_text
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server

SLOW = RoomSettings(time_control=Correspondence(days=3), is_private=True)


@pytest.fixture
async def server(tmp_path):
    async with running_server(Config(port=0, db=str(tmp_path / "server.db"))) as running:
        yield running


def saved(server, room: EnteredRoom, guest: str, secret: str | None = None, **others) -> SavedMatch:
    match = SavedMatch(server.url, guest, room.code, "Iris", "default board", "playing", "", TimestampMs(1))
    return msgspec.structs.replace(match, secret=secret, **others)


async def sit_down(stack: AsyncExitStack, server, **create) -> tuple[EnteredRoom, EnteredRoom]:
    """Ana, who made the room and moves first, and Rui, both in their room."""
    ana = await stack.enter_async_context(connect(server.url, name="ana"))
    rui = await stack.enter_async_context(connect(server.url, name="rui"))
    anas = await stack.enter_async_context(ana.create("iris", **create))
    ruis = await stack.enter_async_context(
        rui.join(anas.code, secret=anas.secrets.invite if anas.secrets else None)
    )
    return anas, ruis


async def test_the_match_waits_for_one_and_then_for_the_other_with_the_time_left(server, tmp_path):
    identities = IdentityFolder(tmp_path / "config")
    async with AsyncExitStack() as stack:
        anas, ruis = await sit_down(stack, server, settings=SLOW)
        both = [saved(server, anas, "Ana", anas.secret), saved(server, ruis, "rui", ruis.secret)]
        found = await find_turns(both, identities)
        (first,) = found.waiting
        assert first.match == both[0]
        # A day for the first turn, before the clock starts.
        assert first.left.startswith("23:59:")
        assert first.opponent == "rui", "who has come since the match was remembered"
        turns = anas.turns()
        state = await anext(turns)
        await anas.play([state.action_to_string(state.legal_actions()[0])])
        assert [turn.match for turn in (await find_turns(both, identities)).waiting] == [both[1]]


async def test_looking_for_turns_is_not_being_there(server, tmp_path):
    """A player who stays away would else count as present at every look."""
    async with AsyncExitStack() as stack:
        anas, _ = await sit_down(stack, server)
        await stack.aclose()
        match = saved(server, anas, "ana")
        async with connect(server.url, name="eva") as eva, eva.watch(anas.code) as watched:
            assert len((await find_turns([match], IdentityFolder(tmp_path))).waiting) == 1
            assert not any(seat.is_connected for seat in watched.mirror.head.seats)


async def test_what_is_over_gone_on_this_machine_or_out_of_reach_waits_for_nobody(server, tmp_path):
    async with AsyncExitStack() as stack:
        anas, _ = await sit_down(stack, server)
        mine = saved(server, anas, "ana")
        others = [
            msgspec.structs.replace(mine, room="ZZZZZ"),
            msgspec.structs.replace(mine, phase="finished"),
            msgspec.structs.replace(mine, server="local local.db", is_local=True),
            msgspec.structs.replace(mine, guest="somebody"),
            msgspec.structs.replace(mine, server="ws://127.0.0.1:9"),
        ]
        found = await find_turns([*others, mine], IdentityFolder(tmp_path))
        assert [turn.match for turn in found.waiting] == [mine]
        assert found.silent == ("ws://127.0.0.1:9",)
        await anas.resign()
        assert (await find_turns([mine], IdentityFolder(tmp_path))).waiting == ()


async def test_a_server_that_keeps_silent_is_waited_for_no_longer_than_said(tmp_path):
    is_gone = asyncio.Event()

    async def keep_silent(reader, writer):
        await reader.read()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        is_gone.set()

    async with await asyncio.start_server(keep_silent, "127.0.0.1", 0) as silent:
        url = f"ws://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
        match = SavedMatch(url, "ana", "K7MQ4", "Iris", "default board", "playing", "rui", TimestampMs(1))
        found = await find_turns([match], IdentityFolder(tmp_path), limit_s=0.05)
        await is_gone.wait()
    assert (found.waiting, found.silent) == ((), (url,))


def test_a_turn_is_told_in_one_line():
    told = turn_text("Iris", "rui", "K7MQ4", "wss://play.example.org", "2d 3h")
    assert told == "Iris against rui (K7MQ4 on play.example.org): your turn, 2d 3h left"
    assert turn_text("Iris", "rui", "K7MQ4", "ws://h:1", "") == "Iris against rui (K7MQ4 on h:1): your turn"


def test_without_a_turn_the_command_prints_nothing_and_its_status_says_so(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("TABULEIRO_CONFIG_DIR", str(tmp_path))
    assert exit_status(["turns"]) == 1
    match = SavedMatch(
        "ws://127.0.0.1:9", "ana", "K7MQ4", "Iris", "default board", "playing", "rui", TimestampMs(1)
    )
    SavedMatches(tmp_path).keep(match)
    assert exit_status(["turns", "--timeout", "5"]) == 1
    assert capfd.readouterr() == ("", "tabuleiro: no answer from ws://127.0.0.1:9\n")
