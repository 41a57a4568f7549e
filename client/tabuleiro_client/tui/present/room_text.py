"""A room in words: its code, seats and settings. Pure: views in, lines of text out."""

from __future__ import annotations

from tabuleiro.clock import NO_CLOCK
from tabuleiro.ids import PLAYERS, Player, RoomCode
from tabuleiro.protocol.events import RoomSecrets
from tabuleiro.protocol.messages import RoomHead, SeatView
from tabuleiro.protocol.settings import RoomSettings
from tabuleiro.rules import Game
from tabuleiro_client.net.mirror import seats_of
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.sentences import Cast, brief_options_text
from tabuleiro_client.text.settings import settings_text
from tabuleiro_client.text.terminal import showable


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
    cast = Cast(game, seats_of(head), own_seats, style)
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
