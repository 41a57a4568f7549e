"""Measure what PostgreSQL costs beside a file, and what several nodes on it cost beside one.

    python -m tests.bench.bench_cluster [--rooms 150] [--seconds 10] [--nodes 1 2 3] [--moves-per-second 300]

It prints figures and asserts none. All servers run at once and are played on by turns, a second each, first as
fast as they answer and then at a pace. The database waits for its disk; it has no standby. How long rooms pause
when a node ends is measured by ``make torture-cluster``.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

from tabuleiro_server.cli.serve import allow_open_files
from tests.bench.guest import one_match
from tests.bench.load import Table, play_by_turns
from tests.bench.server_under_load import Nodes, cpu_of_process_s, running, tabuleiro
from tests.postgres import Cluster, cluster


async def bench(arguments: argparse.Namespace, postgres: Cluster, folder: Path) -> None:
    """Play as fast as the servers answer, then at a pace."""
    await _play("as fast as answered", arguments, postgres, folder / "fast.db", 0.0)
    # Two clients of a room move in turn, each so long after the other.
    pause_s = arguments.rooms / arguments.moves_per_second
    await _play(f"at {arguments.moves_per_second} moves/s", arguments, postgres, folder / "paced.db", pause_s)


async def _play(title: str, arguments: argparse.Namespace, postgres: Cluster, file: Path, pause_s: float) -> None:
    """Start all servers, play on them by turns, and print a line about each."""
    matches = [one_match(seed) for seed in range(20)]
    tables: list[Table] = []
    async with AsyncExitStack() as stack:
        sqlite = await stack.enter_async_context(running("SQLite", *tabuleiro(file)))
        tables.append(await Table.set_up(sqlite, arguments.rooms, matches, pause_s=pause_s))
        for count in arguments.nodes:
            nodes = await _nodes(stack, postgres, f"{file.stem}{count}", count)
            tables.append(await Table.set_up(nodes, arguments.rooms, matches, pause_s=pause_s))
            tables[-1].database_cpu_s = lambda: sum(map(cpu_of_process_s, postgres.pids()))
        print(f"{title}, {arguments.rooms} rooms", flush=True)
        await play_by_turns(tables, arguments.seconds)
        for table in tables:
            print(await table.report(), flush=True)
    for pair in (pair for table in tables for pair in table.pairs):
        pair.close()


async def _nodes(stack: AsyncExitStack, postgres: Cluster, database: str, count: int) -> Nodes:
    """Start nodes on a database of their own."""
    postgres.sql(f"CREATE DATABASE {database}")
    processes = []
    for number in range(count):
        # Nobody follows it here: each pair plays where it has opened its room.
        address = f"ws://127.0.0.1/{database}/{number}"
        command = tabuleiro(postgres.url(database))
        processes.append(await stack.enter_async_context(running(address, *command, node_url=address)))
    return Nodes(f"{count} nodes", processes)


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description="Measure servers on a file and on PostgreSQL.")
    parser.add_argument("--rooms", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--moves-per-second", type=int, default=300)
    arguments = parser.parse_args()
    allow_open_files(15_000)
    with tempfile.TemporaryDirectory() as name, cluster(is_quick=False, shared_buffers="128MB") as postgres:
        uvloop.run(bench(arguments, postgres, Path(name)))


if __name__ == "__main__":
    main()
