"""Every way out of the line client: closed and blocked streams, signals, the end of the input, at every prompt."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.server_process import serving
from tests.e2e.terminal_process import Terminal, terminal
from tests.patience import LIMIT_S

pytestmark = pytest.mark.slow

LOCAL_MATCH = ("play", "--plain", "--bot", "easy", "--option", "rows=5", "--option", "cols=5")


@pytest.fixture
def record(tmp_path: Path) -> str:
    path = tmp_path / "match.txt"
    path.write_text('[Game "virus-wars"]\n\n1. b10 c9 d8 e7 f6\n', encoding="utf-8")
    return str(path)


def prompts(record: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """Command lines that ask something on a terminal, and what they show by then."""
    return {
        "menu": (("play", "--plain"), r"number \[1\]: "),
        "match": (LOCAL_MATCH, "your turn"),
        "two here": (("play", "--plain", "--game", "iris"), "to move"),
        "replay": (("replay", "--plain", record), "replay> "),
    }


PROMPTS = ("menu", "match", "two here", "replay")


@asynccontextmanager
async def asking(tmp_path: Path, record: str, prompt: str) -> AsyncIterator[Terminal]:
    """The program on a terminal, waiting for an answer."""
    arguments, shows = prompts(record)[prompt]
    async with terminal(tmp_path / "config", *arguments) as shown:
        await shown.shows(shows)
        yield shown


async def ended_by_ctrl_c(shown: Terminal, times: int) -> int:
    """Press Ctrl-C, and again when nothing comes of it, and return how the program ended.

    The interpreter's line editor does not see one that comes while it is writing, e.g. its prompt.
    """
    for _ in range(times - 1):
        shown.press(b"\x03")
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                return await shown.wait()
    shown.press(b"\x03")
    return await shown.wait()


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_ctrl_c_ends_with_130_on_a_line_of_its_own(tmp_path, record, prompt):
    async with asking(tmp_path, record, prompt) as shown:
        assert await ended_by_ctrl_c(shown, times=10 if prompt == "replay" else 1) == 130
        await shown.shows(r"\n")
        assert "Traceback" not in shown.text


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_the_end_of_the_input_ends_with_0(tmp_path, record, prompt):
    async with asking(tmp_path, record, prompt) as shown:
        shown.press(b"\x04")
        assert await shown.wait() == 0
        assert "Traceback" not in shown.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("prompt", ["match", "replay"])
async def test_signals_end_it_as_they_end_every_program(tmp_path, record, prompt, number):
    async with asking(tmp_path, record, prompt) as shown:
        shown.send_signal(number)
        assert await shown.wait() == -number
        assert "Traceback" not in shown.text


@pytest.mark.parametrize("typed", [b"", b"?\n" * 20], ids=["waiting", "writing"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_terminal_that_takes_nothing_holds_up_no_signal(tmp_path, record, number, typed):
    async with asking(tmp_path, record, "match") as shown:
        shown.take_nothing()
        shown.press(typed)
        shown.send_signal(number)
        assert await shown.wait() == (130 if number == signal.SIGINT else -number)


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_a_terminal_that_is_closed_and_sends_no_signal_is_the_end(tmp_path, record, prompt):
    arguments, shows = prompts(record)[prompt]
    async with terminal(tmp_path / "config", *arguments, is_controlling=False) as shown:
        await shown.shows(shows)
        shown.hang_up()
        assert await shown.wait() in (0, 1)


class Piped:
    """The program with its output in a pipe that the test reads, closes or leaves full."""

    def __init__(self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, pipe: asyncio.Transport):
        self.process = process
        self._reader, self._pipe = reader, pipe

    @classmethod
    async def start(cls, folder: Path, *arguments: str) -> Piped:
        end, its_end = os.pipe()
        folders = {"TABULEIRO_CONFIG_DIR": str(folder), "TABULEIRO_DATA_DIR": str(folder / "data")}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tabuleiro_client", *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=its_end,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **folders},
        )
        os.close(its_end)
        reader = asyncio.StreamReader()
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb")
        )
        return cls(process, reader, pipe)

    async def shows(self, text: bytes) -> None:
        async with asyncio.timeout(LIMIT_S):
            await self._reader.readuntil(text)

    def close_output(self) -> None:
        self._pipe.close()

    async def end(self) -> tuple[int, str]:
        """The exit status, and what was said on standard error."""
        assert self.process.stderr is not None
        async with asyncio.timeout(LIMIT_S):
            errors = await self.process.stderr.read()
            return await self.process.wait(), errors.decode()


@asynccontextmanager
async def piped(folder: Path, *arguments: str) -> AsyncIterator[Piped]:
    started = await Piped.start(folder, *arguments)
    try:
        yield started
    finally:
        if started.process.returncode is None:
            started.process.kill()
            await started.process.wait()
        started.close_output()


async def test_an_output_that_is_closed_ends_a_match_that_waits_for_its_input(tmp_path):
    async with piped(tmp_path, *LOCAL_MATCH) as match:
        await match.shows(b"your turn")
        match.close_output()
        assert await match.end() == (1, "")


async def test_an_output_that_is_closed_ends_following_where_nothing_happens(tmp_path):
    async with serving(tmp_path / "t.db") as server:
        async with piped(tmp_path, "rooms", "--follow", "--server", server.url) as rooms:
            await rooms.shows(b"STATE")
            rooms.close_output()
            assert await rooms.end() == (1, "")


async def test_an_output_that_is_closed_ends_watching_where_nothing_happens(tmp_path):
    async with serving(tmp_path / "t.db") as server:
        arguments = ("play", "--plain", "--server", server.url, "--name", "ana", "--game", "iris")
        async with terminal(tmp_path / "ana", *arguments) as ana:
            code = (await ana.shows(r"--room (\w+)"))[1]
            async with piped(tmp_path / "eva", "watch", code, "--server", server.url) as watching:
                await watching.shows(b"\n")
                watching.close_output()
                assert await watching.end() == (1, "")


@pytest.mark.parametrize("arguments", [("--help",), ("rules", "iris"), ("rooms", "--help")])
async def test_an_output_closed_from_the_start_is_no_traceback(tmp_path, arguments):
    async with piped(tmp_path, *arguments) as command:
        command.close_output()
        status, errors = await command.end()
        assert (status, errors) in ((1, ""), (0, ""))
