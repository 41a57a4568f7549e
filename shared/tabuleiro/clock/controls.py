"""The time controls that a match may be played with, and the range of every number in them.

The structs go over the wire and into records as they are, told apart by ``kind``; what is out of range cannot be
made, nor decoded. Their texts for people are in :mod:`tabuleiro.clock.texts`; a running clock is in
:mod:`tabuleiro.clock.state`. A time control does not say if the downtime of a server counts: that is a setting of
the room, which pauses its clock or does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from tabuleiro.ids import DAY_MS, HOUR_MS, SECOND_MS


class OutOfRangeError(ValueError):
    """A number that a time control may not hold; ``expected`` gives the range.

    A ``ValueError``, so that msgspec turns it into its own ``ValidationError`` while it decodes.
    """

    def __init__(self, expected: str) -> None:
        self.expected = expected
        super().__init__(f"expected {expected}")


@dataclass(frozen=True, slots=True)
class _Range:
    """The whole numbers from ``low`` to ``high`` that are multiples of ``step``, and their name for people."""

    low: int
    high: int
    step: int
    expected: str

    def check(self, value: int) -> None:
        """Check a value. Raises: OutOfRangeError."""
        if not self.low <= value <= self.high or value % self.step:
            raise OutOfRangeError(self.expected)


_INITIAL_MS = _Range(SECOND_MS, DAY_MS, SECOND_MS, "an initial time from 1 second to 24 hours, in whole seconds")
_INCREMENT_MS = _Range(0, HOUR_MS, SECOND_MS, "an increment from 0 seconds to 1 hour, in whole seconds")
_MAIN_MS = _Range(0, DAY_MS, SECOND_MS, "a main time from 0 seconds to 24 hours, in whole seconds")
_PERIOD_MS = _Range(SECOND_MS, HOUR_MS, SECOND_MS, "a period from 1 second to 1 hour, in whole seconds")
_PERIODS = _Range(1, 99, 1, "from 1 to 99 periods")
_TURN_MS = _Range(
    SECOND_MS, 12 * HOUR_MS, SECOND_MS, "a turn from 1 second to 12 hours, in whole seconds (or days: 1d/turn)"
)
_DAYS = _Range(1, 60, 1, "from 1 to 60 days a turn")


class NoClock(msgspec.Struct, frozen=True, tag_field="kind", tag="none"):
    """Play without a clock: nothing is counted and no flag falls."""


class Fischer(msgspec.Struct, frozen=True, tag_field="kind", tag="fischer"):
    """Give each player a time for the whole match, and something back for every turn.

    ``initial_ms`` is what each player starts with: whole seconds, 1 s to 24 h. ``increment_ms`` is added at
    the end of each own turn: whole seconds, 0 to 1 h; unused time adds up without a limit.

    Raises: ValueError when a number is out of its range.

    >>> Fischer(initial_ms=300_000, increment_ms=3_000).initial_ms
    300000
    >>> Fischer(initial_ms=0, increment_ms=3_000)
    Traceback (most recent call last):
        ...
    tabuleiro.clock.controls.OutOfRangeError: expected an initial time from 1 second to 24 hours, in whole seconds
    """

    initial_ms: int
    increment_ms: int

    def __post_init__(self) -> None:
        _INITIAL_MS.check(self.initial_ms)
        _INCREMENT_MS.check(self.increment_ms)


class ByoYomi(msgspec.Struct, frozen=True, tag_field="kind", tag="byo-yomi"):
    """Give each player a main time, then periods: a turn that ends inside a period leaves that period whole.

    ``main_ms`` is spent first: whole seconds, 0 to 24 h. ``period_ms`` is the length of a period: whole
    seconds, 1 s to 1 h. ``periods`` is how many each player has: 1 to 99. A turn that outlasts a period uses
    it up for good; when the last one is used up, the flag falls.

    Raises: ValueError when a number is out of its range.
    """

    main_ms: int
    period_ms: int
    periods: int

    def __post_init__(self) -> None:
        _MAIN_MS.check(self.main_ms)
        _PERIOD_MS.check(self.period_ms)
        _PERIODS.check(self.periods)


class FixedTurn(msgspec.Struct, frozen=True, tag_field="kind", tag="turn"):
    """Give every turn the same time, and save nothing. ``turn_ms``: whole seconds, 1 s to 12 h.

    Raises: ValueError when the number is out of its range.
    """

    turn_ms: int

    def __post_init__(self) -> None:
        _TURN_MS.check(self.turn_ms)


class Correspondence(msgspec.Struct, frozen=True, tag_field="kind", tag="correspondence"):
    """Give every turn some days, for players who are seldom there together. ``days`` of 24 hours: 1 to 60.

    Raises: ValueError when the number is out of its range.

    >>> Correspondence(days=3).turn_ms == 3 * DAY_MS
    True
    """

    days: int

    def __post_init__(self) -> None:
        _DAYS.check(self.days)

    @property
    def turn_ms(self) -> int:
        """The time of a turn in milliseconds."""
        return self.days * DAY_MS


TimeControl: TypeAlias = NoClock | Fischer | ByoYomi | FixedTurn | Correspondence
"""Any of the time controls; msgspec tells them apart by ``kind``."""

NO_CLOCK: Final = NoClock()
"""The one value of :class:`NoClock`."""
