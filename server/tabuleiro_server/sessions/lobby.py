"""The list of rooms, in memory, and those who are told of its changes.

A line a room, kept up to date by the rooms themselves. Changes within a moment are told together, so that a busy
server does not drown its lobby.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol

from tabuleiro.ids import Phase, RoomCode
from tabuleiro.protocol.messages import LobbyUpdate, RoomSummary, ServerMessage

LISTED_PHASES: Final[tuple[Phase, ...]] = ("waiting", "playing")
"""What is listed when nobody says otherwise."""

LISTED_ROOMS_COUNT: Final = 200
LISTED_PEOPLE_COUNT: Final = 50
UPDATE_DELAY_S: Final = 0.25

STALE_LINES_COUNT: Final = 256
"""Changed rooms whose lines wait to be made; the rooms stay in memory for them."""


class Subscriber(Protocol):
    """A connection that is told of changes in the lobby."""

    def send(self, message: ServerMessage) -> None:
        """Queue a message; never waits."""
        ...


@dataclass(frozen=True, slots=True)
class RoomFilter:
    """Which rooms are asked for. ``None`` stands for every game, and for unfinished rooms."""

    game: str | None = None
    phases: tuple[Phase, ...] | None = None

    def matches(self, summary: RoomSummary) -> bool:
        """Whether the room is one of those asked for."""
        phases = LISTED_PHASES if self.phases is None else self.phases
        return summary.phase in phases and self.game in (None, summary.game)


@dataclass(slots=True)
class _Subscription:
    """What a subscriber wants to know, and what it knows: the rooms in its list, and who is here."""

    wanted: RoomFilter
    known: set[RoomCode] = field(default_factory=set)
    people: tuple[tuple[str, ...], int] | None = None


class Lobby:
    """Summaries of the listed rooms that are not closed, and the names of who is here."""

    def __init__(self, summaries: Iterable[RoomSummary] = ()) -> None:
        by_age = sorted(summaries, key=lambda summary: summary.created_at_ms)
        self._summaries: dict[RoomCode, RoomSummary] = {summary.room: summary for summary in by_age}
        self._people: Counter[str] = Counter()
        self._subscriptions: dict[Subscriber, _Subscription] = {}
        self._stale: dict[RoomCode, Callable[[], RoomSummary]] = {}
        self._changed: dict[RoomCode, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def note(self, code: RoomCode, summarize: Callable[[], RoomSummary]) -> None:
        """Be told that a room has changed; its line is made when somebody wants to see it, or is told of it."""
        self._stale[code] = summarize
        if len(self._stale) >= STALE_LINES_COUNT:
            self._freshen()
        self._tell_soon()

    def _freshen(self) -> None:
        stale, self._stale = self._stale, {}
        for summarize in stale.values():
            self.update(summarize())

    def update(self, summary: RoomSummary) -> None:
        """Take the line of a room in; a closed or private room is not listed."""
        old = self._summaries.get(summary.room)
        if summary.phase == "closed" or summary.settings.is_private:
            self._summaries.pop(summary.room, None)
        else:
            self._summaries[summary.room] = summary
        if self._subscriptions and old != self._summaries.get(summary.room):
            self._changed[summary.room] = None
            self._tell_soon()

    def rooms(self, wanted: RoomFilter) -> tuple[tuple[RoomSummary, ...], bool]:
        """The newest rooms asked for, and whether there are more than are listed."""
        self._freshen()
        found: list[RoomSummary] = []
        for summary in reversed(self._summaries.values()):
            if wanted.matches(summary):
                if len(found) == LISTED_ROOMS_COUNT:
                    return tuple(found), True
                found.append(summary)
        return tuple(found), False

    def open_rooms(self, game: str) -> list[RoomSummary]:
        """The rooms of ``game`` in which a seat is free, oldest first."""
        self._freshen()
        wanted = RoomFilter(game, ("waiting",))
        return [
            summary
            for summary in self._summaries.values()
            if wanted.matches(summary) and any(seat.kind == "open" for seat in summary.seats)
        ]

    def arrive(self, name: str) -> None:
        """Somebody has connected."""
        self._people[name] += 1
        self._tell_soon()

    def depart(self, name: str) -> None:
        """A connection of somebody has ended."""
        self._people[name] -= 1
        if not self._people[name]:
            del self._people[name]
        self._tell_soon()

    def subscribe(self, subscriber: Subscriber, wanted: RoomFilter) -> tuple[tuple[RoomSummary, ...], bool]:
        """Tell ``subscriber`` of changes from now on, instead of what it asked for before.

        Returns what :meth:`rooms` does: the list that will change.
        """
        listed, is_cut = self.rooms(wanted)
        self._subscriptions[subscriber] = _Subscription(wanted, {summary.room for summary in listed})
        self._tell_soon()
        return listed, is_cut

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Tell it no more."""
        self._subscriptions.pop(subscriber, None)

    def stop(self) -> None:
        """Tell nobody any more."""
        self._subscriptions.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _tell_soon(self) -> None:
        if self._subscriptions and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(UPDATE_DELAY_S, self._tell)

    def _tell(self) -> None:
        self._timer = None
        self._freshen()
        changed = tuple(self._changed)
        self._changed.clear()
        people = (tuple(sorted(self._people, key=str.casefold)[:LISTED_PEOPLE_COUNT]), len(self._people))
        lines = {code: self._summaries.get(code) for code in changed}
        for subscriber, subscription in self._subscriptions.items():
            wanted, known = subscription.wanted, subscription.known
            rooms = tuple(line for line in lines.values() if line is not None and wanted.matches(line))
            listed = {line.room for line in rooms}
            gone = tuple(code for code in changed if code in known and code not in listed)
            known |= listed
            known.difference_update(gone)
            if rooms or gone or subscription.people != people:
                subscription.people = people
                subscriber.send(LobbyUpdate(rooms, gone, *people))
