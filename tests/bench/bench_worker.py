"""How far turns exceed their limit on a busy core, and the memory of a worker. Prints figures and asserts none.

    taskset -c 1 python -m tests.bench.bench_worker [--move-time MS] [--turns N] [--busy N] [GAME ...]

One worker plays games against itself, beside processes of its own priority that do nothing but compute; `taskset`
puts all of them on one core. A turn counts from the request to the answer. The memory is that of the worker after
the turns of each game, with the kernels of all games.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import msgspec

from tabuleiro.rules import State, registry
from tabuleiro_server.bots.levels import level_names
from tabuleiro_server.bots.messages import ThinkRequest, replay
from tabuleiro_server.bots.worker import NICENESS
from tabuleiro_server.bots.worker_process import WorkerProcess
from tests.bench.figures import percentile

WAIT_MS = 600_000
HANG_LIMIT_MS = 60_000
OPENING_PLIES = 4


def opening(game: str, level: str, rng: Random, budget_ms: int) -> ThinkRequest:
    """Return a request after some random actions: in Xero-G none, from a random setup."""
    options: dict[str, int | str] = {}
    if game == "xero-g":
        options = {"variant": rng.choice(("xero-g", "gyges")), "setup": "random", "seed": rng.randrange(1_000)}
    state: State = registry.load(game, options).initial_state()
    actions = list[str]()
    for _ in range(0 if options else OPENING_PLIES):
        action = rng.choice(state.legal_actions())
        actions.append(state.action_to_string(action))
        state = state.child(action)
    return ThinkRequest("room", game, options, actions, level, rng.getrandbits(32), budget_ms)


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Run ``count`` processes that compute with the priority of a worker."""
    command = ["nice", "-n", str(NICENESS), sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def memory_mb(pid: int) -> tuple[int, int]:
    """Return the memory of a process now and at its most, in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    kib = {line.split()[0]: int(line.split()[1]) for line in status.splitlines() if line.startswith("Vm")}
    return kib["VmRSS:"] // 1024, kib["VmHWM:"] // 1024


async def measure(games: list[str], level: str | None, move_ms: int, turns: int, busy_count: int) -> None:
    """Print a line for each game."""
    levels = {game: level if level in level_names(game) else level_names(game)[-1] for game in games}
    worker = await WorkerProcess.start()
    try:
        for game in games:
            request = msgspec.structs.replace(opening(game, levels[game], Random(1), 100), kernels_wait_ms=WAIT_MS)
            await worker.ask(request, WAIT_MS + HANG_LIMIT_MS)
        print(f"kernels of all games are loaded: {memory_mb(worker.pid)[0]} MB", flush=True)
        for game in games:
            with busy_processes(busy_count):
                over_s = await overshoots(worker, game, levels[game], move_ms, turns)
            now_mb, most_mb = memory_mb(worker.pid)
            figures = "  ".join(f"p{each} {percentile(over_s, each):6.1f}" for each in (50, 90, 99, 100))
            what = f"{game:12} {levels[game]:8} over {move_ms} ms by ms"
            print(f"{what}: {figures}   {now_mb} MB, at most {most_mb} MB", flush=True)
    finally:
        await worker.kill()


async def overshoots(worker: WorkerProcess, game: str, level: str, move_ms: int, turns: int) -> list[float]:
    """Return by how many seconds turns took longer than ``move_ms``; those that ended much sooner are left out."""
    rng, over_s = Random(f"turns of {game}"), list[float]()
    request = opening(game, level, rng, move_ms)
    while len(over_s) < turns:
        started_s = time.monotonic()
        answer = await worker.ask(request, HANG_LIMIT_MS)
        taken_s = time.monotonic() - started_s
        if taken_s > move_ms / 2000:
            over_s.append(taken_s - move_ms / 1000)
        request.actions.extend(answer.actions)
        if replay(request).is_terminal:
            request = opening(game, level, rng, move_ms)
    return over_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(registry.names()))
    parser.add_argument("--level", help="the strongest of a game if left out, or if a game does not have it")
    parser.add_argument("--move-time", type=int, default=300, metavar="MS")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--busy", type=int, default=3, help="processes that compute meanwhile")
    given = parser.parse_args()
    asyncio.run(measure(given.games, given.level, given.move_time, given.turns, given.busy))


if __name__ == "__main__":
    main()
