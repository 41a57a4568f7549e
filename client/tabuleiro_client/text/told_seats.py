"""Who holds the seats at each event of an update, whose head shows them only as they are after the last."""

from __future__ import annotations

from msgspec.structs import replace

from tabuleiro.ids import Player
from tabuleiro.protocol.events import (
    BotSeated,
    Event,
    SeatConnected,
    SeatFreed,
    SeatInfo,
    SeatsSwapped,
    SeatTaken,
    StandInSeated,
)
from tabuleiro.protocol.messages import RoomHead

Seats = tuple[SeatInfo, SeatInfo]


def seats_of(head: RoomHead) -> Seats:
    """The holders of the seats in ``head``."""
    return head.seats[0].holder, head.seats[1].holder


def with_seats(head: RoomHead, seats: Seats) -> RoomHead:
    """The head as it is with other holders."""
    first, second = head.seats
    return replace(head, seats=(replace(first, holder=seats[0]), replace(second, holder=seats[1])))


def seats_after(seats: Seats, event: Event) -> Seats:
    """The holders after ``event``, which changes them or not."""
    match event:
        case SeatTaken(seat=seat, account=account, name=name):
            return _with(seats, seat, SeatInfo("person", account, name))
        case BotSeated(seat=seat, level=level):
            return _with(seats, seat, SeatInfo("bot", None, f"{level}-bot", level))
        case SeatFreed(seat=seat):
            return _with(seats, seat, SeatInfo())
        case StandInSeated(seat=seat, level=level):
            return _with(seats, seat, replace(seats[seat], stand_in=level))
        case SeatConnected(seat=seat):
            return _with(seats, seat, replace(seats[seat], stand_in=None))
        case SeatsSwapped():
            return seats[1], seats[0]
        case _:
            return seats


def _with(seats: Seats, seat: Player, holder: SeatInfo) -> Seats:
    return (holder, seats[1]) if seat == 0 else (seats[0], holder)
