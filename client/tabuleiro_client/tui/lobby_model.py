"""The list of rooms as somebody looks at it: kept up to date, filtered, as rows of text. No textual, no I/O."""

from __future__ import annotations

import unicodedata
from collections import deque
from dataclasses import dataclass
from typing import Final

from tabuleiro.clock import NO_CLOCK
from tabuleiro.clock.texts import format_time_control
from tabuleiro.ids import AccountId, Phase, RoomCode
from tabuleiro.protocol.messages import ChatLine, LobbyUpdate, RoomList, RoomSummary
from tabuleiro.rules import registry
from tabuleiro.text import counted
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.endings import result_text
from tabuleiro_client.text.rooms import board_text, game_title, holder_text
from tabuleiro_client.text.terminal import showable

LINES_COUNT: Final = 100
"""Most lines of chat that are shown."""

HEADINGS: Final = ("room", "game", "board", "first", "second", "clock", "state")

_PHASES: Final[dict[str, tuple[Phase, ...] | None]] = {
    "open and running": None,
    "waiting for somebody": ("waiting",),
    "being played": ("playing",),
    "over": ("finished",),
}


_EMPTY: Final = {
    "open and running": "is open or being played now",
    "waiting for somebody": "waits for somebody now",
    "being played": "is being played now",
    "over": "is over and still listed",
}


@dataclass(frozen=True, slots=True)
class LobbyRow:
    """A room of the list. ``is_own``: this guest holds a seat; ``has_free_seat``: one can be taken."""

    room: RoomCode
    texts: tuple[str, ...]
    is_own: bool
    has_free_seat: bool


class LobbyModel:
    """The known rooms, newest first, and the people here. ``game`` ``None``: every game.

    ``wanted`` are words that a room must have in its code, its game or the names of its people; empty for all.
    ``hidden`` are the people, by account and name, whose chat is not shown.
    ``is_known`` tells that the server has answered with its list, ``is_cut`` that it has more rooms than it lists.
    """

    def __init__(self, account: AccountId, style: TextStyle) -> None:
        self.game: str | None = None
        self.wanted = ""
        self.state = next(iter(_PHASES))
        self.people: tuple[str, ...] = ()
        self.people_count = 0
        self.is_known = self.is_cut = False
        self.hidden: dict[AccountId, str] = {}
        self._lines: deque[ChatLine] = deque(maxlen=LINES_COUNT)
        self._account = account
        self._style = style
        self._rooms: dict[RoomCode, RoomSummary] = {}

    @property
    def phases(self) -> tuple[Phase, ...] | None:
        """The phases to ask the server for; ``None``: all unfinished rooms."""
        return _PHASES[self.state]

    def next_game(self) -> None:
        """Filter by the next game, or by none again."""
        games = (None, *registry.names())
        self.game = games[(games.index(self.game) + 1) % len(games)]

    def next_state(self) -> None:
        """Filter by the next state of rooms."""
        states = list(_PHASES)
        self.state = states[(states.index(self.state) + 1) % len(states)]

    def show_only(self, phase: Phase) -> None:
        """Filter by one state."""
        self.state = next(name for name, phases in _PHASES.items() if phases == (phase,))

    def start(self, rooms: RoomList) -> None:
        """Take in the list as the server answers with it."""
        self._rooms = {room.room: room for room in rooms.rooms}
        self.is_known, self.is_cut = True, rooms.is_cut
        self._lines.clear()
        self._lines.extend(rooms.chat)

    def take(self, update: LobbyUpdate) -> None:
        """Take in what has changed since."""
        for code in update.gone:
            self._rooms.pop(code, None)
        self._rooms |= {room.room: room for room in update.rooms}
        self.people, self.people_count = update.people, update.people_count
        self._lines.extend(update.chat)

    def chat(self) -> tuple[ChatLine, ...]:
        """Return the last lines of chat, of everybody who is not hidden."""
        return tuple([line for line in self._lines if line.account not in self.hidden])

    def writers(self) -> dict[AccountId, str]:
        """Return the others who have written, or are hidden, by their accounts."""
        written = {line.account: line.name for line in self._lines if line.account != self._account}
        return self.hidden | written

    def hide(self, account: AccountId) -> None:
        """Show what somebody writes no longer; if it was hidden, show it again."""
        if account in self.hidden:
            del self.hidden[account]
        else:
            self.hidden[account] = self.writers()[account]

    def rows(self) -> list[LobbyRow]:
        """Return the rooms that all filters let through, newest first."""
        words = folded(self.wanted).split()
        newest_first = sorted(self._listed(), key=lambda room: -room.created_at_ms)
        return [self._row(room) for room in newest_first if all(word in _searched(room) for word in words)]

    def filter_text(self) -> str:
        """Return the filters by game and by state, in a few words."""
        return f"game (g): {self._game_title or 'every game'}   rooms (f): {self.state}"

    def count_text(self, shown_count: int) -> str:
        """Return the number of rooms shown; empty before there is a list."""
        newest = "the newest " if self.is_cut else ""
        return f"{shown_count} of {newest}{len(self._listed())} shown" if self.is_known else ""

    def empty_lines(self) -> list[str]:
        """Return the reason why nothing is shown, and the keys that help."""
        count = len(self._listed())
        if not self.is_known:
            return ["asking for the list of rooms ..."]
        if count:
            many = f"{'newest ' if self.is_cut else ''}{count} rooms" if count > 1 else "one room"
            of_game = f" of {self._game_title}" if self.game else ""
            wanted = showable(self.wanted.strip(), self._style)
            return [
                f'Nothing has "{wanted}" in its code, its game or its names,',
                f"of the {many}{of_game} ({self.state}).",
                "",
                "Esc shows them all, F3 looks for something else, j joins a room by its code.",
            ]
        what = f"No room of {self._game_title}" if self.game else "No room"
        others = ["g and f show others.", ""] if self.game or self.phases else []
        return [f"{what} {_EMPTY[self.state]}.", "", *others, "n makes one, q plays with whoever waits."]

    @property
    def _game_title(self) -> str:
        return "" if self.game is None else game_title(self.game)

    def _listed(self) -> list[RoomSummary]:
        """Return the rooms of the game and in the state chosen: the list of before may still be there."""
        phases = self.phases or ("waiting", "playing")
        return [room for room in self._rooms.values() if room.phase in phases and self.game in (None, room.game)]

    def people_text(self) -> str:
        """Return the people here on one line."""
        names = ", ".join(showable(name, self._style) for name in self.people)
        more = self.people_count - len(self.people)
        return f"{self.people_count} here (t: chat): {names}{f' and {more} more' if more > 0 else ''}"

    def people_lines(self) -> list[str]:
        """Return the people here, a name a line."""
        return [showable(name, self._style) for name in self.people]

    def _row(self, room: RoomSummary) -> LobbyRow:
        seats = [showable(holder_text(seat), self._style) for seat in room.seats]
        control = room.settings.time_control
        clock = "-" if control == NO_CLOCK else format_time_control(control)
        texts = (room.room, game_title(room.game), board_text(room), *seats, clock, _state_text(room))
        is_own = any(seat.account == self._account for seat in room.seats)
        has_free_seat = room.phase == "waiting" and any(seat.kind == "open" for seat in room.seats)
        return LobbyRow(room.room, texts, is_own, has_free_seat)


def _searched(room: RoomSummary) -> str:
    """Return the texts of a room that are searched for the wanted words, folded."""
    names = [seat.name or "" for seat in room.seats]
    return folded("\n".join((room.room, room.game, game_title(room.game), *names, *(room.players or ()))))


def folded(text: str) -> str:
    """Return ``text`` without case and accents, so that a search finds letters that cannot be typed.

    >>> folded("Jos\u00e9")
    'jose'
    """
    parted = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in parted if not unicodedata.combining(letter)).casefold()


def _state_text(room: RoomSummary) -> str:
    if room.phase == "waiting":
        return "waiting"
    if room.phase == "playing":
        state = f"playing, {counted(room.plies, 'action')}"
    else:
        state = result_text(("first", "second"), room.winner, room.termination or "")
    return f"{state}, {room.watchers} watch" if room.watchers else state
