"""Checks that several decisions share: seats, the running match, the host."""

from __future__ import annotations

from typing import NoReturn

from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId, Player
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro_server.room.state import Match, RoomState


def refuse(code: ErrorCode, message: str) -> NoReturn:
    """Refuse a command.

    Raises:
        CommandError: Always, with this code.
    """
    raise CommandError(code, message)


def held_seats(room: RoomState, account: AccountId) -> tuple[Player, ...]:
    """Return the seats of ``account``, at least one.

    Raises:
        CommandError: not-seated.
    """
    held = room.seats_of(account)
    if not held:
        refuse(ErrorCode.NOT_SEATED, f"you hold no seat of room {room.code}")
    return held


def running_match(room: RoomState, number: int | None = None) -> Match:
    """Return the running match, which must be ``number`` unless that is ``None``.

    Raises:
        CommandError: wrong-phase or stale-ply.
    """
    match = room.match
    if room.phase != "playing" or match is None:
        refuse(ErrorCode.WRONG_PHASE, f"no match is running in room {room.code}: it is {room.phase}")
    if number is not None and match.number != number:
        refuse(ErrorCode.STALE_PLY, f"match {number} of room {room.code} is not the running one, {match.number}")
    return match


def acting_seat(room: RoomState, account: AccountId) -> Player:
    """Return the seat for which ``account`` acts: its own; of two seats, the one to move.

    Raises:
        CommandError: not-seated.
    """
    held = held_seats(room, account)
    to_move = room.match.to_move if room.match is not None else None
    return to_move if to_move is not None and to_move in held else held[0]


def check_host(room: RoomState, account: AccountId) -> None:
    """Check that ``account`` is the host.

    Raises:
        CommandError: not-host.
    """
    if account != room.host:
        refuse(ErrorCode.NOT_HOST, f"only {room.host_name}, who made room {room.code}, may do this")


def check_not_playing(room: RoomState) -> None:
    """Check that no match runs.

    Raises:
        CommandError: wrong-phase.
    """
    if room.phase == "playing":
        refuse(ErrorCode.WRONG_PHASE, "not while the match runs; it can be done once that is over")
