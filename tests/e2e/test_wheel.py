"""A friend who has nothing but the wheel installs it into a fresh environment, and plays a match to its end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.server_process import serving
from tests.net.bots_page import block

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
INSTALLATION_LIMIT_S = 300.0
MATCH_LIMIT_S = 60.0


def run(*command: str, cwd: Path = ROOT) -> str:
    """Run a program and return what it prints. Raises: CalledProcessError."""
    return subprocess.run(
        command, cwd=cwd, check=True, capture_output=True, text=True, timeout=INSTALLATION_LIMIT_S
    ).stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `make dist` builds it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", str(folder))
    assert len(list(folder.glob("tabuleiro-*.tar.gz"))) == 1
    (built,) = folder.glob("tabuleiro-*-py3-none-any.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel alone; returns its folder of programs."""
    folder = tmp_path_factory.mktemp("friend")
    run(sys.executable, "-m", "venv", str(folder))
    programs = folder / "bin"
    pinned = ("-c", str(ROOT / "constraints.txt"))
    run(str(programs / "python"), "-m", "pip", "install", "--quiet", *pinned, str(wheel))
    return programs


async def output_of(*command: str, cwd: Path, status: int = 0) -> str:
    """Run a program in a home of its own, with nothing to read; return all that it prints."""
    folders = {"TABULEIRO_CONFIG_DIR": str(cwd / "config"), "TABULEIRO_DATA_DIR": str(cwd / "data")}
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env={**{key: value for key, value in os.environ.items() if key != "PYTHONPATH"}, **folders},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(MATCH_LIMIT_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == status, output.decode()
    return output.decode()


async def test_two_friends_with_the_wheel_alone_play_a_match_to_its_end(installed: Path, tmp_path: Path) -> None:
    engine = tmp_path / "lucky.py"
    engine.write_text(block("python"), encoding="utf-8")
    command = (
        str(installed / "tabuleiro"),
        "bot",
        "--engine",
        f"{installed / 'python'} {engine}",
        "--quick",
        "minefield",
    )
    async with serving(tmp_path / "rooms.db") as server:
        told = await asyncio.gather(
            *(output_of(*command, "--server", server.url, cwd=tmp_path) for _ in range(2)),
        )
    assert all("match 1: " in lines and " wins" in lines for lines in told), told


async def test_with_the_part_of_the_server_it_plays_bot_against_bot_and_without_it_says_how_to_get_it(
    installed: Path, wheel: Path, tmp_path: Path
) -> None:
    tabuleiro = str(installed / "tabuleiro")
    refusal = await output_of(tabuleiro, "play", "--game", "minefield", "--bot", "easy", cwd=tmp_path, status=2)
    assert f"pipx install --force './{wheel.name}[server]'" in refusal
    pinned = ("-c", str(ROOT / "constraints.txt"))
    run(str(installed / "python"), "-m", "pip", "install", "--quiet", *pinned, f"{wheel}[server]")
    assert "\nwinner: " in await output_of(tabuleiro, "play", cwd=tmp_path)
