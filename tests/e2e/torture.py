"""The kill harness: many rooms are played over real connections while the server is killed again and again.

Now and then it is stopped for a moment instead, and the clock of its machine may be set at any time. Neither may
cost a player time.

``python -m tests.e2e.torture --kills 200 [--seed N]`` runs the long form; ``test_torture`` the short one. A run
is repeated with the seed it printed, as far as the order of things in two processes allows.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from tabuleiro.rules.base import Termination
from tabuleiro_client.net.link import Backoff, LinkSettings
from tests.budgets import NO_BUDGETS
from tests.e2e.ledger import StoredRooms
from tests.e2e.server_process import LIMIT_S, ServerProcess
from tests.e2e.tables import Run, Table

TABLE_COUNT: Final = 8
SHORT_KILL_COUNT: Final = 10
"""Kills of the short form, each with a thorough check; later every tenth has one."""

MOMENTS: Final = ("in play", "last action", "bot thinks", "resuming")
"""When the server is killed. The middle two are kills soon after a client has sent or seen just that."""

STALL_CHANCE: Final = 0.3
"""Of a standstill before a kill; a server that is stopped for longer than a second has to notice it."""

STALLS_S: Final = (0.3, 1.1, 1.6, 2.5)

_NOBODY: Final = "ws://127.0.0.1:9"
"""Where people look for the server while it is away: another one may get its port, and would not know them."""

_SERVER: Final = {
    "bot_workers": 1,
    "shutdown_notice_ms": 0,
    "messages_per_second_count": 100_000,
    "messages_burst_count": 100_000,
    "rooms_per_account_count": 100_000,
    **NO_BUDGETS,
}
_SETTINGS: Final = LinkSettings(backoff=Backoff(first_s=0.02, limit_s=0.2), request_timeout_s=LIMIT_S)


class Torture:
    """One run: a file, the servers that die on it one after the other, the tables, and the ledger."""

    def __init__(self, folder: Path, seed: int, kill_count: int) -> None:
        self.run = Run(lambda: self._url, _SETTINGS)
        self.kills: Counter[str] = Counter()
        self.stalls_count = 0
        self._db = folder / "rooms.db"
        self._folder = folder
        self._chance = random.Random(seed)
        self._kill_count = kill_count
        self._server: ServerProcess | None = None

    async def play(self) -> StoredRooms:
        """Play, kill and check until all matches have ended; return what is stored then."""
        await self._start()
        try:
            async with AsyncExitStack() as stack, asyncio.TaskGroup() as tables:
                for number in range(TABLE_COUNT):
                    table = Table(self.run, number, random.Random(self._chance.random()))
                    await table.open(stack)
                    tables.create_task(table.play())
                for _ in range(self._kill_count):
                    if self._chance.random() < STALL_CHANCE:
                        await self._stall()
                    await self._kill(self._chance.choice(MOMENTS))
                    await self._start()
                self.run.is_over = True
            assert self._server is not None
            assert await self._server.stop() == 0
            self._check_log()
        finally:
            if self._server is not None:
                await self._server.kill()
        stored = await self.run.ledger.check(self._db, self._folder, is_thorough=True)
        unfinished = [key for key in stored.lines if key[0] in self.run.codes and key not in stored.ended]
        assert not unfinished, f"these matches did not end: {unfinished}"
        late = [key for key, end in stored.ended.items() if end.termination == Termination.TIMEOUT]
        assert not late, f"these matches were lost on time: {late}"
        verifying = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tabuleiro_client", "db", "verify", "--db", str(self._db)),
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await verifying.communicate()
        assert verifying.returncode == 0, output.decode()
        return stored

    @property
    def _url(self) -> str:
        """Where the living server, or the last one, listens."""
        assert self._server is not None
        return self._server.url

    async def _start(self) -> None:
        has_slow_disk = self._chance.random() < 0.5
        self._server = await ServerProcess.start(self._db, has_slow_disk=has_slow_disk, **_SERVER)
        for link in self.run.links:
            link.url = self._server.url

    async def _kill(self, kind: str) -> None:
        """Kill the server at a moment of this kind, or at any moment if there is none for a while."""
        assert self._server is not None
        wanted_count = self._chance.randint(1, 100) if kind == "in play" else self._chance.randint(1, 3)
        if not await self.run.is_moment(kind, wanted_count):
            kind = "none of these"
        # Not a wait for anything: the kill shall come a random little later, while the server is at work.
        await asyncio.sleep(self._chance.choice((0, 0.0005, 0.002, 0.005, 0.02)) * self._chance.random())
        for link in self.run.links:
            link.url = _NOBODY
        await self._server.kill()
        self.kills[kind] += 1
        self._check_log()
        done_count = sum(self.kills.values())
        is_thorough = done_count <= SHORT_KILL_COUNT or done_count % SHORT_KILL_COUNT == 0
        await self.run.ledger.check(self._db, self._folder, is_thorough=is_thorough)

    async def _stall(self) -> None:
        """Stop the server where it is, and let it go on after a while."""
        assert self._server is not None
        self._server.signal(signal.SIGSTOP)
        # Not a wait for anything either.
        await asyncio.sleep(self._chance.choice(STALLS_S))
        self._server.signal(signal.SIGCONT)
        self.stalls_count += 1

    def _check_log(self) -> None:
        assert self._server is not None
        bad = [line for line in self._server.log if "[error" in line or "Traceback" in line]
        assert not bad, self._server.log_text


def main() -> None:
    """Run the long form and print what was done."""
    parser = argparse.ArgumentParser(description="Kill a server again and again while it is being played on.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        torture = Torture(Path(folder), arguments.seed, arguments.kills)
        stored = asyncio.run(torture.play())
    ledger = torture.run.ledger
    told_count = sum(len(events) for events in ledger.announced.values())
    lasted_s = time.monotonic() - started_s
    print(f"{sum(torture.kills.values())} kills in {lasted_s:.0f} s: {dict(torture.kills)}")
    print(f"{torture.stalls_count} standstills")
    print(f"{len(stored.ended)} matches ended in {len(stored.events)} rooms")
    print(
        f"acknowledged {len(ledger.acknowledged)} moves, {len(ledger.said)} lines; refused {len(ledger.refused)}"
    )
    print(f"{told_count} events told: all there, none twice")


if __name__ == "__main__":
    main()
