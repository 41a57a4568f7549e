"""A node's store alone, as fast as the database commits: ``committer.py DATABASE ROOMS SECONDS``.

Every room appends an event the size of a move's, and the next one when that is stored. It prints one JSON object:
appends, commits, and the times in seconds from append to answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time

import uvloop

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import RoomRow, Rows, StoredEvent
from tabuleiro_server.store.postgres.keeper import NodeAddress
from tabuleiro_server.store.postgres.store import PostgresStore

PAYLOAD = b"x" * 80
SUMMARY = b"x" * 300


async def play(store: PostgresStore, room: RoomCode, until_s: float, times_s: list[float]) -> None:
    """Append to one room until the time has come."""
    last = 0
    while (started_s := time.perf_counter()) < until_s:
        now_ms = TimestampMs(time.time_ns() // 1_000_000)
        row = RoomRow(room, "playing", True, now_ms, now_ms, None, SUMMARY, AccountId("ana"))
        await store.append(room, Seq(last), [StoredEvent(Seq(last + 1), now_ms, 1, PAYLOAD)], Rows(row))
        last += 1
        times_s.append(time.perf_counter() - started_s)


async def main(url: str, room_count: int, seconds: float) -> None:
    """Append to all rooms for a while, and print what came of it."""
    store = await PostgresStore.open(url, address=NodeAddress("bench", f"ws://127.0.0.1/{os.getpid()}"))
    times_s: list[float] = []
    until_s = time.perf_counter() + seconds
    async with asyncio.TaskGroup() as rooms:
        for number in range(room_count):
            rooms.create_task(play(store, RoomCode(f"{os.getpid()}-{number}"), until_s, times_s))
    await store.close()
    print(json.dumps({"commits_count": store.metrics.commit_count, "times_s": times_s}))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
