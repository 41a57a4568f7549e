"""Measure how fast and how big the server is, beside relays that do as little as possible or its older states.

    python -m tests.bench.bench_server [--only load|bots|idle|watchers|restart] [--rooms 50 100 200] [--seconds 4]
        [--bot-rooms 50] [--connections 1250 2500 5000] [--idle-rooms 500 1000 2000] [--watchers 250 500 1000]
        [--stored-rooms 2500 5000 10000]
    python -m tests.bench.bench_server --against COMMIT... [--rooms 50 100 200] [--seconds 10]

It prints figures and asserts none. The load comes over real WebSockets on loopback. Every server runs in a process
of its own; this process makes the load. Relay (a) checks and stores nothing, relay (b) is the same with each move
in a group commit. With ``--against`` the load is played on the server as it is and as it was, by turns, and the
ratios are of now to then. Medians come with their quartiles in brackets.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

import uvloop

from tabuleiro_server.cli.serve import allow_open_files
from tests.bench.bots import bench_bots
from tests.bench.idle import bench_idle
from tests.bench.load import bench_against, bench_load
from tests.bench.restart import bench_restart
from tests.bench.watchers import bench_watchers
from tests.older import older_python


async def bench(arguments: argparse.Namespace, folder: Path) -> None:
    """Run the parts that are asked for."""
    allow_open_files(max(arguments.connections))
    seconds = arguments.seconds or 4.0
    parts: dict[str, Callable[[], Awaitable[None]]] = {
        "load": lambda: bench_load(arguments.rooms, seconds, folder),
        "bots": lambda: bench_bots(arguments.bot_rooms, 2 * seconds, folder),
        "idle": lambda: bench_idle(arguments.connections, arguments.idle_rooms, folder),
        "watchers": lambda: bench_watchers(arguments.watchers, folder),
        "restart": lambda: bench_restart(arguments.stored_rooms, folder),
    }
    for part, run in parts.items():
        if arguments.only in (None, part):
            print(part, flush=True)
            await run()


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description="Measure the server.")
    parser.add_argument("--rooms", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--bot-rooms", type=int, default=50)
    parser.add_argument("--connections", type=int, nargs="+", default=[1250, 2500, 5000])
    parser.add_argument("--idle-rooms", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--watchers", type=int, nargs="+", default=[250, 500, 1000])
    parser.add_argument("--stored-rooms", type=int, nargs="+", default=[2500, 5000, 10_000])
    parser.add_argument("--only", choices=["load", "bots", "idle", "watchers", "restart"])
    parser.add_argument("--against", nargs="+", metavar="COMMIT")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        if arguments.against is None:
            uvloop.run(bench(arguments, folder))
        else:
            pythons = {commit: stack.enter_context(older_python(commit, folder)) for commit in arguments.against}
            uvloop.run(bench_against(pythons, arguments.rooms, arguments.seconds or 10.0, folder))


if __name__ == "__main__":
    main()
