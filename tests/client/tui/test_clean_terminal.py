"""Every way out of the Textual client leaves the terminal as it was: keys, signals, a crash."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import sys
import termios
from pathlib import Path

import pytest

from tabuleiro_client.net.library import ME, OPEN, connect
from tabuleiro_client.tui.app import CRASH_REPORT_NAME
from tabuleiro_client.tui.terminal.output import CLEAN_TERMINAL, clean_terminal
from tests.e2e.server_process import serving
from tests.e2e.terminal_process import LIMIT_S, Terminal, terminal

pytestmark = pytest.mark.slow

RECORD = '[Game "virus-wars"]\n\n1. b10 c9 d8 e7 f6\n'
MODES = ("?1049", "?1000", "?1003", "?1006", "?1015", "?1004", "?2004")
"""The other screen, reports of the mouse and of the focus, bracketed paste."""


@pytest.fixture
def record(tmp_path: Path) -> str:
    path = tmp_path / "match.txt"
    path.write_text(RECORD, encoding="utf-8")
    return str(path)


def is_clean(text: str) -> bool:
    """Whether every mode that was set was taken back after it was set last, and the cursor is there."""
    taken_back = all(text.rfind(f"\x1b[{mode}h") < text.rfind(f"\x1b[{mode}l") for mode in MODES)
    keys_taken_back = text.count("\x1b[>1u") <= text.count("\x1b[<u")
    return taken_back and keys_taken_back and text.rfind("\x1b[?25l") < text.rfind("\x1b[?25h")


async def on_screen(shown: Terminal) -> None:
    await shown.shows(re.escape("\x1b[?1049h"))
    await shown.shows("replay")
    assert not is_clean(shown.text)


@pytest.mark.parametrize(
    ("keys", "status"), [(b"\x1b", 0), (b"\x11", 0), (b"\x03", 0)], ids=["escape", "ctrl-q", "ctrl-c"]
)
async def test_leaving_by_a_key_leaves_a_clean_terminal(tmp_path, record, keys, status):
    async with terminal(tmp_path, "replay", record) as shown:
        await on_screen(shown)
        shown.press(keys)
        assert await shown.wait() == status
        assert is_clean(shown.text)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_program_with_a_clean_terminal(tmp_path, record, number):
    async with terminal(tmp_path, "replay", record) as shown:
        await on_screen(shown)
        shown.send_signal(number)
        assert await shown.wait() == 128 + number
        assert is_clean(shown.text)


async def test_the_end_of_the_terminal_is_the_end_of_the_program(tmp_path, record):
    async with terminal(tmp_path, "replay", record) as shown:
        await on_screen(shown)
        shown.hang_up()
        assert await shown.wait() == 128 + signal.SIGHUP


async def test_a_terminal_that_sends_no_signal_when_it_is_closed_is_missed_all_the_same(tmp_path, record):
    async with terminal(tmp_path, "replay", record, is_controlling=False) as shown:
        await on_screen(shown)
        shown.hang_up()
        assert await shown.wait() == 128 + signal.SIGHUP


@pytest.mark.parametrize(
    ("leave", "status"),
    [
        (lambda shown: shown.press(b"\x11"), 0),
        (lambda shown: shown.press(b"\x03"), 0),
        (lambda shown: shown.send_signal(signal.SIGINT), 130),
        (lambda shown: shown.send_signal(signal.SIGTERM), 143),
        (lambda shown: shown.send_signal(signal.SIGHUP), 129),
    ],
    ids=["ctrl-q", "ctrl-c", "sigint", "sigterm", "sighup"],
)
async def test_a_terminal_that_takes_nothing_holds_up_no_way_out(tmp_path, record, leave, status):
    async with terminal(tmp_path, "replay", record) as shown:
        await on_screen(shown)
        shown.take_nothing()
        shown.press(b"[]" * 40)  # each is a picture more than the terminal takes
        leave(shown)
        assert await shown.wait() == status


async def test_a_crash_on_a_terminal_that_takes_nothing_ends_the_program(tmp_path):
    async with terminal(tmp_path, "play", program=("-c", CRASHING)) as shown:
        await shown.shows("against a bot")
        shown.take_nothing()
        shown.press(b"1")
        assert await shown.wait() == 1
        assert "no bot" in (tmp_path / "data" / CRASH_REPORT_NAME).read_text(encoding="utf-8")


LITTLE_WAITS = """
from tabuleiro_client.cli.main import main
from tabuleiro_client.tui import terminal

terminal.WAITING_MAX_CHARS = 100
main()
"""


async def test_a_move_made_while_the_terminal_takes_nothing_is_played_and_shown_when_it_goes_on(tmp_path):
    async with serving(tmp_path / "t.db") as server, connect(server.url, name="rui") as rui:
        async with rui.create("virus-wars", {"rows": 4, "cols": 4, "steps": 1}, seats=(OPEN, ME)) as room:
            arguments = ("play", "--server", server.url, "--name", "ana", "--room", room.code)
            async with terminal(tmp_path / "ana", *arguments, program=("-c", LITTLE_WAITS)) as shown:
                await shown.shows("your turn")
                shown.take_nothing()
                shown.press(b"b3\r")
                async with asyncio.timeout(LIMIT_S):
                    await anext(room.turns())
                    await room.say("I saw it")
                shown.forget()
                shown.go_on()
                # The whole screen is drawn anew, and not only what has changed; what was said may come later.
                await shown.shows(r"(?s)\A(?=.*I saw it)(?=.*why[?])")
                shown.press(b"\x11")
                assert await shown.wait() == 0
                assert is_clean(shown.text)


CRASHING = """
from tabuleiro_client.cli.main import main
from tabuleiro_client.tui.screens.home import HomeScreen

def crash(self, name):
    token = "a secret"
    raise RuntimeError(f"no {name}")

HomeScreen.action_open = crash
main()
"""


async def test_a_crash_leaves_a_clean_terminal_and_says_where_its_report_is(tmp_path):
    async with terminal(tmp_path, "play", program=("-c", CRASHING)) as shown:
        await shown.shows("against a bot")
        assert not is_clean(shown.text)
        shown.press(b"1")
        assert await shown.wait() == 1
        assert is_clean(shown.text)
        said = shown.text[shown.text.rindex("\x1b[?1049l") :]
        assert "tabuleiro has crashed (RuntimeError: no bot)" in said
        assert "Traceback" not in shown.text
        report = (tmp_path / "data" / CRASH_REPORT_NAME).read_text(encoding="utf-8")
        assert str(tmp_path / "data") in "".join(said.split())
        assert "RuntimeError: no bot" in report
        assert "a secret" not in said + report.replace('token = "a secret"', "")


HOLDING_UP = """
import asyncio
import threading
from tabuleiro_client.cli.main import main
from tabuleiro_client.tui.screens.home import HomeScreen

def look_up(self, name):
    # As a name server that does not answer: no thread of a look-up can be told to end.
    asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)
    self.notify("looking it up")

HomeScreen.action_open = look_up
main()
"""


async def test_a_look_up_that_never_ends_does_not_hold_up_the_end(tmp_path):
    async with terminal(tmp_path, "play", program=("-c", HOLDING_UP)) as shown:
        await shown.shows("against a bot")
        shown.press(b"1")
        await shown.shows("looki")
        shown.press(b"\x11")
        assert await shown.wait() == 0
        assert is_clean(shown.text)


async def test_after_the_server_was_killed_leaving_leaves_a_clean_terminal(tmp_path):
    async with serving(tmp_path / "t.db") as server:
        arguments = ("play", "--server", server.url, "--name", "ana", "--game", "iris")
        async with terminal(tmp_path / "ana", *arguments) as shown:
            await shown.shows("others join")
            await server.kill()
            await shown.shows("Reconnecting")
            shown.press(b"\x11")
            assert await shown.wait() == 0
            assert is_clean(shown.text)
            assert "Traceback" not in shown.text


@pytest.mark.parametrize(
    "leave",
    [
        lambda shown: shown.press(b"\x11"),
        lambda shown: shown.press(b"\x03"),
        lambda shown: shown.send_signal(signal.SIGTERM),
        lambda shown: shown.send_signal(signal.SIGHUP),
    ],
    ids=["ctrl-q", "ctrl-c", "sigterm", "sighup"],
)
async def test_however_a_match_is_left_the_way_back_to_the_seat_is_said_on_the_terminal(tmp_path, leave):
    async with serving(tmp_path / "t.db") as server, connect(server.url, name="rui") as rui:
        async with rui.create("virus-wars", seats=(OPEN, ME)) as room:
            arguments = ("play", "--server", server.url, "--name", "ana", "--room", room.code)
            async with terminal(tmp_path / "ana", *arguments) as shown:
                await shown.shows("your turn")
                leave(shown)
                await shown.wait()
                said = " ".join(shown.text[shown.text.rindex("\x1b[?1049l") :].split())
                way = f"tabuleiro play --server {server.url} --room {room.code} --name ana"
                assert f"Your seat in {room.code} is kept. To continue, run: {way}" in said


async def test_the_same_command_again_leads_back_to_the_room_that_it_made(tmp_path):
    """It made a second room, and who joined the first met nobody."""
    async with serving(tmp_path / "t.db") as server:
        arguments = ("play", "--server", server.url, "--name", "ana", "--game", "iris")
        async with terminal(tmp_path / "ana", *arguments) as shown:
            await shown.shows("--room [A-Z0-9]{5}")
            code = re.search(r"--room ([A-Z0-9]{5})", shown.text)[1]
            shown.hang_up()
            await shown.wait()
        async with terminal(tmp_path / "ana", *arguments) as shown:
            await shown.shows(f"in your room {code}")


SHELL = """
import os, signal, sys

signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if not job:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    os.execv(sys.executable, [sys.executable, "-m", "tabuleiro_client", *sys.argv[1:]])
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    print("stopped", flush=True)
    sys.stdin.readline()
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
"""


async def test_ctrl_z_suspends_and_the_screen_is_drawn_again_on_coming_back(tmp_path, record):
    """It was swallowed, and what was typed for the shell then went to the board."""
    async with terminal(tmp_path, "replay", record, program=("-c", SHELL)) as shown:
        await on_screen(shown)
        shown.press(b"\x1a")
        await shown.shows("stopped")
        assert is_clean(shown.text)
        shown.forget()
        shown.type("fg")
        await on_screen(shown)
        shown.press(b"\x11")
        assert await shown.wait() == 0


async def test_on_a_pipe_or_with_plain_the_line_client_answers(tmp_path, record):
    async with terminal(tmp_path, "replay", "--plain", record) as shown:
        await shown.shows("replay> ")
        shown.type("quit")
        assert await shown.wait() == 0
        assert "\x1b[?1049h" not in shown.text


def test_a_crash_takes_back_every_mode_and_the_line_settings(monkeypatch):
    reader, writer = pty.openpty()
    with open(writer, "w", closefd=False) as stream:
        monkeypatch.setattr(sys, "__stdout__", stream)
        before = termios.tcgetattr(writer)

        def crash() -> None:
            with clean_terminal():
                changed = termios.tcgetattr(writer)
                changed[3] &= ~(termios.ECHO | termios.ICANON)
                termios.tcsetattr(writer, termios.TCSANOW, changed)
                raise RuntimeError("a crash")

        with pytest.raises(RuntimeError, match="a crash"):
            crash()
        assert termios.tcgetattr(writer) == before
    assert os.read(reader, 1000).decode() == CLEAN_TERMINAL
    os.close(reader)
    os.close(writer)
