"""The other nodes on the same store: who they are, and the rooms that go to them.

A node that ends gives all its rooms away. One that has clearly more rooms than the mean gives some to those with
the fewest, so that a new node gets its share.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Final

import structlog

from tabuleiro.errors import CommandError, NodeLeavesError, StoreError, TakenOverError
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro_server.metrics import NodeMetrics
from tabuleiro_server.rooms.directory import Directory
from tabuleiro_server.rooms.live_room import LiveRoom
from tabuleiro_server.run_clock import RunClock
from tabuleiro_server.store.port import NodeRow, Store

LOOK_S: Final = 1.0
"""Time between two looks at the other nodes."""

CLOCK_LOOKS_COUNT: Final = 60
"""Looks after which the clock of the store is read: two machines part by some milliseconds meanwhile."""

ROUND_TRIP_MAX_MS: Final = 50
"""An answer that took longer tells too little of the clock of the store."""

SHARE_LOOKS_COUNT: Final = 5
"""Looks after which rooms may be given away: those that were have been loaded by then."""

SHARE_MIN_COUNT: Final = 10
"""Rooms beyond the mean that are worth the trouble of moving."""

SHARE_PARTS_COUNT: Final = 4
"""The same as a part of the mean: one of so many."""

MOVED_COUNT: Final = 32
"""Rooms that are moved at one time, and given away after one look."""

log = structlog.get_logger(__name__)


class Nodes:
    """This node among the others; ``url`` is its address, empty for a server that has its store to itself."""

    def __init__(self, store: Store, directory: Directory, url: str, clock: RunClock) -> None:
        self.metrics = NodeMetrics()
        self._store = store
        self._clock = clock
        self._directory = directory
        self._url = url
        self._others: list[NodeRow] = []
        self._turns = count()
        self._looks_count = 0
        self._task: asyncio.Task[None] | None = None

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses of all nodes, that of this one first; none where there is one server only."""
        return (self._url, *(node.url for node in self._others)) if self._url else ()

    def next_other(self) -> NodeRow | None:
        """Return another node to watch rooms on, each in turn; ``None`` if there was none at the last look."""
        nodes = _takers(self._others)
        return nodes[next(self._turns) % len(nodes)] if nodes else None

    @property
    def has_drained(self) -> bool:
        """True if this node has given all its rooms away, and takes no more."""
        return self._directory.next_node is not None and not self._directory.rooms_count

    def check_is_staying(self) -> None:
        """Check that this node does not end while another one goes on.

        Raises:
            CommandError: elsewhere, with the address of the other one.
        """
        node = self._directory.next_node
        if node is not None:
            message = f"this server ends; the same rooms are at {node.url}"
            raise CommandError(ErrorCode.ELSEWHERE, message, node_url=node.url)

    async def start(self) -> None:
        """Take rooms from others, look for them, and go on doing so; where there can be none, never again.

        From now on people are sent here. Raises: StoreError.
        """
        if self._url:
            await self._store.take_rooms(wanted=True)
            await self.look()
            self._task = asyncio.create_task(self._run(), name="other nodes")

    async def stop(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def look(self) -> None:
        """See who is there and drop the rooms that they have taken over; now and then share ours, and keep time.

        Raises:
            StoreError: The store fails.
        """
        self._others = await self._store.other_nodes()
        self.metrics.others_count = len(self._others)
        await self._directory.drop_lost_rooms()
        self._looks_count += 1
        if self._looks_count % SHARE_LOOKS_COUNT == 0:
            await self._share()
        if self._looks_count % CLOCK_LOOKS_COUNT == 0:
            await self._keep_time()

    async def drain(self) -> None:
        """Give the rooms in use to the other nodes, free all others, and take no more.

        Without another node that takes rooms all stay.

        Raises:
            StoreError: The store fails.
        """
        await self.stop()
        if not self._url:
            return
        await self._store.take_rooms(wanted=False)
        # Again: some rooms may still be on their way into memory, and a node that was to have some may end itself.
        while nodes := _takers(await self._store.other_nodes(is_counting=True)):
            self._directory.next_node = min(nodes, key=lambda node: node.rooms_count)
            rooms = self._directory.rooms
            if not rooms:
                log.info("all rooms were given to other nodes", rooms_count=self.metrics.moved_count)
                return
            # Those in which somebody waits for it go first.
            in_use = sorted([room for room in rooms if room.is_in_use], key=lambda room: not len(room.subscribers))
            await self._move(in_use, nodes)
            await asyncio.gather(*(room.stop() for room in rooms if not room.is_in_use))
        self._directory.next_node = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                await self.look()
            except StoreError as error:
                log.warning("the other nodes are not known now", reason=str(error))

    async def _keep_time(self) -> None:
        """Keep to the clock of the store, as all nodes do."""
        asked_ms = self._clock.now_ms()
        shared_ms = await self._store.clock_ms()
        took_ms = self._clock.now_ms() - asked_ms
        if shared_ms is not None and took_ms <= ROUND_TRIP_MAX_MS:
            self._clock.steer(shared_ms - asked_ms - took_ms // 2)

    async def _share(self) -> None:
        if not self._surplus_count(self._others):
            return
        # What they have told is some seconds old: another node may have given them rooms meanwhile.
        nodes = _takers(await self._store.other_nodes(is_counting=True))
        surplus_count = self._surplus_count(nodes)
        if surplus_count:
            rooms = self._directory.rooms[: min(surplus_count, MOVED_COUNT)]
            log.info("rooms are given to nodes with fewer", rooms_count=len(rooms))
            await self._move(rooms, nodes)

    def _surplus_count(self, others: Sequence[NodeRow]) -> int:
        """Return the number of rooms that this node has more than the mean, 0 for a few."""
        counts = [self._directory.rooms_count, *(node.rooms_count for node in _takers(others))]
        mean_count = sum(counts) / len(counts)
        surplus_count = int(counts[0] - mean_count)
        return surplus_count if surplus_count >= max(SHARE_MIN_COUNT, mean_count / SHARE_PARTS_COUNT) else 0

    async def _move(self, rooms: Sequence[LiveRoom], nodes: Sequence[NodeRow]) -> None:
        """Move rooms, each to the node that has the fewest then. Raises: StoreError, with some of them moved."""
        counts = {node: node.rooms_count for node in nodes}
        for start in range(0, len(rooms), MOVED_COUNT):
            moves = []
            for room in rooms[start : start + MOVED_COUNT]:
                node = min(counts, key=lambda node: counts[node])
                counts[node] += 1
                moves.append(self._move_one(room, node))
            for failure in filter(None, await asyncio.gather(*moves, return_exceptions=True)):
                raise failure

    async def _move_one(self, room: LiveRoom, node: NodeRow) -> None:
        # It is not here any more, which is what was wanted; or it has to go elsewhere, next time.
        with suppress(TakenOverError, NodeLeavesError):
            await room.move(node)
            self.metrics.moved_count += 1


def _takers(nodes: Sequence[NodeRow]) -> list[NodeRow]:
    """Return the nodes that take rooms."""
    return [node for node in nodes if node.takes_rooms]
