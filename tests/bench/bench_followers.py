"""Measure what watchers cost the node that has their room, when they are there and when they are on another node.

    python -m tests.bench.bench_followers [--watchers 0 100 300] [--moves 100]

It prints figures and asserts none: processor time a move of either node and of the database, and the time from a
move until the last watcher is told of it. A host plays both sides, five moves a second.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from typing import Final

import uvloop

from tabuleiro.protocol.messages import CreateRoom, Play, SeatRequest, WatchRoom
from tabuleiro_server.cli.serve import allow_open_files
from tests.bench.figures import percentile
from tests.bench.guest import CODEC, GAME, OPTIONS, Guest, one_match
from tests.bench.server_under_load import Process, cpu_of_processes_s, running, tabuleiro
from tests.bench.watchers import AllTold
from tests.postgres import Cluster, cluster

PAUSE_S: Final = 0.2


async def bench(sizes: Sequence[int], moves_count: int, postgres: Cluster) -> None:
    """Play the same match for each number of watchers, on its own node and then on the other."""
    postgres.sql("CREATE DATABASE games")
    command = tabuleiro(postgres.url("games"))
    async with (
        running("own", *command, node_url="ws://127.0.0.1/a", room_watchers_count="1000000") as own,
        running("other", *command, node_url="ws://127.0.0.1/b") as other,
    ):
        for place, node in (("on its own node", own), ("on another node", other)):
            for size in sizes:
                await _play(place, node, size, moves_count, own, other, postgres)


async def _play(
    place: str, node: Process, size: int, moves_count: int, own: Process, other: Process, postgres: Cluster
) -> None:
    """Play a match that ``size`` people watch on ``node``, and print what it cost."""
    host = await Guest.arrive(own.url, f"host{size}{node.name}")
    seats = (SeatRequest("me"), SeatRequest("me"))
    room = (await host.ask(CreateRoom(id=0, game=GAME, options=OPTIONS, seats=seats))).head.room
    watchers = []
    for number in range(size):
        watcher = await Guest.arrive(node.url, f"w{size}{node.name}{number}")
        await watcher.ask(WatchRoom(id=0, room=room, follow=True))
        watchers.append(watcher)
    await asyncio.sleep(1.0)
    before = own.cpu_s(), other.cpu_s(), cpu_of_processes_s(postgres.pids())
    times_s = []
    for ply, action in enumerate(one_match(1)[:moves_count]):
        started_s = time.perf_counter()
        waiting = AllTold(watchers, ply)
        host.client.send(CODEC.encode(Play(id=9, room=room, match=1, ply=ply, actions=(action,))))
        if watchers:
            await waiting.done
            times_s.append(time.perf_counter() - started_s)
        await asyncio.sleep(max(PAUSE_S - (time.perf_counter() - started_s), 0))
    after = own.cpu_s(), other.cpu_s(), cpu_of_processes_s(postgres.pids())
    own_us, other_us, database_us = (1e6 * (b - a) / moves_count for a, b in zip(before, after, strict=True))
    told = f"told p50 {percentile(times_s, 50):.0f} ms, slowest {1000 * max(times_s):.0f} ms" if times_s else ""
    print(
        f"  {size:5} watchers {place}: own node {own_us:6.0f} us a move, other node {other_us:6.0f} us,"
        f" database {database_us:6.0f} us  {told}",
        flush=True,
    )
    for guest in (host, *watchers):
        guest.client.close()
    await asyncio.sleep(1.0)


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description="Measure what watchers cost the node that has their room.")
    parser.add_argument("--watchers", type=int, nargs="+", default=[0, 100, 300])
    parser.add_argument("--moves", type=int, default=100)
    arguments = parser.parse_args()
    allow_open_files(5_000)
    with cluster() as postgres:
        uvloop.run(bench(arguments.watchers, arguments.moves, postgres))


if __name__ == "__main__":
    main()
