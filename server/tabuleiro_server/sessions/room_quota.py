"""How many unfinished rooms each account has made, so that nobody fills the server with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId, RoomCode
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro_server.room.state import RoomState


class RoomQuota:
    """At most ``limit_count`` rooms that wait or play for each host.

    ``hosts`` are the unfinished rooms that are on disk already; from then on rooms tell of their changes by
    :meth:`note`.
    """

    def __init__(self, limit_count: int, hosts: Mapping[RoomCode, AccountId]) -> None:
        self._limit_count = limit_count
        self._hosts = dict(hosts)
        self._counts = Counter(hosts.values())

    def note(self, room: RoomState) -> None:
        """Take in what a room is now."""
        is_unfinished = room.phase in ("waiting", "playing")
        if is_unfinished and room.code not in self._hosts:
            self._hosts[room.code] = room.host
            self._counts[room.host] += 1
        elif not is_unfinished and room.code in self._hosts:
            self._take_off(self._hosts.pop(room.code))

    @contextmanager
    def one_more(self, account: AccountId) -> Iterator[None]:
        """Make a room within this context: what is being made counts too.

        Raises: CommandError when the account has as many as it may have.
        """
        if self._counts.get(account, 0) >= self._limit_count:
            message = f"rooms_per_account_count: at most {self._limit_count} unfinished rooms of one guest"
            raise CommandError(ErrorCode.LIMIT_REACHED, f"{message}; finish or leave one first")
        self._counts[account] += 1
        try:
            yield
        finally:
            self._take_off(account)

    def _take_off(self, account: AccountId) -> None:
        self._counts[account] -= 1
        if not self._counts[account]:
            del self._counts[account]
