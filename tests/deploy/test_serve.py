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

from tests.patience import LIMIT_S

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
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
async def test_the_example_config_serves_until_it_is_told_to_stop(tmp_path: Path, number: signal.Signals) -> None:
    arguments = ("--config", EXAMPLE, "--port", "0", "--host", "127.0.0.1", "--db", tmp_path / "rooms.db")
    async with serving(*arguments) as (process, port, line):
        assert line == f"tabuleiro listens on ws://127.0.0.1:{port}\n"
        assert await asyncio.to_thread(get, f"http://127.0.0.1:{port}/health") == (200, "ok\n")
        process.send_signal(number)
        status, rest, errors = await outcome(process)
    assert status == 0
    assert rest.startswith(f"database: {tmp_path / 'rooms.db'} (")
    assert "Traceback" not in errors
    assert "stopped" in errors


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
