"""How many messages a connection may send: credits that grow with time and are spent one a message."""

from __future__ import annotations

from enum import Enum


class Spending(Enum):
    """What becomes of a message."""

    GRANTED = "granted"
    REFUSED = "refused"
    """Too many; the message is not read."""
    FLOOD = "flood"
    """Far too many; the connection is closed."""


class Credits:
    """``burst_count`` credits at first and at most, ``per_second_count`` new ones a second.

    A refused message costs a credit as well, so who goes on regardless runs into debt; a debt of
    ``burst_count`` is a flood. Time comes from the caller, in seconds of any monotonic clock.
    """

    def __init__(self, per_second_count: int, burst_count: int, now_s: float) -> None:
        self._per_second_count = per_second_count
        self._burst_count = burst_count
        self._balance = float(burst_count)
        self._counted_s = now_s

    def spend(self, now_s: float) -> Spending:
        """Pay for one message.

        >>> credits = Credits(per_second_count=1, burst_count=1, now_s=0.0)
        >>> credits.spend(0.0), credits.spend(0.0), credits.spend(2.0)
        (<Spending.GRANTED: 'granted'>, <Spending.REFUSED: 'refused'>, <Spending.GRANTED: 'granted'>)
        """
        earned = (now_s - self._counted_s) * self._per_second_count
        self._balance = min(self._balance + earned, self._burst_count) - 1
        self._counted_s = now_s
        if self._balance >= 0:
            return Spending.GRANTED
        return Spending.REFUSED if self._balance >= -self._burst_count else Spending.FLOOD
