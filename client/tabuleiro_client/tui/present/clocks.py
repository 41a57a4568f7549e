"""What a clock shows: the time left, and how urgent it is. Reads no clock."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tabuleiro.clock import ClockState, TimeControl, is_paused, total_remaining_ms
from tabuleiro.ids import SECOND_MS, Player
from tabuleiro_client.text.clocks import TENTHS_BELOW_MS, format_clock

LOW_BELOW_MS: Final = 30 * SECOND_MS


class Urgency(StrEnum):
    """How much a player must hurry."""

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
    """The face of ``player``'s clock at ``now_ms`` of the server's time; ``None`` without a clock."""
    total_ms = None if clock is None else total_remaining_ms(control, clock, player, now_ms)
    if clock is None or total_ms is None:
        return None
    is_running = clock.running == player and not is_paused(clock)
    urgency = Urgency.CALM
    if is_running or not total_ms:
        is_critical = total_ms < TENTHS_BELOW_MS
        urgency = Urgency.CRITICAL if is_critical else Urgency.LOW if total_ms < LOW_BELOW_MS else urgency
    return ClockFace(format_clock(control, clock, player, now_ms), urgency, is_running)


def format_elapsed(elapsed_ms: int) -> str:
    """Write how long something has been going on, in whole seconds; not below 0.

    >>> format_elapsed(61_900), format_elapsed(-5)
    ('1:01', '0:00')
    """
    seconds = max(elapsed_ms, 0) // SECOND_MS
    return f"{seconds // 60}:{seconds % 60:02}"
