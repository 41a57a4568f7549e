"""Lengths of time as people type them: a number with a unit, e.g. ``30s`` or ``2m``."""

from __future__ import annotations

import re
from typing import Final

from tabuleiro.errors import NotationError

_UNITS_MS: Final = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000}
_DURATION: Final = re.compile(r"([0-9]{1,7})\s*([dhms])", re.ASCII)


def parse_duration_ms(text: str) -> int:
    """Read a length of time, in milliseconds. Raises: NotationError.

    >>> parse_duration_ms(" 2M "), parse_duration_ms("30 s")
    (120000, 30000)
    """
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        raise NotationError(text, "a number with s, m, h or d, e.g. 30s")
    return int(found[1]) * _UNITS_MS[found[2]]


def format_duration(duration_ms: int) -> str:
    """Write a length of time in whole seconds with the largest unit that leaves no rest.

    >>> format_duration(120_000), format_duration(90_000), format_duration(86_400_000)
    ('2m', '90s', '1d')
    """
    unit = next(unit for unit, unit_ms in _UNITS_MS.items() if duration_ms % unit_ms == 0 or unit == "s")
    return f"{duration_ms // _UNITS_MS[unit]}{unit}"
