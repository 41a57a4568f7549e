"""The store in one PostgreSQL database: one connection that commits, one that lasts, and a few for reading."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Sequence
from functools import partial

import asyncpg
import structlog

from tabuleiro.errors import ElsewhereError, StoreError, TakenOverError
from tabuleiro.ids import AccountId, DurationMs, RoomCode, Seq, TimestampMs
from tabuleiro_server.metrics import CommitMetrics
from tabuleiro_server.store.port import (
    BEFORE_FIRST,
    FIRST_INCARNATION,
    STOP_LIMIT_MS,
    Incarnation,
    MatchRow,
    NodeId,
    NodeRow,
    Ownership,
    RoomRow,
    Rows,
    Store,
    StoredEvent,
)
from tabuleiro_server.store.postgres import ownership, queries
from tabuleiro_server.store.postgres.accounts import PostgresAccounts
from tabuleiro_server.store.postgres.connection import (
    BROKEN,
    CLOSE_LIMIT_S,
    Database,
    Synchronous,
    check_durability,
    has_pooler,
    storage_error,
)
from tabuleiro_server.store.postgres.grouping import Grouped
from tabuleiro_server.store.postgres.keeper import ALONE, LEASE_S, Keeper, NodeAddress
from tabuleiro_server.store.postgres.ownership import HandOver
from tabuleiro_server.store.postgres.peers import PostgresPeers
from tabuleiro_server.store.postgres.schema import MIGRATIONS, migrate
from tabuleiro_server.store.postgres.writer import Append, Removal, Writer
from tabuleiro_server.store.tables import Migration, check_numbers

log = structlog.get_logger(__name__)


class PostgresStore(Store):
    """A database; see :class:`.Store` for what each method promises."""

    def __init__(self, database: Database, address: NodeAddress, lease_s: float) -> None:
        """Wrap a database that is ready. Use :meth:`open`."""
        self._database = database
        self._lease_s = lease_s
        self._writer = writer = Writer(database)
        self._accounts = PostgresAccounts(database)
        self._peers = (
            PostgresPeers(database, lambda: writer.node_id, lambda backend: backend == writer.backend)
            if address.url
            else None
        )
        self._keeper = Keeper(database, self._renew, lambda: writer.node_id, address, lease_s)
        self._last_alive_ms: int | None = None
        self._released: dict[RoomCode, Incarnation] = {}
        self._releasing: asyncio.Task[None] | None = None
        self._claims = Grouped(self._claim, self._claim_one)
        self._hand_overs = Grouped(self._hand_over, self._hand_over_one)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        synchronous: Synchronous = "FULL",
        address: NodeAddress = ALONE,
        lease_s: float = LEASE_S,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> PostgresStore:
        """Bring the database to the newest schema, and open it.

        Servers with an ``address`` share it, one without keeps all others out; ``lease_s`` is the time for which
        a node that is silent keeps its rooms. ``synchronous`` NORMAL allows a database that may lose what it has
        answered as committed.

        Raises: DatabaseLockedError when another server has it; DatabaseFormatError when its tables are not ours or
        newer than this program, or it promises too little; ConfigError for a bad address; StorageUnavailableError.
        """
        database = Database(url)
        store = cls(database, address, lease_s)
        try:
            await _prepare(database, await store._keeper.connect(), synchronous, migrations)
            await database.open()
            await store._writer.start()
            store._last_alive_ms = await store._keeper.start()
        except BROKEN as error:
            await store.close()
            raise storage_error(error, database.place) from error
        except BaseException:
            await store.close()
            raise
        return store

    async def _renew(self) -> None:
        """Give up all connections: what is under way on them is found out on new ones."""
        self._writer.renew()
        if self._peers is not None:
            self._peers.notices.renew()
        await self._database.renew()

    async def stop(self, limit_ms: DurationMs = STOP_LIMIT_MS) -> None:
        """Refuse new writes and commit those that wait."""
        await self._writer.stop(limit_ms)

    async def close(self) -> None:
        """Close all connections; the rooms that this node owns are free."""
        async with contextlib.AsyncExitStack() as stack:
            for part in (self._claims, self._hand_overs):
                stack.push_async_callback(part.finish, CLOSE_LIMIT_S)
            stack.push_async_callback(self._database.close)
            stack.push_async_callback(self._keeper.stop)
            await self.stop()
            if self._releasing is not None:
                await asyncio.wait({self._releasing}, timeout=CLOSE_LIMIT_S)

    @property
    def accounts(self) -> PostgresAccounts:
        """The guests."""
        return self._accounts

    @property
    def peers(self) -> PostgresPeers | None:
        """The other servers on the database; ``None`` if this one keeps them out."""
        return self._peers

    @property
    def metrics(self) -> CommitMetrics:
        """Counts of commits, group sizes and durations."""
        return self._writer.metrics

    @property
    def last_alive_ms(self) -> int | None:
        """The last sign of life of a server, in milliseconds since 1970 UTC.

        ``None`` for a new database, and for one on which another node works.
        """
        return self._last_alive_ms

    @property
    def trouble(self) -> str:
        """Why nothing can be stored now, in one word; empty as long as all is well."""
        return self._keeper.trouble

    def beat(self, now_ms: TimestampMs, rooms_count: int = 0) -> None:
        """Note that the database is being served now."""
        self._keeper.beat(now_ms, rooms_count)

    async def other_nodes(self, *, is_counting: bool = False) -> list[NodeRow]:
        """Return the other nodes that are alive, by id."""
        node_id = self._writer.node_id
        return await self._database.read(
            lambda connection: ownership.select_other_nodes(connection, node_id, is_counting=is_counting)
        )

    async def take_rooms(self, *, wanted: bool) -> None:
        """Have other nodes know that this one takes rooms from them, or does not."""
        self._keeper.takes_rooms = wanted
        node_id = self._writer.node_id
        await self._database.change(
            lambda connection: ownership.note_taking(connection, node_id, takes_rooms=wanted)
        )

    async def clock_ms(self) -> TimestampMs:
        """Return the time by the clock of the database."""
        return await self._database.read(queries.select_clock_ms)

    async def newest_ms(self) -> TimestampMs | None:
        """Return the time of the newest event of any room, ``None`` before the first."""
        return await self._database.read(queries.select_newest_ms)

    async def take_over(self, room: RoomCode) -> Ownership:
        """Become the owner of a room."""
        claimed = await self._claims.write(room)
        if isinstance(claimed, ElsewhereError):
            raise claimed
        return claimed

    async def _claim(
        self, rooms: Sequence[RoomCode], *, waits: bool = False
    ) -> dict[RoomCode, Ownership | ElsewhereError]:
        return await self._database.change(
            partial(
                ownership.claim_rooms,
                node=self._writer.node_id,
                lease_s=self._lease_s,
                rooms=rooms,
                waits=waits,
            )
        )

    async def _claim_one(self, room: RoomCode) -> Ownership | ElsewhereError:
        claimed = await self._claim([room], waits=True)
        return claimed.get(room, Ownership(FIRST_INCARNATION))

    def release(self, room: RoomCode, incarnation: Incarnation) -> None:
        """Own a room no more: all that are released at one moment are written in one go."""
        self._released[room] = incarnation
        if self._releasing is None:
            self._releasing = asyncio.create_task(self._release(), name="store-release")

    async def _release(self) -> None:
        try:
            while self._released:
                released, self._released = self._released, {}
                await self._database.change(partial(ownership.release_rooms, rooms=released))
        except StoreError as error:
            # They stay this node's, which has them again when they are asked for.
            log.warning("rooms not released", rooms_count=len(released), reason=str(error))
        finally:
            self._releasing = None

    async def hand_over(self, room: RoomCode, incarnation: Incarnation, node: NodeId) -> None:
        """Make another node the owner of a room."""
        refusal = await self._hand_overs.write(HandOver(room, incarnation, node))
        if refusal is not None:
            raise refusal

    async def _hand_over(
        self, moves: Sequence[HandOver], *, waits: bool = False
    ) -> dict[HandOver, StoreError | None]:
        return await self._database.change(partial(ownership.hand_rooms_over, moves=moves, waits=waits))

    async def _hand_over_one(self, move: HandOver) -> StoreError | None:
        return (await self._hand_over([move], waits=True)).get(move, TakenOverError(move.room))

    async def disown(self, room: RoomCode) -> None:
        """Let any node take a room over that was handed to this one."""
        node_id = self._writer.node_id
        await self._database.change(lambda connection: ownership.disown_room(connection, node_id, room))

    def append(
        self,
        room: RoomCode,
        expected_seq: Seq,
        events: Sequence[StoredEvent],
        rows: Rows,
        incarnation: Incarnation = FIRST_INCARNATION,
    ) -> asyncio.Future[None]:
        """Add events and their rows in the next group: done after its commit."""
        check_numbers(room, expected_seq, events)
        return self._writer.submit(Append(room, incarnation, expected_seq, events, rows))

    async def remove(self, rooms: Collection[RoomCode]) -> None:
        """Remove rooms with their events and all rows."""
        await self._writer.submit(Removal(list(rooms)))

    async def load(self, room: RoomCode, after_seq: Seq = BEFORE_FIRST) -> list[StoredEvent]:
        """Return the room's events behind ``after_seq`` in order."""
        return await self._database.read(lambda connection: queries.select_events(connection, room, after_seq))

    async def rooms_without_maker(self) -> dict[RoomCode, StoredEvent]:
        """Return the first event of every room whose row names no maker, damaged rooms left out."""
        return await self._database.read(queries.select_rooms_without_maker)

    async def note_makers(self, makers: Mapping[RoomCode, AccountId]) -> None:
        """Write into rows that name no maker who it is."""
        await self._database.change(lambda connection: queries.write_makers(connection, makers))

    async def count_rooms(self, maker: AccountId, phases: Collection[str]) -> int:
        """Return the number of rooms in any of ``phases`` that an account has made."""
        return await self._database.read(lambda connection: queries.count_rooms(connection, maker, phases))

    async def rooms(self, phases: Collection[str] | None = None) -> list[RoomRow]:
        """Return the rows of the rooms in any of ``phases``, by code."""
        return await self._database.read(lambda connection: queries.select_rooms(connection, phases))

    async def room(self, code: RoomCode) -> RoomRow | None:
        """Return the room's row, ``None`` when there is none."""
        return await self._database.read(lambda connection: queries.select_room(connection, code))

    async def lost_rooms(self, rooms: Mapping[RoomCode, Incarnation]) -> dict[RoomCode, str | None]:
        """Return those of ``rooms`` that other nodes have taken over, with the addresses of those nodes."""
        if not self._keeper.was_silent:
            return {}
        self._keeper.was_silent = False
        try:
            places = await self._database.read(lambda connection: queries.select_places(connection, list(rooms)))
        except StoreError:
            self._keeper.was_silent = True
            raise
        return {room: place.node_url for room, place in places.items() if place.incarnation != rooms[room]}

    async def due_rooms(self, before_ms: TimestampMs) -> list[RoomCode]:
        """Return the rooms whose deadline is at ``before_ms`` or earlier, the earliest first."""
        node_id, lease_s = self._writer.node_id, self._lease_s
        return await self._database.read(
            lambda connection: ownership.select_due_rooms(connection, node_id, lease_s, before_ms)
        )

    async def matches(self, room: RoomCode) -> list[MatchRow]:
        """Return the room's matches by number."""
        return await self._database.read(lambda connection: queries.select_matches(connection, room))


async def _prepare(
    database: Database, connection: asyncpg.Connection, synchronous: Synchronous, migrations: Sequence[Migration]
) -> None:
    database.is_pooled = await has_pooler(connection)
    if database.is_pooled:
        log.warning(
            "there is a pooler before the database",
            place=database.place,
            hint="connect to PostgreSQL itself: behind a pooler what other servers do is seen a second later",
        )
    await check_durability(connection, database.place, synchronous)
    await migrate(connection, database.place, migrations)
