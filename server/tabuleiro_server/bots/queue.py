"""The order in which requests for turns get a worker: fair to addresses, accounts and rooms.

Who asks for much waits for themselves: addresses take turns, then the accounts behind one address, then the rooms
of one account. Requests that a person waits for have a queue of their own; bots that play among themselves go by
their rank.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Generic, TypeVar

from tabuleiro.ids import AccountId

T = TypeVar("T")


class Rank(IntEnum):
    """The weight of a request; a lower number goes first."""

    PLAYED = 0
    """A person who is here plays, or asks for a hint."""
    WATCHED = 1
    """Bots play among themselves, or for somebody who is away, and somebody looks on."""
    ALONE = 2
    """Nobody is there."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The rank of a request, and the guest on whose account it goes."""

    rank: Rank
    address: str
    account: AccountId


NOBODY: Final = Claim(Rank.PLAYED, "", AccountId(""))
"""The claim of a turn outside of all rooms."""

_Place = tuple[Rank, str, AccountId, str]
"""Rank, address, account and room."""


class _Turns(Generic[T]):
    """Items under paths of keys: at each step of a path the keys take turns."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._parts: OrderedDict[str, _Turns[T]] = OrderedDict()
        self.count = 0

    def put(self, path: tuple[str, ...], item: T) -> None:
        self.count += 1
        if path:
            self._parts.setdefault(path[0], _Turns()).put(path[1:], item)
        else:
            self._items.append(item)

    def remove(self, path: tuple[str, ...], item: T) -> None:
        self.count -= 1
        if not path:
            self._items.remove(item)
            return
        part = self._parts[path[0]]
        part.remove(path[1:], item)
        if not part.count:
            del self._parts[path[0]]

    def take(self) -> T:
        self.count -= 1
        if self._items:
            return self._items.popleft()
        key, part = self._parts.popitem(last=False)
        item = part.take()
        if part.count:
            # The others come first now.
            self._parts[key] = part
        return item

    def counts(self) -> dict[str, int]:
        return {key: part.count for key, part in self._parts.items()}


class FairQueue(Generic[T]):
    """Items, no two of them equal: by rank, then by turns, and first in, first out within a room.

    Items of the rank ``ALONE`` are taken one at a time: each holds the next back until :meth:`release`.
    """

    def __init__(self) -> None:
        self._ranks: dict[Rank, _Turns[T]] = {rank: _Turns() for rank in Rank}
        self._places: dict[T, _Place] = {}
        self._is_held = False
        self._has_changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._places)

    def counts(self, rank: Rank) -> dict[str, int]:
        """Return the numbers of items of ``rank`` that wait, by address."""
        return self._ranks[rank].counts()

    def put(self, claim: Claim, room: str, item: T) -> None:
        """Add ``item`` behind the others of ``room`` with this claim."""
        place = (claim.rank, claim.address, claim.account, room)
        self._ranks[claim.rank].put(place[1:], item)
        self._places[item] = place
        self._has_changed.set()

    def discard(self, item: T) -> None:
        """Remove ``item`` if it is still waiting."""
        place = self._places.pop(item, None)
        if place is not None:
            self._ranks[place[0]].remove(place[1:], item)

    def release(self) -> None:
        """Let the next item of the rank ``ALONE`` be taken."""
        self._is_held = False
        self._has_changed.set()

    async def take(self) -> tuple[T, Rank]:
        """Wait for an item; return the next one with its rank. One of ``ALONE`` holds the others back."""
        while (rank := self._next_rank()) is None:
            self._has_changed.clear()
            await self._has_changed.wait()
        item = self._ranks[rank].take()
        del self._places[item]
        self._is_held = self._is_held or rank is Rank.ALONE
        return item, rank

    def _next_rank(self) -> Rank | None:
        ready = (rank for rank, turns in self._ranks.items() if turns.count)
        return next((rank for rank in ready if not (rank is Rank.ALONE and self._is_held)), None)
