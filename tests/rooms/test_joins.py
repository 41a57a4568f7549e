"""Seats and people who want them in the same instant, many times."""

from __future__ import annotations

import asyncio
from typing import Any

from tabuleiro.protocol.messages import Error, RoomEntered, SeatRequest
from tests.budgets import NO_BUDGETS

ROOMS_COUNT = 500
BUSY = {
    "idle_room_unload_ms": 60_000,
    "rooms_per_account_count": ROOMS_COUNT,
    "entered_rooms_count": ROOMS_COUNT,
} | NO_BUDGETS


async def rooms_of(stage: Any, host: Any, *seats: SeatRequest) -> list[str]:
    entered = await asyncio.gather(*(host.create(seats=seats) for _ in range(ROOMS_COUNT)))
    return [answer.head.room for answer in entered]


async def test_of_two_who_join_one_seat_in_the_same_instant_exactly_one_gets_it(open_stage: Any) -> None:
    async with open_stage(**BUSY) as stage:
        host, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
        codes = await rooms_of(stage, host, SeatRequest("me"), SeatRequest())
        for number, code in enumerate(codes):
            first, second = (rui, eva) if number % 2 else (eva, rui)
            answers = await asyncio.gather(first.join(code), second.join(code))
            entered = [answer for answer in answers if isinstance(answer, RoomEntered)]
            refused = [answer for answer in answers if isinstance(answer, Error)]
            assert [answer.seat for answer in entered] == [1]
            assert [(answer.code, answer.message) for answer in refused] == [
                ("seat-taken", f"every seat of room {code} is taken; you can watch it")
            ]
            room = await stage.room(code)
            winner = rui if isinstance(answers[number % 2 == 0], RoomEntered) else eva
            assert (room.state.phase, room.state.seats[1].account) == ("playing", winner.account)


async def test_two_who_join_two_seats_in_the_same_instant_both_sit_and_one_match_starts(open_stage: Any) -> None:
    async with open_stage(**BUSY) as stage:
        host, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
        codes = await rooms_of(stage, host, SeatRequest(), SeatRequest())
        for code in codes:
            answers = await asyncio.gather(rui.join(code), eva.join(code))
            assert {answer.seat for answer in answers} == {0, 1}
            room = await stage.room(code)
            assert {seat.account for seat in room.state.seats} == {rui.account, eva.account}
            assert (room.state.phase, room.state.match.number) == ("playing", 1)


async def test_one_account_that_joins_from_two_connections_gets_one_seat(open_stage: Any) -> None:
    async with open_stage(**BUSY) as stage:
        host, phone, desk = stage.client("ana"), stage.client("rui"), stage.client("rui")
        code = (await host.create(seats=(SeatRequest(), SeatRequest()))).head.room
        answers = await asyncio.gather(phone.join(code), desk.join(code))
        assert [answer.seat for answer in answers] == [0, 0]
        assert (await stage.room(code)).state.phase == "waiting"
