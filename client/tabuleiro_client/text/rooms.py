"""Rooms in words: the list of rooms, and one room with its code, seats and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tabuleiro.clock import NO_CLOCK, format_time_control
from tabuleiro.errors import GameOptionError
from tabuleiro.ids import PLAYERS, Player, RoomCode
from tabuleiro.protocol.events import RoomSecrets, SeatInfo
from tabuleiro.protocol.messages import RoomHead, RoomSummary, SeatView
from tabuleiro.rules import Game, registry
from tabuleiro.settings import RoomSettings
from tabuleiro.text import format_age
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.sentences import Cast
from tabuleiro_client.text.settings import settings_text
from tabuleiro_client.text.terminal import showable

DEFAULT_BOARD: Final = "default board"
"""What is said of options that are all as usual."""

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


def holder_text(seat: SeatInfo) -> str:
    """Who holds a seat, for lists."""
    if seat.kind == "open":
        return "(free)"
    return f"{seat.name} (bot)" if seat.kind == "bot" else str(seat.name)


def options_text(game: type[Game], options: Mapping[str, int | str]) -> str:
    """The options of a match in a few words: the preset's name, or what is not as usual.

    ``default board`` when everything is.
    """
    for name, preset in game.presets.items():
        if dict(game.from_options(preset).options) == dict(options):
            return name
    needed = {name: value for name, value in options.items() if name != "seed"}
    for name in tuple(needed):
        others = {other: value for other, value in needed.items() if other != name}
        if _are_same(game, others, needed):
            needed = others
    return " ".join(f"{name}={value}" for name, value in needed.items()) or DEFAULT_BOARD


def brief_options_text(game: type[Game], options: Mapping[str, int | str]) -> str:
    """As :func:`options_text`, for where others stand beside it: of a position, only that there is one."""
    others = {name: value for name, value in options.items() if name != "position"}
    if len(others) == len(options):
        return options_text(game, options)
    text = options_text(game, others)
    return "own position" if text == DEFAULT_BOARD else f"{text}, own position"


def _are_same(game: type[Game], some: Mapping[str, int | str], others: Mapping[str, int | str]) -> bool:
    """Whether both mean the same game; options that only go together may mean none by themselves."""
    try:
        return dict(game.from_options(some).options) == dict(game.from_options(others).options)
    except GameOptionError:
        return False
