"""`tabuleiro serve` as whoever hosts a server meets it: it starts, answers, stops, and says what is wrong."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import urllib.request
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tabuleiro.protocol.messages import Announcement, CreateRoom
from tests.net.wire_client import wire
from tests.patience import LIMIT_S

if sys.platform != "win32":
    import fcntl
    import pty
    import termios

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "deploy" / "tabuleiro.toml"

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")


async def start(*arguments: str | Path) -> Process:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TABULEIRO_")}
    command = (sys.executable, "-m", "tabuleiro_client", "serve", *map(str, arguments))
    return await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE, env=environment)


@asynccontextmanager
async def serving(*arguments: str | Path) -> AsyncIterator[tuple[Process, int, str]]:
    """Run a server; its process, its port and its first line."""
    process = await start(*arguments)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LIMIT_S):
            line = (await process.stdout.readline()).decode()
        found = re.search(r":(\d+)$", line.strip())
        assert found is not None, line
        yield process, int(found[1]), line
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def outcome(process: Process) -> tuple[int | None, str, str]:
    """Wait for the end: exit status, standard output and standard error."""
    try:
        async with asyncio.timeout(LIMIT_S):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode, output.decode(), errors.decode()


def get(url: str) -> tuple[int, str]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=LIMIT_S) as answer:
        return answer.status, answer.read().decode()


@needs_signals
@pytest.mark.parametrize(
    "name",
    ["SIGTERM", pytest.param("SIGINT", marks=pytest.mark.slow), pytest.param("SIGHUP", marks=pytest.mark.slow)],
)
async def test_the_example_config_serves_until_it_is_told_to_stop(tmp_path: Path, name: str) -> None:
    arguments = ("--config", EXAMPLE, "--port", "0", "--host", "127.0.0.1", "--db", tmp_path / "rooms.db")
    async with serving(*arguments) as (process, port, line):
        assert line == f"tabuleiro listens on ws://127.0.0.1:{port}\n"
        assert await asyncio.to_thread(get, f"http://127.0.0.1:{port}/health") == (200, "ok\n")
        process.send_signal(getattr(signal, name))
        status, rest, errors = await outcome(process)
    assert status == 0
    assert rest.startswith(f"database: {tmp_path / 'rooms.db'} (")
    assert "Traceback" not in errors
    assert "stopped" in errors


@needs_signals
async def test_a_server_whose_terminal_is_closed_tells_its_clients_that_it_stops(tmp_path: Path) -> None:
    """Nothing can be logged any more then, and the bots' processes get the signal, too."""

    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    (tmp_path / "t.toml").write_text("shutdown_notice_ms = 0\n")
    ours, theirs = pty.openpty()
    arguments = ("serve", "--config", tmp_path / "t.toml", "--port", "0", "--db", tmp_path / "rooms.db")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tabuleiro_client", *map(str, arguments)),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(theirs)
    try:
        async with asyncio.timeout(LIMIT_S):
            line = (await asyncio.to_thread(os.read, ours, 65536)).decode()
            found = re.search(r"ws://\S+:\d+", line)
            assert found is not None, line
            async with wire(found[0]) as ana:
                await ana.hello("ana")
                os.close(ours)
                assert isinstance(await ana.receive(), Announcement)
                assert (await ana.closing())[0] == 1012
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@needs_signals
async def test_a_server_under_nohup_outlives_its_terminal(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        started = await start("--port", "0", "--db", tmp_path / "rooms.db")
    finally:
        signal.signal(signal.SIGHUP, before)
    try:
        assert started.stdout is not None
        async with asyncio.timeout(LIMIT_S):
            url = (await started.stdout.readline()).decode().split()[-1]
            async with wire(url) as ana:
                await ana.hello("ana")
                started.send_signal(signal.SIGHUP)
                await ana.do(CreateRoom, game="iris")  # refused by a server that stops
        started.send_signal(signal.SIGTERM)
    except BaseException:
        started.kill()
        raise
    finally:
        status, _, _ = await outcome(started)
    assert status == 0


@pytest.mark.slow
async def test_what_is_wrong_is_said_in_one_line(tmp_path: Path) -> None:
    """One of each kind; tests/net/test_startup.py has the others."""
    async with serving("--port", "0", "--db", tmp_path / "locked.db") as (server, port, _):
        attempts: dict[tuple[str | Path, ...], tuple[int, str, str]] = {
            ("--port", str(port), "--db", tmp_path / "other.db"): (2, f"127.0.0.1:{port}", "a free address"),
            ("--port", "0", "--db", tmp_path / "locked.db"): (1, "locked.db", f"(process {server.pid})"),
            ("--port", "0", "--db", tmp_path / "nowhere" / "rooms.db"): (1, "nowhere", "No such file"),
        }
        for arguments, (wanted_status, *wanted) in attempts.items():
            status, output, errors = await outcome(await start(*arguments))
            assert (status, output) == (wanted_status, ""), (arguments, errors)
            assert errors.count("\n") == 1, errors
            assert errors.startswith("tabuleiro: "), errors
            assert all(part in errors for part in wanted), (arguments, errors)
        assert server.returncode is None


def test_the_installed_command_is_what_the_files_call() -> None:
    program = Path(sys.executable).with_name("tabuleiro")
    shown = subprocess.run(
        [program, "serve", "--help"], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    for option in ("--host", "--port", "--db", "--config"):
        assert option in shown.stdout
