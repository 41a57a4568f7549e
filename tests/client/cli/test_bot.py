"""`tabuleiro bot` against a real server: engines that play, and engines that fail."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.errors import ClientError, CommandError
from tabuleiro.settings import RoomSettings
from tabuleiro_client import connect
from tabuleiro_client.cli.bot import EngineOptions, play_matches
from tabuleiro_client.cli.main import exit_status
from tabuleiro_client.net.library import ME, OPEN
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import RunningServer, running_server
from tests.net.bots_page import FAULTS, block, scripted, write_engine
from tests.patience import LIMIT_S

SIZE: dict[str, int | str] = {"size": 5}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RunningServer]:
    async with running_server(Config(port=0, db=str(tmp_path / "t.db"))) as running:
        yield running


def options(server: RunningServer, command: str, room: str | None = None, **others: int) -> EngineOptions:
    words = tuple(shlex.split(command))
    return EngineOptions(words, server.url, room, "minefield", SIZE, **others)


async def test_two_engines_meet_and_play_as_often_as_asked(server: RunningServer, tmp_path: Path) -> None:
    lucky = write_engine(tmp_path, block("python"))
    told: list[str] = []
    async with asyncio.timeout(LIMIT_S):
        await asyncio.gather(*(play_matches(options(server, lucky, game_count=2), told.append) for _ in range(2)))
    assert len([line for line in told if "Minefield, as Lucky" in line]) == 4
    assert len([line for line in told if " wins: " in line and "joined both edges" in line]) == 4


async def test_an_engine_plays_rematches_in_a_room_and_is_told_the_clocks(
    server: RunningServer, tmp_path: Path
) -> None:
    heard = tmp_path / "heard.txt"
    source = block("python").replace(
        'elif order == "go":', f'elif order == "go":\n        open({str(heard)!r}, "a").write(line)'
    )
    told: list[str] = []
    settings = RoomSettings(time_control=Fischer(60_000, 0))
    async with asyncio.timeout(LIMIT_S), connect(server.url, name="ana") as ana:
        async with ana.create("minefield", SIZE, seats=(ME, OPEN), settings=settings) as room:
            command = write_engine(tmp_path, source)
            playing = asyncio.create_task(
                play_matches(options(server, command, room.code, game_count=2), told.append)
            )
            for _ in range(2):
                async for state in room.turns():
                    await room.play([state.action_to_string(state.legal_actions()[0])])
                if len(told) < 4 and room.mirror.match is not None and room.mirror.match.number == 1:
                    await room.offer("rematch")
                    while room.mirror.head.phase != "playing":
                        await room.next_change()
            await playing
    assert len(told) == 3
    words = heard.read_text().splitlines()[0].split()
    assert words[:3:2] + words[3::2] == ["go", words[2], "left", "other"]
    assert 0 < int(words[4]) <= 60_000
    assert int(words[2]) <= 10_000


@pytest.mark.parametrize(("on_go", "reason"), FAULTS.items())
async def test_an_engine_that_fails_resigns_and_says_why(
    server: RunningServer, tmp_path: Path, on_go: str, reason: str
) -> None:
    limit_ms = 50 if "sleep" in on_go else 5_000
    async with asyncio.timeout(LIMIT_S), connect(server.url, name="ana") as ana:
        async with ana.create("minefield", SIZE, seats=(OPEN, ME)) as room:
            command = write_engine(tmp_path, scripted(on_go))
            with pytest.raises(ClientError, match=r"the engine .*it has resigned") as caught:
                await play_matches(options(server, command, room.code, limit_ms=limit_ms), lambda line: None)
            async for _ in room.turns():
                pass
            assert room.mirror.match is not None
            assert (room.mirror.match.winner, room.mirror.match.termination) == (1, "resignation")
    assert reason in str(caught.value)


async def test_an_answer_to_a_position_that_is_gone_is_not_played(server: RunningServer, tmp_path: Path) -> None:
    asked, gate = tmp_path / "asked", tmp_path / "gate"
    for pipe in (asked, gate):
        os.mkfifo(pipe)
    source = scripted(
        f"open({str(asked)!r}, 'w').close(); open({str(gate)!r}).read(); print('best a1', flush=True)"
    )
    told: list[str] = []
    async with asyncio.timeout(LIMIT_S), connect(server.url, name="ana") as ana:
        async with ana.create("minefield", SIZE, seats=(OPEN, ME)) as room:
            command = write_engine(tmp_path, source)
            playing = asyncio.create_task(play_matches(options(server, command, room.code), told.append))
            await asyncio.to_thread(asked.read_text)
            await room.resign()
            await asyncio.to_thread(gate.write_text, "go on")
            await playing
    assert told[-1].endswith("resigned")


async def test_a_room_that_is_not_there_is_told(server: RunningServer, tmp_path: Path) -> None:
    with pytest.raises(CommandError, check=lambda error: error.code == "no-such-room"):
        await play_matches(options(server, write_engine(tmp_path, block("python")), "ZZZZ9"), lambda line: None)


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (["--engine", "no-such-program", "--quick", "iris"], 2, "a program that can be run"),
        (["--engine", "'open", "--quick", "iris"], 2, "a command"),
        (["--engine", "true"], 2, "--room or --quick"),
        (["--engine", "true", "--quick", "iris", "--room", "K7MQ4"], 2, "--room or --quick"),
        (["--engine", "true", "--room", "K7MQ4", "-o", "size=5"], 2, "a room has its options"),
        (["--engine", "true", "--quick", "iris", "-o", "side=99"], 2, "side"),
        (["--engine", "true", "--quick", "iris"], 1, "the engine ended with exit status 0"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(
    arguments: list[str], status: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(["bot", *arguments]) == status
    errors = capsys.readouterr().err
    assert reason in errors
    assert errors.count("\n") == 1
