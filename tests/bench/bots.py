"""Whether rooms of bots delay people: their times, and the lag of the event loop, with and without such rooms."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Final

from tabuleiro.protocol.messages import CreateRoom, SeatRequest
from tabuleiro.rules import registry
from tests.bench.figures import spread
from tests.bench.guest import Guest, one_match
from tests.bench.pair import Measured, Pair, seat_at_server
from tests.bench.server_under_load import Process, running, tabuleiro

PEOPLE_ROOMS_COUNT: Final = 50
PAUSE_S: Final = 0.2
"""How long people think: the server is busy and not at its limit, as one that is lived in."""

BOT_LEVEL: Final = "easy"
WARM_UP_S: Final = 3.0
_LAGS: Final = "tabuleiro_event_loop_lag_seconds_bucket"


async def bench_bots(bot_rooms_count: int, seconds: float, folder: Path) -> None:
    """People alone, and then the same people beside rooms in which bots play bots."""
    async with running("tabuleiro", *tabuleiro(folder / "bots.db")) as process:
        measured = Measured(is_playing=True)
        pairs = []
        for number in range(PEOPLE_ROOMS_COUNT):
            clients, room = await seat_at_server(process.url, number)
            pairs.append(Pair(clients, room, one_match(number % 20), measured, PAUSE_S))
        for pair in pairs:
            pair.go_on()
        await _report(process, measured, "without bots", seconds)
        host = await Guest.arrive(process.url, "keeper")
        seats = (SeatRequest("bot", BOT_LEVEL), SeatRequest("bot", BOT_LEVEL))
        for number in range(bot_rooms_count):
            game = registry.names()[number % len(registry.names())]
            await host.ask(CreateRoom(id=0, game=game, seats=seats))
        await _report(process, measured, f"beside {bot_rooms_count} rooms of bots", seconds)
        measured.is_playing = False
        for pair in pairs:
            pair.close()
        host.client.close()


async def _report(process: Process, measured: Measured, what: str, seconds: float) -> None:
    await asyncio.sleep(WARM_UP_S)
    measured.acknowledgements_s.clear()
    measured.receipts_s.clear()
    before = await process.metrics()
    await asyncio.sleep(seconds)
    measured.check()
    after = await process.metrics()
    moves_count = len(measured.acknowledgements_s)
    events_count = after["tabuleiro_events_stored_total"] - before["tabuleiro_events_stored_total"]
    print(
        f"  {PEOPLE_ROOMS_COUNT} rooms of people {what:26} {moves_count / seconds:5.0f} moves/s of people,"
        f" {max(events_count - moves_count, 0) / seconds:4.0f} of bots"
        f"  acknowledged {spread(measured.acknowledgements_s)}  told {spread(measured.receipts_s)}"
        f"  event loop late by at most {_lag_ms(before, after):.0f} ms",
        flush=True,
    )


def _lag_ms(before: dict[str, float], after: dict[str, float]) -> float:
    """The bound below which all lags of the event loop lay between two moments."""
    counts = {
        float(name.partition('le="')[2].partition('"')[0]): count - before.get(name, 0)
        for name, count in after.items()
        if name.startswith(_LAGS)
    }
    all_count = counts[math.inf]
    return 1000 * min(bound for bound, count in counts.items() if count == all_count)
