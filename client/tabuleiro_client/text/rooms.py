"""Rooms in words: the list of rooms, and one room with its code, seats and settings."""

from __future__ import annotations

from collections.abc import Sequence

from tabuleiro.clock import NO_CLOCK, format_time_control
from tabuleiro.errors import GameOptionError
from tabuleiro.ids import PLAYERS, Player, RoomCode
from tabuleiro.protocol.events import RoomSecrets
from tabuleiro.protocol.messages import RoomHead, RoomSummary, SeatView
from tabuleiro.protocol.settings import RoomSettings
from tabuleiro.rules import Game, registry
from tabuleiro.text import format_age
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.sentences import Cast, brief_options_text, holder_text
from tabuleiro_client.text.settings import settings_text
from tabuleiro_client.text.terminal import showable

HEADINGS = ("ROOM", "GAME", "BOARD", "FIRST", "SECOND", "CLOCK", "WATCHING", "AGE", "STATE")


def room_lines(rooms: Sequence[RoomSummary], now_ms: int) -> list[str]:
    """A line a room in columns, with a line of headings before them; ``now_ms`` is the server's time."""
    rows = [HEADINGS, *(_columns(room, now_ms) for room in rooms)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def room_line(room: RoomSummary, now_ms: int) -> str:
    """One room by itself."""
    return "  ".join(_columns(room, now_ms))


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


def title(game: Game, head: RoomHead) -> str:
    """What is played here, and how many watch."""
    text = f"{game.title} ({brief_options_text(type(game), head.options)})  room {head.room}"
    return f"{text}  {head.watchers} watching" if head.watchers else text


def code_text(code: RoomCode, secrets: RoomSecrets | None) -> str:
    """The code in letters that can be read aloud; ``secrets`` are those of a private room, ``None`` otherwise."""
    lines = [f"Room  {' '.join(code)}"]
    if secrets is not None:
        lines += [f"to play   {code}-{secrets.invite}", f"to watch  {code}-{secrets.watch}"]
    return "\n".join(lines)


def invitation_text(command: str, head: RoomHead) -> str:
    """How somebody else comes here by ``command``; empty when nobody can."""
    has_free_seat = any(seat.holder.kind == "open" for seat in head.seats)
    return f"Others join with\n{command}" if has_free_seat and command else ""


def seat_lines(game: Game, head: RoomHead, own_seats: tuple[Player, ...], style: TextStyle) -> list[str]:
    """Who sits where, one line a seat, in the order of play."""
    cast = Cast(game, head, own_seats, style)
    sides = [cast.side_with_glyph(seat) for seat in PLAYERS]
    width = max(map(len, sides))
    lots = "" if head.settings.first == "seated" else "  (lots are drawn who begins)"
    return [
        f"{sides[seat]:<{width}}  {_holder(head.seats[seat], seat in own_seats, style)}{'' if seat else lots}"
        for seat in PLAYERS
    ]


def _holder(seat: SeatView, is_own: bool, style: TextStyle) -> str:
    holder = seat.holder
    if holder.kind == "open":
        return "free"
    name = showable(holder.name or "?", style)
    if holder.kind == "bot":
        return f"{name}, a computer"
    presence = "here" if seat.is_connected else "away"
    return f"{name} (you)" if is_own else f"{name}, {presence}"


def waiting_text(head: RoomHead) -> str:
    """What the room waits for."""
    if head.phase == "closed":
        return "The room is closed."
    return "The match begins as soon as both seats are taken." if head.phase == "waiting" else ""


def settings_lines(settings: RoomSettings) -> list[str]:
    """What was decided about the room, a line each: the clock, and what is not as usual."""
    lines = settings_text(settings).split("; ") if settings != RoomSettings() else []
    return lines if settings.time_control != NO_CLOCK else ["no clock", *lines]
