"""Guests: a name, a secret token of which only the hash is kept, and a quota of rooms."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from tabuleiro.errors import CommandError, NameTakenError, NotationError, StorageUnavailableError, StoreError
from tabuleiro.ids import HOUR_MS, AccountId, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.names import check_new_name, parse_name
from tabuleiro_server.locks import Locks
from tabuleiro_server.rooms.refusals import unavailable
from tabuleiro_server.sessions.budgets import Budgets
from tabuleiro_server.store.port import Account, Accounts


class RoomQuota:
    """Limits the rooms that wait or play to ``limit_count`` for each host.

    ``count`` counts those that are stored, wherever they are. Of rooms that are opened on several nodes at one
    moment each node's may be one too many.
    """

    def __init__(self, limit_count: int, count: Callable[[AccountId], Awaitable[int]]) -> None:
        self._limit_count = limit_count
        self._count = count
        self._opening = Locks[AccountId]()

    @asynccontextmanager
    async def one_more(self, account: AccountId) -> AsyncIterator[None]:
        """Return a context in which to open a room, for one room of an account after the other.

        Raises:
            CommandError: The account has reached its limit, or the disk fails.
        """
        async with self._opening.held(account):
            if await self._stored_count(account) >= self._limit_count:
                message = f"rooms_per_account_count: at most {self._limit_count} unfinished rooms of one guest"
                raise CommandError(ErrorCode.LIMIT_REACHED, f"{message}; finish or leave one first")
            yield

    async def _stored_count(self, account: AccountId) -> int:
        try:
            return await self._count(account)
        except StoreError as error:
            raise unavailable(error) from error


TOKEN_BYTES: Final = 24

AWAY_MS: Final = 2 * HOUR_MS
"""Time after which somebody was away: whoever stays is noted every hour."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Identified:
    """A guest who has said hello; ``token`` is there only when the guest is new."""

    account: Account
    token: str | None = None


class Guests:
    """Makes guests and recognises them. ``levels`` are the names of the bots' levels, which no guest may have."""

    def __init__(
        self,
        accounts: Accounts,
        budgets: Budgets,
        now_ms: Callable[[], TimestampMs],
        levels: Collection[str] = (),
    ) -> None:
        self._levels = levels
        self._accounts = accounts
        self._budgets = budgets
        self._now_ms = now_ms
        self._connected: Counter[AccountId] = Counter()
        self._vouched_for: dict[str, Account] = {}
        self._visits: set[AccountId] = set()

    def arrive(self, account_id: AccountId) -> None:
        """Count one connection more of a guest."""
        self._connected[account_id] += 1

    def depart(self, account_id: AccountId) -> None:
        """Count one connection less of a guest."""
        self._connected[account_id] -= 1
        if not self._connected[account_id]:
            del self._connected[account_id]

    async def free_unused(self, unused_ms: int) -> int:
        """Forget guests who never played and were not connected for ``unused_ms``; return their number.

        A guest with a connection stays, however long ago the hello was.

        Raises:
            StoreError: The disk fails.
        """
        now_ms = self._now_ms()
        await self._accounts.touch_all(tuple(self._connected), now_ms)
        await self.note_visits()
        return await self._accounts.free_unused(TimestampMs(now_ms - unused_ms))

    async def note_visits(self) -> None:
        """Have the visits noted that nobody has waited for.

        When a server ends all its people come to others at once, and do not wait for the disk.

        Raises:
            StoreError: The disk fails; they are noted later.
        """
        visits, self._visits = self._visits, set()
        if visits:
            try:
                await self._accounts.touch_all(visits, self._now_ms())
            except StoreError:
                self._visits |= visits
                raise

    async def identify(self, name: str | None, token: str | None, address: str) -> Identified:
        """Return the owner of ``token``, or a new guest called ``name`` when there is no token.

        Raises:
            CommandError: The token is wrong, the name is bad or taken, too many guests have come from ``address``,
                or the disk fails.
        """
        try:
            if token is not None:
                return Identified(await self._find(token, address))
            with self._budgets.guest(address):
                return await self._make(name)
        except NameTakenError as error:
            raise CommandError(ErrorCode.NAME_TAKEN, str(error)) from error
        except StoreError as error:
            raise unavailable(error) from error

    async def vouch_for(self, name: str | None, new_name: str) -> str:
        """Return a token for the guest called ``name``, ``None``: for the one seen last; it is good for this run.

        A guest who is not there is made, without a name called ``new_name``. This is for the person who runs this
        server for themselves: the database is theirs, and what they kept to prove it may be lost.

        Raises:
            NotationError: The name is none.
            StoreError: The disk fails.
        """
        known = await (self._accounts.seen_last() if name is None else self._accounts.find_by_name(name))
        if known is None:
            known, token = await self._create(parse_name(new_name if name is None else name))
        else:
            token = secrets.token_urlsafe(TOKEN_BYTES)
        self._vouched_for[token] = known
        return token

    def owns_machine(self, account_id: AccountId) -> bool:
        """Return True for a guest that was vouched for: the person who runs this server for themselves."""
        return any(account.id == account_id for account in self._vouched_for.values())

    async def _find(self, token: str, address: str) -> Account:
        vouched_for = self._vouched_for.get(token)
        account = vouched_for or await self._accounts.find_by_token_hash(_hash(token))
        if account is None:
            # The right token of somebody else at this address waits for nothing.
            await asyncio.sleep(self._budgets.wrong_token(address))
            raise CommandError(ErrorCode.BAD_TOKEN, "no guest of this server has this token")
        if vouched_for is None and self._now_ms() < account.last_seen_ms + AWAY_MS:
            self._visits.add(account.id)
            return account
        # Without a wait others could take this guest for unused, at this moment.
        try:
            await self._accounts.touch(account.id, self._now_ms())
        except StorageUnavailableError as error:
            # A known guest can come in and watch while the disk is full: the visit is noted at the next round.
            log.info("visit not noted", account=account.id, reason=str(error))
        return account

    async def _make(self, name: str | None) -> Identified:
        if name is None:
            raise CommandError(ErrorCode.BAD_NAME, "hello needs a name, or the token of a guest")
        try:
            checked = parse_name(name)
            check_new_name(checked, self._levels)
        except NotationError as error:
            raise CommandError(ErrorCode.BAD_NAME, str(error)) from error
        return Identified(*await self._create(checked))

    async def _create(self, name: str) -> tuple[Account, str]:
        token = secrets.token_urlsafe(TOKEN_BYTES)
        account_id = AccountId(secrets.token_hex(8))
        return await self._accounts.create(account_id, name, _hash(token), self._now_ms()), token


def _hash(token: str) -> bytes:
    """Return a plain hash; it is enough, because tokens are long and random."""
    return hashlib.sha256(token.encode()).digest()
