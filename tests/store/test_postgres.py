"""The store in PostgreSQL under faults: lost answers, a missing standby, a database that dies and returns."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tabuleiro.errors import (
    ConfigError,
    ConflictError,
    DatabaseFormatError,
    DatabaseLockedError,
    StorageUnavailableError,
    StoreError,
    TakenOverError,
)
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import FIRST_INCARNATION
from tabuleiro_server.store.postgres import connection
from tabuleiro_server.store.postgres.commit import CHANNEL, EpochOverError, Move, Node, commit_moves, remove_rooms
from tabuleiro_server.store.postgres.connection import Database
from tabuleiro_server.store.postgres.keeper import SERVING
from tabuleiro_server.store.postgres.schema import MIGRATIONS
from tabuleiro_server.store.postgres.store import PostgresStore
from tabuleiro_server.store.tables import Migration
from tests.patience import LIMIT_S
from tests.postgres import Cluster, cluster, cluster_with_games, pooler, pooler_program, reason_to_skip
from tests.postgres_proxy import Proxy
from tests.store.nodes import HERE

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[PostgresStore]:
    opened = await PostgresStore.open(database_url)
    yield opened
    await opened.close()


@pytest.fixture
async def remote(network: Proxy) -> AsyncIterator[PostgresStore]:
    """A store behind the network."""
    opened = await PostgresStore.open(network.url)
    yield opened
    network.release()
    await opened.close()


async def until(is_so: Callable[[], Awaitable[Any]]) -> None:
    """Ask until it is so: nobody tells how far another process is."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            if await is_so():
                return
            await asyncio.sleep(0)


async def append(store: PostgresStore, make: Any, room: RoomCode, first: int, last: int) -> None:
    await store.append(room, Seq(first - 1), make.events(first, last), make.rows(room))


# Opening


async def test_servers_that_start_at_one_moment_make_the_tables_once(database_url: str, make: Any) -> None:
    stores = await asyncio.gather(*(PostgresStore.open(database_url, address=HERE) for _ in range(4)))
    try:
        await append(stores[0], make, ROOM, 1, 2)
        assert await stores[3].load(ROOM) == make.events(1, 2)
    finally:
        for store in stores:
            await store.close()


async def test_second_server_on_a_database_is_refused_until_the_first_has_ended(
    store: PostgresStore, database_url: str
) -> None:
    with pytest.raises(DatabaseLockedError, match="another server is using this database"):
        await PostgresStore.open(database_url)
    await store.close()
    await (await PostgresStore.open(database_url)).close()


async def test_server_that_starts_before_the_lock_of_the_one_before_is_free_waits_for_it(
    database_url: str, admin: asyncpg.Connection
) -> None:
    async def is_waited_for() -> bool:
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        return bool(await admin.fetchval(waiting))

    await admin.execute("SELECT pg_advisory_lock($1)", SERVING)
    opening = asyncio.create_task(PostgresStore.open(database_url))
    await until(is_waited_for)
    await admin.execute("SELECT pg_advisory_unlock($1)", SERVING)
    await (await opening).close()


async def test_database_of_a_newer_schema_is_refused_and_left_as_it_is(database_url: str, make: Any) -> None:
    newer = Migration(len(MIGRATIONS) + 1, "to come", ("ALTER TABLE tabuleiro.rooms ADD COLUMN colour text",))
    store = await PostgresStore.open(database_url, migrations=[*MIGRATIONS, newer])
    await append(store, make, ROOM, 1, 1)
    await store.close()
    known = len(MIGRATIONS)
    told = rf"newer tabuleiro \(schema {known + 1}, this one knows up to {known}\)"
    with pytest.raises(DatabaseFormatError, match=told):
        await PostgresStore.open(database_url)
    store = await PostgresStore.open(database_url, migrations=[*MIGRATIONS, newer])
    assert await store.load(ROOM) == make.events(1, 1)
    await store.close()


async def test_migration_that_fails_leaves_the_database_as_it_was(
    database_url: str, make: Any, admin: asyncpg.Connection
) -> None:
    await (await PostgresStore.open(database_url)).close()
    wrong = Migration(
        len(MIGRATIONS) + 1, "wrong", ("ALTER TABLE tabuleiro.rooms ADD COLUMN colour text", "SELECT nonsense")
    )
    with pytest.raises(StoreError, match="nonsense"):
        await PostgresStore.open(database_url, migrations=[*MIGRATIONS, wrong])
    assert await admin.fetchval("SELECT max(number) FROM tabuleiro.migrations") == len(MIGRATIONS)
    await (await PostgresStore.open(database_url)).close()


async def test_tables_of_another_program_are_left_alone(database_url: str, admin: asyncpg.Connection) -> None:
    await admin.execute("CREATE SCHEMA tabuleiro; CREATE TABLE tabuleiro.rooms (number integer)")
    with pytest.raises(DatabaseFormatError, match="tables of another program"):
        await PostgresStore.open(database_url)
    await admin.execute("DROP TABLE tabuleiro.rooms")
    await (await PostgresStore.open(database_url)).close()


@pytest.mark.parametrize(
    ("level", "name", "is_refused"), [("off", "", True), ("local", "", False), ("local", "nobody", True)]
)
async def test_database_that_may_lose_what_it_acknowledges_is_refused_unless_told(
    database_url: str,
    standby: Callable[[str], None],
    admin: asyncpg.Connection,
    level: str,
    name: str,
    is_refused: bool,
) -> None:
    await admin.execute(f"ALTER DATABASE games SET synchronous_commit = {level}")
    standby(name)
    try:
        if is_refused:
            with pytest.raises(DatabaseFormatError, match=f"synchronous_commit is {level}.*NORMAL"):
                await PostgresStore.open(database_url)
            await (await PostgresStore.open(database_url, synchronous="NORMAL")).close()
        else:
            await (await PostgresStore.open(database_url)).close()
    finally:
        standby("")
        await admin.execute("ALTER DATABASE games RESET ALL")


async def test_database_of_another_encoding_is_refused(postgres: Cluster) -> None:
    postgres.sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(DatabaseFormatError, match="encoding is LATIN1"):
        await PostgresStore.open(postgres.url("latin"))
    postgres.sql("DROP DATABASE latin")


@pytest.mark.parametrize(
    ("change", "kind", "told"),
    [
        (
            lambda url: url.replace("/games", "/nothing"),
            StorageUnavailableError,
            'database "nothing" does not exist',
        ),
        (lambda url: url.replace("host=/tmp", "host=/nowhere"), StorageUnavailableError, "No such file"),
        (lambda url: url.replace("/games?", "/games?port=abc&"), ConfigError, "an address of PostgreSQL"),
    ],
)
async def test_database_that_cannot_be_reached_is_named_without_the_password(
    database_url: str, change: Callable[[str], str], kind: type[Exception], told: str
) -> None:
    url = change(database_url) + "&password=secret"
    with pytest.raises(kind, match=told) as caught:
        await PostgresStore.open(url)
    assert "secret" not in str(caught.value)


@pytest.mark.skipif(pooler_program() is None, reason="PgBouncer is not installed (Debian: apt install pgbouncer)")
@pytest.mark.parametrize("mode", ["transaction", "session"])
async def test_pooler_is_noticed_and_told_of_and_rooms_are_kept_all_the_same(
    postgres: Cluster, database_url: str, make: Any, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    with pooler(postgres, mode) as url:
        store = await PostgresStore.open(url)
        assert "there is a pooler before the database" in capsys.readouterr().out
        try:
            rooms = [RoomCode(f"R{number:04}") for number in range(10)]
            for seq in range(1, 6):
                await asyncio.gather(*(append(store, make, room, seq, seq) for room in rooms))
            for events in await asyncio.gather(*(store.load(room) for room in rooms)):
                assert events == make.events(1, 5)
        finally:
            await store.close()
    await (await PostgresStore.open(database_url)).close()
    assert "pooler" not in capsys.readouterr().out


# Owners


async def test_takeover_waits_for_the_append_before_it_and_refuses_the_one_behind(
    database_url: str, make: Any
) -> None:
    """Appends and takeovers of two servers at full speed: each log is what one owner after the other has added."""
    store = await PostgresStore.open(database_url, address=HERE)
    other = await PostgresStore.open(database_url, address=HERE)
    rooms = [RoomCode(f"R{number:04}") for number in range(6)]
    try:
        for room in rooms:
            await append(store, make, room, 1, 1)
        written: dict[RoomCode, dict[int, bytes]] = {room: {1: b"fact"} for room in rooms}
        await asyncio.gather(
            *(_own(store, make, room, b"a", written[room]) for room in rooms),
            *(_own(other, make, room, b"b", written[room]) for room in rooms),
        )
        for room in rooms:
            stored = {event.seq: event.payload for event in await store.load(room)}
            assert stored == written[room]
            assert len(stored) > 20
    finally:
        await other.close()
        await store.close()


async def _own(store: PostgresStore, make: Any, room: RoomCode, name: bytes, written: dict[int, bytes]) -> None:
    """Take the room over again and again, and add events for as long as it is ours; end when it has many."""
    for number in count():
        if number >= 20 and len(written) > 20:
            return
        incarnation = (await store.take_over(room)).incarnation
        last = len(await store.load(room))
        payload = name + b"%d" % number
        try:
            while True:
                events = make.events(last + 1, last + 2, payload)
                await store.append(room, Seq(last), events, make.rows(room), incarnation)
                assert not {last + 1, last + 2} & written.keys()
                written |= {last + 1: payload, last + 2: payload}
                last += 2
                if last % 8 == 1:
                    break
        except TakenOverError:
            pass


# Lost answers


async def test_append_that_was_committed_but_not_answered_is_answered_as_done(
    remote: PostgresStore, network: Proxy, make: Any
) -> None:
    await append(remote, make, ROOM, 1, 1)
    network.hold_answers()
    waiting = asyncio.ensure_future(append(remote, make, ROOM, 2, 4))
    new = asyncio.ensure_future(append(remote, make, OTHER, 1, 2))
    await network.held()
    network.cut()
    network.release()
    await asyncio.gather(waiting, new)
    assert await remote.load(ROOM) == make.events(1, 4)
    assert await remote.load(OTHER) == make.events(1, 2)
    assert remote.metrics.append_count == 3
    await append(remote, make, ROOM, 5, 5)


async def test_append_that_did_not_reach_the_database_is_sent_again_and_stored_once(
    remote: PostgresStore, network: Proxy, make: Any, admin: asyncpg.Connection
) -> None:
    """Also when what was sent first is on its way for longer than its connection lives."""
    await append(remote, make, ROOM, 1, 1)
    network.hold_requests()
    waiting = [
        asyncio.ensure_future(append(remote, make, ROOM, 2, 4)),
        asyncio.ensure_future(append(remote, make, OTHER, 1, 3)),
    ]
    await network.held()
    late = network.cut_and_keep()
    await asyncio.gather(*waiting)
    late.set()
    backends = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tabuleiro' AND state <> 'idle'"
    await until(lambda: _is_none(admin, backends))
    assert await remote.load(ROOM) == make.events(1, 4)
    assert await remote.load(OTHER) == make.events(1, 3)
    await append(remote, make, ROOM, 5, 5)


async def test_commit_of_an_epoch_that_is_over_writes_nothing(
    store: PostgresStore, make: Any, admin: asyncpg.Connection
) -> None:
    """Neither to a room that is there, nor a new one, nor does it remove any."""
    await append(store, make, ROOM, 1, 1)
    node = Node(*await admin.fetchrow("SELECT id, epoch FROM tabuleiro.nodes"))
    await admin.execute("UPDATE tabuleiro.nodes SET epoch = epoch + 1")
    moves = [
        Move(room, FIRST_INCARNATION, Seq(seq), make.events(seq + 1, seq + 2), make.room(room), [make.match(room)])
        for room, seq in ((ROOM, 1), (OTHER, 0))
    ]
    with pytest.raises(EpochOverError):
        await commit_moves(admin, node, moves)
    with pytest.raises(EpochOverError):
        await remove_rooms(admin, node, [ROOM])
    assert (await store.load(ROOM), await store.load(OTHER)) == (make.events(1, 1), [])
    assert (await store.matches(ROOM), await store.matches(OTHER)) == ([], [])
    assert await commit_moves(admin, Node(node.id, node.epoch + 1), moves) == {ROOM, OTHER}
    assert await store.matches(OTHER) == [make.match(OTHER)]
    # The store itself finds out, and takes up the next epoch.
    await append(store, make, ROOM, 4, 4)


async def _is_none(admin: asyncpg.Connection, query: str) -> bool:
    return bool(await admin.fetchval(query) == 0)


async def test_removal_and_guest_whose_answers_were_lost_are_there_once(
    remote: PostgresStore, network: Proxy, make: Any
) -> None:
    await append(remote, make, ROOM, 1, 3)
    network.hold_answers()
    removing = asyncio.ensure_future(remote.remove([ROOM]))
    await network.held()
    network.cut()
    network.release()
    await removing
    assert (await remote.load(ROOM), await remote.room(ROOM)) == ([], None)
    await remote.accounts.seen_last()
    network.hold_answers()
    now_ms = TimestampMs(1_000)
    creating = asyncio.ensure_future(remote.accounts.create(AccountId("a1"), "Ana", b"hash", now_ms))
    await network.held()
    network.cut()
    network.release()
    created = await creating
    assert await remote.accounts.find_by_name("ana") == created


async def test_network_that_breaks_while_nothing_is_asked_is_not_noticed_by_anybody(
    remote: PostgresStore, network: Proxy, make: Any
) -> None:
    await append(remote, make, ROOM, 1, 1)
    assert await remote.load(ROOM) == make.events(1, 1)
    network.cut()
    await append(remote, make, ROOM, 2, 2)
    network.cut()
    assert await remote.load(ROOM) == make.events(1, 2)


async def test_network_that_swallows_everything_is_noticed_and_gone_around(
    remote: PostgresStore, network: Proxy, make: Any, admin: asyncpg.Connection
) -> None:
    """Nothing breaks, and nothing is answered: the answers to a commit and to a guest never come."""
    await append(remote, make, ROOM, 1, 1)
    await remote.accounts.create(AccountId("r1"), "Rui", b"rui", TimestampMs(1))
    remote._keeper.write_limit_s = 0.05
    swallowed = network.swallow_answers()
    storing = asyncio.ensure_future(append(remote, make, ROOM, 2, 4))
    creating = asyncio.ensure_future(remote.accounts.create(AccountId("a1"), "Ana", b"ana", TimestampMs(1)))
    await network.held()
    remote.beat(TimestampMs(2))
    await asyncio.gather(storing, creating)
    assert not swallowed.is_set()
    swallowed.set()
    assert await remote.load(ROOM) == make.events(1, 4)
    assert await remote.accounts.find_by_name("ana") == await creating


async def test_commit_whose_connection_is_dead_without_a_word_is_settled_when_the_keeper_s_own_breaks(
    remote: PostgresStore, network: Proxy, make: Any
) -> None:
    """A machine that was started again answers only those who send it something."""
    await append(remote, make, ROOM, 1, 1)
    remote._keeper.write_limit_s = 10 * LIMIT_S
    network.swallow_answers()
    storing = asyncio.ensure_future(append(remote, make, ROOM, 2, 4))
    await network.held()
    assert remote._keeper._connection is not None
    remote._keeper._connection.terminate()
    async with asyncio.timeout(LIMIT_S):
        await storing
    assert await remote.load(ROOM) == make.events(1, 4)


async def test_change_that_fails_when_nobody_waits_for_it_any_more_is_no_error_of_ours(
    store: PostgresStore,
) -> None:
    """Symptom: a traceback in the log when a connection ended while the database went away."""
    begun, may_fail = asyncio.Event(), asyncio.Event()
    complaints: list[object] = []

    async def fail(_: object) -> None:
        begun.set()
        await may_fail.wait()
        raise StoreError("refused")

    gc.collect()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    waiting = asyncio.ensure_future(store._database.change(fail))
    await begun.wait()
    waiting.cancel()
    await asyncio.wait({waiting})
    may_fail.set()
    await asyncio.wait(store._database._changes)
    del waiting
    gc.collect()
    assert complaints == []


async def test_readers_hear_of_a_room_after_its_commit_and_of_no_refusal(
    store: PostgresStore, make: Any, admin: asyncpg.Connection
) -> None:
    """A notice is the room's code and its last event's number, and nothing else."""
    heard: asyncio.Queue[str] = asyncio.Queue()
    other = await asyncpg.connect(dsn=store._database.url)

    def hear(_: object, __: int, ___: str, payload: object) -> None:
        heard.put_nowait(str(payload))

    await other.add_listener(CHANNEL, hear)
    try:
        await append(store, make, ROOM, 1, 3)
        with pytest.raises(ConflictError):
            await append(store, make, ROOM, 2, 2)
        await append(store, make, OTHER, 1, 1)
        async with asyncio.timeout(LIMIT_S):
            assert [await heard.get(), await heard.get()] == ["K7MQ4 3", "W2XYZ 1"]
        assert await admin.fetchval("SELECT count(*) FROM tabuleiro.events") == 4
    finally:
        await other.close()


async def test_stopping_while_an_answer_is_missing_tells_that_it_is_not_known(
    remote: PostgresStore, network: Proxy, make: Any, admin: asyncpg.Connection
) -> None:
    """And asks nobody to cancel the commit."""
    await append(remote, make, ROOM, 1, 1)
    network.hold_answers()
    waiting = asyncio.ensure_future(append(remote, make, ROOM, 2, 2))
    await network.held()
    await remote.stop(1)
    with pytest.raises(StoreError, match="stored or not"):
        await waiting
    assert await admin.fetchval("SELECT max(seq) FROM tabuleiro.events") == 2


# A standby that is missing


@pytest.fixture
def standby(postgres: Cluster, database_url: str) -> Iterator[Callable[[str], None]]:
    """Give every commit a standby to wait for, which is not there, or none."""
    yield lambda name: postgres.set("synchronous_standby_names", name)
    postgres.set("synchronous_standby_names", "")


WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> ALL($1)"


@pytest.mark.slow
@pytest.mark.parametrize("end", ["pg_cancel_backend", "pg_terminate_backend"])
async def test_append_that_the_standby_lacks_is_not_answered_until_it_has_it(
    standby: Callable[[str], None], store: PostgresStore, make: Any, admin: asyncpg.Connection, end: str
) -> None:
    """A cancelled wait for the standby is answered as done, with a warning."""
    await append(store, make, ROOM, 1, 1)
    standby("nobody")
    waiting = asyncio.ensure_future(append(store, make, ROOM, 2, 3))
    seen: list[int] = []
    for _ in range(3):
        await until(lambda: admin.fetchval(WAITING, seen))
        seen.append(await admin.fetchval(WAITING, seen))
        assert not waiting.done()
        await admin.fetchval(f"SELECT {end}($1)", seen[-1])
    await until(lambda: admin.fetchval(WAITING, seen))
    assert not waiting.done()
    standby("")
    await waiting
    assert await store.load(ROOM) == make.events(1, 3)
    await append(store, make, ROOM, 4, 4)


@pytest.mark.slow
async def test_limits_of_the_database_for_statements_end_no_commit(
    standby: Callable[[str], None], database_url: str, make: Any, admin: asyncpg.Connection
) -> None:
    """Its own limit would end the wait for the standby at once, with a warning."""
    await admin.execute("ALTER DATABASE games SET statement_timeout = 500")
    try:
        store = await PostgresStore.open(database_url)
        try:
            await append(store, make, ROOM, 1, 1)
            standby("nobody")
            waiting = asyncio.ensure_future(append(store, make, ROOM, 2, 2))
            await until(lambda: admin.fetchval(WAITING, []))
            pid = await admin.fetchval(WAITING, [])
            await admin.execute("SELECT pg_sleep(0.6)")
            assert await admin.fetchval(WAITING, []) == pid
            standby("")
            await waiting
        finally:
            await store.close()
    finally:
        await admin.execute("ALTER DATABASE games RESET ALL")


# A database that is away


@pytest.mark.slow
async def test_a_database_that_is_killed_refuses_and_comes_back_by_itself(make: Any) -> None:
    with cluster_with_games(is_quick=False) as running:
        store = await PostgresStore.open(running.url("games"))
        try:
            over = asyncio.Event()
            floods = [asyncio.ensure_future(_flood(store, make, RoomCode(f"R{n:04}"), over)) for n in range(5)]
            for round_count in range(1, 4):
                await until(partial(_has_grown, store, 50 * round_count))
                running.kill()
                await until(partial(_is_refused, store, make))
                with pytest.raises(StorageUnavailableError):
                    await store.load(ROOM)
                running.start()
            await until(partial(_has_grown, store, 200))
            over.set()
            for number, seq in enumerate(await asyncio.gather(*floods)):
                assert await store.load(RoomCode(f"R{number:04}")) == make.events(1, seq)
        finally:
            await store.close()


@pytest.mark.slow
async def test_promoted_standby_has_all_that_was_acknowledged_and_takes_more(make: Any) -> None:
    if reason := reason_to_skip():
        pytest.skip(reason)
    with cluster(synchronous_standby_names="*") as first, cluster(primary=first) as second:
        first.sql("CREATE DATABASE games")
        store = await PostgresStore.open(first.url("games", second))
        try:
            over = asyncio.Event()
            floods = [asyncio.ensure_future(_flood(store, make, RoomCode(f"R{n:04}"), over)) for n in range(5)]
            primary, standby = first, second
            for round_count in range(1, 4):
                await until(partial(_has_grown, store, 50 * round_count))
                primary.kill()
                standby.promote()
                primary, standby = standby, primary
                standby.make_standby(primary)
                standby.start()
            await until(partial(_has_grown, store, 200))
            over.set()
            for number, seq in enumerate(await asyncio.gather(*floods)):
                assert await store.load(RoomCode(f"R{number:04}")) == make.events(1, seq)
        finally:
            await store.close()


async def test_host_that_answers_nothing_is_passed_over_for_the_next_one_and_then_asked_last(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CONNECT_LIMIT_S", 0.2)
    asked_count = 0

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked_count
        asked_count += 1
        await reader.read()
        writer.close()

    async with await asyncio.start_unix_server(say_nothing, path=str(tmp_path / ".s.PGSQL.5432")):
        database = Database(database_url.replace("host=", f"host={tmp_path},"))
        for _ in range(2):
            found = await database.connect()
            await found.close()
    assert asked_count == 1


async def _is_refused(store: PostgresStore, make: Any) -> bool:
    try:
        store.append(ROOM, Seq(7), make.events(8, 8), make.rows(ROOM)).cancel()
    except StorageUnavailableError as error:
        assert str(error).count("storage unavailable") == 1  # noqa: PT017
        return True
    return False


async def _flood(store: PostgresStore, make: Any, room: RoomCode, over: asyncio.Event) -> int:
    """Append until it is over; return the last acknowledged event. What is refused is sent again."""
    last = 0
    while not over.is_set():
        try:
            await append(store, make, room, last + 1, last + 2)
            last += 2
        except StorageUnavailableError:
            await asyncio.sleep(0)
    return last


async def _has_grown(store: PostgresStore, count: int) -> bool:
    return store.metrics.append_count >= count
