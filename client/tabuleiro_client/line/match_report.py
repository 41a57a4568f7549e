"""Telling one room on a screen, line by line: positions, events, turns, talk. It reads no input.

Answers to what a person asks about the room are in :mod:`tabuleiro_client.line.room_answers`.
"""

from __future__ import annotations

from typing import Final

from tabuleiro.ids import PLAYERS, Player
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
from tabuleiro.rules.view import BoardView
from tabuleiro_client.line.screen import Screen
from tabuleiro_client.models.guides import guide_of
from tabuleiro_client.net.mirror import Mirror, Step, seats_of
from tabuleiro_client.text.clocks import format_clock
from tabuleiro_client.text.sentences import Cast, options_text, said, sentence_to
from tabuleiro_client.text.settings import settings_text
from tabuleiro_client.text.signposts import Signposts
from tabuleiro_client.text.spoken import change_text, position_lines, score_lines

_CHAT_SHOWN_COUNT: Final = 10


class MatchReport:
    """Tells the room of ``mirror``; ``signposts`` are the commands that lead there.

    With ``is_watching`` it speaks to a watcher even if this guest holds a seat.
    """

    def __init__(self, mirror: Mirror, screen: Screen, signposts: Signposts, *, is_watching: bool) -> None:
        self._mirror = mirror
        self._screen = screen
        self._signposts = signposts
        self._is_watching = is_watching
        self._head = mirror.head
        self._seats = seats_of(mirror.head)

    @property
    def own_seats(self) -> tuple[Player, ...]:
        """The seats that are played from here."""
        return () if self._is_watching else self._mirror.own_seats

    @property
    def cast(self) -> Cast:
        """What the players are called after what has been told."""
        own_seats = tuple(seat for seat in PLAYERS if self._seats[seat].account == self._mirror.account)
        return Cast(self._mirror.game, self._seats, () if self._is_watching else own_seats, self._screen.style)

    def show_room(self) -> None:
        """Tell the whole state of the room, as on entering it."""
        self._head = head = self._mirror.head
        self._seats = seats_of(head)
        options = options_text(type(self._mirror.game), head.options)
        self._screen.say(f"room {head.room}: {self._mirror.game.title}, {options}")
        settings = settings_text(head.settings)
        if settings:
            self._screen.say(f"in this room: {settings}")
        for line in self._mirror.chat[-_CHAT_SHOWN_COUNT:]:
            self._screen.say(said(line.name, line.text, is_player=line.is_player))
        if head.phase == "closed":
            self._screen.say("the room is closed")
        elif head.match is None:
            self.show_waiting()
        else:
            self._show_match(head)

    def _show_match(self, head: RoomHead) -> None:
        self._screen.say(self.cast.opening())
        self.show_position()
        self.show_turn()
        if head.match is not None and head.match.termination is not None:
            self._screen.say(self.cast.ending(head.match.winner, head.match.termination))
            self._show_result(head.match.winner)
        for offer in head.offers:
            self._screen.say(self.cast.offer(offer.kind, offer.player))

    def show_event(self, step: Step, head: RoomHead) -> None:
        """Tell an event that came with ``head``."""
        self._show_coming_and_going(head)
        event = step.event.event
        self._seats = step.seats
        if self._screen.style.is_spoken and isinstance(event, ActionsPlayed | ActionsUndone | TurnTakenBack):
            self._speak_of_change(step, event)
            return
        sentence = sentence_to(event, self._mirror.account) or self.cast.sentence(event)
        if sentence:
            self._screen.say(sentence)
        match event:
            case SeatFreed():
                self.show_waiting()
            case MatchStarted():
                self._show_state(step.after, is_explained=True)
            case ActionsPlayed(actions=actions):
                self._screen.say(*guide_of(self._mirror.game).routes(step.before, actions))
                self._show_state(step.after)
            case ActionsUndone() | TurnTakenBack():
                self._show_state(step.after)
            case MatchEnded(winner=winner):
                self._show_result(winner)

    def _speak_of_change(self, step: Step, event: ActionsPlayed | ActionsUndone | TurnTakenBack) -> None:
        """Say on one line what was done and what came of it, and on another whose turn it is, if that is ours."""
        before, after = step.before.view(), step.after.view()
        words, change = self.cast.sentence(event), change_text(before, after)
        routes: tuple[str, ...] = ()
        if isinstance(event, ActionsPlayed):
            routes = guide_of(self._mirror.game).routes(step.before, event.actions)
            if {cell.name for cell in before.cells}.issuperset(event.actions):
                # What is new on those cells says which they are.
                words = words.replace(f" {' '.join(event.actions)}", "", 1)
        scores = [] if after.scores == before.scores else score_lines(after, self.cast.sides)
        facts = (*((change,) if change else ()), *routes, *after.notices, *scores)
        self._screen.say(": ".join((words, "; ".join(facts))) if facts else words)
        if step.after.to_move in self.own_seats:
            self._screen.say(self.cast.turn(step.after))

    def show_presence(self, head: RoomHead) -> None:
        """Tell what changed without an event: whose connection came or went since the last head."""
        self._show_coming_and_going(head)
        self._seats = seats_of(head)

    def _show_coming_and_going(self, head: RoomHead) -> None:
        before, self._head = self._head, head
        for player in PLAYERS:
            was, seat = before.seats[player], head.seats[player]
            is_other = seat.holder.account != self._mirror.account
            if is_other and was.holder == seat.holder and was.is_connected != seat.is_connected:
                self._screen.say(f"{seat.holder.name} is {'back' if seat.is_connected else 'away'}")

    def show_position(self) -> None:
        """Draw the board with its legend, and tell what the rules did by themselves just now."""
        view = self._mirror.state.view()
        self._show_board(view, is_explained=True)
        self._screen.say(*view.notices)

    def show_turn(self) -> None:
        """Tell whose turn it is, or that the match has not begun."""
        if self._mirror.head.phase == "playing":
            self._screen.say(self.cast.turn(self._mirror.state))
        elif self._mirror.head.phase == "waiting":
            self.show_waiting()

    def show_waiting(self) -> None:
        """Tell how an opponent gets here, and a watcher if the room is not found in the list."""
        code = self._mirror.head.room
        if not self._signposts.join:
            self._screen.say(f"waiting for an opponent: room {code} is private, its host has the invitation")
            return
        self._screen.say(f"waiting for an opponent: room {code}; from another terminal:")
        self._screen.say_command(self._signposts.join)
        if self._mirror.head.settings.is_private:
            self._show_way_to_watch()

    def show_signposts(self) -> None:
        """Tell the commands that lead here."""
        if not self._signposts.join:
            self._screen.say("this room is private: its host has the invitation")
            return
        if self._mirror.head.phase == "waiting":
            self._screen.say("to play:")
            self._screen.say_command(self._signposts.join)
        self._show_way_to_watch()

    def _show_way_to_watch(self) -> None:
        self._screen.say("to watch only:")
        self._screen.say_command(self._signposts.watch)

    def show_what_next(self) -> None:
        """Tell who stays after the end what can be done."""
        rematch = "rematch asks for another match, " if self.own_seats else ""
        self._screen.say(f"{rematch}say TEXT talks, quit leaves")

    def prompt(self, now_ms: int) -> str:
        """What to ask for a line with: the clocks, where there are any, at ``now_ms`` of the server's time."""
        if self._mirror.head.phase != "playing" or self._screen.style.is_spoken:
            return "> "  # `clock` tells them to who does not want to hear them every time
        faces = [(self.cast.actor(player), self.clock_face(player, now_ms)) for player in PLAYERS]
        clocks = ", ".join(f"{name} {face}" for name, face in faces if face)
        return f"[{clocks}] > " if clocks else "> "

    def clock_face(self, player: Player, now_ms: int) -> str:
        """What a player has left at ``now_ms`` of the server's time; empty without a clock."""
        head = self._mirror.head
        clock = None if head.match is None else head.match.clock
        return format_clock(head.settings.time_control, clock, player, now_ms)

    def _show_state(self, state: State, *, is_explained: bool = False) -> None:
        view = state.view()
        self._show_board(view, is_explained=is_explained)
        self._screen.say(*view.notices)
        turn = self.cast.turn(state)
        if turn:
            self._screen.say(turn)

    def _show_board(self, view: BoardView, *, is_explained: bool) -> None:
        if self._screen.style.is_spoken:
            self._screen.say(*position_lines(view, self.cast.sides))
        else:
            self._screen.show_board(view, show_legend=is_explained)

    def _show_result(self, winner: Player | None) -> None:
        scores = self._mirror.state.view().scores
        if scores is not None:
            for player in PLAYERS:
                self._screen.say(f"{self.cast.side(player)} scores {' '.join(map(str, scores[player])) or '0'}")
        self._screen.say(self.cast.winner(winner))
