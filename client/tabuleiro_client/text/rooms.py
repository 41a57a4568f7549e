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
from tabuleiro_client.net.mirror import seats_of
from tabuleiro_client.net.server import Signposts
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.sentences import Cast
from tabuleiro_client.text.settings import settings_text
from tabuleiro_client.text.terminal import in_columns, showable

DEFAULT_BOARD: Final = "default board"
"""What is said of options that are all as usual."""

HEADINGS = ("ROOM", "GAME", "BOARD", "FIRST", "SECOND", "CLOCK", "WATCHING", "AGE", "STATE")


def room_lines(rooms: Sequence[RoomSummary], now_ms: int) -> list[str]:
    """Return a heading and a line for each room, in columns; ``now_ms`` is the server's time."""
    rows = [HEADINGS, *(_columns(room, now_ms) for room in rooms)]
    return in_columns(rows)


def room_line(room: RoomSummary, now_ms: int) -> str:
    """Return one room on a line of its own."""
    return "  ".join(_columns(room, now_ms))


def _columns(room: RoomSummary, now_ms: int) -> tuple[str, ...]:
    return (
        room.room,
        room.game,
        board_text(room),
        *(holder_text(seat) for seat in room.seats),
        format_time_control(room.settings.time_control),
        str(room.watchers),
        format_age(now_ms - room.created_at_ms),
        room.phase if room.phase == "waiting" else f"{room.phase}, {room.plies} actions",
    )


def game_title(name: str) -> str:
    """Return the title of a game; its name where this version does not know it."""
    return registry.game_type(name).title if name in registry.names() else name


def board_text(room: RoomSummary) -> str:
    """Return the board of a listed room in a few words."""
    try:
        return brief_options_text(registry.game_type(room.game), room.options)
    except GameOptionError:
        return "(unknown to this version)"


def title(game: Game, head: RoomHead) -> str:
    """Return the game of the room and the number of watchers."""
    text = f"{game.title} ({brief_options_text(type(game), head.options)})  room {head.room}"
    return f"{text}  {head.watchers} watching" if head.watchers else text


def code_text(code: RoomCode, secrets: RoomSecrets | None) -> str:
    """Return the code in letters to be read aloud; ``secrets`` are those of a private room, else ``None``."""
    lines = [f"Room  {' '.join(code)}"]
    if secrets is not None:
        lines += [f"to play   {code}-{secrets.invite}", f"to watch  {code}-{secrets.watch}"]
    return "\n".join(lines)


def invitation_text(signposts: Signposts, head: RoomHead) -> str:
    """Return the invitation to a free seat; empty when nobody can join."""
    has_free_seat = any(seat.holder.kind == "open" for seat in head.seats)
    return _invitation(signposts, "join", signposts.join_page, signposts.join) if has_free_seat else ""


def watching_text(signposts: Signposts) -> str:
    """Return the invitation to watch; empty when it is not known."""
    return _invitation(signposts, "watch", signposts.watch_page, signposts.watch)


def turn_text(game: str, opponent: str, room: RoomCode, server: str, left: str) -> str:
    """Return a line about a match in which it is one's turn, with ``left`` for it; empty without a clock."""
    time = f", {left} left" if left else ""
    return f"{game} against {opponent or 'yourself'} ({room} on {server.partition('://')[2]}): your turn{time}"


def _invitation(signposts: Signposts, verb: str, page: str, command: str) -> str:
    who = "On this machine only, others" if signposts.is_here_only else "Others"
    if not command:
        return ""
    return f"{who} {verb} in a browser:\n{page}\nor with\n{command}" if page else f"{who} {verb} with\n{command}"


def kept_seat_text(head: RoomHead, way_back: str, *, is_local: bool) -> str:
    """Return what becomes of an own seat after leaving, with the command that leads back to it."""
    kept = "kept on this machine" if is_local else "kept for a while" if head.phase == "waiting" else "kept"
    return f"Your seat in {head.room} is {kept}. To continue, run: {way_back}"


def back_in_room_text(code: str, url: str) -> str:
    """Return the word to somebody whose command to make a room led back to one made before."""
    return f"Back in your room {code}. For another one: tabuleiro play --server {url}, then new"


def seat_lines(game: Game, head: RoomHead, own_seats: tuple[Player, ...], style: TextStyle) -> list[str]:
    """Return a line for each seat, in the order of play."""
    cast = Cast(game, seats_of(head), own_seats, style)
    sides = [cast.side_with_glyph(seat) for seat in PLAYERS]
    width = max(map(len, sides))
    lots = "" if head.settings.first == "seated" else "  (who begins is drawn at random)"
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
        return f"{name}, a bot"
    presence = "here" if seat.is_connected else "away"
    return f"{name} (you)" if is_own else f"{name}, {presence}"


def waiting_text(head: RoomHead) -> str:
    """Return the thing that the room waits for."""
    if head.phase == "closed":
        return "The room is closed."
    return "The match begins as soon as both seats are taken." if head.phase == "waiting" else ""


def settings_lines(settings: RoomSettings) -> list[str]:
    """Return the clock and the settings that are not as usual, a line each."""
    lines = settings_text(settings).split("; ") if settings != RoomSettings() else []
    return lines if settings.time_control != NO_CLOCK else ["no clock", *lines]


def holder_text(seat: SeatInfo) -> str:
    """Return the holder of a seat, for lists."""
    if seat.kind == "open":
        return "(free)"
    return f"{seat.name} (bot)" if seat.kind == "bot" else str(seat.name)


def options_text(game: type[Game], options: Mapping[str, int | str]) -> str:
    """Return the options of a match in a few words: the preset's name, or those that are not as usual.

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
    """Return the same for lists: of a position, only that there is one."""
    others = {name: value for name, value in options.items() if name != "position"}
    if len(others) == len(options):
        return options_text(game, options)
    text = options_text(game, others)
    return "own position" if text == DEFAULT_BOARD else f"{text}, own position"


def _are_same(game: type[Game], some: Mapping[str, int | str], others: Mapping[str, int | str]) -> bool:
    """Return whether both mean the same game; options that only go together may mean none by themselves."""
    try:
        return dict(game.from_options(some).options) == dict(game.from_options(others).options)
    except GameOptionError:
        return False
