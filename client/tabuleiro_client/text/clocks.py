"""What the clock of a match shows, as text. Reads no clock: every moment comes in by the server's time."""

from __future__ import annotations

from typing import Final

from tabuleiro.clock import ByoYomi, ClockState, TimeControl, is_paused, periods_left, remaining_ms
from tabuleiro.ids import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Player

TENTHS_BELOW_MS: Final = 10 * SECOND_MS
"""Below this, tenths of a second are shown."""


def format_left(left_ms: int) -> str:
    """Write a time that is left; never more than it is.

    >>> [format_left(ms) for ms in (9_940, 75_999, 3_723_000, 200_000_000, 0)]
    ['0:09.9', '1:15', '1:02:03', '2d 7h', '0:00.0']
    """
    if left_ms >= DAY_MS:
        return f"{left_ms // DAY_MS}d {left_ms % DAY_MS // HOUR_MS}h"
    seconds = left_ms // SECOND_MS
    if left_ms >= HOUR_MS:
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    text = f"{left_ms // MINUTE_MS}:{seconds % 60:02}"
    return text if left_ms >= TENTHS_BELOW_MS else f"{text}.{left_ms % SECOND_MS // 100}"


def format_duration(duration_ms: int) -> str:
    """Say a length of time in the largest unit that fits; halves of seconds and less are dropped.

    >>> [format_duration(ms) for ms in (1_000, 90_000, 120_000, 3_600_000, 172_800_000)]
    ['1 second', '90 seconds', '2 minutes', '1 hour', '2 days']
    """
    for unit_ms, name in ((DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute")):
        if duration_ms >= unit_ms and duration_ms % unit_ms == 0:
            return _counted(duration_ms // unit_ms, name)
    return _counted(duration_ms // SECOND_MS, "second")


def format_clock(control: TimeControl, clock: ClockState | None, player: Player, now_ms: int) -> str:
    """What ``player`` has left, with the periods not begun, and whether it stands; empty without a clock."""
    left_ms = None if clock is None else remaining_ms(control, clock, player, now_ms)
    if clock is None or left_ms is None:
        return ""
    text = format_left(left_ms)
    if isinstance(control, ByoYomi):
        text += f" x{periods_left(control, clock, player, now_ms)}"
    return f"{text} paused" if is_paused(clock) and clock.running == player else text


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
