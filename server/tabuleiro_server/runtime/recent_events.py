"""The last events of a room, kept for clients that resume; older ones are read from disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from tabuleiro.ids import RoomCode, Seq
from tabuleiro.protocol.events import SequencedEvent
from tabuleiro_server.runtime.journal import Journal
from tabuleiro_server.runtime.room_items import Missed

RECENT_EVENTS_COUNT: Final = 128
"""Events kept in memory."""


class RecentEvents:
    """The events that a room has announced since it is in memory, no more than ``RECENT_EVENTS_COUNT``."""

    def __init__(self, journal: Journal, code: RoomCode) -> None:
        self._journal = journal
        self._code = code
        self._events: deque[SequencedEvent] = deque(maxlen=RECENT_EVENTS_COUNT)

    def extend(self, events: Iterable[SequencedEvent]) -> None:
        """Remember the latest events."""
        self._events.extend(events)

    async def after(self, since: Seq, last: Seq) -> Missed:
        """The events after ``since`` of a room whose last is ``last``; ``None`` for who claims to know the future.

        Raises: StoreError when they have to be read and cannot be.
        """
        if since > last:
            return None
        if last - since <= len(self._events):
            return tuple(event for event in self._events if event.seq > since)
        return tuple(await self._journal.events_after(self._code, since))
