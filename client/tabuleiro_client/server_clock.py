"""The server's time of day, bounded from above by the moments at which it told its own."""

from __future__ import annotations

import time

from tabuleiro.clock import offset_bound_ms


class ServerClock:
    """How far the server's clock can be ahead of the own one, on one connection.

    As long as neither clock is set, :meth:`at` is never before the server's time: who reads a match clock by it
    shows no more than is left. Before anything is known the two are taken to be the same.
    """

    def __init__(self) -> None:
        self._ahead_ms: int | None = None

    def forget(self) -> None:
        """Begin anew, as on a new connection: since the last one a clock may have been set."""
        self._ahead_ms = None

    def bound(self, asked_ms: int, server_ms: int) -> None:
        """Take in an answer: asked at ``asked_ms`` by the own clock, written at ``server_ms`` by the server's.

        The closest of all bounds counts.
        """
        ahead_ms = offset_bound_ms(asked_ms, server_ms)
        self._ahead_ms = ahead_ms if self._ahead_ms is None else min(self._ahead_ms, ahead_ms)

    def hear(self, heard_ms: int, server_ms: int) -> None:
        """Take in what was told unasked and came at ``heard_ms``: the server's clock is at least so far ahead."""
        if self._ahead_ms is not None:
            self._ahead_ms = max(self._ahead_ms, server_ms - heard_ms)

    def at(self, own_ms: int) -> int:
        """The latest that it can be at the server when the own clock shows ``own_ms``."""
        return own_ms + (self._ahead_ms or 0)


def own_now_ms() -> int:
    """The time of day by the own clock, in milliseconds since 1970-01-01 UTC.

    Not a monotonic clock: this one goes on while the machine sleeps, as the server's does.
    """
    return time.time_ns() // 1_000_000
