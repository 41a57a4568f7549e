"""Whether bots keep to their clocks: matches between the strongest bots on a real server, with other load beside.

    python -m tests.e2e.fairness [--matches 100] [--at-once 2] [--seconds 5] [--load 2] [--niceness 5]
        [--level expert] [--game GAME]

The clocks have no increment, so that whoever thinks too long in sum loses. The load are processes that never
rest, as many as there are cores by default. Prints one line a match and the figures at the end; exit status 1 when
a bot lost on time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tabuleiro.clock import Fischer
from tabuleiro.protocol.events import ActionsPlayed
from tabuleiro.protocol.messages import RoomHead, SeatRequest
from tabuleiro.rules import registry
from tabuleiro.rules.base import Termination
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.library import Client, connect
from tabuleiro_client.net.room import EnteredRoom, Happened
from tabuleiro_server.bots.worker import NICENESS
from tests.e2e.server_process import serving

BUSY: Final = "import os; os.nice({niceness})\nwhile True: pass"

SMALL: Final[dict[str, dict[str, int | str]]] = {
    "virus-wars": {"rows": 4, "cols": 4, "steps": 2},
    "xero-g": {"setup": "random"},
    "iris": {"side": 5},
    "minefield": {"size": 5},
}
"""Options with which a match is soon over."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is played: ``at_once`` matches at a time, with ``seconds`` on each clock."""

    matches: int
    at_once: int
    seconds: float
    level: str
    games: tuple[str, ...]
    options: dict[str, dict[str, int | str]]


@dataclass(frozen=True, slots=True)
class Played:
    """A match that ended: the least that was ever left on a clock, and how many turns were made at random."""

    game: str
    termination: str
    plies: int
    least_left_ms: int
    makeshift_count: int


@asynccontextmanager
async def busy_cores(count: int, niceness: int = NICENESS) -> AsyncIterator[None]:
    """Keep ``count`` processes busy for as long as the context lasts."""
    loads = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", BUSY.format(niceness=niceness))
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for load in loads:
            load.kill()
            await load.wait()


async def play_all(terms: Terms, tell: Callable[[Played], None]) -> None:
    """Play the matches on a server of their own, and tell of each as it ends."""
    games = iter([terms.games[number % len(terms.games)] for number in range(terms.matches)])
    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder) / "fairness.db", rooms_per_account_count=1000) as server:
            async with connect(server.url, name="referee") as client, asyncio.TaskGroup() as tables:
                await _warm_up(client, terms)
                for _ in range(terms.at_once):
                    tables.create_task(_keep_playing(client, terms, games, tell))


async def _warm_up(client: Client, terms: Terms) -> None:
    """Play a short match of each game without a clock: then workers have started and loaded what they need."""
    bot = SeatRequest("bot", "easy")
    for game in terms.games:
        async with client.create(game, SMALL[game], seats=(bot, bot)) as room:
            await _watched(room)
            await room.leave()


async def _keep_playing(
    client: Client, terms: Terms, games: Iterator[str], tell: Callable[[Played], None]
) -> None:
    bot = SeatRequest("bot", terms.level)
    settings = RoomSettings(time_control=Fischer(int(terms.seconds * 1000), 0))
    for game in games:
        options = terms.options.get(game, {})
        async with client.create(game, options, seats=(bot, bot), settings=settings) as room:
            tell(await _watched(room))
            await room.leave()


async def _watched(room: EnteredRoom) -> Played:
    """Watch a match to its end."""
    heads, makeshift_count = [room.mirror.head], 0
    while heads[-1].phase != "finished":
        change = await room.next_change()
        assert change is not None
        if isinstance(change, Happened):
            event = change.step.event.event
            makeshift_count += isinstance(event, ActionsPlayed) and event.is_makeshift
        heads.append(room.mirror.head)
    match = heads[-1].match
    assert match is not None
    assert match.termination is not None
    least_ms = min((left_ms for head in heads for left_ms in _left_ms(head)), default=0)
    return Played(heads[-1].game, match.termination, match.ply, least_ms, makeshift_count)


def _left_ms(head: RoomHead) -> tuple[int, ...]:
    """What the clocks show; of a player to move, what they showed when the turn began."""
    if head.match is None or head.match.clock is None:
        return ()
    return tuple(player.stage_ms for player in head.match.clock.players)


def figures(played: list[Played]) -> list[str]:
    """What the matches tell together."""
    lines = [f"{len(played)} matches: {dict(Counter(each.termination for each in played))}"]
    for game in sorted({each.game for each in played}):
        of_game = [each for each in played if each.game == game]
        least_ms = min(each.least_left_ms for each in of_game)
        lines.append(
            f"{game:11} {len(of_game):3} matches, {sum(each.plies for each in of_game):5} actions, "
            f"least left on a clock {least_ms} ms, {sum(each.makeshift_count for each in of_game)} turns at random"
        )
    return [*lines, f"lost on time: {flag_falls(played)}"]


def flag_falls(played: list[Played]) -> int:
    """How many matches were lost on time."""
    return sum(each.termination == Termination.TIMEOUT for each in played)


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--load", type=int, default=os.cpu_count() or 2)
    parser.add_argument(
        "--niceness", type=int, default=NICENESS, help="of the load; by default that of the workers"
    )
    parser.add_argument("--level", default="expert")
    parser.add_argument("--game", action="append", choices=registry.names())
    given = parser.parse_args()
    games = tuple(given.game or registry.names())
    terms = Terms(given.matches, given.at_once, given.seconds, given.level, games, {})
    played: list[Played] = []

    def tell(match: Played) -> None:
        played.append(match)
        print(f"{len(played):3} {match}", flush=True)

    async with busy_cores(given.load, given.niceness):
        await play_all(terms, tell)
    print("\n".join(figures(played)))
    return int(flag_falls(played) > 0)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
