"""How long the rooms of a server are held up at a stretch by what can be asked of one with a very long match.

Run: ``python -m tests.bench.bench_long_match``. Times are of the event loop's thread alone, so that other programs
on the machine do not count. Xero-G has no longest match: ``--plies`` says how long it is here.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any, Final

from tabuleiro.ids import AccountId, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.events import (
    ActionsPlayed,
    Event,
    MatchStarted,
    RoomOpened,
    Said,
    SeatInfo,
    SequencedEvent,
)
from tabuleiro.protocol.messages import Ok, RoomEntered
from tabuleiro.rules import registry
from tabuleiro_server.config import Config
from tabuleiro_server.room.commands import MakeOffer, Play, Undo, Watch
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.room.views import Viewer, snapshot_of
from tabuleiro_server.rooms.archive import Archive
from tabuleiro_server.rooms.directory import Directory
from tabuleiro_server.rooms.journal import Journal, rows_of
from tabuleiro_server.rooms.live_room import LiveRoom, new_chance
from tabuleiro_server.store.port import FIRST_INCARNATION
from tabuleiro_server.store.sqlite.store import SqliteStore
from tests.e2e.stored_rooms import room_code

ANA: Final = AccountId("0123456789abcdef")
CHAT_LINES_COUNT: Final = 100
LINE: Final = "x" * 300
MATCHES: Final[tuple[tuple[str, dict[str, int | str]], ...]] = (
    ("virus-wars", {"rows": 19, "cols": 19, "steps": 9}),
    ("iris", {"side": 8}),
    ("minefield", {"size": 19}),
    ("xero-g", {"setup": "random", "seed": 1}),
)


def longest(code: RoomCode, name: str, options: dict[str, int | str], plies_count: int) -> list[SequencedEvent]:
    """A room in which one person plays both sides, each action an event, without ending the match."""
    seat, rng = SeatInfo("person", ANA, "ana"), Random(1)
    events: list[Event] = [RoomOpened(code, name, options, ANA, "ana", (seat, seat)), MatchStarted(1)]
    state = registry.load(name, options).initial_state()
    for ply in range(plies_count):
        actions = list(state.legal_actions())
        rng.shuffle(actions)
        lasting = next((action for action in actions if not state.child(action).is_terminal), None)
        if lasting is None or state.to_move is None:
            break
        events.append(ActionsPlayed(1, Ply(ply), state.to_move, (state.action_to_string(lasting),)))
        state = state.child(lasting)
    events += [Said(ANA, "ana", LINE, True)] * CHAT_LINES_COUNT
    now_ms = time.time_ns() // 1_000_000
    return [SequencedEvent(Seq(seq), TimestampMs(now_ms), event) for seq, event in enumerate(events, start=1)]


class Heartbeat:
    """The longest time in one round of the event loop, in milliseconds of its thread."""

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self._task = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        last_s = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now_s = time.thread_time()
            self.longest_ms = max(self.longest_ms, 1000 * (now_s - last_s))
            last_s = now_s

    async def stop(self) -> None:
        """End it."""
        self._task.cancel()
        await asyncio.wait({self._task})


async def measure(what: str, do: Callable[[], Awaitable[Any]]) -> None:
    """Print how long ``do`` held up everything else at a stretch, and how much it took in all."""
    heartbeat = Heartbeat()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    heartbeat.longest_ms = 0.0
    started_s = time.perf_counter()
    try:
        await do()
    finally:
        await asyncio.sleep(0)
        await heartbeat.stop()
    taken_ms = 1000 * (time.perf_counter() - started_s)
    print(f"    {what:34} {heartbeat.longest_ms:7.1f} ms at a stretch, {taken_ms:8.1f} ms in all", flush=True)


class Server:
    """The parts that a room's requests reach, on a file of their own."""

    def __init__(self, store: SqliteStore) -> None:
        self.journal = Journal(store)
        self.archive = Archive(self.journal)
        self._config = Config(idle_room_unload_ms=3_600_000)
        self._now_ms = TimestampMs(time.time_ns() // 1_000_000)
        self.rooms = self.directory()

    def directory(self) -> Directory:
        """Rooms that are all on disk only."""
        return Directory(self.journal, self._config, self.now_ms, (), self._now_ms)

    def now_ms(self) -> TimestampMs:
        """One moment: no deadline comes."""
        return self._now_ms


class Visitor:
    """A connection that takes what it is told."""

    account_id = AccountId("eva-id")
    codec = MsgpackCodec()

    def send_frame(self, frame: bytes) -> None:
        """Nothing listens."""

    def forget_room(self, code: RoomCode) -> None:
        """Nothing is kept."""


async def enter(room: LiveRoom, since: Seq | None) -> None:
    """Let a visitor in, and write what it is answered."""
    visitor = Visitor()

    def acknowledge(state: RoomState, missed: Any) -> None:
        snapshot = snapshot_of(state, Viewer.WATCHER) if missed is None else None
        visitor.codec.encode(Ok(1, RoomEntered(room.head(), None, snapshot, tuple(missed or ()))))

    await room.enter(visitor, Watch(visitor.account_id), since, acknowledge)
    room.dismiss(visitor)


async def bench(server: Server, code: RoomCode, name: str, options: dict[str, int | str], plies: int) -> None:
    """Ask of one room all that makes it look back."""
    events = longest(code, name, options, plies)
    appended = server.journal.append(None, events, FIRST_INCARNATION)
    await appended.stored
    assert appended.room.match is not None
    actions = appended.room.match.actions
    print(f"  {name}: {len(actions)} actions")
    await measure("load from the events", lambda: server.rooms.find(code))
    room = await server.rooms.find(code)
    await measure("enter", lambda: enter(room, None))
    await measure("come back after 1,000 events", lambda: enter(room, Seq(max(room.state.seq - 1_000, 1))))
    await measure("the record", lambda: server.archive.find(code, None, Watch(ANA)))
    await measure("resend the first action", lambda: room.perform(Play(ANA, 1, 0, actions[:1], 0, 0)))
    match = room.state.match
    assert match is not None
    if match.state.actions_in_turn:
        await measure("undo", lambda: room.perform(Undo(ANA, 1, len(match.actions) - 1)))
    await measure("take back", lambda: room.perform(MakeOffer(ANA, "takeback", new_chance())))


async def main(arguments: Sequence[str] | None = None) -> None:
    """Bench every game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plies", type=int, default=5_000, help="actions of a match without an end")
    plies: int = parser.parse_args(arguments).plies
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        store = await SqliteStore.open(Path(folder) / "long.db", rows_of)
        stack.push_async_callback(store.close)
        server = Server(store)
        stack.push_async_callback(server.rooms.stop)
        for number, (name, options) in enumerate(MATCHES):
            await bench(server, room_code(number), name, options, plies)


if __name__ == "__main__":
    asyncio.run(main())
