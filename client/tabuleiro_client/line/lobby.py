"""The lobby in line mode: the rooms of a server as they change, and the chat with the people who look at them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tabuleiro.errors import CommandError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import Announcement, ChatLine, LobbyUpdate, RoomList, RoomSummary
from tabuleiro_client.line.terminal import Line, LineReader, Screen
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.lobby import LobbyNews, follow_lobby
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.text.rooms import room_line, room_lines
from tabuleiro_client.text.sentences import chat_problem, said


class LobbyReport:
    """Tells news of a lobby on ``screen``; ``now_ms`` gives the server's time."""

    def __init__(self, screen: Screen, now_ms: Callable[[], int]) -> None:
        self._screen = screen
        self._now_ms = now_ms
        self._rooms: dict[RoomCode, RoomSummary] = {}

    def tell(self, news: LobbyNews) -> None:
        """Tell the whole list, or what is new, changed and gone since."""
        match news:
            case RoomList(rooms=rooms, is_cut=is_cut):
                self._rooms = {room.room: room for room in rooms}
                self._screen.say(*room_lines(rooms, self._now_ms()))
                if is_cut:
                    self._screen.say("there are more rooms than are listed")
            case LobbyUpdate():
                self._tell_update(news)
                for line in news.chat:
                    self._screen.say(f"chat:    {said(line.name, line.text, is_player=True)}")
            case Announcement(text=text):
                self._screen.say(f"the server says: {text}")
            case _:
                self._screen.say(f"connection lost ({news.reason}); trying to come back")

    def _tell_update(self, update: LobbyUpdate) -> None:
        for room in update.rooms:
            before = self._rooms.get(room.room)
            if room != before:
                word = "new:    " if before is None else "changed:"
                self._screen.say(f"{word} {room_line(room, self._now_ms())}")
            self._rooms[room.room] = room
        for code in update.gone:
            if self._rooms.pop(code, None) is not None:
                self._screen.say(f"gone:    {code}")


class LobbyChat:
    """The chat with the people in the lobby of ``link``, as one who types at ``screen`` and ``lines``."""

    def __init__(self, link: Link, lines: LineReader, screen: Screen) -> None:
        self._link = link
        self._lines = lines
        self._screen = screen
        self._names: tuple[str, ...] = ()

    async def stay(self) -> bool:
        """Show what is written and send what is typed, until an empty line; return False if the input has ended.

        Raises: CommandError, ConnectionLostError.
        """
        self._screen.say("", "What you type is sent to everybody in the lobby; an empty line goes back.")
        async with follow_lobby(self._link) as lobby:
            reading: asyncio.Task[Line | None] = asyncio.create_task(self._lines.next_line())
            news = asyncio.ensure_future(anext(lobby))
            try:
                while True:
                    self._screen.prompt()
                    await asyncio.wait((reading, news), return_when=asyncio.FIRST_COMPLETED)
                    if news.done():
                        self._tell(news.result())
                        news = asyncio.ensure_future(anext(lobby))
                        continue
                    self._screen.line_was_typed()
                    line = reading.result()
                    if line is None or not (line.text or line.problem):
                        return line is not None
                    await self._send(line)
                    reading = asyncio.create_task(self._lines.next_line())
            except StopAsyncIteration:
                return True
            finally:
                reading.cancel()
                news.cancel()
                await asyncio.gather(reading, news, return_exceptions=True)

    def _tell(self, news: LobbyNews) -> None:
        match news:
            case RoomList(chat=lines):
                self._tell_lines(lines)
            case LobbyUpdate(people=people, people_count=count, chat=lines):
                if people != self._names:
                    more = f" and {count - len(people)} more" if count > len(people) else ""
                    self._screen.say(f"{count} here: {', '.join(people)}{more}")
                    self._names = people
                self._tell_lines(lines)
            case Announcement(text=text):
                self._screen.say(f"the server says: {text}")
            case _:
                self._screen.say(f"connection lost ({news.reason}); trying to come back")

    def _tell_lines(self, lines: tuple[ChatLine, ...]) -> None:
        for line in lines:
            self._screen.say(said(line.name, line.text, is_player=True))

    async def _send(self, line: Line) -> None:
        problem = line.problem or chat_problem(line.text)
        if not problem:
            try:
                await self._link.say_in_lobby(line.text)
            except CommandError as error:
                problem = problem_text(error)
        if problem:
            self._screen.say(problem)
