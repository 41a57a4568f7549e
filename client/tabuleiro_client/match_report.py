"""Telling one room on a screen, line by line: positions, events, turns, who is there. It reads no input."""

from __future__ import annotations

from typing import Final

from tabuleiro.protocol.events import (
    ActionsPlayed,
    ActionsUndone,
    MatchEnded,
    MatchStarted,
    SeatFreed,
    TurnTakenBack,
)
from tabuleiro.protocol.messages import RoomHead
from tabuleiro.rules import State
from tabuleiro.rules.outcome import Player
from tabuleiro.rules.view import Mark
from tabuleiro_client.mirror import Mirror, Step
from tabuleiro_client.screen import Screen
from tabuleiro_client.sentences import Cast, holder_text, options_text

PLAYERS: Final[tuple[Player, Player]] = (0, 1)
_LISTED_MAX_COUNT: Final = 60
_LISTED_IN_LINE_COUNT: Final = 10


class MatchReport:
    """Tells the room of ``mirror``; ``invitation`` is the command by which somebody else joins it.

    With ``is_watching`` it speaks to a watcher even if this guest holds a seat.
    """

    def __init__(self, mirror: Mirror, screen: Screen, invitation: str, *, is_watching: bool) -> None:
        self._mirror = mirror
        self._screen = screen
        self._invitation = invitation
        self._is_watching = is_watching
        self._head = mirror.head

    @property
    def cast(self) -> Cast:
        """What the players are called now."""
        own_seats = () if self._is_watching else self._mirror.own_seats
        return Cast(self._mirror.game, self._head, own_seats, self._screen.style)

    def show_room(self) -> None:
        """Tell the whole state of the room, as on entering it."""
        self._head = head = self._mirror.head
        options = options_text(type(self._mirror.game), head.options)
        self._screen.say(f"room {head.room}: {self._mirror.game.title}, {options}")
        if head.phase == "closed":
            self._screen.say("the room is closed")
        elif head.match is None:
            self.show_waiting()
        else:
            self._screen.say(self.cast.opening())
            self.show_position()
            self.show_turn()
            if head.match.termination is not None:
                self._show_ending(head.match.winner, head.match.termination)

    def show_event(self, step: Step, head: RoomHead) -> None:
        """Tell an event that came with ``head``."""
        self.show_presence(head)
        event = step.event.event
        sentence = self.cast.sentence(event)
        if sentence:
            self._screen.say(sentence)
        match event:
            case SeatFreed():
                self.show_waiting()
            case MatchStarted():
                self._show_state(step.after, is_explained=True)
            case ActionsPlayed() | ActionsUndone() | TurnTakenBack():
                self._show_state(step.after)
            case MatchEnded(winner=winner):
                self._show_scores()
                self._screen.say(self.cast.winner(winner))

    def show_presence(self, head: RoomHead) -> None:
        """Tell whose connection came or went since the last head."""
        before, self._head = self._head, head
        for player in PLAYERS:
            was, seat = before.seats[player], head.seats[player]
            is_other = seat.holder.account != self._mirror.account
            if is_other and was.holder == seat.holder and was.is_connected != seat.is_connected:
                self._screen.say(f"{seat.holder.name} is {'back' if seat.is_connected else 'away'}")

    def show_position(self) -> None:
        """Draw the board with its legend."""
        self._screen.show_board(self._mirror.state.view(), show_legend=True)

    def show_turn(self) -> None:
        """Tell whose turn it is, or that the match has not begun."""
        if self._mirror.head.phase == "playing":
            self._screen.say(self.cast.turn(self._mirror.state))
        elif self._mirror.head.phase == "waiting":
            self.show_waiting()

    def show_waiting(self) -> None:
        """Tell how an opponent gets here."""
        self._screen.say(f"waiting for an opponent: room {self._mirror.head.room}; from another terminal:")
        self._screen.say_command(self._invitation)

    def show_choices(self) -> None:
        """Show what may be played now: marked on the board, and listed where it is no cell."""
        state = self._mirror.state
        view = state.view()
        if self._mirror.to_move is None:
            self._screen.say("nothing can be played now")
            return
        self._screen.show_board(view, show_legal=True, show_legend=True)
        cells = {cell.name: cell.piece for cell in view.cells if Mark.LEGAL in cell.marks}
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        unmarked = [text for text in texts if text not in cells]
        if "." in cells.values():
            self._screen.say("+ is an empty cell that may be chosen")
        if set(cells.values()) - {"."}:
            self._screen.say("> stands before a piece that may be chosen")
        if unmarked:
            self._screen.say("possible:" if len(unmarked) == len(texts) else "possible too:")
        for start in range(0, min(len(unmarked), _LISTED_MAX_COUNT), _LISTED_IN_LINE_COUNT):
            self._screen.say("  ".join(unmarked[start : start + _LISTED_IN_LINE_COUNT]))
        if len(unmarked) > _LISTED_MAX_COUNT:
            self._screen.say(f"and {len(unmarked) - _LISTED_MAX_COUNT} more")
        self.show_turn()

    def show_who(self) -> None:
        """Tell who holds the seats, who is there, and how many watch."""
        for player in PLAYERS:
            seat = self._head.seats[player]
            presence = "" if seat.holder.kind == "open" else ", here" if seat.is_connected else ", away"
            own = ", you" if player in self._mirror.own_seats and not self._is_watching else ""
            self._screen.say(f"{self.cast.side_with_glyph(player)}: {holder_text(seat.holder)}{presence}{own}")
        self._screen.say(f"watching: {self._head.watchers}")

    def _show_state(self, state: State, *, is_explained: bool = False) -> None:
        view = state.view()
        self._screen.show_board(view, show_legend=is_explained)
        self._screen.say(*view.notices)
        turn = self.cast.turn(state)
        if turn:
            self._screen.say(turn)

    def _show_ending(self, winner: Player | None, termination: str) -> None:
        self._screen.say(self.cast.ending(winner, termination))
        self._show_scores()
        self._screen.say(self.cast.winner(winner))

    def _show_scores(self) -> None:
        scores = self._mirror.state.view().scores
        if scores is not None:
            for player in PLAYERS:
                self._screen.say(f"{self.cast.side(player)} scores {' '.join(map(str, scores[player])) or '0'}")
