"""The promises of every store, whatever keeps it: see :mod:`tabuleiro_server.store.port`.

An adapter takes part by its name in ``ADAPTERS`` of ``conftest.py``. Cases speak of two owners of a room; where
one process owns the data, both are the same store, and the second one is merely ignorant of what the first has
done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import msgspec
import pytest

from tabuleiro.errors import ConflictError, StorageUnavailableError, StoreError, TakenOverError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import FIRST_INCARNATION, Rows, Store, StoredEvent

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")

Owners = tuple[Store, Store]


async def outcomes(*appends: asyncio.Future[None]) -> list[type]:
    """Wait for all appends; return the types of their results."""
    return [type(result) for result in await asyncio.gather(*appends, return_exceptions=True)]


# Events


async def test_appended_events_are_loaded_in_order_with_all_their_fields(any_store: Store, make: Any) -> None:
    first = [StoredEvent(Seq(1), TimestampMs(17), 3, b"\x00\xff"), StoredEvent(Seq(2), TimestampMs(16), 4, b"")]
    await any_store.append(ROOM, Seq(0), first, make.rows(ROOM))
    await any_store.append(OTHER, Seq(0), make.events(1, 1), make.rows(OTHER))
    await any_store.append(ROOM, Seq(2), make.events(3, 150), make.rows(ROOM))
    assert await any_store.load(ROOM) == first + make.events(3, 150)
    assert await any_store.load(ROOM, after_seq=Seq(149)) == make.events(150, 150)
    assert await any_store.load(ROOM, after_seq=Seq(150)) == []
    assert await any_store.load(RoomCode("AAAAA")) == []


async def test_long_payloads_and_many_events_at_once_are_kept(any_store: Store, make: Any) -> None:
    events = make.events(1, 300, bytes(range(256)) * 40)
    await any_store.append(ROOM, Seq(0), events, make.rows(ROOM))
    assert await any_store.load(ROOM) == events


async def test_everything_is_there_again_after_closing_and_opening(open_any: Any, make: Any) -> None:
    match = make.match(ROOM)
    async with open_any() as store:
        await store.append(ROOM, Seq(0), make.events(1, 3), Rows(make.room(ROOM), [match]))
    async with open_any() as store:
        assert (await store.room(ROOM), await store.matches(ROOM)) == (make.room(ROOM), [match])
        await store.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM))
        assert await store.load(ROOM) == make.events(1, 4)


async def test_events_that_are_not_numbered_on_are_refused_at_once(any_store: Store, make: Any) -> None:
    for events in (make.events(3, 3), [*make.events(2, 2), *make.events(4, 4)], make.events(1, 2)):
        with pytest.raises(ValueError, match="stands in the place of event"):
            await any_store.append(ROOM, Seq(1), events, make.rows(ROOM))
    assert await any_store.load(ROOM) == []


async def test_append_is_seen_by_everybody_once_it_is_done(owners: Owners, make: Any) -> None:
    mine, others = owners
    for seq in range(1, 31):
        await mine.append(ROOM, Seq(seq - 1), make.events(seq, seq), Rows(make.room(ROOM, summary=b"%d" % seq)))
        assert await others.load(ROOM) == make.events(1, seq)
        row = await others.room(ROOM)
        assert row is not None
        assert row.summary == b"%d" % seq


async def test_a_room_that_is_removed_leaves_nothing_and_its_code_can_be_used_again(
    open_any: Any, make: Any
) -> None:
    async with open_any() as store:
        for code in (ROOM, OTHER):
            await store.append(code, Seq(0), make.events(1, 3), Rows(make.room(code), [make.match(code)]))
        await store.remove([ROOM, RoomCode("AAAAA")])
        assert (await store.load(ROOM), await store.room(ROOM), await store.matches(ROOM)) == ([], None, [])
        assert await store.load(OTHER) == make.events(1, 3)
        assert await store.matches(OTHER) == [make.match(OTHER)]
        await store.append(ROOM, Seq(0), make.events(1, 1, b"again"), make.rows(ROOM))
    async with open_any() as store:
        assert await store.load(ROOM) == make.events(1, 1, b"again")
        assert await store.rooms() == [make.room(ROOM), make.room(OTHER)]


# Conflicts


@pytest.mark.parametrize("expected", [0, 2, 4])
async def test_append_in_the_wrong_place_is_refused_and_changes_nothing(
    any_store: Store, make: Any, expected: int
) -> None:
    await any_store.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
    rows = Rows(make.room(ROOM, "changed", deadline_ms=1, summary=b"changed"), [make.match(ROOM)])
    with pytest.raises(ConflictError) as caught:
        await any_store.append(ROOM, Seq(expected), make.events(expected + 1, expected + 2, b"new"), rows)
    assert (caught.value.expected_seq, caught.value.actual_seq) == (expected, 3)
    assert await any_store.load(ROOM) == make.events(1, 3)
    assert (await any_store.room(ROOM), await any_store.matches(ROOM)) == (make.room(ROOM), [])
    await any_store.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM))


@pytest.mark.parametrize("taken_count", [1, 2, 3, 5])
async def test_append_whose_first_number_another_owner_has_taken_writes_nothing(
    owners: Owners, make: Any, taken_count: int
) -> None:
    """None of three events may land behind the other owner's, though the later numbers are free."""
    mine, others = owners
    await mine.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
    theirs = make.events(4, 3 + taken_count, b"theirs")
    await others.append(ROOM, Seq(3), theirs, Rows(make.room(ROOM, summary=b"theirs")))
    rows = Rows(make.room(ROOM, summary=b"mine"), [make.match(ROOM)])
    with pytest.raises(ConflictError) as caught:
        await mine.append(ROOM, Seq(3), make.events(4, 6, b"mine"), rows)
    assert (caught.value.expected_seq, caught.value.actual_seq) == (3, 3 + taken_count)
    for store in owners:
        assert await store.load(ROOM) == make.events(1, 3) + theirs
        assert (await store.room(ROOM), await store.matches(ROOM)) == (make.room(ROOM, summary=b"theirs"), [])


async def test_new_room_whose_code_is_taken_is_refused(owners: Owners, make: Any) -> None:
    mine, others = owners
    await others.append(ROOM, Seq(0), make.events(1, 1, b"theirs"), make.rows(ROOM))
    with pytest.raises(ConflictError):
        await mine.append(ROOM, Seq(0), make.events(1, 3, b"mine"), make.rows(ROOM))
    assert await mine.load(ROOM) == make.events(1, 1, b"theirs")


async def test_conflict_is_found_by_a_store_that_has_not_seen_the_room_before(open_any: Any, make: Any) -> None:
    async with open_any() as store:
        await store.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
    async with open_any() as store:
        with pytest.raises(ConflictError, match="it is 3"):
            await store.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))


async def test_append_that_is_sent_again_is_stored_once(owners: Owners, make: Any) -> None:
    """Whoever lost the answer to an append reads the log, and finds its own events there."""
    mine, others = owners
    await mine.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
    for store in (mine, others):
        with pytest.raises(ConflictError) as caught:
            await store.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
        assert caught.value.actual_seq == 3
        assert await store.load(ROOM) == make.events(1, 3)


async def test_of_two_appends_for_one_place_at_one_moment_one_wins(owners: Owners, make: Any) -> None:
    mine, others = owners
    results = await outcomes(
        mine.append(ROOM, Seq(0), make.events(1, 1, b"short"), Rows(make.room(ROOM, summary=b"short"))),
        others.append(ROOM, Seq(0), make.events(1, 3, b"long"), Rows(make.room(ROOM, summary=b"long"))),
        mine.append(OTHER, Seq(0), make.events(1, 2), make.rows(OTHER)),
    )
    assert sorted(kind.__name__ for kind in results) == ["ConflictError", "NoneType", "NoneType"]
    won = b"short" if results[0] is type(None) else b"long"
    assert await mine.load(ROOM) == make.events(1, 1 if won == b"short" else 3, won)
    assert await mine.room(ROOM) == make.room(ROOM, summary=won)
    assert await mine.load(OTHER) == make.events(1, 2)


async def test_appends_to_one_room_are_stored_in_the_order_of_the_calls(any_store: Store, make: Any) -> None:
    results = await outcomes(
        *(
            any_store.append(ROOM, Seq(seq - 1), make.events(seq, seq), Rows(make.room(ROOM, summary=b"%d" % seq)))
            for seq in range(1, 101)
        )
    )
    assert results == [type(None)] * 100
    assert await any_store.load(ROOM) == make.events(1, 100)
    assert await any_store.room(ROOM) == make.room(ROOM, summary=b"100")


async def test_appends_that_build_on_a_refused_one_are_refused_too(any_store: Store, make: Any) -> None:
    await any_store.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))
    assert await outcomes(
        any_store.append(ROOM, Seq(0), make.events(1, 2, b"late"), make.rows(ROOM)),
        any_store.append(ROOM, Seq(2), make.events(3, 3, b"late"), make.rows(ROOM)),
        any_store.append(OTHER, Seq(0), make.events(1, 1), make.rows(OTHER)),
    ) == [ConflictError, ConflictError, type(None)]
    assert await any_store.load(ROOM) == make.events(1, 1)


@pytest.mark.parametrize("phase", ["\ud800", 2**70], ids=["lone surrogate", "too big"])
async def test_values_that_cannot_be_stored_refuse_their_own_append_alone(
    any_store: Store, make: Any, phase: Any
) -> None:
    assert await outcomes(
        any_store.append(OTHER, Seq(0), make.events(1, 2), make.rows(OTHER)),
        any_store.append(ROOM, Seq(0), make.events(1, 1), Rows(make.room(ROOM, phase))),
        any_store.append(RoomCode("CCCCC"), Seq(5), make.events(6, 6), make.rows("CCCCC")),
    ) == [type(None), StoreError, ConflictError]
    assert [row.code for row in await any_store.rooms()] == [OTHER]
    assert await any_store.load(ROOM) == []
    await any_store.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))


async def test_cancelled_append_is_stored_whole_or_not_at_all(any_store: Store, make: Any) -> None:
    await any_store.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))
    cancelled = any_store.append(ROOM, Seq(1), make.events(2, 4), make.rows(ROOM))
    cancelled.cancel()
    await any_store.append(OTHER, Seq(0), make.events(1, 1), make.rows(OTHER))
    stored = await any_store.load(ROOM)
    assert stored in (make.events(1, 1), make.events(1, 4))
    last = len(stored)
    await any_store.append(ROOM, Seq(last), make.events(last + 1, last + 1), make.rows(ROOM))


# Owners


@pytest.mark.parametrize("written_count", [0, 1, 3])
async def test_append_of_an_owner_whose_room_was_taken_over_is_refused(
    owners: Owners, make: Any, written_count: int
) -> None:
    """Also when the new owner has written nothing yet, and the number of the event is free."""
    mine, others = owners
    await mine.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
    old = (await mine.take_over(ROOM)).incarnation
    new = (await others.take_over(ROOM)).incarnation
    theirs = make.events(4, 3 + written_count, b"theirs")
    if theirs:
        await others.append(ROOM, Seq(3), theirs, make.rows(ROOM), new)
    late = Rows(make.room(ROOM, "late", deadline_ms=1, summary=b"late"), [make.match(ROOM)])
    for incarnation in (old, FIRST_INCARNATION):
        for count in (1, 3):
            with pytest.raises(TakenOverError, match=ROOM):
                await mine.append(ROOM, Seq(3), make.events(4, 3 + count, b"late"), late, incarnation)
    last = 3 + written_count
    with pytest.raises(TakenOverError):
        await mine.append(ROOM, Seq(last), make.events(last + 1, last + 1, b"late"), late, old)
    for store in owners:
        assert await store.load(ROOM) == make.events(1, 3) + theirs
        assert (await store.room(ROOM), await store.matches(ROOM)) == (make.room(ROOM), [])
    await others.append(ROOM, Seq(last), make.events(last + 1, last + 1), make.rows(ROOM), new)


async def test_owner_who_takes_a_room_back_finds_what_others_wrote_and_goes_on(owners: Owners, make: Any) -> None:
    mine, others = owners
    await mine.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))
    theirs = (await others.take_over(ROOM)).incarnation
    await others.append(ROOM, Seq(1), make.events(2, 2), make.rows(ROOM), theirs)
    again = (await mine.take_over(ROOM)).incarnation
    assert again > theirs > FIRST_INCARNATION
    assert await mine.load(ROOM) == make.events(1, 2)
    await mine.append(ROOM, Seq(2), make.events(3, 3), make.rows(ROOM), again)
    with pytest.raises(TakenOverError):
        await others.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM), theirs)
    assert await others.load(ROOM) == make.events(1, 3)


async def test_takeover_of_one_room_leaves_all_others_alone(owners: Owners, make: Any) -> None:
    mine, others = owners
    for code in (ROOM, OTHER):
        await mine.append(code, Seq(0), make.events(1, 1), make.rows(code))
    new = (await others.take_over(ROOM)).incarnation

    async def append_late() -> None:
        await mine.append(ROOM, Seq(1), make.events(2, 2), make.rows(ROOM))

    assert await outcomes(
        asyncio.ensure_future(append_late()),
        mine.append(OTHER, Seq(1), make.events(2, 2), make.rows(OTHER)),
        others.append(ROOM, Seq(1), make.events(2, 2, b"theirs"), make.rows(ROOM), new),
    ) == [TakenOverError, type(None), type(None)]
    assert await mine.load(ROOM) == make.events(1, 1) + make.events(2, 2, b"theirs")
    assert await mine.load(OTHER) == make.events(1, 2)


async def test_rooms_that_nobody_has_made_are_taken_over_as_new_ones(owners: Owners, make: Any) -> None:
    mine, others = owners
    incarnation = (await mine.take_over(ROOM)).incarnation
    assert incarnation == FIRST_INCARNATION
    await others.append(ROOM, Seq(0), make.events(1, 1, b"theirs"), make.rows(ROOM))
    with pytest.raises(ConflictError):
        await mine.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM), incarnation)
    await others.take_over(ROOM)
    await others.remove([ROOM])
    await mine.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))


async def test_append_whose_answer_was_lost_is_found_in_the_log_or_can_be_made_again(
    owners: Owners, make: Any
) -> None:
    """Whoever takes the room over next reads it there, or is told so by a conflict: it is stored once."""
    mine, others = owners
    await mine.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))
    for _ in range(10):
        before = await mine.load(ROOM)
        last = len(before)
        owner = (await mine.take_over(ROOM)).incarnation
        lost = mine.append(ROOM, Seq(last), make.events(last + 1, last + 3), make.rows(ROOM), owner)
        await asyncio.sleep(0)  # the group is on its way
        lost.cancel()
        new = (await others.take_over(ROOM)).incarnation
        found = await others.load(ROOM)
        assert found in (before, make.events(1, last + 3))
        again = others.append(ROOM, Seq(last), make.events(last + 1, last + 3), make.rows(ROOM), new)
        assert await outcomes(again) in ([ConflictError], [type(None)])
        assert await mine.load(ROOM) == make.events(1, last + 3)


# Rows


async def test_rows_are_kept_with_the_events_and_the_latest_counts(any_store: Store, make: Any) -> None:
    running, ended = make.match(ROOM), make.match(ROOM, winner=1)
    await any_store.append(ROOM, Seq(0), make.events(1, 1), Rows(make.room(ROOM, "waiting"), [running]))
    assert await any_store.matches(ROOM) == [running]
    rows = Rows(make.room(ROOM, summary=b"more"), [ended, make.match(ROOM, 2)])
    await any_store.append(ROOM, Seq(1), make.events(2, 2), rows)
    assert await any_store.room(ROOM) == make.room(ROOM, summary=b"more")
    assert await any_store.matches(ROOM) == [ended, make.match(ROOM, 2)]
    await any_store.append(ROOM, Seq(2), make.events(3, 3), make.rows(ROOM))
    assert await any_store.matches(ROOM) == [ended, make.match(ROOM, 2)]
    assert await any_store.room(OTHER) is None
    assert await any_store.matches(OTHER) == []


@pytest.mark.parametrize(
    ("phases", "found"),
    [
        (None, ["AAAAA", "BBBBB", "CCCCC", "DDDDD"]),
        ({"waiting", "playing"}, ["AAAAA", "BBBBB", "DDDDD"]),
        ((), []),
    ],
)
async def test_rooms_are_found_by_phase(
    any_store: Store, make: Any, phases: Collection[str] | None, found: list[str]
) -> None:
    for code, phase in (("BBBBB", "playing"), ("AAAAA", "waiting"), ("DDDDD", "playing"), ("CCCCC", "over")):
        await any_store.append(RoomCode(code), Seq(0), make.events(1, 1), Rows(make.room(code, phase)))
    assert [row.code for row in await any_store.rooms(phases)] == found


async def test_rooms_are_due_from_their_deadline_on(any_store: Store, make: Any) -> None:
    for code, deadline_ms in (("AAAAA", 500), ("BBBBB", None), ("CCCCC", 300), ("DDDDD", 501)):
        rows = Rows(make.room(code, deadline_ms=deadline_ms))
        await any_store.append(RoomCode(code), Seq(0), make.events(1, 1), rows)
    assert await any_store.due_rooms(TimestampMs(299)) == []
    assert await any_store.due_rooms(TimestampMs(500)) == ["CCCCC", "AAAAA"]
    await any_store.append(RoomCode("CCCCC"), Seq(1), make.events(2, 2), make.rows("CCCCC"))
    assert await any_store.due_rooms(TimestampMs(500)) == ["AAAAA"]


async def test_rooms_of_a_maker_are_counted_by_phase_wherever_they_are(owners: Owners, make: Any) -> None:
    mine, others = owners
    for number, (phase, maker) in enumerate(
        [("waiting", "ana"), ("playing", "ana"), ("closed", "ana"), ("playing", "rui"), ("waiting", "ana")]
    ):
        code, store = RoomCode(f"R{number:04}"), owners[number % 2]
        await store.append(code, Seq(0), make.events(1, 1), Rows(make.room(code, phase, maker=maker)))
    for store in owners:
        assert await store.count_rooms(AccountId("ana"), ("waiting", "playing")) == 3
        assert await store.count_rooms(AccountId("eva"), ("waiting", "playing")) == 0
    code = RoomCode("R0001")
    await others.append(code, Seq(1), make.events(2, 2), Rows(make.room(code, "finished")))
    assert await mine.count_rooms(AccountId("ana"), ("waiting", "playing")) == 2


async def test_rows_that_name_no_maker_can_be_filled_in_from_the_first_events(any_store: Store, make: Any) -> None:
    for code, maker in (("AAAAA", ""), ("BBBBB", "rui"), ("CCCCC", "")):
        events = make.events(1, 2, payload=code.encode())
        await any_store.append(RoomCode(code), Seq(0), events, Rows(make.room(code, maker=maker)))
    found = await any_store.rooms_without_maker()
    assert found == {code: make.events(1, 1, payload=code.encode())[0] for code in ("AAAAA", "CCCCC")}
    await any_store.note_makers({RoomCode("AAAAA"): AccountId("ana"), RoomCode("BBBBB"): AccountId("eva")})
    assert set(await any_store.rooms_without_maker()) == {"CCCCC"}
    rows = await any_store.rooms()
    assert rows == [make.room("AAAAA"), make.room("BBBBB", maker="rui"), make.room("CCCCC", maker="")]


# Stopping, and what is measured


async def test_stopping_stores_what_waits_and_refuses_what_comes(open_any: Any, make: Any) -> None:
    async with open_any() as store:
        waiting = [
            store.append(RoomCode(f"R{n:04}"), Seq(0), make.events(1, 1), make.rows(f"R{n:04}")) for n in range(20)
        ]
        await store.stop()
        assert await outcomes(*waiting) == [type(None)] * 20
        with pytest.raises(StorageUnavailableError):
            await store.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))
        await store.stop()
    await store.close()
    async with open_any() as store:
        assert len(await store.rooms()) == 20
        assert await store.load(ROOM) == []


async def test_store_tells_the_time_of_its_newest_event(any_store: Store, make: Any) -> None:
    assert await any_store.newest_ms() is None
    for code, updated_ms in (("AAAAA", 300), ("BBBBB", 500), ("CCCCC", 400)):
        row = msgspec.structs.replace(make.room(code), updated_at_ms=TimestampMs(updated_ms))
        await any_store.append(RoomCode(code), Seq(0), make.events(1, 1), Rows(row))
    assert await any_store.newest_ms() == 500


async def test_store_tells_the_next_server_when_it_was_last_served(open_any: Any) -> None:
    async with open_any() as store:
        assert store.last_alive_ms is None
        store.beat(TimestampMs(1_767_225_600_123))
    async with open_any() as store:
        assert store.last_alive_ms == 1_767_225_600_123


async def test_commits_are_counted(any_store: Store, make: Any) -> None:
    await outcomes(
        any_store.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM)),
        any_store.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM)),
    )
    metrics = any_store.metrics
    assert (metrics.append_count, metrics.event_count, metrics.conflict_count) == (1, 3, 1)
    assert metrics.commit_count == metrics.commit_durations_us.observed_count >= 1
    assert (metrics.waiting_count, metrics.failed_commit_count) == (0, 0)
