"""The list of rooms as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from tabuleiro.clock import format_time_control
from tabuleiro.errors import GameOptionError
from tabuleiro.ids import DAY_MS, HOUR_MS, MINUTE_MS
from tabuleiro.protocol.messages import RoomSummary
from tabuleiro.rules import registry
from tabuleiro_client.text.sentences import brief_options_text, holder_text

HEADINGS = ("ROOM", "GAME", "BOARD", "FIRST", "SECOND", "CLOCK", "WATCHING", "AGE", "STATE")


def room_lines(rooms: Sequence[RoomSummary], now_ms: int) -> list[str]:
    """A line a room in columns, with a line of headings before them; ``now_ms`` is the server's time."""
    rows = [HEADINGS, *(_columns(room, now_ms) for room in rooms)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def room_line(room: RoomSummary, now_ms: int) -> str:
    """One room by itself."""
    return "  ".join(_columns(room, now_ms))


def format_age(age_ms: int) -> str:
    """How long something has been there, in its largest unit; not below 0.

    >>> [format_age(ms) for ms in (-5, 59_000, 61_000, 7_200_000, 200_000_000)]
    ['0m', '0m', '1m', '2h', '2d']
    """
    for unit_ms, letter in ((DAY_MS, "d"), (HOUR_MS, "h")):
        if age_ms >= unit_ms:
            return f"{age_ms // unit_ms}{letter}"
    return f"{max(age_ms, 0) // MINUTE_MS}m"


def _columns(room: RoomSummary, now_ms: int) -> tuple[str, ...]:
    try:
        board = brief_options_text(registry.game_type(room.game), room.options)
    except GameOptionError:
        board = "(unknown to this version)"
    seats = tuple(holder_text(seat) for seat in room.seats)
    state = room.phase if room.phase == "waiting" else f"{room.phase}, {room.plies} actions"
    clock = format_time_control(room.settings.time_control)
    return (
        room.room,
        room.game,
        board,
        *seats,
        clock,
        str(room.watchers),
        format_age(now_ms - room.created_at_ms),
        state,
    )
