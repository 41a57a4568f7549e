"""The time until a server with many unfinished rooms accepts connections."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from tabuleiro.protocol.messages import WatchRoom
from tests.bench.guest import Guest
from tests.bench.server_under_load import running, tabuleiro
from tests.e2e.stored_rooms import fill, room_code


async def bench_restart(sizes: Sequence[int], folder: Path) -> None:
    """From the start of the process to its first line, and to being in the last of the rooms."""
    for size in sizes:
        db = folder / f"restart-{size}.db"
        await fill(db, size)
        started_s = time.perf_counter()
        async with running("tabuleiro", *tabuleiro(db)) as process:
            listens_s, cpu_s = time.perf_counter() - started_s, process.cpu_s()
            guest = await Guest.arrive(process.url, "late")
            await guest.ask(WatchRoom(id=0, room=room_code(size - 1)))
            entered_s = time.perf_counter() - started_s
            guest.client.close()
        print(
            f"  {size:6} unfinished rooms: listens after {listens_s:.2f} s ({cpu_s:.2f} s of a processor),"
            f" a guest is in a room after {entered_s:.2f} s",
            flush=True,
        )
