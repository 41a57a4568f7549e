"""Answers to what a person asks about a room: what can be played and why not, who is here, the clocks.

It asks the server nothing: everything comes from the mirror.
"""

from __future__ import annotations

from typing import Final

from tabuleiro.clock import NoClock
from tabuleiro.errors import NotationError, shown
from tabuleiro.ids import PLAYERS
from tabuleiro.rules import State
from tabuleiro.rules.view import BoardView, Mark
from tabuleiro_client.line.match_report import MatchReport
from tabuleiro_client.line.screen import Screen
from tabuleiro_client.models.action_guide import Sight
from tabuleiro_client.models.guides import guide_of
from tabuleiro_client.net.mirror import Mirror
from tabuleiro_client.text.clocks import format_duration
from tabuleiro_client.text.sentences import holder_text
from tabuleiro_client.text.spoken import choices_text, place_text

_LISTED_MAX_COUNT: Final = 60
_LISTED_IN_LINE_COUNT: Final = 10


class RoomAnswers:
    """Answers questions about the room of ``mirror``; names are those of ``report``."""

    def __init__(self, mirror: Mirror, screen: Screen, report: MatchReport) -> None:
        self._mirror = mirror
        self._screen = screen
        self._report = report

    def show_choices(self) -> None:
        """Show what may be played now: marked on the board, and listed where it is no cell."""
        state = self._mirror.state
        if self._mirror.to_move is None:
            self._screen.say("nothing can be played now")
            return
        view = state.view()
        if self._screen.style.is_spoken:
            self._screen.say(choices_text(view))
        else:
            self._screen.show_board(view, show_legal=True, show_legend=True)
            self._explain_marks(view)
        overview = guide_of(self._mirror.game).overview(state)
        if overview:
            self._screen.say(overview)
        else:
            self._list_unmarked(state, view)
        self._report.show_turn()

    def _explain_marks(self, view: BoardView) -> None:
        legal = {cell.piece for cell in view.cells if Mark.LEGAL in cell.marks}
        marks = {mark for cell in view.cells for mark in cell.marks}
        if "." in legal:
            self._screen.say("+ is an empty cell that may be chosen")
        if legal - {"."}:
            self._screen.say("> stands before a piece that may be chosen")
        if Mark.REQUIRED in marks:
            self._screen.say("* is the only cell that may be chosen")
        if Mark.FORBIDDEN in marks:
            self._screen.say("- is a cell that the rules forbid; why CELL tells the reason, e.g. why c3")

    def _list_unmarked(self, state: State, view: BoardView) -> None:
        cells = {cell.name for cell in view.cells if Mark.LEGAL in cell.marks}
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        unmarked = [text for text in texts if text not in cells]
        if unmarked:
            self._screen.say("possible:" if len(unmarked) == len(texts) else "possible too:")
        for start in range(0, min(len(unmarked), _LISTED_MAX_COUNT), _LISTED_IN_LINE_COUNT):
            self._screen.say("  ".join(unmarked[start : start + _LISTED_IN_LINE_COUNT]))
        if len(unmarked) > _LISTED_MAX_COUNT:
            self._screen.say(f"and {len(unmarked) - _LISTED_MAX_COUNT} more")

    def show_sight(self, sight: Sight) -> None:
        """Show what one piece can do."""
        if not self._screen.style.is_spoken:
            self._screen.show_board(sight.view, show_legal=True)
        self._screen.say(*sight.lines)

    def show_place(self, text: str) -> None:
        """Tell what is on a cell and around it, or in a row."""
        found = place_text(self._mirror.state.view(), text)
        self._screen.say(found or f"{shown(text)} names no cell and no row of this board")

    def show_why(self, text: str) -> None:
        """Tell whether an action may be played, and if not, why."""
        state = self._mirror.state
        if self._mirror.to_move is None:
            self._screen.say("nothing can be played now")
            return
        try:
            action = state.string_to_action(text)
        except NotationError as error:
            self._screen.say(str(error))
            return
        name, view = state.text_of_number(action), state.view()
        if state.is_legal(action):
            self._screen.say(f"{name} may be played now")
            return
        targets = {cell.index for cell in view.cells if cell.name == name}
        reasons = [hint.text for hint in view.hints if hint.target in targets]
        self._screen.say(*(reasons or [f"{name}: {state.illegal_reason(action)}"]))

    def show_who(self, now_ms: int) -> None:
        """Tell who holds the seats, who is there, and how many watch, at ``now_ms`` of the server's time."""
        head = self._mirror.head
        for player in PLAYERS:
            seat = head.seats[player]
            presence = "" if seat.holder.kind == "open" else ", here" if seat.is_connected else ", away"
            if seat.away_since_ms is not None and not seat.is_connected:
                presence += f" for {format_duration(max(now_ms - seat.away_since_ms, 0))}"
            stand_in = f", a computer ({seat.holder.stand_in}) plays" if seat.holder.stand_in else ""
            own = ", you" if player in self._report.own_seats else ""
            side = self._report.cast.side_with_glyph(player)
            self._screen.say(f"{side}: {holder_text(seat.holder)}{presence}{stand_in}{own}")
        self._screen.say(f"host: {head.host_name}; watching: {head.watchers}")

    def show_clock(self, now_ms: int) -> None:
        """Tell what both players have left at ``now_ms`` of the server's time."""
        faces = [(player, self._report.clock_face(player, now_ms)) for player in PLAYERS]
        if not any(face for _, face in faces):
            has_none = isinstance(self._mirror.head.settings.time_control, NoClock)
            self._screen.say("there is no clock in this room" if has_none else "the clock starts with a match")
        for player, face in faces:
            if face:
                is_running = self._mirror.to_move == player
                self._screen.say(f"{self._report.cast.title(player)}: {face}{', to move' if is_running else ''}")
