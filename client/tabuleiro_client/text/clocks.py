"""Clocks of a match as text. Reads no clock: every time comes in by the server's clock."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from tabuleiro.clock import ByoYomi, ClockState, TimeControl, is_paused, periods_left, remaining_ms
from tabuleiro.ids import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Player
from tabuleiro.text import format_elapsed

TENTHS_BELOW_MS: Final = 10 * SECOND_MS
"""Below this, tenths of a second are shown."""


def format_left(left_ms: int) -> str:
    """Write a time that is left; never more than it is.

    >>> [format_left(ms) for ms in (9_940, 75_999, 3_723_000, 200_000_000, 0)]
    ['0:09.9', '1:15', '1:02:03', '2d 7h', '0:00.0']
    """
    if left_ms >= DAY_MS:
        return f"{left_ms // DAY_MS}d {left_ms % DAY_MS // HOUR_MS}h"
    text = format_elapsed(left_ms)
    return text if left_ms >= TENTHS_BELOW_MS else f"{text}.{left_ms % SECOND_MS // 100}"


def first_turn_text(left_ms: int, actor: str) -> str:
    """Return how long there still is for the first turn of ``actor``, before which the clock does not start.

    >>> first_turn_text(24_900, "you")
    'the clock starts after both first turns; 24 s for your first turn'
    >>> first_turn_text(80_000_000, "ana")
    "the clock starts after both first turns; 22:13:20 for ana's first turn"
    """
    left_ms = max(left_ms, 0)
    left = f"{left_ms // SECOND_MS} s" if left_ms < 2 * MINUTE_MS else format_left(left_ms)
    whose = "your" if actor == "you" else f"{actor}'s"
    return f"the clock starts after both first turns; {left} for {whose} first turn"


def format_clock(control: TimeControl, clock: ClockState | None, player: Player, now_ms: int) -> str:
    """Return the time ``player`` has left, with the periods not begun; empty without a clock."""
    left_ms = None if clock is None else remaining_ms(control, clock, player, now_ms)
    if clock is None or left_ms is None:
        return ""
    text = format_left(left_ms)
    if isinstance(control, ByoYomi):
        text += f" x{periods_left(control, clock, player, now_ms)}"
    return f"{text} paused" if is_paused(clock) and clock.running == player else text


def format_date(at_ms: int) -> str:
    """Write the date of a moment where this program runs; empty for one that no calendar has."""
    try:
        return datetime.fromtimestamp(at_ms / 1000).astimezone().date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
