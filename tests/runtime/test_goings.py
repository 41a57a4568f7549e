"""Whose going is stored now, and whose later: a connection that breaks all day makes few events."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import RoomOpened, SeatDisconnected, SeatInfo, SequencedEvent
from tabuleiro_server.room.evolve import replay
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.runtime.goings import GOING_EVERY_MS, Goings

ANA, RUI = AccountId("ana-id"), AccountId("rui-id")
DAY_MS = 86_400_000


def person(account: AccountId) -> SeatInfo:
    return SeatInfo("person", account, account)


def room_of(first: SeatInfo, second: SeatInfo, *gone: Any) -> RoomState:
    """A room in which the seats of ``gone`` are stored as gone."""
    opened = RoomOpened(RoomCode("K7MQ4"), "iris", {}, ANA, "ana", (first, second))
    events = [opened, *(SeatDisconnected(seat) for seat in gone)]
    return replay([SequencedEvent(Seq(n), TimestampMs(n), event) for n, event in enumerate(events, start=1)])


BOTH = room_of(person(ANA), person(RUI))


def test_who_has_gone_is_stored_at_once() -> None:
    goings = Goings()
    assert goings.due(BOTH, {ANA, RUI}, TimestampMs(0)) == ([], None)
    assert goings.due(BOTH, {ANA}, TimestampMs(0)) == ([RUI], None)
    assert goings.due(BOTH, (), TimestampMs(0)) == ([ANA, RUI], None)


def test_who_goes_again_soon_is_stored_later_and_the_other_at_once() -> None:
    goings = Goings()
    goings.note(RUI, TimestampMs(1_000))
    assert goings.due(BOTH, (), TimestampMs(3_000)) == ([ANA], GOING_EVERY_MS - 2_000)
    assert goings.due(BOTH, {ANA}, TimestampMs(999 + GOING_EVERY_MS)) == ([], 1)
    assert goings.due(BOTH, {ANA}, TimestampMs(1_000 + GOING_EVERY_MS)) == ([RUI], None)


@pytest.mark.parametrize(
    "room",
    [
        room_of(person(ANA), SeatInfo("bot", AccountId("bot/1"), "easy-bot", "easy")),
        room_of(person(ANA), SeatInfo()),
        room_of(person(ANA), person(ANA)),
        room_of(person(ANA), person(RUI), 1),
    ],
    ids=["bot", "open seat", "two at one keyboard", "stored before"],
)
def test_only_people_who_are_not_stored_as_gone_are_told_and_each_once(room: RoomState) -> None:
    assert Goings().due(room, (), TimestampMs(0)) == ([ANA], None)


def test_who_gave_the_seat_up_begins_anew() -> None:
    goings = Goings()
    goings.note(RUI, TimestampMs(0))
    goings.due(room_of(person(ANA), SeatInfo()), (), TimestampMs(1))
    assert goings.due(BOTH, {ANA}, TimestampMs(2)) == ([RUI], None)


def test_a_day_of_coming_and_going_every_second_makes_few_events() -> None:
    goings, stored_count = Goings(), 0
    for now_ms in range(0, DAY_MS, 1_000):
        due, _ = goings.due(BOTH, {ANA}, TimestampMs(now_ms))
        for account in due:
            goings.note(account, TimestampMs(now_ms))
            stored_count += 1
    assert stored_count == DAY_MS // GOING_EVERY_MS
