"""Reports about one room, line by line: positions, events, turns, chat, and answers to questions about the room.

Everything comes from the mirror; nothing is read or sent here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tabuleiro.clock import NoClock
from tabuleiro.errors import NotationError, shown
from tabuleiro.ids import PLAYERS, Player
from tabuleiro.protocol.events import (
    ActionsPlayed,
    ActionsUndone,
    MatchEnded,
    MatchStarted,
    OfferKind,
    OfferMade,
    SeatFreed,
    TurnTakenBack,
)
from tabuleiro.protocol.messages import RoomHead
from tabuleiro.rules import State
from tabuleiro.rules.view import BoardView, Mark
from tabuleiro.text import counted, spell_duration
from tabuleiro_client.line.ships import Sight, overview, route_lines
from tabuleiro_client.line.terminal import Screen
from tabuleiro_client.net.mirror import Mirror, Step, seats_of
from tabuleiro_client.net.server import Signposts
from tabuleiro_client.text.board import scores_text
from tabuleiro_client.text.clocks import first_turn_text, format_clock, format_left
from tabuleiro_client.text.coordinates import Coordinates, coordinates_of
from tabuleiro_client.text.rooms import holder_text, options_text
from tabuleiro_client.text.sentences import Cast, reach_lines, said, sentence_to
from tabuleiro_client.text.settings import settings_text
from tabuleiro_client.text.spoken import change_text, choices_text, place_text, position_lines, score_lines

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
    def cells(self) -> Coordinates:
        """The names of cells here."""
        return coordinates_of(self._mirror.game, is_report=self._screen.style.has_report_cells)

    def say_of_cells(self, *lines: str) -> None:
        """Say lines in which cells have our names, by those that are shown."""
        self._screen.say(*map(self.cells.shown, lines))

    @property
    def cast(self) -> Cast:
        """The names of the players after the last event told."""
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
        if self.cells.explanation:
            self._screen.say(self.cells.explanation)
        self.show_position()
        self.show_turn()
        if head.match is not None and head.match.termination is not None:
            self._screen.say(self.cast.ending(head.match.winner, head.match.termination))
            self._show_result(head.match.winner)
        for offer in head.offers:
            self._show_offer(offer.kind, offer.player)

    def show_event(self, step: Step, head: RoomHead) -> None:
        """Tell an event that came with ``head``."""
        self._show_coming_and_going(head)
        event = step.event.event
        self._seats = step.seats
        if self._screen.style.is_spoken and isinstance(event, ActionsPlayed | ActionsUndone | TurnTakenBack):
            self._speak_of_change(step, event)
            return
        sentence = sentence_to(event, self._mirror.account) or self.cast.sentence(event)
        if sentence and not isinstance(event, OfferMade):
            self._screen.say(sentence)
        match event:
            case OfferMade(kind=kind, player=player):
                self._show_offer(kind, player)
            case SeatFreed():
                self.show_waiting()
            case MatchStarted():
                self._show_state(step.after, is_explained=True)
            case ActionsPlayed(actions=actions):
                self.say_of_cells(*route_lines(step.before, actions))
                self._show_state(step.after)
            case ActionsUndone() | TurnTakenBack():
                self._show_state(step.after)
            case MatchEnded(winner=winner):
                self._show_result(winner)

    def _show_offer(self, kind: OfferKind, player: Player) -> None:
        """Tell an offer that waits, with what can be done about it from here."""
        if len(self.own_seats) != 1:
            how = ""
        else:
            how = " (decline withdraws it)" if player in self.own_seats else ": accept or decline"
        self._screen.say(f"{self.cast.offer(kind, player)}{how}")

    def _speak_of_change(self, step: Step, event: ActionsPlayed | ActionsUndone | TurnTakenBack) -> None:
        """Say on one line what was done and what came of it, and on another whose turn it is, if that is ours."""
        before, after = (self.cells.picture(state.view()) for state in (step.before, step.after))
        words, change = self.cast.sentence(event), change_text(before, after)
        routes: tuple[str, ...] = ()
        if isinstance(event, ActionsPlayed):
            routes = tuple(map(self.cells.shown, route_lines(step.before, event.actions)))
            names = [self.cells.shown(action) for action in event.actions]
            if {cell.name for cell in before.cells}.issuperset(names):
                # What is new on those cells says which they are.
                words = words.replace(f" {' '.join(names)}", "", 1)
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
        self._show_picture(self._mirror.state, is_explained=True)

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
        where = " of this machine only" if self._signposts.is_here_only else ""
        if self._signposts.join_page:
            self._screen.say(f"waiting for an opponent: room {code}; in a browser{where}:")
            self._screen.say_command(self._signposts.join_page)
            self._screen.say("or from another terminal:")
        else:
            self._screen.say(f"waiting for an opponent: room {code}; from another terminal{where}:")
        self._screen.say_command(self._signposts.join)
        if self._mirror.head.settings.is_private:
            self._show_way_to_watch()

    def show_signposts(self) -> None:
        """Tell the commands that lead here."""
        if not self._signposts.join:
            self._screen.say("this room is private: its host has the invitation")
            return
        if self._signposts.is_here_only:
            self._screen.say("on this machine only:")
        if self._mirror.head.phase == "waiting":
            self._screen.say("to play:")
            if self._signposts.join_page:
                self._screen.say_command(self._signposts.join_page)
            self._screen.say_command(self._signposts.join)
        self._show_way_to_watch()

    def _show_way_to_watch(self) -> None:
        self._screen.say("to watch only:")
        if self._signposts.watch_page:
            self._screen.say_command(self._signposts.watch_page)
        self._screen.say_command(self._signposts.watch)

    def show_what_next(self) -> None:
        """Tell who stays after the end what can be done."""
        rematch = "rematch asks for another match, " if self.own_seats else ""
        self._screen.say(f"{rematch}chat TEXT sends a message, quit leaves")

    def prompt(self, now_ms: int) -> str:
        """Return the prompt: the clocks, where there are any, at ``now_ms`` of the server's time."""
        if self._mirror.head.phase != "playing" or self._screen.style.is_spoken:
            return "> "  # `clock` tells them to who does not want to hear them every time
        match = self._mirror.head.match
        if match is not None and match.first_turn is not None:
            return f"[first turn {format_left(max(match.first_turn.until_ms - now_ms, 0))}] > "
        faces = [(self.cast.actor(player), self.clock_face(player, now_ms)) for player in PLAYERS]
        clocks = ", ".join(f"{name} {face}" for name, face in faces if face)
        return f"[{clocks}] > " if clocks else "> "

    def clock_face(self, player: Player, now_ms: int) -> str:
        """Return the time a player has left at ``now_ms`` of the server's time; empty without a clock."""
        head = self._mirror.head
        clock = None if head.match is None else head.match.clock
        return format_clock(head.settings.time_control, clock, player, now_ms)

    def _show_state(self, state: State, *, is_explained: bool = False) -> None:
        self._show_picture(state, is_explained=is_explained)
        turn = self.cast.turn(state)
        if turn:
            self._screen.say(turn)

    def _show_picture(self, state: State, *, is_explained: bool) -> None:
        """Draw a position or say it, with its numbers and what the rules did by themselves just now."""
        view = self.cells.picture(state.view())
        if self._screen.style.is_spoken:
            self._screen.say(*position_lines(view, self.cast.sides))
        else:
            self._screen.show_board(view, show_legend=is_explained)
            self._screen.say(*(score_lines(view, self.cast.sides) if not state.is_terminal else ()))
        self._screen.say(*reach_lines(state), *view.notices)

    def _show_result(self, winner: Player | None) -> None:
        scores = self._mirror.state.view().scores
        if scores is not None:
            for player in PLAYERS:
                self._screen.say(f"{self.cast.side(player)} scores {scores_text(scores[player])}")
        self._screen.say(self.cast.winner(winner))


_LISTED_MAX_COUNT: Final = 60
_LISTED_IN_LINE_COUNT: Final = 10
_MOVES_MAX_COUNT: Final = 500


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
        view = self._report.cells.picture(state.view())
        if self._screen.style.is_spoken:
            self._screen.say(choices_text(view))
        else:
            self._screen.show_board(view, show_legal=True, show_legend=True)
            self._explain_marks(view)
        if overview(state):
            self._screen.say(overview(state))
        else:
            self._list_unmarked(state)
        self._screen.say(f"{counted(state.legal_count(), 'legal action')} (moves lists them)")
        self._report.show_turn()

    def show_moves(self) -> None:
        """List everything that may be played now as text."""
        state = self._mirror.state
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        if self._mirror.to_move is None:
            self._screen.say("nothing can be played now")
            return
        self._screen.say(f"{counted(len(texts), 'legal action')}:")
        self._list(texts, _MOVES_MAX_COUNT)

    def _explain_marks(self, view: BoardView) -> None:
        legal = {cell.piece for cell in view.cells if Mark.LEGAL in cell.marks}
        marks = {mark for cell in view.cells for mark in cell.marks}
        if "." in legal:
            self._screen.say("+ is an empty cell you can play")
        if legal - {"."}:
            self._screen.say("> stands before a piece you can choose")
        if Mark.REQUIRED in marks:
            self._screen.say("* is the only cell you can play")
        if Mark.FORBIDDEN in marks:
            self._screen.say("- is a cell the rules forbid; why CELL explains it, e.g. why c3")

    def _list_unmarked(self, state: State) -> None:
        cells = {cell.name for cell in state.view().cells if Mark.LEGAL in cell.marks}
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        unmarked = [text for text in texts if text not in cells]
        if unmarked:
            self._screen.say("possible:" if len(unmarked) == len(texts) else "possible too:")
        self._list(unmarked, _LISTED_MAX_COUNT)

    def _list(self, texts: Sequence[str], most_count: int) -> None:
        for start in range(0, min(len(texts), most_count), _LISTED_IN_LINE_COUNT):
            end = min(start + _LISTED_IN_LINE_COUNT, most_count)
            self._report.say_of_cells("  ".join(texts[start:end]))
        if len(texts) > most_count:
            self._screen.say(f"and {len(texts) - most_count} more")

    def show_sight(self, sight: Sight) -> None:
        """Show what one piece can do."""
        if not self._screen.style.is_spoken:
            self._screen.show_board(self._report.cells.picture(sight.view), show_legal=True)
        self._report.say_of_cells(*sight.lines)

    def show_place(self, text: str) -> None:
        """Tell what is on a cell and around it, or in a row."""
        view, cells = self._mirror.state.view(), self._report.cells
        try:
            own = cells.typed(text)
        except NotationError as error:
            self._screen.say(str(error))
            return
        # A cell is looked for by our name, a row by the one that is shown.
        is_cell = any(cell.name == own.strip().lower() for cell in view.cells)
        found = cells.shown(place_text(view, own)) if is_cell else place_text(cells.picture(view), text)
        self._screen.say(found or f"{shown(text)} names no cell and no row of this board")

    def show_why(self, text: str) -> None:
        """Tell whether an action may be played, and if not, why."""
        state = self._mirror.state
        if self._mirror.to_move is None:
            self._screen.say("nothing can be played now")
            return
        try:
            action = state.string_to_action(self._report.cells.typed(text))
        except NotationError as error:
            self._report.say_of_cells(str(error))
            return
        name, view = state.text_of_number(action), state.view()
        if state.is_legal(action):
            self._report.say_of_cells(f"{name} may be played now")
            return
        targets = {cell.index for cell in view.cells if cell.name == name}
        reasons = [note.text for note in view.notes if note.target in targets]
        self._report.say_of_cells(*(reasons or [f"{name}: {state.illegal_reason(action)}"]))

    def show_who(self, now_ms: int) -> None:
        """Tell who holds the seats, who is there, and how many watch, at ``now_ms`` of the server's time."""
        head = self._mirror.head
        for player in PLAYERS:
            seat = head.seats[player]
            presence = "" if seat.holder.kind == "open" else ", here" if seat.is_connected else ", away"
            if seat.away_since_ms is not None and not seat.is_connected:
                presence += f" for {spell_duration(max(now_ms - seat.away_since_ms, 0))}"
            stand_in = f", a bot ({seat.holder.stand_in}) plays" if seat.holder.stand_in else ""
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
        match = self._mirror.head.match
        if match is not None and match.first_turn is not None and match.to_move is not None:
            actor = self._report.cast.actor(match.to_move)
            self._screen.say(first_turn_text(match.first_turn.until_ms - now_ms, actor))
        for player, face in faces:
            if face:
                is_running = self._mirror.to_move == player
                self._screen.say(f"{self._report.cast.title(player)}: {face}{', to move' if is_running else ''}")
