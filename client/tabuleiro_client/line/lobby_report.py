"""Telling the list of rooms and what changes in it, line by line."""

from __future__ import annotations

from collections.abc import Callable

from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import Announcement, LobbyUpdate, RoomList, RoomSummary
from tabuleiro_client.line.screen import Screen
from tabuleiro_client.net.lobby import LobbyNews
from tabuleiro_client.text.room_list import room_line, room_lines


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
