"""How fast kernels and tree search of Iris and Minefield are, beside the rules. Prints figures and asserts none.

    python -m tests.bench.bench_mcts [--seconds SECONDS] [--compile]

All figures are for the default boards and one core, by processor time: actions a second in random playouts and
perft nodes a second, in kernels and in plain Python, and playouts a second of the tree search from the empty
board. With ``--compile`` also how long it takes until a search is ready in a new process, before and after its
kernels are compiled.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from random import Random
from time import process_time
from typing import Any

import numpy as np

from tabuleiro.rules import State, perft, registry
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.iris.board import iris_tables, pack_iris, perft_iris
from tabuleiro_server.bots.engine.iris.search import play_out_iris
from tabuleiro_server.bots.engine.kernels import Array, RandomState, kernel, new_rng
from tabuleiro_server.bots.engine.minefield.board import HEADER, minefield_tables, pack_minefield, perft_minefield
from tabuleiro_server.bots.engine.minefield.search import play_out_minefield

READY = """\
import sys, time
start = time.perf_counter()
from tabuleiro.rules import registry
from tabuleiro_server.bots import engine
game = registry.load(sys.argv[1])
engine.searcher(game).choose_turn(game.initial_state(), max_nodes=4, deadline_s=None, seed=0)
print(time.perf_counter() - start)
"""


@kernel
def iris_actions(start: Array, tables: Any, rng: RandomState, count: int) -> int:
    """Play out ``count`` times; the number of actions, which is that of the cells."""
    board = np.empty_like(start)
    for _ in range(count):
        board[:] = start
        play_out_iris(board, tables, rng)
    return count * len(tables.is_rim)


@kernel
def minefield_actions(start: Array, tables: Any, rng: RandomState, count: int) -> int:
    """Play out ``count`` times; the number of actions."""
    board = np.empty_like(start)
    total = 0
    for _ in range(count):
        board[:] = start
        play_out_minefield(board, tables, rng)
        for cell in tables.cell_of:
            total += board[HEADER + cell] >= 0
    return total


def rate(count: Callable[[int], int], seconds: float) -> float:
    """What ``count`` counts a second, asked for more and more until it takes ``seconds``."""
    size = 1
    while True:
        start = process_time()
        counted = count(size)
        took = process_time() - start
        if took >= seconds:
            return counted / took
        size *= 2


def python_actions(start: State, random: Random, count: int) -> int:
    """Play out ``count`` times on the rules, without passes; the number of actions."""
    total = 0
    for _ in range(count):
        state = start
        while not state.is_terminal:
            actions = state.legal_actions()
            state = state.child(random.choice(actions[:-1] if getattr(state, "can_pass", False) else actions))
            total += 1
    return total


def report(name: str, seconds: float) -> None:
    """Print the figures of one game."""
    game: Any = registry.load(name)
    start = game.initial_state()
    if name == "iris":
        tables: Any = iris_tables(game)
        board, play, walk = pack_iris(start), iris_actions, perft_iris
    else:
        tables = minefield_tables(game)
        board, play, walk = pack_minefield(start, tables), minefield_actions, perft_minefield
    rng, random = new_rng(1), Random(1)
    play(board, tables, rng, 1)
    walk(board, tables, 1)
    rows = (
        ("playout actions", lambda n: play(board, tables, rng, n), lambda n: python_actions(start, random, n)),
        (
            "perft nodes (3)",
            lambda n: sum(walk(board, tables, 3) for _ in range(n)),
            lambda n: sum(perft(start, 3) for _ in range(n)),
        ),
    )
    for title, fast, plain in rows:
        quick, slow = rate(fast, seconds), rate(plain, seconds)
        print(f"{name:10} {title:16} {quick:14,.0f}/s  plain Python {slow:12,.0f}/s  x{quick / slow:,.0f}")
    search = engine.searcher(game)
    nodes = rate(lambda n: search.choose_turn(start, max_nodes=100 * n, deadline_s=None, seed=n).nodes, seconds)
    print(f"{name:10} {'search playouts':16} {nodes:14,.0f}/s")


def report_compile(name: str) -> None:
    """Print how long a new process takes to have a search ready, before and after its kernels are compiled."""
    with tempfile.TemporaryDirectory() as folder:
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", READY, name],
                    env={**os.environ, "NUMBA_CACHE_DIR": folder},
                    capture_output=True,
                    check=True,
                    text=True,
                ).stdout
            )
            for _ in range(2)
        ]
    print(
        f"{name:10} search ready after {times[0]:.1f} s cold, {times[1]:.1f} s when compiled before (wall clock)"
    )


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor time for each figure, at least")
    parser.add_argument("--compile", action="store_true", help="also time compiling")
    arguments = parser.parse_args()
    for name in ("iris", "minefield"):
        report(name, arguments.seconds)
        if arguments.compile:
            report_compile(name)


if __name__ == "__main__":
    main()
