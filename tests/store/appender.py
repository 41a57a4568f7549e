"""A program that appends to many rooms and prints what has been acknowledged: ``appender.py DATABASE ROOMS``.

It goes on from what it finds in the file, until it is killed. Each line is ``ROOM SEQ``, written in one piece.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.store.port import RoomRow, Rows, StoredEvent
from tabuleiro_server.store.sqlite.store import SqliteStore


def summary(last: int) -> bytes:
    """Return the summary of a room whose last event is ``last``."""
    return b"after %d" % last


async def play(store: SqliteStore, room: RoomCode) -> None:
    last = len(await store.load(room))
    while True:
        count = 1 + last % 3
        events = [
            StoredEvent(Seq(seq), TimestampMs(seq), 1, f"{room}/{seq}".encode())
            for seq in range(last + 1, last + count + 1)
        ]
        row = RoomRow(
            room, "playing", True, TimestampMs(0), TimestampMs(last), None, summary(last + count), AccountId("ana")
        )
        await store.append(room, Seq(last), events, Rows(row))
        last += count
        os.write(sys.stdout.fileno(), f"{room} {last}\n".encode())


async def main(path: Path, room_count: int) -> None:
    store = await SqliteStore.open(path, rows_of)
    async with asyncio.TaskGroup() as rooms:
        for number in range(room_count):
            rooms.create_task(play(store, RoomCode(f"R{number:04}")))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
