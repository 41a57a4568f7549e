"""What a clock shows: the time left as text, and how urgent it is. Reads no clock."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tabuleiro.clock import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    SECOND_MS,
    ByoYomi,
    ClockState,
    TimeControl,
    is_paused,
    periods_left,
    remaining_ms,
    total_remaining_ms,
)
from tabuleiro.rules.outcome import Player

TENTHS_BELOW_MS: Final = 10 * SECOND_MS
LOW_BELOW_MS: Final = 30 * SECOND_MS


class Urgency(StrEnum):
    """How much a player must hurry."""

    CALM = "calm"
    LOW = "low"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class ClockFace:
    """``text`` is the time left, with the byo-yomi periods not begun; ``is_running`` whether it goes down now."""

    text: str
    urgency: Urgency
    is_running: bool
    is_paused: bool = False


def clock_face(control: TimeControl, clock: ClockState | None, player: Player, now_ms: int) -> ClockFace | None:
    """The face of ``player``'s clock at ``now_ms`` of the server's time; ``None`` without a clock."""
    if clock is None:
        return None
    left_ms = remaining_ms(control, clock, player, now_ms)
    total_ms = total_remaining_ms(control, clock, player, now_ms)
    if left_ms is None or total_ms is None:
        return None
    is_running = clock.running == player and not is_paused(clock)
    text = format_left(left_ms)
    if isinstance(control, ByoYomi):
        text += f" x{periods_left(control, clock, player, now_ms)}"
    urgency = Urgency.CALM
    if is_running or not total_ms:
        is_critical = total_ms < TENTHS_BELOW_MS
        urgency = Urgency.CRITICAL if is_critical else Urgency.LOW if total_ms < LOW_BELOW_MS else urgency
    return ClockFace(text, urgency, is_running, is_paused(clock) and clock.running == player)


def format_left(left_ms: int) -> str:
    """Write a time that is left; never more than it is.

    >>> [format_left(ms) for ms in (9_940, 75_000, 3_723_000, 200_000_000, 0)]
    ['0:09.9', '1:15', '1:02:03', '2d 7h', '0:00.0']
    """
    if left_ms >= DAY_MS:
        return f"{left_ms // DAY_MS}d {left_ms % DAY_MS // HOUR_MS}h"
    seconds = left_ms // SECOND_MS
    if left_ms >= HOUR_MS:
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    text = f"{left_ms // MINUTE_MS}:{seconds % 60:02}"
    return text if left_ms >= TENTHS_BELOW_MS else f"{text}.{left_ms % SECOND_MS // 100}"


def format_elapsed(elapsed_ms: int) -> str:
    """Write how long something has been going on, in whole seconds; not below 0.

    >>> format_elapsed(61_900), format_elapsed(-5)
    ('1:01', '0:00')
    """
    seconds = max(elapsed_ms, 0) // SECOND_MS
    return f"{seconds // 60}:{seconds % 60:02}"
