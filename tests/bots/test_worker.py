"""The real worker process, alone and in a pool: what it answers, what it survives and when it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tabuleiro.rules import registry
from tabuleiro_server.bots.levels import SEARCH_LEVELS, choose_turn, level_names
from tabuleiro_server.bots.messages import (
    Answer,
    Job,
    Ready,
    Refusal,
    ThinkRequest,
    WorkerMessage,
    encode_frame,
    receive,
    texts_of,
)
from tabuleiro_server.bots.pool import BotPool, Thought
from tabuleiro_server.bots.worker import NICENESS
from tabuleiro_server.bots.worker_process import WORKER_COMMAND, WorkerProcess
from tests.patience import LIMIT_S
from tests.selection import rest_slow

COMPILE_WAIT_MS = 600_000

SMALL: dict[str, int | str] = {"rows": 5, "cols": 5, "steps": 2}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and niceness as on POSIX systems")


async def within_limit(answer: asyncio.Task[Thought]) -> Thought:
    return await asyncio.wait_for(answer, LIMIT_S)


def request(room: str = "A", level: str = "random", **options: int | str) -> ThinkRequest:
    return ThinkRequest(room, "virus-wars", {**SMALL, **options}, ["a4", "b4"], level, 7)


async def started_worker() -> Process:
    process = await asyncio.create_subprocess_exec(*WORKER_COMMAND, stdin=PIPE, stdout=PIPE)
    assert await answer_of(process) == Ready()
    return process


async def answer_of(process: Process) -> WorkerMessage:
    assert process.stdout is not None
    return await asyncio.wait_for(receive(process.stdout), LIMIT_S)


def tell(process: Process, job: Job) -> None:
    assert process.stdin is not None
    process.stdin.write(encode_frame(job))


async def end_of(process: Process) -> int:
    """Close the worker's standard input and return its exit status."""
    assert process.stdin is not None
    process.stdin.close()
    await asyncio.wait_for(process.communicate(), LIMIT_S)
    assert process.returncode is not None
    return process.returncode


@pytest.fixture
async def pool() -> AsyncIterator[BotPool]:
    opened = BotPool(worker_count=2, think_limit_ms=LIMIT_S * 1000)
    await opened.start()
    yield opened
    await opened.stop()


# The clock ends the searches of master, which may choose otherwise each time.
SEARCHING = (*(level.name for level in SEARCH_LEVELS["virus-wars"]), "master")


@pytest.mark.parametrize("level", [name for name in level_names("virus-wars") if name not in SEARCHING])
async def test_a_worker_answers_what_the_level_chooses(pool: BotPool, level: str) -> None:
    wanted = request(level=level)
    state = registry.load(wanted.game, wanted.options).initial_state()
    for text in wanted.actions:
        state = state.apply(state.string_to_action(text))
    thought = await asyncio.wait_for(pool.think(wanted), LIMIT_S)
    assert list(thought.actions) == texts_of(state, choose_turn(state, level, wanted.seed, None))
    assert not thought.is_fallback


@pytest.mark.parametrize("level", rest_slow(SEARCHING))
async def test_a_worker_answers_at_a_searching_level(pool: BotPool, level: str) -> None:
    """Check a legal turn; it depends on the state of the kernels."""
    wanted = request(level=level)
    state = registry.load(wanted.game, wanted.options).initial_state()
    for text in wanted.actions:
        state = state.apply(state.string_to_action(text))
    turn = state.turn_number
    thought = await asyncio.wait_for(pool.think(wanted), LIMIT_S)
    for text in thought.actions:
        state = state.apply(state.string_to_action(text))
    assert state.turn_number == turn + 1
    assert not thought.is_fallback


async def test_a_worker_ends_quietly_when_its_input_closes() -> None:
    process = await started_worker()
    assert await end_of(process) == 0


async def test_a_worker_whose_answer_nobody_reads_ends_quietly() -> None:
    process = await asyncio.create_subprocess_exec(*WORKER_COMMAND, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert await answer_of(process) == Ready()
    assert process.stderr is not None
    os.kill(process.pid, signal.SIGSTOP)
    tell(process, Job(1, request(), 10_000))
    process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
    os.kill(process.pid, signal.SIGCONT)
    assert await asyncio.wait_for(process.stderr.read(), LIMIT_S) == b""
    assert await end_of(process) == 0


async def test_a_worker_outlives_an_interrupt_of_its_process_group() -> None:
    process = await started_worker()
    os.kill(process.pid, signal.SIGINT)
    tell(process, Job(1, request(), 10_000))
    assert isinstance(await answer_of(process), Answer)
    assert await end_of(process) == 0


async def test_a_worker_gives_way_to_the_server() -> None:
    process = await started_worker()
    own, other = (os.getpriority(os.PRIO_PROCESS, pid) for pid in (0, process.pid))
    assert other == min(19, own + NICENESS)
    await end_of(process)


async def test_a_worker_tells_why_it_has_no_answer_and_goes_on() -> None:
    process = await asyncio.create_subprocess_exec(*WORKER_COMMAND, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert await answer_of(process) == Ready()
    tell(process, Job(1, request(rows=99), 10_000))
    tell(process, Job(2, request(level="genius"), 10_000))
    tell(process, Job(3, request(), 10_000))
    first, second, third = [await answer_of(process) for _ in range(3)]
    assert isinstance(first, Refusal)
    assert "rows: 99" in first.reason
    assert isinstance(second, Refusal)
    assert "genius" in second.reason
    assert isinstance(third, Answer)
    assert third.number == 3
    assert await end_of(process) == 0


async def worker_whose_level(tmp_path: Path, body: str) -> Process:
    """Return a real worker with something to do before each choice of its levels."""
    program = tmp_path / "odd_worker.py"
    program.write_text(
        "from tabuleiro_server.bots import worker\n"
        "choose_turn = worker.choose_turn\n"
        "def odd_choose_turn(*arguments):\n"
        f"    {body}\n"
        "    return choose_turn(*arguments)\n"
        "worker.choose_turn = odd_choose_turn\n"
        "worker.main()\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(program), stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    assert await answer_of(process) == Ready()
    return process


@pytest.mark.slow
async def test_a_hung_worker_that_nobody_kills_is_ended_by_its_own_alarm(tmp_path: Path) -> None:
    process = await worker_whose_level(tmp_path, "while True: pass")
    tell(process, Job(1, request(), hang_limit_ms=1))
    assert await end_of(process) == -signal.SIGALRM


async def test_what_a_level_prints_does_not_reach_the_frames(tmp_path: Path) -> None:
    process = await worker_whose_level(tmp_path, "print('thinking aloud')")
    tell(process, Job(1, request(), 10_000))
    assert isinstance(await answer_of(process), Answer)
    assert process.stdin is not None
    process.stdin.close()
    rest, errors = await asyncio.wait_for(process.communicate(), LIMIT_S)
    assert rest == b""
    assert errors == b"thinking aloud\n"


async def test_the_event_loop_goes_on_while_a_worker_thinks(pool: BotPool) -> None:
    await asyncio.wait_for(pool.think(request()), LIMIT_S)
    (pid,) = pool.worker_pids
    # Stopped, the worker thinks for as long as the test likes.
    os.kill(pid, signal.SIGSTOP)
    slow = asyncio.create_task(pool.think(request("slow", "minimax-3")))
    for number in range(5):
        # A task begins after `slow`, which therefore gets the stopped worker; a coroutine awaited here would not.
        thought = await within_limit(asyncio.create_task(pool.think(request(f"room {number}", "minimax-1"))))
        assert not thought.is_fallback
    assert not slow.done()
    os.kill(pid, signal.SIGCONT)
    assert not (await within_limit(slow)).is_fallback
    assert pool.counts.failures_count == 0


@pytest.mark.slow
async def test_a_stopped_worker_is_killed_and_a_new_one_answers() -> None:
    pool = BotPool(worker_count=1, think_limit_ms=3_000)
    await pool.start()
    await asyncio.wait_for(pool.think(request()), LIMIT_S)
    (pid,) = pool.worker_pids
    os.kill(pid, signal.SIGSTOP)
    thought: Thought = await asyncio.wait_for(pool.think(request()), LIMIT_S)
    assert not thought.is_fallback
    assert pid not in pool.worker_pids
    assert pool.counts.failures_count == 1
    await pool.stop()


def most_memory_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
async def test_with_the_kernels_of_all_games_a_worker_takes_less_than_250_mb() -> None:
    """Also one that had to have them compiled."""
    worker = await WorkerProcess.start()
    try:
        for game in registry.names():
            for level in level_names(game)[-2:]:
                options: dict[str, int | str] = {"setup": "random", "seed": 1} if game == "xero-g" else {}
                wait_ms = COMPILE_WAIT_MS
                wanted = ThinkRequest("A", game, options, [], level, 7, 2_000, kernels_wait_ms=wait_ms)
                assert (await worker.ask(wanted, wait_ms + LIMIT_S * 1000)).actions
        assert most_memory_kib(worker.pid) < 250_000
    finally:
        await worker.kill()


async def test_a_killed_server_leaves_no_worker_behind(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        "import asyncio\n"
        "from tabuleiro_server.bots.pool import BotPool\n"
        "from tabuleiro_server.bots.messages import ThinkRequest\n"
        "async def main():\n"
        "    pool = BotPool(1, 60_000)\n"
        "    await pool.start()\n"
        "    await pool.think(ThinkRequest('A', 'virus-wars', {}, [], 'random', 1))\n"
        "    print(*pool.worker_pids, flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, str(server), stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    pid = int(await asyncio.wait_for(process.stdout.readline(), LIMIT_S))
    os.kill(pid, 0)
    process.kill()
    # The worker inherited standard error: its end is read only when both are gone.
    assert await asyncio.wait_for(process.stderr.read(), LIMIT_S) == b""
    await process.wait()
