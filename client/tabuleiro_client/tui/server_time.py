"""The server's time of day, estimated from the moments at which it told its own. Reads no clock."""

from __future__ import annotations

from tabuleiro.clock import offset_bound_ms


class ServerTime:
    """An offset between the server's clock and the own one; 0 until something is known.

    The estimate is never behind the server's time by more than what a message needs on its way.
    """

    def __init__(self) -> None:
        self._offset_ms = 0
        self._is_bounded = False

    def bound(self, asked_ms: int, server_ms: int) -> None:
        """Take in an answer: asked at ``asked_ms`` by the own clock, written at ``server_ms`` by the server's."""
        offset_ms = offset_bound_ms(asked_ms, server_ms)
        self._offset_ms = min(self._offset_ms, offset_ms) if self._is_bounded else offset_ms
        self._is_bounded = True

    def hear(self, heard_ms: int, server_ms: int) -> None:
        """Take in what was told unasked, received at ``heard_ms`` by the own clock."""
        behind_ms = server_ms - heard_ms
        if not self._is_bounded or behind_ms > self._offset_ms:
            # The server can't tell a moment that has not come: one of the clocks was set.
            self._offset_ms, self._is_bounded = behind_ms, True

    def at(self, own_ms: int) -> int:
        """The server's time when the own clock shows ``own_ms``."""
        return own_ms + self._offset_ms
