"""A room that this application has entered: followed once, shown by one screen or by several above each other."""

from __future__ import annotations

from typing import Protocol

from tabuleiro.errors import TabuleiroError
from tabuleiro_client.net.room import Change, EnteredRoom
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.tui.match_model import MatchModel
from tabuleiro_client.tui.pacing import spared_objects


class RoomListener(Protocol):
    """The view of an entered room."""

    def hear(self, change: Change, said: str) -> None:
        """Show a change that the model took in; ``said`` is its sentence, or empty."""

    def catch_up(self) -> None:
        """Nothing else has happened yet: show the room as it is now."""

    def say(self, text: str) -> None:
        """Say why nothing more is going to happen."""


class OpenRoom:
    """The room, and the model of it that its screens share; with ``is_watching`` nothing can be played.

    Whoever calls :meth:`follow` is the first to show the room and the last to leave it.
    """

    def __init__(self, room: EnteredRoom, style: TextStyle, *, is_watching: bool = False) -> None:
        self.room = room
        self.model = MatchModel(room.mirror, style, is_watching=is_watching)
        self.is_followed = False
        self._listeners: list[RoomListener] = []

    def add(self, listener: RoomListener) -> None:
        """Let a screen hear what happens."""
        self._listeners.append(listener)

    def remove(self, listener: RoomListener) -> None:
        """Let a screen hear nothing any more."""
        self._listeners.remove(listener)

    async def follow(self) -> None:
        """Keep the model in step with the room until it is gone, or this is cancelled; then close the room."""
        self.is_followed = True
        try:
            with spared_objects():
                async for change in self.room:
                    self._take(change)
            self._catch_up()  # the room is gone, and what came last is not shown yet
        except TabuleiroError as error:
            for listener in self._listeners:
                listener.say(problem_text(error))
        finally:
            await self.room.close()

    def _take(self, change: Change) -> None:
        before = self.model.message
        self.model.take(change)
        said = self.model.message if self.model.message != before else ""
        for listener in self._listeners:
            listener.hear(change, said)
        if not self.room.has_unread:
            self._catch_up()

    def _catch_up(self) -> None:
        # A copy: showing a match that has begun opens its screen.
        for listener in tuple(self._listeners):
            listener.catch_up()
