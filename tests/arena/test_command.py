"""`tabuleiro arena` as its users meet it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tabuleiro_client.cli.main import exit_status
from tests.net.bots_page import block, scripted, write_engine
from tests.patience import LIMIT_S

SMALL = ("--game", "minefield", "--option", "size=5")


def test_a_small_tournament_with_one_that_crashes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lucky = f"Lucky={write_engine(tmp_path, block('python'))}"
    broken = f"Broken={write_engine(tmp_path, 'raise SystemExit(3)', 'broken.py')}"
    file = tmp_path / "results.json"
    arguments = ["arena", "greedy", lucky, broken, *SMALL, "--rounds", "2", "--jobs", "2", "--json", str(file)]
    assert exit_status(arguments) == 0
    shown = capsys.readouterr().out
    assert "Minefield (size=5): 2 rounds, all games played" in shown
    assert "Broken against greedy, ply 0: ended with exit status 3" in shown
    values = json.loads(file.read_text())
    assert values["is_complete"] is True
    assert [player["games"] for player in values["players"]] == [4, 4, 4]
    assert values["players"][2]["losses"] == 4


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["greedy", "gredy", *SMALL], 1, "neither a level of minefield"),
        (["greedy", *SMALL], 2, "two engines"),
        (["greedy", "random", "--game", "chess"], 2, "chess"),
        (["greedy", "random", *SMALL, "-o", "size=99"], 2, "size"),
        (["greedy", "random", *SMALL, "--json", "/no/such/folder/x.json"], 2, "--json"),
    ],
)
def test_what_cannot_be_is_told_at_once(
    arguments: list[str], status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(["arena", *arguments]) == status
    assert told in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes and signals")
async def test_ctrl_c_ends_engines_and_tells_the_table_so_far(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "results.json"
    os.mkfifo(pipe)
    source = scripted(f"open({str(pipe)!r}, 'w').write(str(__import__('os').getpid())); time.sleep(600)")
    arguments = ["random", "greedy", f"Hangs={write_engine(tmp_path, source)}", *SMALL, "--rounds", "1"]
    arguments += ["--jobs", "1", "--move-time", "100000", "--json", str(file)]
    arena = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tabuleiro_client", "arena", *arguments, stdout=PIPE, stderr=PIPE
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            engine_pid = int(await asyncio.to_thread(pipe.read_text))
            arena.send_signal(signal.SIGINT)
            output, errors = await arena.communicate()
    finally:
        if arena.returncode is None:
            arena.kill()
    assert (arena.returncode, errors) == (130, b"")
    assert b"1 of 3 games played" in output
    assert len(json.loads(file.read_text())["games"]) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(engine_pid, 0)
