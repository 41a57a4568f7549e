"""A stay in one room in line mode: reads commands and actions while the room goes on, until it or the wish ends.

Showing is left to :mod:`tabuleiro_client.match_report`, the connection to :mod:`tabuleiro_client.entered_room`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from enum import Enum
from typing import Final

from tabuleiro.errors import CommandError, ConnectionLostError, TurnError
from tabuleiro.notation.actions import format_turn, parse_turn
from tabuleiro_client.entered_room import (
    Change,
    EnteredRoom,
    Gone,
    Happened,
    HeadChanged,
    Lost,
    Refreshed,
    Restored,
    Said,
)
from tabuleiro_client.line_input import Line, LineReader
from tabuleiro_client.match_report import MatchReport
from tabuleiro_client.screen import Screen

HELP: Final = """\
c3 d4     play these actions of your turn: one or several on a line
?         show the board with what may be chosen marked
board     show the board
who       show who plays and how many watch
rules     show the rules of this game
resign    give the match up
quit      leave; the seat in a running match stays yours"""

NOTHING_PLAYED: Final = "nothing was played; ? shows what can be, help lists the commands"


class Stay(Enum):
    """How a stay in a room ended."""

    FINISHED = "finished"
    """The match is over, or the room is gone."""
    QUIT = "quit"
    """The person asked to leave."""
    INPUT_ENDED = "input ended"


class PlainMatch:
    """A stay in ``room``; ``invitation`` is the command by which somebody else joins it, ``way_back``
    how this guest comes back to it.

    With ``is_watching`` nothing can be played even if this guest holds a seat.
    """

    def __init__(
        self,
        room: EnteredRoom,
        lines: LineReader,
        screen: Screen,
        *,
        invitation: str,
        way_back: str,
        is_watching: bool = False,
    ) -> None:
        self._room = room
        self._mirror = room.mirror
        self._lines = lines
        self._screen = screen
        self._way_back = way_back
        self._is_playing = bool(room.mirror.own_seats) and not is_watching
        self._report = MatchReport(room.mirror, screen, invitation, is_watching=is_watching)
        self._is_linked = True
        self._is_confirming = False
        self._held_text: str | None = None
        self._is_input_open = True
        self._reading: asyncio.Task[Line | None] | None = None
        self._news: asyncio.Task[Change | None] | None = None
        self._sending: asyncio.Task[None] | None = None
        self._end: Stay | None = None

    async def stay(self) -> Stay:
        """Show the room and obey until it is over.

        Raises: ConnectionLostError or what else ended the link for good.
        """
        try:
            self._report.show_room()
            self._end_with_room()
            while self._end is None:
                await self._step()
            return self._end
        except asyncio.CancelledError:
            self._screen.break_line()
            self._say_how_to_come_back()
            raise
        finally:
            self._screen.close_prompt()
            tasks = [task for task in (self._reading, self._news, self._sending) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def _can_act(self) -> bool:
        return self._is_playing and self._mirror.is_my_turn

    @property
    def _wants_line(self) -> bool:
        """A person may type at any time; a script is read on only when its last line was dealt with."""
        is_free = self._lines.is_terminal or (self._sending is None and self._held_text is None)
        return self._is_input_open and is_free

    async def _step(self) -> None:
        """Take in one thing: news first, then the answer to what was sent, then what was typed."""
        if self._news is None:
            self._news = asyncio.create_task(self._room.next_change())
        if self._news.done() or self._room.has_unread:
            news, self._news = self._news, None
            self._take_change(await news)
        elif self._sending is not None and self._sending.done():
            sent, self._sending = self._sending, None
            self._take_answer(sent)
        elif self._held_text is not None and self._can_act:
            text, self._held_text = self._held_text, None
            self._act(text)
        elif self._reading is not None and self._reading.done():
            line, self._reading = self._reading.result(), None
            await self._take_line(line)
        else:
            await self._wait(self._news)

    async def _wait(self, news: asyncio.Task[Change | None]) -> None:
        if self._is_confirming or (self._can_act and self._sending is None):
            self._screen.prompt()
        if self._reading is None and self._wants_line:
            self._reading = asyncio.create_task(self._lines.next_line())
        others = [task for task in (self._reading, self._sending) if task is not None]
        await asyncio.wait([news, *others], return_when=asyncio.FIRST_COMPLETED)

    def _take_change(self, change: Change | None) -> None:
        match change:
            case Happened(step, head):
                self._report.show_event(step, head)
            case HeadChanged(head):
                self._report.show_presence(head)
            case Refreshed():
                self._report.show_room()
            case Lost(reason):
                self._is_linked = False
                self._screen.say(f"connection lost ({reason}); trying to come back")
            case Restored():
                self._is_linked = True
                self._screen.say("connected again")
                if self._sending is None:
                    self._report.show_turn()
            case Said(text):
                self._screen.say(f"the server says: {text}")
            case Gone(reason):
                self._screen.say(f"room {self._room.code} is gone: {reason}")
                self._end = Stay.FINISHED
            case None:
                self._end = Stay.FINISHED
        if not self._room.has_unread:
            self._end_with_room()

    def _end_with_room(self) -> None:
        if self._mirror.head.phase in ("finished", "closed"):
            self._end = Stay.FINISHED

    async def _take_line(self, line: Line | None) -> None:
        if line is None:
            self._is_input_open = False
            if self._lines.is_terminal or self._is_playing:
                await self._leave(Stay.INPUT_ENDED)
            return
        self._screen.line_was_typed()
        if line.problem:
            self._screen.say(line.problem, NOTHING_PLAYED)
        elif self._is_confirming:
            self._confirm(line.text)
        elif line.text:
            await self._obey(line.text)

    async def _obey(self, text: str) -> None:
        match text.lower():
            case "?":
                self._report.show_choices()
            case "help" | "h":
                self._screen.say(*HELP.splitlines())
            case "board":
                self._report.show_position()
                self._report.show_turn()
            case "who":
                self._report.show_who()
            case "rules":
                self._screen.say(*self._mirror.game.rules_page.splitlines())
            case "resign":
                self._ask_to_resign()
            case "quit" | "exit" | "q":
                await self._leave(Stay.QUIT)
            case _:
                self._act(text)

    def _ask_to_resign(self) -> None:
        if not self._is_playing:
            self._screen.say("you are watching and have nothing to give up")
        elif self._mirror.head.phase != "playing":
            self._screen.say("the match has not begun: quit leaves")
        else:
            self._screen.say("give this match up? type yes to resign, anything else to go on")
            self._is_confirming = True

    def _confirm(self, text: str) -> None:
        self._is_confirming = False
        if text.lower() == "yes":
            self._send(self._room.resign())
        else:
            self._screen.say("not resigned")
            self._report.show_turn()

    def _act(self, text: str) -> None:
        """Read ``text`` as actions of the own turn and send them."""
        if not self._is_playing:
            self._screen.say("you are watching: help lists the commands, quit leaves")
        elif self._can_act:
            self._send_actions(text)
        elif not self._lines.is_terminal:
            self._held_text = text
        elif self._mirror.head.phase == "waiting":
            self._screen.say("the match has not begun (help lists the commands)")
        else:
            self._screen.say(f"not your turn: {self._report.cast.turn(self._mirror.state)}")

    def _send_actions(self, text: str) -> None:
        state = self._mirror.state
        try:
            actions = parse_turn(state, text)
        except TurnError as error:
            self._screen.say(str(error), NOTHING_PLAYED)
            return
        if not actions:
            self._screen.say(NOTHING_PLAYED)
            return
        self._send(self._room.play(format_turn(state, actions).split(" ")))

    def _send(self, sending: Coroutine[None, None, None]) -> None:
        if self._sending is not None:
            sending.close()
            self._screen.say("what you sent before is still on its way")
            return
        if not self._is_linked:
            self._screen.say("not connected now: this is sent as soon as the connection is back")
        self._sending = asyncio.create_task(sending)

    def _take_answer(self, sent: asyncio.Task[None]) -> None:
        try:
            sent.result()
        except CommandError as error:
            if self._mirror.head.phase == "playing":
                self._screen.say(f"the server refuses: {error.message}")
                self._report.show_turn()

    async def _leave(self, how: Stay) -> None:
        """Give up a seat that is not played from yet, say how to come back to any other, and end the stay."""
        self._end = how
        if self._sending is not None and self._is_linked:
            await asyncio.wait([self._sending])
        if how is Stay.QUIT and self._is_playing and self._mirror.head.phase == "waiting":
            with suppress(CommandError, ConnectionLostError):
                await self._room.leave()
        else:
            self._say_how_to_come_back()

    def _say_how_to_come_back(self) -> None:
        if self._is_playing and self._mirror.head.phase in ("waiting", "playing"):
            self._screen.say("you leave and keep your seat; to come back:")
            self._screen.say_command(self._way_back)
