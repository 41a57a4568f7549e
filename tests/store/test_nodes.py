"""Several nodes on one PostgreSQL: which of them has a room, and when another one may take it over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import pytest

from tabuleiro.errors import DatabaseLockedError, ElsewhereError, NodeLeavesError, TakenOverError
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import NodeRow, Ownership, Rows
from tabuleiro_server.store.postgres.keeper import NodeAddress
from tabuleiro_server.store.postgres.store import PostgresStore
from tests.patience import LIMIT_S
from tests.postgres_proxy import Proxy

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")
SHORT_S = 0.3
"""A lease that tests can wait for."""

Open = Callable[..., Awaitable[PostgresStore]]


@pytest.fixture
async def open_node(database_url: str) -> AsyncIterator[Open]:
    """``await open_node("a")``: a node of this name, until the end of the test."""
    async with AsyncExitStack() as stack:

        async def opened(name: str, url: str = database_url, **settings: Any) -> PostgresStore:
            address = NodeAddress(name, url_of(name))
            store = await PostgresStore.open(url, address=address, **settings)
            stack.push_async_callback(store.close)
            await store.take_rooms(wanted=True)
            return store

        yield opened


def url_of(name: str) -> str:
    return f"wss://play.example.org/node/{name}"


async def make_room(store: PostgresStore, make: Any, code: str = ROOM, deadline_ms: int | None = None) -> None:
    rows = Rows(make.room(code, deadline_ms=deadline_ms))
    await store.append(RoomCode(code), Seq(0), make.events(1, 3), rows)


async def take_over_at_last(store: PostgresStore, room: RoomCode = ROOM) -> Ownership:
    """Ask until the room can be taken over."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                return await store.take_over(room)
            except ElsewhereError:
                await asyncio.sleep(0)


async def test_room_of_another_node_is_refused_with_its_address(open_node: Open, make: Any) -> None:
    first, second = await open_node("a"), await open_node("b")
    await make_room(first, make)
    with pytest.raises(ElsewhereError) as caught:
        await second.take_over(ROOM)
    assert (caught.value.room, caught.value.node_url) == (ROOM, url_of("a"))
    await first.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM))
    again = await first.take_over(ROOM)
    with pytest.raises(ElsewhereError):
        await second.take_over(ROOM)
    await first.append(ROOM, Seq(4), make.events(5, 5), make.rows(ROOM), again.incarnation)


async def test_rooms_of_a_node_that_has_ended_are_free_at_once(open_node: Open, make: Any) -> None:
    first, second = await open_node("a"), await open_node("b")
    await make_room(first, make)
    await first.close()
    assert await second.take_over(ROOM) == Ownership((await second.take_over(ROOM)).incarnation - 1)
    third = await open_node("c")
    with pytest.raises(ElsewhereError):
        await third.take_over(ROOM)
    await second.close()
    await third.take_over(ROOM)


async def test_node_that_is_stopped_while_it_renews_its_lease_says_goodbye_all_the_same(
    open_node: Open, network: Proxy, make: Any
) -> None:
    first, second = await open_node("a", network.url), await open_node("b")
    await make_room(first, make)
    network.hold_answers()
    await network.held()
    closing = asyncio.create_task(first.close())
    await asyncio.sleep(0)
    network.release()
    await closing
    await second.take_over(ROOM)


async def test_released_room_is_free_and_one_taken_over_since_stays_with_its_owner(
    open_node: Open, make: Any
) -> None:
    first, second = await open_node("a"), await open_node("b")
    await make_room(first, make)
    owned = (await first.take_over(ROOM)).incarnation
    first.release(ROOM, owned)
    taken = await take_over_at_last(second)
    first.release(ROOM, owned)
    await make_room(first, make, OTHER)
    first.release(OTHER, (await first.take_over(OTHER)).incarnation)
    await take_over_at_last(second, OTHER)
    with pytest.raises(ElsewhereError):
        await first.take_over(ROOM)
    await second.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM), taken.incarnation)


async def test_room_that_is_handed_over_belongs_to_the_other_node(open_node: Open, make: Any) -> None:
    first, second, third = [await open_node(name) for name in "abc"]
    await make_room(first, make)
    owned = (await first.take_over(ROOM)).incarnation
    target = {node.url: node.id for node in await first.other_nodes()}[url_of("c")]
    await first.hand_over(ROOM, owned, target)
    with pytest.raises(TakenOverError):
        await first.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM), owned)
    for store in (first, second):
        with pytest.raises(ElsewhereError) as caught:
            await store.take_over(ROOM)
        assert caught.value.node_url == url_of("c")
    incarnation = (await third.take_over(ROOM)).incarnation
    await third.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM), incarnation)
    with pytest.raises(TakenOverError):
        await first.hand_over(ROOM, owned, target)


async def test_rooms_that_move_at_one_time_move_in_one_commit_on_either_side(
    open_node: Open, make: Any, database_url: str
) -> None:
    codes = [RoomCode(f"R{number:04}") for number in range(40)]
    async with AsyncExitStack() as stack:
        admin = await asyncpg.connect(database_url)
        stack.push_async_callback(admin.close)
        first, second = await open_node("a"), await open_node("b")
        for code in codes:
            await make_room(first, make, code)

        async def commits_count() -> int:
            return int(await admin.fetchval("SELECT count(DISTINCT xmin::text) FROM tabuleiro.rooms"))

        assert await commits_count() == len(codes)
        owned = [each.incarnation for each in await asyncio.gather(*map(first.take_over, codes))]
        assert await commits_count() == 1
        (target,) = await first.other_nodes()
        moves = zip(codes, owned, strict=True)
        await asyncio.gather(*(first.hand_over(code, incarnation, target.id) for code, incarnation in moves))
        assert await commits_count() == 1
        taken = [each.incarnation for each in await asyncio.gather(*map(second.take_over, codes))]
        assert await commits_count() == 1
        assert taken == [incarnation + 2 for incarnation in owned]


async def test_room_that_somebody_else_is_writing_to_holds_up_no_other_one(
    open_node: Open, make: Any, database_url: str
) -> None:
    first, second = await open_node("a"), await open_node("b")
    for code in (ROOM, OTHER):
        await make_room(first, make, code)
    owned = {code: (await first.take_over(code)).incarnation for code in (ROOM, OTHER)}
    (target,) = await first.other_nodes()
    admin = await asyncpg.connect(database_url)
    try:
        for work in (
            [first.hand_over(code, incarnation, target.id) for code, incarnation in owned.items()],
            [second.take_over(code) for code in owned],
        ):
            locking = admin.transaction()
            await locking.start()
            await admin.execute("SELECT FROM tabuleiro.rooms WHERE code = $1 FOR UPDATE", ROOM)
            held, free = map(asyncio.ensure_future, work)
            await free
            assert not held.done()
            await locking.rollback()
            await held
    finally:
        await admin.close()


async def test_node_that_takes_no_rooms_is_given_none(open_node: Open, make: Any) -> None:
    """Neither while it starts, nor once it is about to end, nor after it has ended."""
    first, second = await open_node("a"), await open_node("b")
    await make_room(first, make)
    owned = (await first.take_over(ROOM)).incarnation
    (target,) = await first.other_nodes()
    await second.take_rooms(wanted=False)
    with pytest.raises(NodeLeavesError):
        await first.hand_over(ROOM, owned, target.id)
    await second.take_rooms(wanted=True)
    await second.close()
    with pytest.raises(NodeLeavesError):
        await first.hand_over(ROOM, owned, target.id)
    await first.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM), owned)


async def test_room_that_was_handed_over_and_is_disowned_is_free_and_no_other_one_is(
    open_node: Open, make: Any
) -> None:
    first, second, third = [await open_node(name) for name in "abc"]
    for code in (ROOM, OTHER):
        await make_room(first, make, code)
    target = {node.url: node.id for node in await first.other_nodes()}[url_of("b")]
    await first.hand_over(ROOM, (await first.take_over(ROOM)).incarnation, target)
    for code in (ROOM, OTHER):
        await second.disown(code)
    await third.take_over(ROOM)
    with pytest.raises(ElsewhereError):
        await third.take_over(OTHER)


async def test_rooms_of_nodes_are_counted_as_they_are_now(open_node: Open, make: Any) -> None:
    first, second = await open_node("a"), await open_node("b")
    for code in (ROOM, OTHER):
        await make_room(first, make, code)
    assert [node.rooms_count for node in await second.other_nodes(is_counting=True)] == [2]
    assert [node.rooms_count for node in await second.other_nodes()] == [0]


async def test_room_of_a_silent_node_is_taken_over_after_its_lease_and_the_zombie_is_refused(
    open_node: Open, network: Proxy, make: Any
) -> None:
    zombie, second = await open_node("a", network.url, lease_s=SHORT_S), await open_node("b", lease_s=SHORT_S)
    await make_room(zombie, make)
    old = (await zombie.take_over(ROOM)).incarnation
    network.hold_requests()
    late = zombie.append(ROOM, Seq(3), make.events(4, 6, b"late"), make.rows(ROOM), old)
    taken = await take_over_at_last(second)
    assert taken.silent_ms > taken.free_ms >= 0
    network.release()
    with pytest.raises(TakenOverError):
        await late
    with pytest.raises(TakenOverError):
        await zombie.append(ROOM, Seq(3), make.events(4, 4, b"late"), make.rows(ROOM), old)
    await second.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM), taken.incarnation)
    assert await second.load(ROOM) == make.events(1, 4)


async def test_nobody_takes_a_room_over_before_being_steady_for_a_lease(
    open_node: Open, network: Proxy, make: Any
) -> None:
    """After an outage of the database all leases have run out, and everybody has to have the time to come back."""
    silent, steady = await open_node("a", network.url, lease_s=SHORT_S), await open_node("b", lease_s=SHORT_S)
    for code in (ROOM, OTHER):
        await make_room(silent, make, code, deadline_ms=1)
    network.hold_requests()
    await take_over_at_last(steady)
    new = await open_node("c", lease_s=LIMIT_S)
    with pytest.raises(ElsewhereError) as caught:
        await new.take_over(OTHER)
    assert caught.value.node_url == url_of("a")
    assert await new.due_rooms(TimestampMs(1)) == []
    await steady.take_over(OTHER)


async def test_next_server_at_the_same_address_takes_over_at_once(
    open_node: Open, network: Proxy, make: Any
) -> None:
    killed = await open_node("a", network.url)
    await make_room(killed, make)
    network.hold_requests()
    assert (await (await open_node("a")).take_over(ROOM)).incarnation == 1


async def test_due_rooms_are_those_that_a_node_may_have(open_node: Open, make: Any) -> None:
    first, second = await open_node("a"), await open_node("b")
    for number, store in enumerate((first, second, first)):
        await make_room(store, make, f"R{number:04}", deadline_ms=number)
    assert await first.due_rooms(TimestampMs(9)) == ["R0000", "R0002"]
    assert await second.due_rooms(TimestampMs(9)) == ["R0001"]
    await first.close()
    assert await second.due_rooms(TimestampMs(9)) == ["R0000", "R0001", "R0002"]


async def test_nodes_know_of_each_other_for_as_long_as_they_live(open_node: Open) -> None:
    first, second = await open_node("a", lease_s=SHORT_S), await open_node("b")
    (node,) = await second.other_nodes()
    assert node == NodeRow(node.id, "a", url_of("a"), 0, takes_rooms=True)
    first.beat(TimestampMs(1), 7)
    await first.take_rooms(wanted=False)
    async with asyncio.timeout(LIMIT_S):
        while node.takes_rooms or node.rooms_count != 7:
            (node,) = await second.other_nodes()
    await first.close()
    assert await second.other_nodes() == []


async def test_node_that_joins_another_one_finds_no_downtime(open_node: Open) -> None:
    first = await open_node("a")
    first.beat(TimestampMs(1_767_225_600_123))
    second = await open_node("b")
    assert second.last_alive_ms is None
    await second.close()
    await first.close()
    assert (await open_node("b")).last_alive_ms == 1_767_225_600_123


async def test_server_without_an_address_keeps_all_others_out_and_is_kept_out_by_nodes(
    open_node: Open, database_url: str
) -> None:
    node = await open_node("a")
    with pytest.raises(DatabaseLockedError):
        await PostgresStore.open(database_url)
    await node.close()
    alone = await PostgresStore.open(database_url)
    with pytest.raises(DatabaseLockedError):
        await open_node("a")
    await alone.close()
