"""The single writer of a server: commits everything that waits at one moment as one group.

While a group is on its way the next one gathers. A commit has no time limit here and is never cancelled:
PostgreSQL would answer as if it were done, though its standby lacks it. When an answer is lost, or comes with a
warning, nobody is answered until it is settled: the server raises its own epoch, by a commit that does reach the
standby, after which nothing comes of what was sent before, and then reads in the log what is there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import asyncpg
import structlog

from tabuleiro.errors import ConflictError, DamagedRoomError, StorageUnavailableError, StoreError, TakenOverError
from tabuleiro.ids import DurationMs, RoomCode, Seq
from tabuleiro_server.metrics import CommitMetrics
from tabuleiro_server.store.port import STOP_LIMIT_MS, Incarnation, Rows, StoredEvent
from tabuleiro_server.store.postgres.commit import EpochOverError, Move, Node, commit_moves, remove_rooms
from tabuleiro_server.store.postgres.connection import (
    BROKEN,
    REPEATED,
    Database,
    UnknownOutcomeError,
    is_of_values,
    is_refusal,
    reason_of,
    storage_error,
    warned,
)
from tabuleiro_server.store.postgres.queries import Place, select_events, select_places

RETRY_FIRST_S: Final = 0.1
RETRY_LIMIT_S: Final = 2.0
"""Longest time between two attempts to come back to a database that is away."""

REPEATS_COUNT: Final = 5
"""Attempts at a group that the server refuses for a reason that passes by itself, e.g. a deadlock."""

log = structlog.get_logger(__name__)


def _new_future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True)
class Append:
    """Events that wait to be stored behind ``expected_seq``, and who waits for them."""

    room: RoomCode
    incarnation: Incarnation
    expected_seq: Seq
    events: Sequence[StoredEvent]
    rows: Rows
    done: asyncio.Future[None] = field(default_factory=_new_future)

    @property
    def last_seq(self) -> Seq:
        """The room's last event after this."""
        return Seq(self.expected_seq + len(self.events))

    def builds_on(self, other: Append) -> bool:
        """Return True if this is to be stored right behind ``other``, by the same owner."""
        return (self.expected_seq, self.incarnation) == (other.last_seq, other.incarnation)


@dataclass(slots=True)
class Removal:
    """Rooms that wait to be removed."""

    rooms: Sequence[RoomCode]
    done: asyncio.Future[None] = field(default_factory=_new_future)


Chain = list[Append]
"""Appends to one room that build on each other: they are stored together or refused together."""


def chains_of(appends: Iterable[Append]) -> tuple[list[Chain], list[Append]]:
    """Return the appends that can be stored in one statement, by room, and those that have to come after them.

    An append that does not build on the one before it to its room comes later, and so do all behind it.
    """
    chains: dict[RoomCode, Chain] = {}
    later: list[Append] = []
    waiting: set[RoomCode] = set()
    for append in appends:
        chain = chains.setdefault(append.room, [])
        if append.room in waiting or (chain and not append.builds_on(chain[-1])):
            waiting.add(append.room)
            later.append(append)
        else:
            chain.append(append)
    return list(chains.values()), later


def _all(chains: Iterable[Chain]) -> Chain:
    return [append for chain in chains for append in chain]


def _move(chain: Chain) -> Move:
    first, last = chain[0], chain[-1]
    return Move(
        room=first.room,
        incarnation=first.incarnation,
        expected_seq=first.expected_seq,
        events=[event for append in chain for event in append.events],
        row=last.rows.room,
        matches=[row for append in chain for row in append.rows.matches],
    )


class Writer:
    """Takes appends from any number of tasks and answers each after the commit that holds it."""

    def __init__(self, database: Database) -> None:
        self.metrics = CommitMetrics()
        self._database = database
        self._connection: asyncpg.Connection | None = None
        self._node: Node | None = None
        self._waiting: list[Append | Removal] = []
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._trouble = ""
        self._retry_at_s = 0.0
        self._retry_s = RETRY_FIRST_S

    @property
    def node_id(self) -> int:
        """The number of this server in the database."""
        assert self._node is not None
        return self._node.id

    @property
    def backend(self) -> int | None:
        """The number of PostgreSQL's process that commits for this server now."""
        pid: int | None = None if self._connection is None else self._connection.get_server_pid()
        return pid

    async def start(self) -> None:
        """Connect, and start taking writes. Raises: StoreError."""
        await self._connect()
        self._task = asyncio.create_task(self._commit_groups(), name="store-writer")

    async def stop(self, limit_ms: DurationMs = STOP_LIMIT_MS) -> None:
        """Refuse new writes and commit those that wait, for ``limit_ms`` at most.

        What is not answered by then is answered with a StoreError. A second call does nothing more.
        """
        self._is_stopping = True
        self._wanted.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=limit_ms / 1000)
            self._drop_connection()  # or a commit would be cancelled
            if not self._task.done():
                self._task.cancel()
                await asyncio.wait({self._task})
            if not self._task.cancelled():
                self._task.result()
        self._drop_connection()

    def renew(self) -> None:
        """Give up the connection. What was being committed is settled on the next one."""
        self._drop_connection()

    def submit(self, write: Append | Removal) -> asyncio.Future[None]:
        """Return a future that is done when the write is stored.

        Raises, here or when it is awaited: as :meth:`.Store.append` and :meth:`.Store.remove`.
        """
        if self._task is None or self._task.done() or self._is_stopping:
            raise StorageUnavailableError("the store is not running")
        if self._trouble and asyncio.get_running_loop().time() < self._retry_at_s:
            raise StorageUnavailableError(self._trouble)
        self._waiting.append(write)
        self.metrics.waiting_count += 1
        self._wanted.set()
        return write.done

    async def _commit_groups(self) -> None:
        group: list[Append | Removal] = []
        try:
            while self._waiting or not self._is_stopping:
                await self._wanted.wait()
                self._wanted.clear()
                taken, self._waiting = self._waiting, []
                self.metrics.waiting_count -= len(taken)
                group = [write for write in taken if not write.done.done()]
                await self._commit(group)
        finally:
            # Only after a cancellation or a bug is anything left here.
            _refuse(group, StoreError("the writer was stopped: this may be stored or not"))
            _refuse(self._waiting, StorageUnavailableError("the store has stopped"))

    async def _commit(self, group: Sequence[Append | Removal]) -> None:
        """Answer everybody in the group: in as many commits as it takes, nearly always one."""
        try:
            appends = [write for write in group if isinstance(write, Append)]
            while appends:
                chains, appends = chains_of(appends)
                await self._store(chains)
            for write in group:
                if isinstance(write, Removal):
                    await self._remove(write)
        except StoreError as error:
            self.metrics.failed_commit_count += 1
            _refuse(group, error)
        except Exception as error:
            # A fault of ours: all who wait are told, and the next group is another try. A writer that ended here
            # would refuse every room until a restart.
            self.metrics.failed_commit_count += 1
            log.exception("commit failed", writes_count=len(group))
            failure = StoreError(f"the writer stumbled: this may be stored or not: {error!r}")
            failure.__cause__ = error
            _refuse(group, failure)

    async def _store(self, chains: list[Chain], *, is_each_alone: bool = False, is_again: bool = False) -> None:
        """Store the chains in one statement, and answer all who wait for them.

        What a broken connection has kept from the database is sent again, once.

        Raises: StoreError when the storage refuses: nothing was stored of those that are not answered.
        """
        started_ns = time.perf_counter_ns()
        try:
            stored = await self._run(chains)
        except UnknownOutcomeError as error:
            log.warning("the answer to a commit was lost", reason=str(error), rooms_count=len(chains))
            left = await self._settle(chains)
            if is_again:
                _refuse(_all(left), StorageUnavailableError(f"{self._database.place}: {error}"))
            elif left:
                await self._store(left, is_again=True)
            return
        except BROKEN as error:
            if not is_of_values(error):
                raise storage_error(error, self._database.place) from error
            if is_each_alone:
                _refuse(chains[0], _bad_value(error))
                return
            # One of them has a value that cannot be stored: which one is told by storing each alone.
            for append in _all(chains):
                await self._store([[append]], is_each_alone=True)
            return
        self._count(chains, stored, time.perf_counter_ns() - started_ns)
        for chain in chains:
            if chain[0].room in stored:
                _answer(chain)
        refused = [chain for chain in chains if chain[0].room not in stored]
        if refused:
            await self._refuse_conflicts(refused)

    async def _run(self, chains: list[Chain]) -> set[RoomCode]:
        """Run the statement; return the rooms that were moved.

        Raises: UnknownOutcomeError; StoreError when there is no connection; what asyncpg raises for a refusal.
        """
        moves = [_move(chain) for chain in chains]
        left_count = REPEATS_COUNT
        while True:
            left_count -= 1
            connection = await self._connected()
            assert self._node is not None
            try:
                async with warned(connection):
                    return await commit_moves(connection, self._node, moves)
            except EpochOverError:
                self._drop_connection()
                if not left_count:
                    reason = f"{self._database.place}: this server is unknown there"
                    raise StorageUnavailableError(reason) from None
            except BROKEN as error:
                if not is_refusal(error, connection):
                    self._drop_connection()
                    raise UnknownOutcomeError(reason_of(error)) from error
                if isinstance(error, asyncpg.ReadOnlySQLTransactionError):
                    self._drop_connection()  # the server has become a standby, and another one the primary
                if not (isinstance(error, REPEATED) and left_count):
                    raise

    async def _settle(self, chains: list[Chain]) -> list[Chain]:
        """Answer those that the log holds, once nothing can come any more of what was sent; return the others.

        Everybody waits for as long as the database is away; what comes meanwhile is refused.
        """
        while True:
            try:
                self._drop_connection()
                connection = await self._connected()
                held = [await _holds(connection, chain) for chain in chains]
                break
            except (StoreError, *BROKEN) as error:
                if not isinstance(error, StoreError):  # which has been noted
                    self._note_trouble(error)
                await asyncio.sleep(self._retry_s)
        self._trouble = ""
        log.info("settled from the log", stored_count=sum(held), rooms_count=len(chains))
        for chain, is_stored in zip(chains, held, strict=True):
            if is_stored:
                self._count_stored(chain)
                _answer(chain)
        return [chain for chain, is_stored in zip(chains, held, strict=True) if not is_stored]

    async def _remove(self, removal: Removal) -> None:
        left_count = REPEATS_COUNT
        while True:
            left_count -= 1
            connection = await self._connected()
            assert self._node is not None
            try:
                async with warned(connection):
                    await remove_rooms(connection, self._node, removal.rooms)
                _answer([removal])
                return
            except (EpochOverError, UnknownOutcomeError, *BROKEN) as error:
                # What may be done is done again: the second time there is nothing left to remove.
                if isinstance(error, BROKEN) and is_refusal(error, connection) and not isinstance(error, REPEATED):
                    raise storage_error(error, self._database.place) from error
                self._drop_connection()
                if not left_count:
                    raise StorageUnavailableError(f"{self._database.place}: {error}") from error

    async def _refuse_conflicts(self, chains: list[Chain]) -> None:
        """Tell those whose rooms were not moved why."""
        try:
            connection = await self._connected()
            places = await select_places(connection, [chain[0].room for chain in chains])
        except BROKEN as error:
            raise storage_error(error, self._database.place) from error
        for chain in chains:
            place = places.get(chain[0].room, Place(Seq(0), chain[0].incarnation, None))
            for append in chain:
                if place.incarnation != append.incarnation:
                    _refuse([append], TakenOverError(append.room, place.node_url))
                else:
                    _refuse([append], ConflictError(append.room, append.expected_seq, place.seq))

    async def _connected(self) -> asyncpg.Connection:
        """Return the connection, after opening it where there is none. Raises: StoreError."""
        if self._connection is not None and self._connection.is_closed():
            self._drop_connection()
        return self._connection or await self._connect()

    async def _connect(self) -> asyncpg.Connection:
        """Connect, and raise the epoch: nothing comes any more of what was sent by an earlier connection."""
        try:
            connection = await self._database.connect()
            try:
                await _wait_for_ever(connection)
                async with warned(connection):
                    node = await _raise_epoch(connection, self._node)
            except BaseException:
                connection.terminate()
                raise
        except (UnknownOutcomeError, *BROKEN) as error:
            self._note_trouble(error)
            raise storage_error(error, self._database.place) from error
        if self._trouble:
            log.info("the database is there again", place=self._database.place)
        self._trouble, self._retry_s = "", RETRY_FIRST_S
        self._node, self._connection = node, connection
        return connection

    def _note_trouble(self, error: BaseException) -> None:
        """Refuse what comes until the next attempt to connect is due."""
        self._trouble = f"{self._database.place}: {reason_of(error)}"
        self._retry_at_s = asyncio.get_running_loop().time() + self._retry_s
        self._retry_s = min(2 * self._retry_s, RETRY_LIMIT_S)

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    def _count(self, chains: list[Chain], stored: set[RoomCode], duration_ns: int) -> None:
        metrics = self.metrics
        metrics.commit_count += 1
        metrics.group_sizes.observe(sum(map(len, chains)))
        metrics.commit_durations_us.observe(duration_ns // 1_000)
        for chain in chains:
            if chain[0].room in stored:
                self._count_stored(chain)
            else:
                metrics.conflict_count += len(chain)

    def _count_stored(self, chain: Chain) -> None:
        self.metrics.append_count += len(chain)
        self.metrics.event_count += sum(len(append.events) for append in chain)


async def _wait_for_ever(connection: asyncpg.Connection) -> None:
    """Take away the limits that the database or the role may have for statements: they would cancel a commit."""
    await connection.execute(
        "SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN"
        " ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_session_timeout')"
    )


async def _raise_epoch(connection: asyncpg.Connection, node: Node | None) -> Node:
    """Raise the server's epoch, or make it known to the database."""
    if node is not None:
        query = "UPDATE tabuleiro.nodes SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch"
        epoch = await connection.fetchval(query, node.id)
        if epoch is not None:
            return Node(node.id, epoch)
    found = await connection.fetchrow("INSERT INTO tabuleiro.nodes DEFAULT VALUES RETURNING id, epoch")
    return Node(*found)


async def _holds(connection: asyncpg.Connection, chain: Chain) -> bool:
    """Return True if the log holds the events of a chain, and no others in their places."""
    wanted = [event for append in chain for event in append.events]
    try:
        found = await select_events(connection, chain[0].room, chain[0].expected_seq)
    except DamagedRoomError:
        return False
    return found[: len(wanted)] == wanted


def _bad_value(error: BaseException) -> StoreError:
    refusal = StoreError(f"this cannot be stored: {error}")
    refusal.__cause__ = error
    return refusal


def _answer(writes: Iterable[Append | Removal]) -> None:
    for write in writes:
        if not write.done.done():
            write.done.set_result(None)


def _refuse(writes: Iterable[Append | Removal], error: Exception) -> None:
    for write in writes:
        if not write.done.done():
            write.done.set_exception(error)
