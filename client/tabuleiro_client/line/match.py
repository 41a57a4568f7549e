"""A stay in one room in line mode: reads commands and actions while the room goes on, until it or the wish ends.

Showing is left to :mod:`tabuleiro_client.line.reports`, most commands to
:mod:`tabuleiro_client.line.commands`, the
connection to :mod:`tabuleiro_client.net.room`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any, Final

from tabuleiro.errors import (
    ClientError,
    CommandError,
    ConnectionLostError,
    IllegalActionError,
    NotationError,
    TurnError,
    shown,
)
from tabuleiro.notation.actions import format_turn, parse_turn
from tabuleiro.rules import State
from tabuleiro_client.line.commands import CommandGroup, CommandTable, Doubt, RoomCommand, RoomCommands
from tabuleiro_client.line.reports import MatchReport, RoomAnswers
from tabuleiro_client.line.ships import answered, open_move, question_lines, sight_of
from tabuleiro_client.line.terminal import Line, LineReader, Screen
from tabuleiro_client.models.ships import ShipChoice
from tabuleiro_client.models.turn_composer import forced_action
from tabuleiro_client.net.mirror import Mirror
from tabuleiro_client.net.room import (
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
from tabuleiro_client.net.server import Signposts
from tabuleiro_client.text.board import laid_text
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.text.sentences import Notice, timed_notices

ACTIONS_HELP: Final = "type the actions of your turn, one or several on a line, e.g. c3 d4; or:"
NOTHING_PLAYED: Final = "nothing was played. ? shows the playable cells, help lists the commands"
_NO_WORDS: Final = ("no", "n", "cancel")


class Stay(Enum):
    """The ways in which a stay in a room ends."""

    FINISHED = "finished"
    """The match is over, or the room is gone."""
    QUIT = "quit"
    """The person asked to leave."""
    INPUT_ENDED = "input ended"


class LineMatch:
    """A stay in ``room``; ``signposts`` are the commands that lead there, ``levels`` those of the server's bots.

    With ``is_watching`` nothing can be played even if this guest holds a seat. ``lays_forced``: a second stone of
    Iris with one cell left is played by itself.
    """

    def __init__(
        self,
        room: EnteredRoom,
        lines: LineReader,
        screen: Screen,
        *,
        signposts: Signposts,
        levels: Sequence[str] = (),
        is_watching: bool = False,
        lays_forced: bool = False,
    ) -> None:
        self._room = room
        self._mirror = room.mirror
        self._lines = lines
        self._screen = screen
        self._way_back = signposts.back
        self._lays_forced = lays_forced
        self._report = MatchReport(room.mirror, screen, signposts, is_watching=is_watching)
        answers = RoomAnswers(room.mirror, screen, self._report)
        self._answers = answers
        desk = RoomCommands(room, screen, self._report, answers, levels, self._send, self._confirm)
        self._desk = desk
        self._commands = CommandTable((*desk.groups(), CommandGroup("leaving", self._leaving_commands())))
        self._is_linked = True
        self._doubt: Doubt | None = None
        self._question: ShipChoice | None = None
        self._held_text: str | None = None
        self._is_input_open = True
        self._told: set[Notice] = set()
        self._told_end = 0
        self._has_remarked = False
        self._reading: asyncio.Task[Line | None] | None = None
        self._news: asyncio.Task[Change | None] | None = None
        self._sending: asyncio.Task[None] | None = None
        self._end: Stay | None = None

    def _leaving_commands(self) -> tuple[RoomCommand, ...]:
        return (
            RoomCommand(("resign",), "[SIDE]", "resign the match", self._desk.ask_to_resign),
            RoomCommand(("quit", "exit", "q"), "", "leave; the seat in a running match stays yours", self._quit),
            RoomCommand(("help", "h"), "", "list the commands", self._help),
        )

    async def stay(self) -> Stay:
        """Show the room and obey until it is over.

        Raises: ConnectionLostError or what else ended the link for good.
        """
        try:
            self._report.show_room()
            self._end_with_room()
            while self._end is None:
                await self._step()
            await self._leave(self._end)
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
    def _is_playing(self) -> bool:
        return bool(self._report.own_seats)

    @property
    def _can_act(self) -> bool:
        return self._mirror.to_move is not None and self._mirror.to_move in self._report.own_seats

    @property
    def _wants_line(self) -> bool:
        """A person may type at any time; a script is read on only when its last line was dealt with."""
        is_free = self._lines.is_terminal or (self._sending is None and self._held_text is None)
        return self._is_input_open and is_free

    @property
    def _is_settling(self) -> bool:
        """True if the next line has to wait; without a connection it does not, since that may last."""
        return self._sending is not None and self._is_linked

    @property
    def _is_asking(self) -> bool:
        """True if an answer is waited for: then a prompt stands."""
        is_between_matches = self._mirror.head.phase in ("waiting", "finished")
        return self._doubt is not None or self._question is not None or is_between_matches or self._can_act

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
        elif self._reading is not None and self._reading.done() and not self._is_settling:
            line, self._reading = self._reading.result(), None
            self._take_line(line)
        else:
            await self._wait(self._news)

    async def _wait(self, news: asyncio.Task[Change | None]) -> None:
        now_ms = self._room.server_now_ms()
        coming = self._tell_notices(now_ms)
        if self._is_asking and self._sending is None:
            self._screen.prompt(self._report.prompt(now_ms))
        if self._reading is None and self._wants_line:
            self._reading = asyncio.create_task(self._lines.next_line())
        others = [task for task in (self._reading, self._sending) if task is not None and not task.done()]
        timeout_s = None if coming is None else (coming.at_ms - now_ms) / 1000
        await asyncio.wait([news, *others], timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)

    def _tell_notices(self, now_ms: int) -> Notice | None:
        """Tell what time alone has brought by now, and return the next such notice."""
        all_known = set(timed_notices(self._mirror.head, self._report.cast, self._report.own_seats))
        self._told &= all_known
        untold = sorted(all_known - self._told, key=lambda notice: notice.at_ms)
        for notice in untold:
            if notice.at_ms > now_ms:
                return notice
            self._told.add(notice)
            self._screen.say(notice.text)
        return None

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
            self._drop_void_question()
            self._end_with_room()

    def _drop_void_question(self) -> None:
        if self._question is not None and self._question.position != self._mirror.state:
            self._question = None
            self._screen.say("the position has changed; the question before no longer counts")

    def _end_with_room(self) -> None:
        """End with the match for a script, and where no person plays who could want another."""
        head = self._mirror.head
        has_people = any(seat.holder.kind == "person" for seat in head.seats)
        is_staying = self._lines.is_terminal and self._is_input_open and has_people
        if head.phase == "closed" or (head.phase == "finished" and not is_staying):
            self._end = Stay.FINISHED
        elif head.phase == "finished" and self._end is None and self._told_end != _match_number(self._mirror):
            self._told_end = _match_number(self._mirror)
            self._report.show_what_next()

    def _take_line(self, line: Line | None) -> None:
        if line is None:
            self._is_input_open = False
            if self._lines.is_terminal or self._is_playing:
                self._end = Stay.INPUT_ENDED
            return
        self._screen.line_was_typed()
        if line.problem:
            self._screen.say(line.problem, NOTHING_PLAYED)
        elif self._doubt is not None:
            self._settle(self._doubt, line.text)
        elif line.text:
            self._obey(line.text)

    def _obey(self, text: str) -> None:
        found = self._commands.find(text)
        if found is None and self._question is not None:
            self._decide(self._question, text)
        elif found is None:
            self._act(text)
        else:
            command, rest = found
            problem = command.problem(rest)
            if problem:
                self._screen.say(problem)
            else:
                command.run(rest)

    def _help(self, _: str) -> None:
        self._screen.say(ACTIONS_HELP, *self._commands.help_lines())

    def _quit(self, _: str) -> None:
        self._end = Stay.QUIT

    def _confirm(self, doubt: Doubt) -> None:
        self._doubt = doubt
        self._screen.say(doubt.question)

    def _settle(self, doubt: Doubt, text: str) -> None:
        self._doubt = None
        if text.lower() == "yes":
            self._send(doubt.request())
        else:
            self._screen.say(doubt.otherwise)
            self._report.show_turn()

    def _decide(self, question: ShipChoice, text: str) -> None:
        """Take ``text`` as the answer to what was asked about a move."""
        self._question = None
        if text.lower() in _NO_WORDS:
            self._screen.say("nothing was played")
            return
        try:
            decided = answered(question, self._report.cells.typed(text))
        except NotationError as error:
            self._report.say_of_cells(str(error))
            self._question = question
            return
        if isinstance(decided, str):
            self._send_actions(decided)
        else:
            self._ask(decided)

    def _ask(self, question: ShipChoice) -> None:
        self._question = question
        self._report.say_of_cells(*question_lines(question))

    def _act(self, text: str) -> None:
        """Read ``text`` as actions of the own turn and send them, or show what the piece that it names can do."""
        is_waiting_script = self._is_playing and not self._can_act and not self._lines.is_terminal
        if is_waiting_script:
            self._held_text = text
            return
        self._remark_on(text)
        try:
            text = self._report.cells.typed(text)
        except NotationError as error:
            self._screen.say(str(error), NOTHING_PLAYED)
            return
        if self._mirror.to_move is not None:
            sight = sight_of(self._mirror.state, text)
            if sight is not None:
                self._answers.show_sight(sight)
                return
        if not self._is_playing:
            self._screen.say("you are watching: help lists the commands, quit leaves")
        elif self._can_act:
            self._send_actions(text)
        elif self._mirror.head.phase == "playing":
            self._screen.say(f"not your turn: {self._report.cast.turn(self._mirror.state)}")
        else:
            is_over = self._mirror.head.phase == "finished"
            self._screen.say(f"the match {'is over' if is_over else 'has not begun'} (help lists the commands)")

    def _remark_on(self, text: str) -> None:
        """Say once that a cell is another one in the game's report."""
        remark = "" if self._has_remarked else self._report.cells.remark(text)
        if remark:
            self._has_remarked = True
            self._screen.say(remark)

    def _send_actions(self, text: str) -> None:
        state = self._mirror.state
        try:
            question = open_move(state, text)
            actions = parse_turn(state, text) if question is None else ()
        except TurnError as error:
            self._report.say_of_cells(str(error), NOTHING_PLAYED)
            return
        except IllegalActionError as error:
            self._report.say_of_cells(f"{shown(text)}: {error.reason}", NOTHING_PLAYED)
            return
        if question is not None:
            self._ask(question)
        elif not actions:
            self._screen.say(NOTHING_PLAYED)
        else:
            actions = self._completed(state, actions)
            if self._sending is None and not self._is_linked:
                self._screen.say("not connected: your turn is sent as soon as the connection is back")
            self._send(self._room.play(format_turn(state, actions).split(" ")))

    def _completed(self, state: State, actions: tuple[int, ...]) -> tuple[int, ...]:
        """Return a turn with the stone that the rules force, which is told."""
        after = state
        for action in actions:
            after = after.child(action)
        forced = forced_action(after) if self._lays_forced and after.turn_number == state.turn_number else None
        if forced is None:
            return actions
        self._report.say_of_cells(laid_text(after.action_to_string(forced)))
        return (*actions, forced)

    def _send(self, sending: Coroutine[Any, Any, None]) -> None:
        if self._sending is not None:
            sending.close()
            self._screen.say("your last turn is still on its way")
        else:
            self._sending = asyncio.create_task(sending)

    def _take_answer(self, sent: asyncio.Task[None]) -> None:
        try:
            sent.result()
        except (CommandError, ClientError) as error:
            self._screen.say(problem_text(error))
            self._report.show_turn()

    async def _leave(self, how: Stay) -> None:
        """Give up a seat that is not played from now, or say how to come back to it."""
        if self._sending is not None and self._is_linked:
            await asyncio.wait([self._sending])
        if how is Stay.QUIT and self._is_playing and self._mirror.head.phase in ("waiting", "finished"):
            with suppress(CommandError, ConnectionLostError):
                await self._room.leave()
        elif how is not Stay.FINISHED:
            self._say_how_to_come_back()

    def _say_how_to_come_back(self) -> None:
        if self._is_playing and self._mirror.head.phase in ("waiting", "playing"):
            self._screen.say("You left; your seat is kept. To return:")
            self._screen.say_command(self._way_back)


def _match_number(mirror: Mirror) -> int:
    return 0 if mirror.match is None else mirror.match.number
