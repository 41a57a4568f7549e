"""How long kernels take to compile, and a bot to its first move, cold and warm. Prints figures and asserts none.

    python -m tests.bench.bench_compile [GAME ...]

For each game (Xero-G after its setup), in a folder for machine code that is empty at first: the first move of an
``easy`` bot from the worker pool that a server has, the time for every kernel to be compiled (without those it
calls), and the same two again with what was compiled. Wall clock, in seconds, on a machine that should have
nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

from tabuleiro.rules import registry

FIRST_MOVE = """\
import asyncio, json, sys, time
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.bots.messages import ThinkRequest

async def main():
    pool = BotPool(1, 10_000)
    await pool.start()
    started_s = time.perf_counter()
    thought = await pool.think(ThinkRequest("room", sys.argv[1], json.loads(sys.argv[2]), [], "easy", 1))
    assert not thought.is_fallback
    print(time.perf_counter() - started_s)
    await pool.stop()

asyncio.run(main())
"""

COMPILE = """\
import json, sys, time
from numba.core.dispatcher import Dispatcher
from tabuleiro.rules import registry
from tabuleiro_server.bots import engine

seconds, inner = {}, [0.0]
compile_kernel = Dispatcher.compile

def timed(kernel, signature):
    started_s = time.perf_counter()
    inner.append(0.0)
    try:
        return compile_kernel(kernel, signature)
    finally:
        spent_s, called_s = time.perf_counter() - started_s, inner.pop()
        inner[-1] += spent_s
        package, _, module = kernel.py_func.__module__.rpartition(".")
        is_ours = package == engine.__name__
        name = f"{module}.{kernel.py_func.__name__}" if is_ours else "what numba brings"
        seconds[name] = seconds.get(name, 0.0) + spent_s - called_s

Dispatcher.compile = timed
game = registry.load(sys.argv[1], json.loads(sys.argv[2]))
engine.searcher(game).choose_turn(game.initial_state(), max_nodes=2_000, deadline_s=None, seed=0)
print(json.dumps(seconds))
"""

OPTIONS = {"xero-g": {"setup": "random", "seed": 1}}
"""By game, where they are not the default: placing ships takes no search at ``easy``."""


def run(program: str, game: str, folder: str) -> str:
    """What ``program`` prints about ``game`` in a new process that keeps machine code in ``folder``."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    return subprocess.run(
        [sys.executable, "-c", program, game, json.dumps(OPTIONS.get(game, {}))],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout


def report_game(game: str) -> None:
    """Print all figures of ``game``."""
    with tempfile.TemporaryDirectory() as folder:
        cold_move = float(run(FIRST_MOVE, game, folder))
    with tempfile.TemporaryDirectory() as folder:
        cold: dict[str, float] = json.loads(run(COMPILE, game, folder))
        warm: dict[str, float] = json.loads(run(COMPILE, game, folder))
        warm_move = float(run(FIRST_MOVE, game, folder))
    print(f"{game}: first move at `easy` after {cold_move:.2f} s cold, {warm_move:.2f} s warm")
    for name, seconds in sorted(cold.items(), key=lambda item: -item[1]):
        print(f"  {name:<46} {seconds:7.2f} s cold {warm.get(name, 0.0):8.3f} s from the cache")
    print(f"  {'all kernels':<46} {sum(cold.values()):7.2f} s cold {sum(warm.values()):8.3f} s from the cache")
    sys.stdout.flush()


def main() -> None:
    """Print the figures of the games named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help="all if left out")
    for game in parser.parse_args().games or registry.names():
        report_game(registry.game_type(game).name)


if __name__ == "__main__":
    main()
