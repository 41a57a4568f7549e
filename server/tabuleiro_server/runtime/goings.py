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
from tabuleiro_server.room.state import RoomState

GOING_EVERY_MS: Final = 30_000
"""A player's goings are stored at most so often, which is 2 events each time: below 6,000 a day."""


class Goings:
    """When each player of a room was last stored as gone."""

    def __init__(self) -> None:
        self._stored_ms: dict[AccountId, TimestampMs] = {}

    def due(
        self, room: RoomState, connected: Collection[AccountId], now_ms: TimestampMs
    ) -> tuple[list[AccountId], int | None]:
        """Tell who is to be stored as gone now, and in how many milliseconds to ask again.

        That is ``None`` when nobody is left to be stored as gone later.
        """
        players = {seat.account for seat in room.seats if seat.kind == "person"}
        self._stored_ms = {account: at_ms for account, at_ms in self._stored_ms.items() if account in players}
        waits_ms = {
            account: self._wait_ms(account, now_ms) for account in _unnoted(room) if account not in connected
        }
        later_ms = [wait_ms for wait_ms in waits_ms.values() if wait_ms > 0]
        return [account for account, wait_ms in waits_ms.items() if wait_ms <= 0], min(later_ms, default=None)

    def note(self, account: AccountId, now_ms: TimestampMs) -> None:
        """``account`` has been stored as gone."""
        self._stored_ms[account] = now_ms

    def _wait_ms(self, account: AccountId, now_ms: TimestampMs) -> int:
        stored_ms = self._stored_ms.get(account)
        return 0 if stored_ms is None else stored_ms + GOING_EVERY_MS - now_ms


def _unnoted(room: RoomState) -> list[AccountId]:
    """The accounts that hold a seat and are not stored as gone, each once."""
    seats = zip(room.seats, room.away_since_ms, strict=True)
    accounts = [seat.account for seat, away_ms in seats if seat.kind == "person" and away_ms is None]
    return list(dict.fromkeys(account for account in accounts if account is not None))
