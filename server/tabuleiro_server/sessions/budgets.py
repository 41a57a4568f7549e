"""Budgets over time: for each account or address so much at once, and then so much an hour.

Nothing here is stored: with a restart all budgets are full.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import nsmallest
from typing import Final

import structlog

from tabuleiro.errors import CommandError, TabuleiroError
from tabuleiro.ids import HOUR_MS, AccountId
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.text import spell_duration
from tabuleiro_server.config import Config

log = structlog.get_logger(__name__)

ROUNDING_S: Final = 1e-6
"""A shorter wait than this is none."""

KEYS_MAX_COUNT: Final = 10_000
"""Keys that one budget remembers, in about a megabyte."""


class Budget:
    """A token bucket for each key: ``burst_count`` tokens at first and at most, and ``per_hour_count`` new ones.

    What is spent beyond that is owed. A key whose bucket is full again is forgotten in time, and when there are
    too many of the others, those that are nearest to it. ``now_s`` is any monotonic clock.
    """

    def __init__(self, per_hour_count: int, burst_count: int, now_s: Callable[[], float] = time.monotonic) -> None:
        self._interval_s = HOUR_MS / 1000 / per_hour_count
        self._burst_s = burst_count * self._interval_s
        self._longest_debt_s = self._burst_s - self._interval_s + ROUNDING_S
        """A bucket that takes longer to be full has no token."""
        self._now_s = now_s
        self._full_at_s: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._full_at_s)

    def wait_s(self, key: str) -> float:
        """Return the seconds until there is a token for ``key``: 0 if there is one.

        >>> budget = Budget(per_hour_count=3600, burst_count=2, now_s=lambda: 5.0)
        >>> budget.spend("ana", 3)
        >>> budget.wait_s("ana"), budget.wait_s("rui")
        (2.0, 0.0)
        """
        missing_s = self._full_at_s.get(key, 0.0) - self._now_s()
        wait_s = missing_s + self._interval_s - self._burst_s
        return wait_s if wait_s > ROUNDING_S else 0.0

    def take(self, key: str, count: int = 1) -> bool:
        """Take ``count`` tokens if there is one; return True if they were taken."""
        now_s = self._now_s()
        full_at_s = self._full_at_s.get(key, now_s)
        if full_at_s - now_s > self._longest_debt_s:
            return False
        self._note(key, full_at_s, count, now_s)
        return True

    def spend(self, key: str, count: int = 1) -> None:
        """Take ``count`` tokens, there or not; less than none gives them back."""
        now_s = self._now_s()
        self._note(key, self._full_at_s.get(key, now_s), count, now_s)

    def _note(self, key: str, full_at_s: float, count: int, now_s: float) -> None:
        # Asked with every move: comparisons are quicker than `min` and `max`.
        full_at_s = (full_at_s if full_at_s > now_s else now_s) + count * self._interval_s
        # No more than another burst is ever owed: whoever stops is not kept out for long.
        most_s = now_s + 2 * self._burst_s
        self._full_at_s[key] = full_at_s if full_at_s < most_s else most_s
        if len(self._full_at_s) > KEYS_MAX_COUNT:
            self._forget(now_s)

    def _forget(self, now_s: float) -> None:
        owing = {key: at_s for key, at_s in self._full_at_s.items() if at_s > now_s}
        if len(owing) > KEYS_MAX_COUNT // 2:
            for key in nsmallest(len(owing) - KEYS_MAX_COUNT // 2, owing, key=owing.__getitem__):
                del owing[key]
        self._full_at_s = owing


WRONG_TOKEN_WAIT_MAX_S: Final = 5.0
"""Longest wait for the answer to a wrong token, which may be a right one of another server."""


class _Limit:
    """A budget of the config, and the refusals of those who have spent it. ``what`` is what it counts."""

    def __init__(self, config: Config, name: str, what: str, now_s: Callable[[], float]) -> None:
        key = f"{name}_per_hour_count"
        per_hour_count, burst_count = getattr(config, key), getattr(config, f"{name}_burst_count")
        self.budget = Budget(per_hour_count, burst_count, now_s)
        self._text = f"{key}: at most {per_hour_count} {what} in an hour, {burst_count} at once"

    def refusal(self, key: str) -> CommandError:
        """Return why there is no token."""
        again = spell_duration(math.ceil(self.budget.wait_s(key)) * 1000)
        return CommandError(ErrorCode.LIMIT_REACHED, f"{self._text}; try again in {again}")


class Budgets:
    """The budgets of each account and each address: what may be made and stored over time."""

    def __init__(self, config: Config, now_s: Callable[[], float] = time.monotonic) -> None:
        def limit(name: str, what: str) -> _Limit:
            return _Limit(config, name, what, now_s)

        self._guests = limit("new_guests", "new guests from one address")
        self._rooms_of_account = limit("account_rooms", "new rooms of one guest")
        self._rooms_of_address = limit("address_rooms", "new rooms from one address")
        self._events_of_account = limit("account_events", "moves and other events of one guest")
        self._events_of_address = limit("address_events", "moves and other events from one address")
        self._wrong_tokens = limit("wrong_tokens", "wrong tokens from one address")

    @contextmanager
    def guest(self, address: str) -> Iterator[None]:
        """Return a context in which to make a guest; a refusal costs nothing.

        Raises: CommandError.
        """
        if not self._guests.budget.take(address):
            raise self._guests.refusal(address)
        try:
            yield
        except TabuleiroError:
            self._guests.budget.spend(address, -1)
            raise

    @contextmanager
    def room(self, account: AccountId, address: str) -> Iterator[None]:
        """Return a context in which to make a room; a refusal costs nothing.

        Raises: CommandError.
        """
        _take(self._rooms_of_account, account, self._rooms_of_address, address)
        try:
            yield
        except TabuleiroError:
            self._rooms_of_account.budget.spend(account, -1)
            self._rooms_of_address.budget.spend(address, -1)
            raise

    def take_events(self, account: AccountId, address: str, count: int) -> None:
        """Note that events are to be stored; a refusal costs nothing. Raises: CommandError."""
        _take(self._events_of_account, account, self._events_of_address, address, count)

    def spend_events(self, account: AccountId, address: str, count: int) -> None:
        """Note that events are stored, however many there were."""
        self._events_of_account.budget.spend(account, count)
        self._events_of_address.budget.spend(address, count)

    def bot_turn(self, account: AccountId, address: str) -> float:
        """Note a turn of bots among themselves; return the seconds to wait before it is stored.

        Without an address, nobody is there to see it.
        """
        limits: list[tuple[_Limit, str]] = [(self._events_of_account, account)]
        if address:
            limits.append((self._events_of_address, address))
        wait_s = max(limit.budget.wait_s(key) for limit, key in limits)
        for limit, key in limits:
            limit.budget.spend(key)
        return wait_s

    def wrong_token(self, address: str) -> float:
        """Note a wrong token; return the seconds after which to say so."""
        budget = self._wrong_tokens.budget
        was_slowed = budget.wait_s(address) > 0
        budget.spend(address)
        wait_s = budget.wait_s(address)
        if wait_s and not was_slowed:
            log.info("wrong tokens are answered slowly", address=address)
        return min(wait_s, WRONG_TOKEN_WAIT_MAX_S)


def _take(own: _Limit, account: AccountId, shared: _Limit, address: str, count: int = 1) -> None:
    """Take from the budgets of an account and of its address, or from none. Raises: CommandError."""
    if not own.budget.take(account, count):
        raise own.refusal(account)
    if not shared.budget.take(address, count):
        own.budget.spend(account, -count)
        raise shared.refusal(address)
