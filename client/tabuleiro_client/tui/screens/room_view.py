"""The base of all screens of a room: its events, requests to it, chat, muting."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from textual.css.query import NoMatches
from textual.screen import Screen

from tabuleiro.errors import ClientError, CommandError, UnknownOutcomeError
from tabuleiro.protocol.messages import CHAT_MAX_CHARS
from tabuleiro_client.net.room import Change, EnteredRoom
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.text.sentences import chat_problem
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui.context import context_of
from tabuleiro_client.tui.match_model import MatchModel
from tabuleiro_client.tui.open_room import OpenRoom
from tabuleiro_client.tui.screens.questions import PickerScreen
from tabuleiro_client.tui.widgets.chat import Entry

ANSWER_EXPECTED_S: Final = 3.0
NO_ANSWER_YET: Final = "no answer from the server yet"


class RoomView(Screen[None]):
    """A screen that shows ``open_room``, which it sets before it is mounted."""

    open_room: OpenRoom

    @property
    def room(self) -> EnteredRoom:
        """The room."""
        return self.open_room.room

    @property
    def game_name(self) -> str:
        """The name of the game of the room."""
        return self.room.mirror.game.name

    @property
    def model(self) -> MatchModel:
        """The model of the room."""
        return self.open_room.model

    def on_mount(self) -> None:
        self.open_room.add(self)
        self.run_worker(self._show(), name="show a room")

    def on_unmount(self) -> None:
        self.open_room.remove(self)

    async def _show(self) -> None:
        """Show the room, and follow it if no screen below this one does."""
        # A screen that is being left loses the first of its widgets first: there is nothing to show any more.
        with suppress(NoMatches):
            self.begin()
            if not self.open_room.is_followed:
                await self.open_room.follow()

    def begin(self) -> None:
        """Show the room for the first time."""

    def hear(self, change: Change, said: str) -> None:
        """Take note of what has just happened."""

    def catch_up(self) -> None:
        """Show the room as it is now."""

    def say(self, text: str) -> None:
        """Say something; empty for nothing."""

    def ask(
        self, request: Coroutine[Any, Any, None], said: str = "", line: str = "", *, is_quick: bool = True
    ) -> None:
        """Ask the room for something, and say ``said`` when it was done.

        What went wrong is said, and a ``line`` typed for it comes back; ``is_quick``: an answer is expected soon.
        """
        self.run_worker(self._answered(request, said, line, is_quick=is_quick), name="request", group="requests")

    async def _answered(
        self, request: Coroutine[Any, Any, None], said: str, line: str, *, is_quick: bool = True
    ) -> None:
        try:
            await (self.awaited(request, lambda: self.say(NO_ANSWER_YET)) if is_quick else request)
            if self.model.message == NO_ANSWER_YET:
                self.say("")
        except (CommandError, ClientError) as error:
            if isinstance(error, UnknownOutcomeError):
                self.model.is_in_doubt = True
            self._refuse(problem_text(error), line)
        else:
            if said:
                self.say(said)

    async def awaited(self, request: Coroutine[Any, Any, None], tell: Callable[[], None]) -> None:
        """Await an answer, and have ``tell`` called if it takes long: a server that hangs says nothing itself."""
        waiting = self.set_timer(ANSWER_EXPECTED_S, tell)
        try:
            await request
        finally:
            waiting.stop()

    def _refuse(self, why: str, line: str, column: int | None = None) -> None:
        self.say(why)
        if line:
            for entry in self.query(Entry):
                entry.refuse("say", line, column)

    def say_to_room(self, text: str) -> None:
        """Write a line of chat; what cannot be said is kept in the line."""
        problem = chat_problem(text)
        if problem:
            self._refuse(problem, text, CHAT_MAX_CHARS + 1)
        elif self.model.is_gone:
            self._refuse("the room is gone: nobody hears that any more", text)
        else:
            self.ask(self.room.say(text), line=text)

    def can_mute(self) -> bool:
        """Return whether this guest is the host, and there is somebody to mute."""
        mirror = self.room.mirror
        return context_of(self).is_host_of(mirror.head) and bool(self.model.talk_rights.people(mirror))

    def action_chat(self) -> None:
        """Write to the room."""
        self.query_one(Entry).open_for("say")

    def action_mute(self) -> None:
        """Ask who shall be muted, or may chat again."""
        people = self.model.talk_rights.people(self.room.mirror)

        def title(name: str) -> str:
            shown = showable(name, context_of(self).writing)
            return f"let {shown} chat again" if people[name] else f"mute {shown}"

        async def change(name: str) -> None:
            await self.room.mute(name, is_muted=not people[name])
            self.model.talk_rights.note(name, is_muted=not people[name])

        def picked(name: str | None) -> None:
            if name is not None:
                self.ask(change(name))

        self.app.push_screen(
            PickerScreen("Who may chat in this room?", {name: title(name) for name in people}), picked
        )
