"""The pool where no worker can be started: what is refused, what is made up for, and how often it is tried."""

from __future__ import annotations

import asyncio
import errno
import os
import sys

import pytest

from tabuleiro.errors import BotError, GameOptionError
from tabuleiro.rules import registry
from tabuleiro_server.bots.messages import ThinkRequest
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.bots.worker_process import WorkerProcess

LONG_MS = 60_000
SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}
MISSING = ("/nowhere/no-such-program",)
ENDING = (sys.executable, "-c", "raise SystemExit(3)")


def request(level: str = "random", game: str = "virus-wars", **options: int | str) -> ThinkRequest:
    return ThinkRequest("A", game, {**SMALL, **options}, [], level, 1)


@pytest.mark.parametrize("command", [ENDING, MISSING], ids=["ending", "missing"])
async def test_workers_that_cannot_start_are_tried_ever_less_often(command: tuple[str, ...]) -> None:
    pauses_s: list[float] = []

    async def pause(delay_s: float) -> None:
        pauses_s.append(delay_s)

    pool = BotPool(1, LONG_MS, command=command, pause=pause)
    await pool.start()
    for _ in range(5):
        thought = await pool.think(request())
        assert thought.is_fallback
        state = registry.load("virus-wars", SMALL).initial_state()
        for text in thought.actions:
            state = state.apply(state.string_to_action(text))
        assert (state.turn_number, state.actions_in_turn) == (2, 0)
    await pool.stop()
    assert pauses_s == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of open files")
async def test_out_of_files_a_worker_that_cannot_be_started_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Symptom: "cannot start a bot worker: [Errno -1] Unknown error -1", by uvloop."""
    import resource

    async def fail(*_: object, **__: object) -> None:
        raise OSError(-1, "Unknown error -1")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", fail)
    with pytest.raises(BotError, match="Unknown error -1"):
        await WorkerProcess.start()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        with pytest.raises(BotError) as caught:
            await WorkerProcess.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert str(caught.value) == f"cannot start a bot worker: [Errno {errno.EMFILE}] {os.strerror(errno.EMFILE)}"


async def test_wrong_requests_are_refused_at_once() -> None:
    pool = BotPool(1, LONG_MS, command=MISSING)
    await pool.start()
    with pytest.raises(BotError, match=r"'genius'.*minimax-3"):
        await pool.think(request(level="genius"))
    with pytest.raises(GameOptionError, match="chess"):
        await pool.think(request(game="chess"))
    assert pool.counts.failures_count == 0
    with pytest.raises(ValueError, match="at least 1"):
        BotPool(0, LONG_MS)


async def test_a_request_without_a_legal_answer_fails_and_the_pool_goes_on() -> None:
    async def no_pause(delay_s: float) -> None:
        pass

    pool = BotPool(1, LONG_MS, command=MISSING, pause=no_pause)
    await pool.start()
    with pytest.raises(BotError, match="game is over"):
        await pool.think(request(position="XXXX/XXxX/XXXX/XXXo 1 1"))
    with pytest.raises(GameOptionError, match="rows"):
        await pool.think(request(rows=99))
    assert (await pool.think(request())).is_fallback
    await pool.stop()
