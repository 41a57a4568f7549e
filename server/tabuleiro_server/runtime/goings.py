"""Who of a room's players has gone, and when that is to be stored.

A going and the return from it are two events on disk. A client whose connection breaks every few seconds would
make tens of thousands of them a day, so a player's going is stored at once only if the last one is some time ago,
and otherwise when it has lasted until then. That somebody is not there is shown at once in any case: that is up to
`room_task`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tabuleiro.ids import AccountId, TimestampMs

GOING_EVERY_MS: Final = 30_000
"""A player's goings are stored at most so often, which is 2 events each time: below 6,000 a day."""


class Goings:
    """When each player of a room was last stored as gone."""

    def __init__(self) -> None:
        self._stored_ms: dict[AccountId, TimestampMs] = {}

    def due(self, gone: Collection[AccountId], now_ms: TimestampMs) -> tuple[list[AccountId], int | None]:
        """Tell which of those who are ``gone`` are to be stored as gone now, and when to ask again.

        That is in milliseconds from now, ``None`` when nobody is left to be stored as gone later.
        """
        # What lies ahead was noted before the machine's clock was set back, and would count for as long again.
        self._stored_ms = {
            account: at_ms for account, at_ms in self._stored_ms.items() if 0 <= now_ms - at_ms < GOING_EVERY_MS
        }
        waits_ms = [
            self._stored_ms[account] + GOING_EVERY_MS - now_ms for account in gone if account in self._stored_ms
        ]
        return [account for account in gone if account not in self._stored_ms], min(waits_ms, default=None)

    def note(self, account: AccountId, now_ms: TimestampMs) -> None:
        """``account`` has been stored as gone."""
        self._stored_ms[account] = now_ms
