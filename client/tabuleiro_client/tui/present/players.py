"""The players at the board, for the panel beside it: names, connections, clocks, thinking bots. Reads no clock."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tabuleiro.clock import ClockState, TimeControl, is_paused, total_remaining_ms
from tabuleiro.ids import SECOND_MS, Player
from tabuleiro.protocol.messages import RoomHead, SeatView
from tabuleiro.rules import Game
from tabuleiro.text import format_elapsed
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.clocks import TENTHS_BELOW_MS, format_clock
from tabuleiro_client.text.sentences import claim_due_ms, claim_gain, side_glyphs
from tabuleiro_client.text.terminal import showable

LOW_BELOW_MS: Final = 30 * SECOND_MS


class Urgency(StrEnum):
    """The hurry of a player."""

    CALM = "calm"
    LOW = "low"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class ClockFace:
    """``text`` is the time left as :func:`format_clock` writes it, ``is_running`` whether it goes down now."""

    text: str
    urgency: Urgency
    is_running: bool


def clock_face(control: TimeControl, clock: ClockState | None, player: Player, now_ms: int) -> ClockFace | None:
    """Return the face of ``player``'s clock at ``now_ms`` of the server's time; ``None`` without a clock."""
    total_ms = None if clock is None else total_remaining_ms(control, clock, player, now_ms)
    if clock is None or total_ms is None:
        return None
    is_running = clock.running == player and not is_paused(clock)
    urgency = Urgency.CALM
    if is_running or not total_ms:
        is_critical = total_ms < TENTHS_BELOW_MS
        urgency = Urgency.CRITICAL if is_critical else Urgency.LOW if total_ms < LOW_BELOW_MS else urgency
    return ClockFace(format_clock(control, clock, player, now_ms), urgency, is_running)


@dataclass(frozen=True, slots=True)
class PlayerLine:
    """One player. ``glyph`` is what their pieces look like, empty where pieces belong to nobody.

    Two people at one keyboard play under one name: their ``name`` is the side, and ``side`` that name.
    ``presence`` says how they are connected, ``clock`` is ``None`` without one.
    """

    player: Player
    glyph: str
    name: str
    side: str
    presence: str
    clock: ClockFace | None
    is_to_move: bool
    is_away: bool


def player_lines(
    head: RoomHead, game: Game, own_seats: tuple[Player, ...], now_ms: int, style: TextStyle
) -> tuple[PlayerLine, PlayerLine]:
    """Return both players at ``now_ms`` of the server's time."""
    glyphs = side_glyphs(game, style)

    def line(player: Player) -> PlayerLine:
        seat, match = head.seats[player], head.match
        clock = None if match is None else clock_face(head.settings.time_control, match.clock, player, now_ms)
        name = "(free seat)" if seat.holder.name is None else showable(seat.holder.name, style)
        is_at_hand = len(own_seats) == 2
        return PlayerLine(
            player=player,
            glyph=glyphs[player],
            name=game.sides[player] if is_at_hand else f"{name} (you)" if player in own_seats else name,
            side=name if is_at_hand else game.sides[player],
            presence="at this keyboard" if is_at_hand else _presence(head, seat, player, now_ms),
            clock=clock,
            is_to_move=head.phase == "playing" and match is not None and match.to_move == player,
            is_away=seat.holder.kind == "person" and not seat.is_connected,
        )

    return line(0), line(1)


def _presence(head: RoomHead, seat: SeatView, player: Player, now_ms: int) -> str:
    thinking = ""
    if head.thinking is not None and head.thinking.player == player:
        thinking = f"bot is thinking {format_elapsed(now_ms - head.thinking.since_ms)}"
    match seat.holder.kind:
        case "open":
            return "waiting for somebody"
        case "bot":
            return thinking or f"bot {seat.holder.level}"
    if seat.holder.stand_in is not None:
        return thinking or f"away, {seat.holder.stand_in} plays"
    if seat.is_connected:
        return "here"
    since = "" if seat.away_since_ms is None else f" for {format_elapsed(now_ms - seat.away_since_ms)}"
    return f"away{since}"


def claim_text(head: RoomHead, own_seats: tuple[Player, ...], now_ms: int) -> str:
    """Return the gain of a claim now, with its key; empty when none is worth sending."""
    due_ms = claim_due_ms(head, own_seats)
    if due_ms is None or now_ms < due_ms:
        return ""
    return f"your opponent has been away for long: F7 {claim_gain(head)}"


def brief_text(lines: tuple[PlayerLine, PlayerLine]) -> str:
    """Return both players on one line, for windows without room for more."""

    def brief(line: PlayerLine) -> str:
        clock = "" if line.clock is None else f" {line.clock.text}"
        away = " (away)" if line.is_away else ""
        sign = line.glyph or line.side
        return f"{'> ' if line.is_to_move else ''}{sign} {line.name}{away}{clock}"

    return "   ".join(brief(line) for line in lines)
