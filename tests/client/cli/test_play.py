"""`tabuleiro play` as a process of its own: what only a process can show."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from tabuleiro_client.cli.play import parse_seat
from tests.client.cli.command_line import run

COMMAND = [sys.executable, "-m", "tabuleiro_client"]


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "TABULEIRO_CONFIG_DIR": str(tmp_path / "config"),
        "TABULEIRO_DATA_DIR": str(tmp_path / "data"),
        "PYTHONIOENCODING": "utf-8",
    }


async def start(environment, *arguments, command=COMMAND):
    return await asyncio.create_subprocess_exec(
        *command,
        *arguments,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_ctrl_c_in_the_middle_of_a_match_leaves_with_a_sentence_and_status_130(environment):
    process = await start(environment, "play", "--bot", "random", "--option", "rows=5", "--option", "cols=5")
    while b"your turn" not in (line := await process.stdout.readline()):
        assert line, (await process.stderr.read()).decode()
    process.send_signal(signal.SIGINT)
    output, errors = await process.communicate()
    assert b"You left; your seat is kept. To return:" in output
    assert (errors, process.returncode) == (b"", 130)


async def test_without_the_server_extra_one_line_says_what_to_install(environment):
    without_extra = (
        "import sys; sys.modules['aiosqlite'] = None; "
        "from tabuleiro_client.cli.main import exit_status; sys.exit(exit_status(['play', '--bot', 'random']))"
    )
    process = await start(environment, command=[sys.executable, "-c", without_extra])
    output, errors = await process.communicate(b"")
    assert errors.decode().startswith("tabuleiro: this needs the server part of tabuleiro, which is not installed")
    assert errors.decode().endswith(".whl[server]'\n")
    assert (output, process.returncode) == (b"", 2)


async def test_a_closed_standard_input_ends_the_game_like_its_end(environment):
    closing = "import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    command = [sys.executable, "-c", closing, "-m", "tabuleiro_client"]
    process = await start(environment, "play", "--bot", "random", command=command)
    output, errors = await process.communicate()
    assert b"You left; your seat is kept" in output
    assert (errors, process.returncode) == (b"", 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["play", "--game", "go"], "there is no game 'go'; games: virus-wars, xero-g, iris, minefield"),
        (["play", "--seat", "third"], "option seat: 'third' is not possible, expected first, second, or one of"),
        (["play", "--server", "ftp://x"], "--server: 'ftp://x': expected an address"),
        (["play", "--room", "K7MQ4", "--bot", "random"], "--room: 'K7MQ4': expected no --game"),
        (["play", "--option", "rows=2"], "option rows: '2' is not possible"),
        (["rooms", "--game", "go"], "there is no game 'go'; games: virus-wars, xero-g, iris, minefield"),
    ],
)
async def test_wrong_wishes_are_one_line_and_status_2(arguments, message):
    status, output, errors = await run(*arguments)
    assert message in errors
    assert errors.count("\n") == 1
    assert (output, status) == ("", 2)


@pytest.mark.parametrize(("seat", "expected"), [("first", 1), ("second", 0), ("blue", 0), ("Red", 1)])
def test_the_first_seat_is_that_of_the_player_who_begins_in_the_position(seat, expected):
    options = {"rows": 4, "cols": 4, "position": "...o/..../..../x... 1 5"}
    assert parse_seat(seat, "virus-wars", options) == expected


async def test_a_bot_here_may_be_an_algorithm_with_a_value_function_of_ones_own(environment, tmp_path):
    (tmp_path / "mine.py").write_text("def value(state, player): return state.stones[0] >> 12 & 1")
    bot = f"alpha-beta depth=1 eval={tmp_path / 'mine.py'}"
    arguments = ["--plain", "--game", "minefield", "--option", "size=5", "--seat", "second", "--bot", bot]
    process = await start(environment, "play", *arguments)
    while b"-bot played" not in (line := await process.stdout.readline()):
        assert line, (await process.stderr.read()).decode()
    process.stdin.close()
    await process.wait()
    assert line.endswith(b"played c3\n")
