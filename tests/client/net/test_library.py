"""The client library against a real server, and the bot that the documents show."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tabuleiro.errors import ClientError, CommandError
from tabuleiro.rules import registry
from tabuleiro.settings import RoomSettings
from tabuleiro_client import connect
from tabuleiro_client.net import room as room_module
from tabuleiro_client.net.library import ME, OPEN, bot
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import RunningServer, running_server
from tests.patience import LIMIT_S

PAGE = Path(__file__).parents[3] / "docs" / "bots.md"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RunningServer]:
    async with running_server(Config(port=0, db=str(tmp_path / "t.db"))) as running:
        yield running


async def test_a_guest_plays_a_whole_game_against_a_bot(server: RunningServer) -> None:
    async with asyncio.timeout(LIMIT_S), connect(server.url, name="ana") as client:
        assert client.name == "ana"
        assert client.token
        assert "random" in client.levels["minefield"]
        seats = (ME, bot("random"))
        async with client.create("minefield", {"size": 5}, seats=seats) as room:
            async for state in room.turns():
                await room.play([state.action_to_string(state.legal_actions()[0])])
            assert room.mirror.match is not None
            assert room.mirror.match.termination in ("connection", "deadlock")


async def test_a_move_right_after_the_other_sat_down_is_played(server: RunningServer) -> None:
    """Symptom: "no match is being played here", because the update was still on its way."""
    options: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}
    async with (
        asyncio.timeout(LIMIT_S),
        connect(server.url, name="ana") as ana,
        connect(server.url, name="rui") as rui,
        ana.create("virus-wars", options) as room,
    ):
        with pytest.raises(ClientError, match="no match is being played"):
            await room.play(["a3"])
        async with rui.join(room.code):
            await room.play(["a3"])
            assert room.mirror.actions == ["a3"]


async def test_turns_of_several_actions_are_asked_for_one_by_one(server: RunningServer) -> None:
    async with asyncio.timeout(LIMIT_S), connect(server.url, name="ana") as client:
        options: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 3}
        async with client.create("virus-wars", options, seats=(ME, ME)) as room:
            asked = 0
            async for state in room.turns():
                asked += 1
                await room.play([state.action_to_string(state.legal_actions()[-1])])
            assert asked == len(room.mirror.actions)


async def test_a_program_without_rules_plays_by_boards_and_choices(server: RunningServer) -> None:
    async with asyncio.timeout(LIMIT_S), connect(server.url, name="ana") as client:
        games = await client.link.list_games()
        assert "minefield" in {game.name for game in games.games}
        async with client.create("minefield", {"size": 5}, seats=(ME, bot("random")), boards=True) as room:
            assert room.layout is not None
            async for _ in room.turns():
                assert room.board is not None
                assert room.board.ply == len(room.mirror.actions)
                choice = (room.board.choices or ())[0]
                considered = await room.consider([choice.text])
                assert considered.board.cells != room.board.cells
                await room.play([choice.text])
            shown = await client.link.get_boards(room.code, ply=1, count=2)
            assert [board.ply for board in shown.boards] == [1, 2]


async def test_boards_come_again_after_a_lost_connection(server: RunningServer) -> None:
    async with asyncio.timeout(LIMIT_S), connect(server.url, name="ana") as client:
        async with client.create("minefield", {"size": 5}, seats=(ME, ME), boards=True) as room:
            await room.play(["a1"])
            await client.link._connection.close()  # type: ignore[union-attr]
            await room.play(["b1"])
            assert room.board is not None
            assert room.board.ply == 2


async def test_both_sides_are_played_in_a_match_of_more_changes_than_are_kept_unread(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_module, "_UNSEEN_MAX_COUNT", 5)
    async with asyncio.timeout(LIMIT_S), connect(server.url, name="ana") as client:
        async with client.create("minefield", {"size": 5}, seats=(ME, ME)) as room:
            async for state in room.turns():
                await room.play([state.action_to_string(state.legal_actions()[0])])
            assert room.mirror.match is not None
            assert room.mirror.match.termination in ("connection", "deadlock")


async def test_a_private_room_takes_its_secret(server: RunningServer) -> None:
    async with (
        asyncio.timeout(LIMIT_S),
        connect(server.url, name="ana") as ana,
        connect(server.url, name="rui") as rui,
    ):
        settings = RoomSettings(is_private=True)
        async with ana.create("minefield", {"size": 5}, seats=(ME, OPEN), settings=settings) as room:
            assert room.secrets is not None
            assert (await rui.rooms()).rooms == ()
            for refused in (
                rui.join(room.code),
                rui.watch(room.code),
                rui.join(room.code, secret=room.secrets.watch),
            ):
                with pytest.raises(CommandError, check=lambda error: error.code == "bad-secret"):
                    async with refused:
                        pass
            async with rui.watch(room.code, secret=room.secrets.watch) as watched:
                assert watched.mirror.own_seats == ()
            async with rui.join(room.code, secret=room.secrets.invite) as joined:
                assert joined.mirror.own_seats == (1,)
                assert joined.secrets is None


async def test_the_bot_of_the_documents_plays_to_the_end(server: RunningServer, tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    code = found[1].replace("ws://127.0.0.1:8765", server.url)
    script = tmp_path / "robo.py"
    script.write_text(code)
    robots = [
        await asyncio.create_subprocess_exec(sys.executable, str(script), stdout=asyncio.subprocess.PIPE)
        for _ in range(2)
    ]
    try:
        async with asyncio.timeout(2 * LIMIT_S):
            outputs = await asyncio.gather(*(robot.communicate() for robot in robots))
    finally:
        for robot in robots:
            if robot.returncode is None:
                robot.kill()
    assert [robot.returncode for robot in robots] == [0, 0]
    sides = registry.game_type("minefield").sides
    assert all(output.decode().strip() in {f"{side} wins" for side in sides} for output, _ in outputs)
