"""Time controls as text: short forms that are typed, stored and listed, and sentences for people.

``parse_time_control`` and ``format_time_control`` round trip. The ranges are checked by the structs of
:mod:`tabuleiro.clock.controls`; texts of a running clock are left to the clients.
"""

from __future__ import annotations

import re
from typing import Final, assert_never

from tabuleiro.clock.controls import (
    NO_CLOCK,
    ByoYomi,
    Correspondence,
    Fischer,
    FixedTurn,
    NoClock,
    OutOfRangeError,
    TimeControl,
)
from tabuleiro.errors import NotationError
from tabuleiro.ids import MINUTE_MS, SECOND_MS
from tabuleiro.text import counted, format_duration, parse_duration_ms, spell_duration

TIME_CONTROL_FORMS: Final = (
    "none, 5 (minutes), 5+3 (minutes + seconds a turn), 10m+5x30s (main time + periods), 60s/turn or 3d/turn"
)
"""The forms of time controls, in words, for error messages and option help."""

_MAX_CHARS: Final = 40

# Seven digits are more than any range allows and keep the numbers small.
_DURATION = r"(?:[0-9]{1,7}|(?=[0-9])(?:[0-9]{1,7}h)?(?:[0-9]{1,7}m)?(?:[0-9]{1,7}s)?)"
_LONG_UNIT = re.compile(r"(?<=[0-9])\s*(h|m|s)(?:ours?|rs?|inutes?|ins?|econds?|ecs?)?\b", re.ASCII)
_INITIAL = rf"[0-9]{{1,5}}:[0-5][0-9]|[0-9]{{1,5}}[.][0-9]{{1,2}}|{_DURATION}"
_FISCHER = re.compile(rf"({_INITIAL})(?:\s*\+\s*({_DURATION}))?")
_BYO_YOMI = re.compile(rf"({_DURATION})\s*\+\s*([0-9]{{1,7}})\s*x\s*({_DURATION})")
_FIXED_TURN = re.compile(rf"({_DURATION})\s*/\s*turn")
_CORRESPONDENCE = re.compile(r"([0-9]{1,7})\s*d\s*/\s*turn")


def parse_time_control(text: str) -> TimeControl:
    """Read a time control as people write it; upper case and spaces around the signs are ignored.

    Durations are numbers with the units ``h``, ``m`` and ``s``, e.g. ``1m30s``. Without a unit, the first
    time of ``5+3`` and ``10+5x30`` is in minutes, the last one in seconds. The first time may also be ``0:20`` or
    ``0.5``; alone it has nothing added.

    Raises:
        NotationError: The text has none of the forms, or a number is out of its range.

    >>> parse_time_control("5+3")
    Fischer(initial_ms=300000, increment_ms=3000)
    >>> [parse_time_control(text) == parse_time_control("5+0") for text in ("5", "5m", "5 min", "5:00", "5.0+0")]
    [True, True, True, True, True]
    >>> parse_time_control("10m + 5x30s")
    ByoYomi(main_ms=600000, period_ms=30000, periods=5)
    >>> parse_time_control("60s/turn"), parse_time_control("3d/turn"), parse_time_control("none")
    (FixedTurn(turn_ms=60000), Correspondence(days=3), NoClock())
    >>> parse_time_control("10+100x30")
    Traceback (most recent call last):
        ...
    tabuleiro.errors.NotationError: cannot read '10+100x30': expected from 1 to 99 periods
    """
    try:
        control = _read(text.strip().lower()) if len(text) <= _MAX_CHARS else None
    except OutOfRangeError as error:
        raise NotationError(text, error.expected) from None
    if control is None:
        raise NotationError(text, f"a time control: {TIME_CONTROL_FORMS}")
    return control


def _read(text: str) -> TimeControl | None:
    """Return the control that ``text`` writes, ``None`` when it has none of the forms."""
    if text == "none":
        return NO_CLOCK
    text = _LONG_UNIT.sub(r"\1", text)
    if match := _FISCHER.fullmatch(text):
        return Fischer(_initial_ms(match[1]), parse_duration_ms(match[2] or "0", SECOND_MS))
    if match := _BYO_YOMI.fullmatch(text):
        return ByoYomi(
            main_ms=parse_duration_ms(match[1], MINUTE_MS),
            period_ms=parse_duration_ms(match[3], SECOND_MS),
            periods=int(match[2]),
        )
    if match := _CORRESPONDENCE.fullmatch(text):
        return Correspondence(int(match[1]))
    # A bare number of a turn could mean anything, so its unit must be written.
    if (match := _FIXED_TURN.fullmatch(text)) and not match[1].isdigit():
        return FixedTurn(parse_duration_ms(match[1], SECOND_MS))
    return None


def _initial_ms(text: str) -> int:
    """Return an initial time: as clocks show it, in minutes with a part of one, or with units."""
    minutes, is_clock, seconds = text.partition(":")
    if is_clock:
        return int(minutes) * MINUTE_MS + int(seconds) * SECOND_MS
    whole, is_decimal, part = text.partition(".")
    if is_decimal:
        return int(whole) * MINUTE_MS + int(part) * MINUTE_MS // (10 if len(part) == 1 else 100)
    return parse_duration_ms(text, MINUTE_MS)


def format_time_control(control: TimeControl) -> str:
    """Write a time control in its one canonical form, which ``parse_time_control`` reads back.

    >>> format_time_control(Fischer(300_000, 3_000)), format_time_control(Fischer(90_000, 0))
    ('5+3', '1m30s+0')
    >>> format_time_control(ByoYomi(600_000, 30_000, 5))
    '10m+5x30s'
    >>> format_time_control(FixedTurn(60_000)), format_time_control(Correspondence(3))
    ('1m/turn', '3d/turn')
    """
    match control:
        case NoClock():
            return "none"
        case Fischer(initial_ms=initial_ms, increment_ms=increment_ms):
            minutes, rest_ms = divmod(initial_ms, MINUTE_MS)
            initial = _short(initial_ms) if rest_ms else str(minutes)
            return f"{initial}+{increment_ms // SECOND_MS}"
        case ByoYomi(main_ms=main_ms, period_ms=period_ms, periods=periods):
            return f"{_short(main_ms)}+{periods}x{_short(period_ms)}"
        case FixedTurn(turn_ms=turn_ms):
            return f"{_short(turn_ms)}/turn"
        case Correspondence(days=days):
            return f"{days}d/turn"
        case _:
            assert_never(control)


def describe_time_control(control: TimeControl) -> str:
    """Say a time control in words, as part of a sentence or a line of a list.

    >>> describe_time_control(Fischer(300_000, 3_000))
    '5 minutes + 3 seconds a turn'
    >>> describe_time_control(Fischer(90_000, 0))
    '1 minute 30 seconds for all turns'
    >>> describe_time_control(ByoYomi(600_000, 30_000, 5))
    '10 minutes + 5 periods of 30 seconds'
    >>> describe_time_control(FixedTurn(60_000)), describe_time_control(Correspondence(3))
    ('1 minute a turn', '3 days a turn')
    >>> describe_time_control(NO_CLOCK)
    'no clock'
    """
    match control:
        case NoClock():
            return "no clock"
        case Fischer(initial_ms=initial_ms, increment_ms=0):
            return f"{spell_duration(initial_ms)} for all turns"
        case Fischer(initial_ms=initial_ms, increment_ms=increment_ms):
            return f"{spell_duration(initial_ms)} + {spell_duration(increment_ms)} a turn"
        case ByoYomi(main_ms=main_ms, period_ms=period_ms, periods=periods):
            main = f"{spell_duration(main_ms)} + " if main_ms else ""
            return f"{main}{counted(periods, 'period')} of {spell_duration(period_ms)}"
        case FixedTurn(turn_ms=turn_ms):
            return f"{spell_duration(turn_ms)} a turn"
        case Correspondence(days=days):
            return f"{counted(days, 'day')} a turn"
        case _:
            assert_never(control)


def _short(duration_ms: int) -> str:
    """Write a duration as the forms of time controls have it: without days."""
    return format_duration(duration_ms, has_days=False)
