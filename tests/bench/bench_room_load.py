"""Time to load a room from its events alone, and the longest piece of that in one round of the event loop.

Run: ``python -m tests.bench.bench_room_load``. A room has match after match, each played to its end or for
``--plies`` actions, and no more than ``--events`` events in all; the last match goes on. The median of several
loads is printed with the slowest of them; the piece is time of the event loop's thread alone.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

from tabuleiro.ids import Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import (
    ActionsPlayed,
    Event,
    MatchEnded,
    MatchStarted,
    RoomOpened,
    Said,
    SeatInfo,
    SequencedEvent,
)
from tabuleiro.rules import registry
from tabuleiro_server.rooms.journal import Journal, rows_of
from tabuleiro_server.store.port import FIRST_INCARNATION
from tabuleiro_server.store.sqlite.store import SqliteStore
from tests.bench.bench_long_match import ANA, LINE, MATCHES, Heartbeat
from tests.e2e.stored_rooms import room_code

LOADS_COUNT: Final = 9
CHAT_EVERY_PLIES: Final = 10
_SEAT: Final = SeatInfo("person", ANA, "ana")


def matches(name: str, options: dict[str, int | str], plies_count: int) -> Iterator[Event]:
    """Yield the events of matches at random, one after the other, without end."""
    rng, number = Random(1), 0
    while True:
        number += 1
        yield MatchStarted(number)
        state, ply = registry.load(name, options).initial_state(), 0
        while state.to_move is not None and ply < plies_count:
            action = rng.choice(state.legal_actions())
            yield ActionsPlayed(number, Ply(ply), state.to_move, (state.action_to_string(action),))
            state, ply = state.child(action), ply + 1
            if ply % CHAT_EVERY_PLIES == 0:
                yield Said(ANA, "ana", LINE[:40], True)
        yield MatchEnded(number, None, "agreement")


def room_events(
    code: RoomCode, name: str, options: dict[str, int | str], plies_count: int, events_count: int
) -> list[SequencedEvent]:
    """Return the events of a room."""
    opened = RoomOpened(code, name, options, ANA, "ana", (_SEAT, _SEAT))
    events = [opened, *islice(matches(name, options, plies_count), events_count - 1)]
    return [SequencedEvent(Seq(seq), TimestampMs(1_000 * seq), event) for seq, event in enumerate(events, start=1)]


async def bench(journal: Journal, code: RoomCode, events: Sequence[SequencedEvent], title: str) -> None:
    """Store a room, load it several times, and print the times."""
    await journal.append(None, events, FIRST_INCARNATION).stored
    taken_ms, cpu_ms = [], []
    for _ in range(LOADS_COUNT):
        started_s, cpu_s = time.perf_counter(), time.process_time()
        assert await journal.load(code) is not None
        taken_ms.append(1000 * (time.perf_counter() - started_s))
        cpu_ms.append(1000 * (time.process_time() - cpu_s))
    heartbeat = Heartbeat()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    heartbeat.longest_ms = 0.0
    await journal.load(code)
    await asyncio.sleep(0)
    await heartbeat.stop()
    print(
        f"  {title:12} {len(events):6} events {statistics.median(taken_ms):7.1f} ms"
        f" ({min(taken_ms):.1f} to {max(taken_ms):.1f}), cpu {statistics.median(cpu_ms):6.1f} ms,"
        f" longest piece {heartbeat.longest_ms:4.1f} ms",
        flush=True,
    )


async def main(arguments: Sequence[str] | None = None) -> None:
    """Bench every game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, nargs="+", default=[1_000, 5_000])
    parser.add_argument("--plies", type=int, default=1_000, help="actions after which a match ends in a draw")
    parsed = parser.parse_args(arguments)
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        store = await SqliteStore.open(Path(folder) / "rooms.db", rows_of)
        stack.push_async_callback(store.close)
        journal, number = Journal(store), 0
        for events_count in parsed.events:
            for name, options in MATCHES:
                number += 1
                code = room_code(number)
                events = room_events(code, name, options, parsed.plies, events_count)
                await bench(journal, code, events, name)


if __name__ == "__main__":
    asyncio.run(main())
