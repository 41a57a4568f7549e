"""Time controls and match clocks: arithmetic on whole milliseconds that reads no clock.

Every moment comes in as ``now_ms``; every change makes a new value. The room decides whose turn it is, when a
match starts or ends and what a fallen flag means; the clients draw clocks.
"""

from tabuleiro.clock.controls import (
    NO_CLOCK,
    ByoYomi,
    Correspondence,
    Fischer,
    FixedTurn,
    NoClock,
    TimeControl,
)
from tabuleiro.clock.state import (
    LAG_CAP_PER_TURN_MS,
    LAG_QUOTA_MAX_MS,
    ClockState,
    PlayerClock,
    begin_turn,
    compensation_ms,
    end_turn,
    flag_deadline_ms,
    has_flagged,
    is_paused,
    lag_quota_ms,
    new_clock,
    offset_bound_ms,
    pause,
    periods_left,
    player_clock_at,
    remaining_ms,
    resume,
    stop,
    take_back,
    total_remaining_ms,
)
from tabuleiro.clock.texts import (
    TIME_CONTROL_FORMS,
    describe_time_control,
    format_time_control,
    parse_time_control,
)

__all__ = [
    "LAG_CAP_PER_TURN_MS",
    "LAG_QUOTA_MAX_MS",
    "NO_CLOCK",
    "TIME_CONTROL_FORMS",
    "ByoYomi",
    "ClockState",
    "Correspondence",
    "Fischer",
    "FixedTurn",
    "NoClock",
    "PlayerClock",
    "TimeControl",
    "begin_turn",
    "compensation_ms",
    "describe_time_control",
    "end_turn",
    "flag_deadline_ms",
    "format_time_control",
    "has_flagged",
    "is_paused",
    "lag_quota_ms",
    "new_clock",
    "offset_bound_ms",
    "parse_time_control",
    "pause",
    "periods_left",
    "player_clock_at",
    "remaining_ms",
    "resume",
    "stop",
    "take_back",
    "total_remaining_ms",
]
