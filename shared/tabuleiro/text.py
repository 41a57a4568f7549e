"""Wording that every side uses: counted things, lists, and lengths of time. Reads no clock."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tabuleiro.errors import NotationError
from tabuleiro.ids import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

_UNITS: Final = (
    ("d", "day", DAY_MS),
    ("h", "hour", HOUR_MS),
    ("m", "minute", MINUTE_MS),
    ("s", "second", SECOND_MS),
)
_UNIT_MS: Final = {letter: unit_ms for letter, _, unit_ms in _UNITS}

# Seven digits are more than any range allows and keep the numbers small.
_NUMBER: Final = r"[0-9]{1,7}"
_DURATION: Final = re.compile(
    rf"(?=[0-9])(?:{_NUMBER}\s*d\s*)?(?:{_NUMBER}\s*h\s*)?(?:{_NUMBER}\s*m\s*)?(?:{_NUMBER}\s*s)?", re.ASCII
)
_PART: Final = re.compile(r"([0-9]+)\s*([dhms])", re.ASCII)


def counted(count: int, noun: str) -> str:
    """Say how many there are.

    >>> counted(1, "day"), counted(2, "day")
    ('1 day', '2 days')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """Say a list as part of a sentence.

    >>> listed(["a1"]), listed(["a1", "b2"]), listed(["a1", "b2", "c3"], "or")
    ('a1', 'a1 and b2', 'a1, b2 or c3')
    """
    *others, last = words
    return f"{', '.join(others)} {conjunction} {last}" if others else last


def one_of(words: Sequence[str]) -> str:
    """Say what is expected where only some words are allowed.

    >>> one_of(["corners", "edges"])
    'one of corners, edges'
    """
    return "one of " + ", ".join(words)


def spell_duration(duration_ms: int) -> str:
    """Say a length of time in full; parts of a second are dropped.

    >>> [spell_duration(ms) for ms in (1_000, 90_000, 3_600_000, 172_800_000, 999)]
    ['1 second', '1 minute 30 seconds', '1 hour', '2 days', '0 seconds']
    """
    return " ".join(counted(count, noun) for count, _, noun in _parts(duration_ms)) or "0 seconds"


def format_duration(duration_ms: int, *, has_days: bool = True) -> str:
    """Write a length of time in its one short form, which :func:`parse_duration_ms` reads back.

    >>> [format_duration(ms) for ms in (120_000, 90_000, 86_400_000, 0)]
    ['2m', '1m30s', '1d', '0s']
    >>> format_duration(86_400_000, has_days=False)
    '24h'
    """
    parts = _parts(duration_ms, _UNITS if has_days else _UNITS[1:])
    return "".join(f"{count}{letter}" for count, letter, _ in parts) or "0s"


def parse_duration_ms(text: str, bare_unit_ms: int = SECOND_MS) -> int:
    """Read a length of time, in milliseconds; a number without a unit counts units of ``bare_unit_ms``.

    Raises:
        NotationError: The text is no length of time.

    >>> [parse_duration_ms(text) for text in (" 2M ", "30 s", "1m30s", "90")]
    [120000, 30000, 90000, 90000]
    """
    cleaned = text.strip().lower()
    if re.fullmatch(_NUMBER, cleaned, re.ASCII):
        return int(cleaned) * bare_unit_ms
    if not _DURATION.fullmatch(cleaned):
        raise NotationError(text, "a length of time, e.g. 30s, 2m or 1d")
    return sum(int(number) * _UNIT_MS[letter] for number, letter in _PART.findall(cleaned))


def format_age(age_ms: int) -> str:
    """Write the age of something for a table: one unit, not below 0.

    >>> [format_age(ms) for ms in (-5, 59_000, 61_000, 7_200_000, 200_000_000)]
    ['0m', '0m', '1m', '2h', '2d']
    """
    for letter, _, unit_ms in _UNITS[:2]:
        if age_ms >= unit_ms:
            return f"{age_ms // unit_ms}{letter}"
    return f"{max(age_ms, 0) // MINUTE_MS}m"


def format_elapsed(elapsed_ms: int) -> str:
    """Write a time as a stopwatch shows it, in whole seconds; not below 0.

    >>> format_elapsed(61_900), format_elapsed(3_723_000), format_elapsed(-5)
    ('1:01', '1:02:03', '0:00')
    """
    minutes, seconds = divmod(max(elapsed_ms, 0) // SECOND_MS, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _parts(duration_ms: int, units: Sequence[tuple[str, str, int]] = _UNITS) -> list[tuple[int, str, str]]:
    """Return the units in a duration that are not zero, each with its number, letter and noun."""
    parts = []
    for letter, noun, unit_ms in units:
        count, duration_ms = divmod(duration_ms, unit_ms)
        if count:
            parts.append((count, letter, noun))
    return parts
