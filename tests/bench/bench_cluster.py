"""Measure what PostgreSQL costs beside a file, and what several nodes on it cost beside one.

    python -m tests.bench.bench_cluster [--only play|commits] [--rooms 150] [--seconds 10] [--nodes 1 2 3]
        [--moves-per-second 300]

It prints figures and asserts none. All servers run at once and are played on by turns, a second each, first as
fast as they answer and then at a pace. Then the stores of nodes commit alone, without players, with a standby to
wait for and without. The database waits for its disk. How long rooms pause when a node ends is measured by
``make torture-cluster``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import uvloop

from tabuleiro_server.cli.serve import allow_open_files
from tests.bench.figures import spread
from tests.bench.guest import one_match
from tests.bench.load import Table, play_by_turns
from tests.bench.server_under_load import Nodes, cpu_of_processes_s, running, tabuleiro
from tests.postgres import Cluster, cluster


async def bench(arguments: argparse.Namespace, postgres: Cluster, folder: Path) -> None:
    """Run the parts that are asked for."""
    if arguments.only in (None, "play"):
        await bench_play(arguments, postgres, folder)
    if arguments.only in (None, "commits"):
        await bench_commits(arguments, postgres, "without a standby")
        with cluster(is_quick=False, primary=postgres):
            postgres.set("synchronous_standby_names", "*")
            await bench_commits(arguments, postgres, "with a standby on the same machine")
            postgres.set("synchronous_standby_names", "")


async def bench_commits(arguments: argparse.Namespace, postgres: Cluster, title: str) -> None:
    """Let the stores of one node and of several append at once, and print a line about each number of them."""
    print(f"commits {title}, {arguments.rooms} rooms", flush=True)
    for count in arguments.nodes:
        name = f"commits{count}"
        postgres.sql(f"DROP DATABASE IF EXISTS {name}")
        postgres.sql(f"CREATE DATABASE {name}")
        cpu_s, log_place = _cpu_s(postgres), postgres.sql("SELECT pg_current_wal_lsn()")
        rooms_count = arguments.rooms // count
        processes = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.bench.committer", postgres.url(name)),
                *(str(rooms_count), str(arguments.seconds)),
                stdout=asyncio.subprocess.PIPE,
            )
            for _ in range(count)
        ]
        found = [json.loads((await process.communicate())[0]) for process in processes]
        times_s = [time_s for each in found for time_s in each["times_s"]]
        log_bytes = int(postgres.sql(f"SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{log_place}')"))
        table_bytes = int(postgres.sql("SELECT pg_total_relation_size('tabuleiro.events')", name))
        commits_count = sum(each["commits_count"] for each in found)
        print(
            f"  {count} stores {len(times_s) / arguments.seconds:.0f} appends/s  {spread(times_s)}"
            f"  {len(times_s) / commits_count:.0f} a commit"
            f"  the database {1e6 * (_cpu_s(postgres) - cpu_s) / len(times_s):.0f} us of cpu each,"
            f" {log_bytes / len(times_s):.0f} bytes of log and {table_bytes / len(times_s):.0f} of table",
            flush=True,
        )


async def bench_play(arguments: argparse.Namespace, postgres: Cluster, folder: Path) -> None:
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
            tables[-1].database_cpu_s = partial(_cpu_s, postgres)
        print(f"{title}, {arguments.rooms} rooms", flush=True)
        await play_by_turns(tables, arguments.seconds)
        for table in tables:
            print(await table.report(), flush=True)
    for pair in (pair for table in tables for pair in table.pairs):
        pair.close()


def _cpu_s(postgres: Cluster) -> float:
    """Return the processor time that a database has used, with that of connections that have ended."""
    pids = postgres.pids()
    ended = Path(f"/proc/{pids[0]}/stat").read_text().rpartition(")")[2].split()[13:15]
    return cpu_of_processes_s(pids) + sum(map(int, ended)) / os.sysconf("SC_CLK_TCK")


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
    parser.add_argument("--only", choices=["play", "commits"])
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
