"""How long a bot may think about a turn, and be waited for, in view of its clock. Who waits is left to the seats.

A bot must not lose on time, whatever else its machine does: what is left shrinks by a part with every turn, and
however little that is, some is kept for the way to the room and a slow disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tabuleiro.clock import ClockState, NoClock, TimeControl, player_clock_at
from tabuleiro.ids import Player

MARGIN_MS: Final = 500
"""What is kept on a clock; of less than four times as much, a quarter."""

TURNS_COUNT: Final = 90
"""A bot thinks for at most this part of what it can spare: as many turns each has a long match of Minefield."""

PATIENCE_COUNT: Final = 8
"""It is waited for, in a queue and until a worker has answered, for at most this part."""

MISSES_MAX_COUNT: Final = 3
"""After each answer in succession that did not come in time half as long is waited, and after so many..."""

PROBE_COUNT: Final = 4
"""...only at each turn of so many: the workers have no time, and asking them costs what the others need."""

AT_ONCE_BELOW_MS: Final = 1_000
"""With less on the clock, a turn is made at once: a slow disk takes its part of each of those still to come."""


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """How long to think about a turn, and how long to wait for the thought, in milliseconds; ``None``: no limit.

    A patience of 0 asks for a turn at once.
    """

    think_ms: int | None = None
    patience_ms: int | None = None


def time_budget(
    control: TimeControl,
    clock: ClockState,
    player: Player,
    now_ms: int,
    *,
    crowd: float = 1.0,
    misses_count: int = 0,
) -> TimeBudget:
    """What the clock of ``player``, who is to move, allows.

    ``crowd`` is how many thoughts share a worker, this one included: all of them wait for each other, so each is
    shorter. ``misses_count`` is how many answers in succession did not come in time.
    """
    if isinstance(control, NoClock):
        return TimeBudget()
    left_ms = player_clock_at(control, clock, player, now_ms).stage_ms
    is_skipped = misses_count >= MISSES_MAX_COUNT and misses_count % PROBE_COUNT != 0
    if left_ms < AT_ONCE_BELOW_MS or is_skipped:
        return TimeBudget(1, 0)
    spare_ms = left_ms - min(MARGIN_MS, left_ms // 4)
    # What is asked for seldom may take a while: else nobody would find out that the workers have time again.
    is_probe = misses_count >= MISSES_MAX_COUNT
    patience_ms = spare_ms // PATIENCE_COUNT >> (1 if is_probe else misses_count)
    think_ms = min(spare_ms / TURNS_COUNT / max(crowd, 1.0), patience_ms / 2)
    return TimeBudget(max(int(think_ms), 1), max(patience_ms, 1))
