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
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final

from tabuleiro.clock import NO_CLOCK, Fischer
from tabuleiro.errors import (
    CommandError,
    ConnectionLostError,
    IllegalActionError,
    NotationError,
    UnknownOutcomeError,
)
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import CreateRoom, JoinRoom, Play, SeatRequest, WatchRoom
from tabuleiro.rules import State
from tabuleiro.rules.base import Termination
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Backoff, Link, LinkSettings, LinkState
from tabuleiro_client.net.room import EnteredRoom, EntryRequest, Happened, Restored, enter
from tabuleiro_client.net.subscription import LinkRestored
from tests.budgets import NO_BUDGETS
from tests.e2e.ledger import Ledger, Move, StoredRooms
from tests.e2e.random_play import GAMES, RESIGN_AFTER_TURNS, Options, some_actions
from tests.e2e.server_process import LIMIT_S, ServerProcess

TABLE_COUNT: Final = 8
SHORT_KILL_COUNT: Final = 10
"""Kills of the short form, each with a thorough check; later every tenth has one."""

MOMENTS: Final = ("in play", "last action", "bot thinks", "resuming")
"""When the server is killed. The middle two are kills soon after a client has sent or seen just that."""

STALL_CHANCE: Final = 0.3
"""Of a standstill before a kill; a server that is stopped for longer than a second has to notice it."""

STALLS_S: Final = (0.3, 1.1, 1.6, 2.5)

CLOCKS: Final = (NO_CLOCK, Fischer(initial_ms=60_000, increment_ms=5_000))
"""Nobody here thinks: nobody loses on time."""

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
        self.ledger = Ledger()
        self.is_over = False
        self.codes: set[RoomCode] = set()
        self.links: list[Link] = []
        self.kills: Counter[str] = Counter()
        self.stalls_count = 0
        self._db = folder / "rooms.db"
        self._folder = folder
        self._chance = random.Random(seed)
        self._kill_count = kill_count
        self._moments: Counter[str] = Counter()
        self._moment_came = asyncio.Event()
        self._server: ServerProcess | None = None

    def moment(self, kind: str) -> None:
        """Something happened at which a kill may be meant to come."""
        self._moments[kind] += 1
        self._moment_came.set()

    async def run(self) -> StoredRooms:
        """Play, kill and check until all matches have ended; return what is stored then."""
        await self._start()
        try:
            async with AsyncExitStack() as stack, asyncio.TaskGroup() as tables:
                for number in range(TABLE_COUNT):
                    table = Table(self, number, random.Random(self._chance.random()))
                    await table.open(stack)
                    tables.create_task(table.play())
                for _ in range(self._kill_count):
                    if self._chance.random() < STALL_CHANCE:
                        await self._stall()
                    await self._kill(self._chance.choice(MOMENTS))
                    await self._start()
                self.is_over = True
            assert self._server is not None
            assert await self._server.stop() == 0
            self._check_log()
        finally:
            if self._server is not None:
                await self._server.kill()
        stored = await self.ledger.check(self._db, self._folder, is_thorough=True)
        unfinished = [key for key in stored.lines if key[0] in self.codes and key not in stored.ended]
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
    def url(self) -> str:
        """Where the living server, or the last one, listens."""
        assert self._server is not None
        return self._server.url

    async def _start(self) -> None:
        has_slow_disk = self._chance.random() < 0.5
        self._server = await ServerProcess.start(self._db, has_slow_disk=has_slow_disk, **_SERVER)
        for link in self.links:
            link.url = self._server.url

    async def _kill(self, kind: str) -> None:
        """Kill the server at a moment of this kind, or at any moment if there is none for a while."""
        assert self._server is not None
        wanted_count = self._chance.randint(1, 100) if kind == "in play" else self._chance.randint(1, 3)
        self._moments.clear()
        try:
            async with asyncio.timeout(3):
                while self._moments[kind] < wanted_count:
                    self._moment_came.clear()
                    await self._moment_came.wait()
        except TimeoutError:
            kind = "none of these"
        # Not a wait for anything: the kill shall come a random little later, while the server is at work.
        await asyncio.sleep(self._chance.choice((0, 0.0005, 0.002, 0.005, 0.02)) * self._chance.random())
        await self._server.kill()
        self.kills[kind] += 1
        self._check_log()
        done_count = sum(self.kills.values())
        is_thorough = done_count <= SHORT_KILL_COUNT or done_count % SHORT_KILL_COUNT == 0
        await self.ledger.check(self._db, self._folder, is_thorough=is_thorough)

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


class Table:
    """One or two guests, and perhaps a watcher, who play one match after the other."""

    def __init__(self, torture: Torture, number: int, chance: random.Random) -> None:
        self._torture = torture
        self._ledger = torture.ledger
        self._number = number
        self._chance = chance
        self._has_bot = number % 2 == 1
        self._has_watcher = number % 3 == 0
        self._links: list[Link] = []
        self._said_count = 0

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect everybody."""
        names = ["maker"] if self._has_bot else ["maker", "guest"]
        for name in [*names, "watcher"] if self._has_watcher else names:
            link = Link(self._torture.url, name=f"{name}-{self._number}", settings=_SETTINGS)
            self._links.append(await stack.enter_async_context(link))
            self._torture.links.append(link)

    async def play(self) -> None:
        """Play until the run is over, and the match begun before to its end."""
        while not self._torture.is_over:
            await self._play_match(*self._chance.choice(GAMES))

    async def _play_match(self, game: str, options: Options, level: str) -> None:
        other = SeatRequest("bot", level) if self._has_bot else SeatRequest()
        seats = (SeatRequest("me"), other) if self._chance.random() < 0.5 else (other, SeatRequest("me"))
        settings = RoomSettings(time_control=self._chance.choice(CLOCKS))
        message = CreateRoom(id=0, game=game, options=options, seats=seats, settings=settings)
        host, *others = self._links
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as people:
            room = await self._enter(stack, host, message)
            code = room.code
            self._torture.codes.add(code)
            people.create_task(self._sit(room, host))
            if not self._has_bot:
                guest = others.pop(0)
                joined = await self._enter(stack, guest, JoinRoom(id=0, room=code))
                people.create_task(self._sit(joined, guest))
            for link in others:
                watched = await self._enter(stack, link, WatchRoom(id=0, room=code))
                people.create_task(self._sit(watched, link))

    async def _enter(self, stack: AsyncExitStack, link: Link, request: EntryRequest) -> EnteredRoom:
        while True:
            try:
                return await stack.enter_async_context(await enter(link, request))
            except ConnectionLostError:
                await _connected(link)

    async def _sit(self, room: EnteredRoom, link: Link) -> None:
        """Play whenever it is our turn, and take in what is told until the match has ended."""
        while room.mirror.head.phase in ("waiting", "playing"):
            if room.mirror.is_my_turn:
                await self._act(room, link)
                while room.has_unread:
                    self._take(room, await room.next_change())
            else:
                self._take(room, await room.next_change())
        while room.has_unread:
            self._take(room, await room.next_change())

    def _take(self, room: EnteredRoom, change: object) -> None:
        mirror = room.mirror
        if isinstance(change, Happened):
            self._ledger.announce(room.code, change.step.event)
        if mirror.match is not None and not mirror.is_stale:
            self._ledger.position(room.code, mirror.since, mirror.state)
        if isinstance(change, Restored):
            self._torture.moment("resuming")
        if mirror.head.thinking is not None:
            self._torture.moment("bot thinks")

    async def _act(self, room: EnteredRoom, link: Link) -> None:
        mirror = room.mirror
        assert mirror.match is not None
        number, ply, state = mirror.match.number, len(mirror.actions), mirror.state
        if self._chance.random() < 0.1:
            await self._be_refused(room, link, number, ply)
        if self._chance.random() < 0.1:
            await self._say(room, link)
        if state.turn_number > RESIGN_AFTER_TURNS:
            self._torture.moment("last action")
            with suppress(ConnectionLostError):
                await room.resign()
            # Without a connection it was not sent, or nobody knows: the next change tells.
            self._take(room, await room.next_change())
            return
        actions, after = some_actions(state, self._chance)
        if after.is_terminal:
            self._torture.moment("last action")
        await room.play(actions)
        self._ledger.acknowledged.append(Move(room.code, number, ply, actions))
        self._torture.moment("in play")
        if self._chance.random() < 0.1:
            await self._repeat(link, self._ledger.acknowledged[-1])

    async def _be_refused(self, room: EnteredRoom, link: Link, number: int, ply: int) -> None:
        """Send an action that is not legal, and one for a ply that was played."""
        state = room.mirror.state
        if ply == 0 or _is_legal(state, room.mirror.actions[0]):
            return
        move = Move(room.code, number, ply, (room.mirror.actions[0],))
        stale = Move(room.code, number, ply + 1, (state.action_to_string(state.legal_actions()[0]),))
        for wrong, code in ((move, None), (stale, ErrorCode.STALE_PLY)):
            try:
                await link.request(_play_message(wrong))
            except ConnectionLostError:
                await _connected(link)
            except CommandError as error:
                if code not in (None, error.code):
                    raise
            else:
                raise AssertionError(f"not refused: {wrong}")
        if not _is_legal(state, move.actions[0]):
            self._ledger.refused.append(move)

    async def _repeat(self, link: Link, move: Move) -> None:
        """Send what was played once more, as after a lost acknowledgement: it is acknowledged again."""
        try:
            await link.request(_play_message(move))
        except ConnectionLostError:
            await _connected(link)

    async def _say(self, room: EnteredRoom, link: Link) -> None:
        """Say something once; after a lost connection nobody knows whether it was said."""
        self._said_count += 1
        text = f"line {self._said_count} of {link.welcome.name}"
        try:
            await room.say(text)
        except UnknownOutcomeError:
            await _connected(link)
        except ConnectionLostError:
            self._ledger.unsaid.append(text)
            await _connected(link)
        except CommandError as error:
            if error.code != ErrorCode.LIMIT_REACHED:
                raise
            self._ledger.unsaid.append(text)
        else:
            self._ledger.said.append((room.code, text))
            self._torture.moment("in play")


def _play_message(move: Move) -> Play:
    return Play(id=0, room=move.room, match=move.match, ply=move.ply, actions=tuple(move.actions))


async def _connected(link: Link) -> None:
    """Wait until a lost link has come back."""
    subscription = link.subscribe()
    try:
        if link.state is LinkState.CONNECTED:
            await asyncio.sleep(0)
            return
        async for told in subscription:
            if isinstance(told, LinkRestored):
                return
    finally:
        link.unsubscribe(subscription)


def _is_legal(state: State, text: str) -> bool:
    try:
        state.apply(state.string_to_action(text))
    except (NotationError, IllegalActionError):
        return False
    return True


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
        stored = asyncio.run(torture.run())
    ledger = torture.ledger
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
