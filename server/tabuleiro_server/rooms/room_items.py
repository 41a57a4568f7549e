"""What a room is asked to do, one after the other, and the answer that whoever asked waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tabuleiro.ids import Seq
from tabuleiro.protocol.events import SequencedEvent
from tabuleiro_server.room.commands import Command
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.rooms.subscribers import Visitor

Missed = tuple[SequencedEvent, ...] | None
"""Events that a resuming client has missed; ``None`` when it needs a snapshot."""


class RoomUnloadedError(Exception):
    """The room left memory between being found and being asked: find it again."""


def _new_future() -> asyncio.Future[RoomState]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True)
class Wish:
    """Commands to be decided together: all or none. ``acknowledge`` is called before the news spread."""

    commands: tuple[Command, ...]
    acknowledge: Callable[[RoomState], None] | None = None
    done: asyncio.Future[RoomState] = field(default_factory=_new_future)


@dataclass(slots=True)
class Entry:
    """A connection to be let in, if ``permission`` is granted; it has seen the events up to ``since``."""

    visitor: Visitor
    permission: Command
    since: Seq | None
    acknowledge: Callable[[RoomState, Missed], None]
    done: asyncio.Future[RoomState] = field(default_factory=_new_future)


@dataclass(slots=True)
class PresenceCheck:
    """Who is here has changed: note it, and tell it."""

    done: asyncio.Future[RoomState] = field(default_factory=_new_future)


Item = Wish | Entry | PresenceCheck


def fail(item: Item, error: Exception) -> None:
    """Answer whoever waits for ``item`` with an error."""
    if not item.done.done():
        item.done.set_exception(error)
        # Nobody waits for what the room asked of itself.
        item.done.exception()
