"""The list of rooms as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from tabuleiro.errors import GameOptionError
from tabuleiro.protocol.messages import RoomSummary
from tabuleiro.rules import registry
from tabuleiro_client.sentences import holder_text, options_text

HEADINGS = ("ROOM", "GAME", "BOARD", "FIRST", "SECOND", "STATE")


def room_lines(rooms: Sequence[RoomSummary]) -> list[str]:
    """A line a room in columns, with a line of headings before them."""
    rows = [HEADINGS, *(_columns(room) for room in rooms)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _columns(room: RoomSummary) -> tuple[str, ...]:
    try:
        board = options_text(registry.game_type(room.game), room.options)
    except GameOptionError:
        board = "(unknown to this version)"
    seats = tuple(holder_text(seat) for seat in room.seats)
    state = room.phase if room.phase == "waiting" else f"{room.phase}, {room.plies} actions"
    return (room.room, room.game, board, *seats, state)
