"""A stay in a room as a screen needs it: the position to show, the turn in the making, what can be done now.

No textual and no I/O: changes of the room are taken in, and requests are handed out for the screen to send.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tabuleiro.errors import NotationError
from tabuleiro.ids import PLAYERS, Player, Ply
from tabuleiro.notation.record import RecordTurn
from tabuleiro.protocol.events import (
    ActionsPlayed,
    BotSeated,
    Event,
    HintTaken,
    HostChanged,
    MatchEnded,
    MatchStarted,
    Muted,
    OfferEnded,
    OfferView,
    RoomClosed,
    RoomResumed,
    SeatFreed,
    SeatsSwapped,
    SeatTaken,
    SettingsChanged,
    StandInSeated,
    TurnTakenBack,
)
from tabuleiro.protocol.messages import HintGiven
from tabuleiro.rules import State
from tabuleiro.rules.base import Termination
from tabuleiro.rules.view import BoardView, Target
from tabuleiro_client.models.timeline import Timeline, changed_cells, picture_of
from tabuleiro_client.models.turn_composer import TurnComposer, composer_for
from tabuleiro_client.net.mirror import Mirror, seats_of
from tabuleiro_client.net.room import Change, Gone, Happened, Lost, Restored, Said
from tabuleiro_client.text.analysis import hint_text
from tabuleiro_client.text.board import TextStyle, scores_text
from tabuleiro_client.text.clocks import first_turn_text
from tabuleiro_client.text.coordinates import Coordinates, coordinates_of, turns_as_shown
from tabuleiro_client.text.endings import capitalised, reason_text, score_text
from tabuleiro_client.text.sentences import Cast, sentence_to
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui.present.notes import notes_of_cell
from tabuleiro_client.tui.present.overlay import Overlay, composed_overlay

ACTION_PAUSE_MS: Final = 200
TURN_PAUSE_MS: Final = 1_000
SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The speeds at which a match of two bots can be shown."""


class TalkRights:
    """The people muted since this guest came into the room."""

    def __init__(self) -> None:
        self._muted: frozenset[str] = frozenset()

    def note(self, name: str, *, is_muted: bool) -> None:
        """Take in that somebody is muted now, or may talk again."""
        self._muted = self._muted | {name} if is_muted else self._muted - {name}

    def people(self, mirror: Mirror) -> dict[str, bool]:
        """Whom the host could mute, by name: the players, then who talked last; whether each is muted."""
        seats = (seat.holder for seat in mirror.head.seats)
        known = [(seat.account, seat.name) for seat in seats if seat.kind == "person"]
        known += [(line.account, line.name) for line in reversed(mirror.chat)]
        names = [name for account, name in known if name is not None and account != mirror.account]
        return {name: name in self._muted for name in (*names, *sorted(self._muted))}


_ROOM_EVENTS = (
    SeatTaken,
    BotSeated,
    SeatFreed,
    SeatsSwapped,
    StandInSeated,
    SettingsChanged,
    HostChanged,
    RoomResumed,
    RoomClosed,
)
"""What happens around a match, and is said once; other events are seen on the board or in the panel."""


class MatchModel:
    """The room of ``mirror`` as a screen shows it.

    ``message`` is the last thing worth saying, ``is_linked`` whether the connection is there, ``is_sending``
    whether a turn is on its way, ``is_late`` whether its answer takes long, ``is_in_doubt`` whether something
    was asked for of which nobody knows yet whether it was done. ``shown_ply`` is the position looked back at,
    ``None`` while it is the live one.
    With ``is_watching`` nothing can be played even if this guest holds a seat. What bots play is shown action by
    action: ``reached_ply`` is how far that has come, ``None`` when all of it is shown, ``speed`` how fast it goes.
    ``lays_forced``: a stone for which the rules leave one cell is composed by itself.
    """

    def __init__(self, mirror: Mirror, style: TextStyle, *, is_watching: bool = False) -> None:
        self.mirror = mirror
        self.is_watching = is_watching
        self.message = self._announcement = ""
        self.is_linked = True
        self.is_sending = self.is_late = False
        self.is_gone = self.is_in_doubt = False
        self.shown_ply: int | None = None
        self.reached_ply: int | None = None
        self.speed = 1.0
        self.refused_column: int | None = None
        self.lays_forced = False
        self.timeline = Timeline(mirror.game, mirror.actions)
        self.composer: TurnComposer = composer_for(self._present)
        self._style = style
        self._has_remarked = False
        self._reasons_of: int | None = None
        self._spoken_of: tuple[Target, str] | None = None
        self._hinted: frozenset[int] = frozenset()
        self._hinted_state: State | None = None
        self.talk_rights = TalkRights()

    @property
    def own_seats(self) -> tuple[Player, ...]:
        """The seats that are played from here."""
        return () if self.is_watching else self.mirror.own_seats

    @property
    def cast(self) -> Cast:
        """The names of the players now."""
        return Cast(self.mirror.game, seats_of(self.mirror.head), self.own_seats, self._style)

    @property
    def cells(self) -> Coordinates:
        """The names of cells here."""
        return coordinates_of(self.mirror.game, is_report=self._style.has_report_cells)

    @property
    def can_act(self) -> bool:
        """True if this guest may compose a turn now.

        The mirror may be ahead for a moment: what was composed before the answer came is not for the next turn.
        """
        may_play = bool(self.own_seats) and self.mirror.is_my_turn and not self.is_sending and not self.is_gone
        return may_play and self.composer.base == self.mirror.state

    @property
    def is_live(self) -> bool:
        """True if the position shown is the present one."""
        return self.shown_ply is None

    @property
    def state(self) -> State:
        """The position shown: one looked back at, or the present one with the turn in the making."""
        is_present = self.shown_ply is None and self.reached_ply is None
        return self.composer.state if is_present else self.timeline.states[self.ply]

    @property
    def _present(self) -> State:
        """The position that the server knows; of equal objects the timeline's, whose picture is kept."""
        return self.timeline.states[-1]

    @property
    def view(self) -> BoardView:
        """The picture of the position shown."""
        return self.cells.picture(picture_of(self.state))

    @property
    def ply(self) -> int:
        """The number of actions that the server knows of in the position shown."""
        if self.shown_ply is not None:
            return self.shown_ply
        return self.timeline.last_ply if self.reached_ply is None else self.reached_ply

    @property
    def is_behind(self) -> bool:
        """True while what bots have played is still being shown, action by action."""
        return self.reached_ply is not None

    def show_next(self) -> None:
        """Show the next action of those not shown yet."""
        if self.reached_ply is not None:
            self.reached_ply += 1
            self._clamp()

    def show_rest(self) -> None:
        """Show all that was played."""
        self.reached_ply = None

    def pause_ms(self) -> int:
        """Return how long the position shown stays: longer between turns if both players are bots."""
        states, ply = self.timeline.states, self.ply
        is_new_turn = 0 < ply < len(states) and states[ply].actions_in_turn == 0
        pause_ms = TURN_PAUSE_MS if is_new_turn and self._is_among_bots else ACTION_PAUSE_MS
        return round(pause_ms / self.speed)

    def change_speed(self, step: int) -> None:
        """Show a match of two bots faster, or slower, and say so."""
        place = SPEEDS.index(self.speed) + step
        self.speed = SPEEDS[max(0, min(place, len(SPEEDS) - 1))]
        self.message = f"the bots are shown at {self.speed:g} times the usual speed"

    @property
    def _is_among_bots(self) -> bool:
        return all(seat.holder.kind == "bot" for seat in self.mirror.head.seats)

    def _clamp(self) -> None:
        if self.reached_ply is not None and self.reached_ply >= self.timeline.last_ply:
            self.reached_ply = None

    def overlay(self, cursor: Target | None, hover: Target | None, *, shows_legal: bool) -> Overlay:
        """Return the marks to add to the picture for the places pointed at."""
        last = self.timeline.changed_by_last_turn(self.ply)
        if not self.is_live or self.is_behind:
            return Overlay(cursor=cursor, hover=hover, targets=frozenset(), last=last)
        reasons: frozenset[int] = frozenset()
        if self._reasons_of is not None:
            cells = [cell for note in notes_of_cell(self.view, self._reasons_of) for cell in note.cells]
            reasons = frozenset(cells)
        hint = frozenset() if self.composer.actions else self._hinted
        made = composed_overlay(self.composer, cursor, hover, last, shows_legal=shows_legal and self.can_act)
        targets = made.targets if self.can_act else frozenset()
        return replace(made, targets=targets, reasons=reasons, hint=hint)

    def follow(self) -> bool:
        """Take in what the mirror holds now; return whether a turn in the making was dropped by it."""
        self.timeline.follow(self.mirror.game, self.mirror.actions)
        if type(composer_for(self._present)) is not type(self.composer):
            self.composer = composer_for(self._present)
        self._clamp()
        dropped = self.composer.rebase(self._present)
        if self.mirror.head.phase != "playing" and self.composer.can_step_back:
            self.composer.drop()  # the board of a match that is over shows what was played, and nothing else
        if self.shown_ply is not None and self.shown_ply >= self.timeline.last_ply:
            self.shown_ply = None
        if dropped:
            self._reasons_of = None
        if self.mirror.state != self._hinted_state:
            self._hinted = frozenset()
        return dropped

    def take(self, change: Change | None) -> None:
        """Take in a change of the room."""
        match change:
            case Lost():
                self.is_linked = False
            case Restored():
                self.is_linked = True
                self.message = "connected again"
                if self.is_in_doubt:
                    self.is_in_doubt = False
                    self.message = "connected again: check whether your last request was done"
            case Said(text):
                self.message = self._announcement = f"the server says: {showable(text, self._style)}"
            case Gone(reason):
                self.is_gone = True
                self.message = f"the room is gone: {showable(reason, self._style)}"
            case Happened(step, _):
                self._tell(step.event.event)
                self._fall_behind(step.event.event)
        had_sent = self.is_sending
        if self.follow() and not had_sent:
            self.message = "the position changed: the actions you had chosen were dropped"

    def _fall_behind(self, event: Event) -> None:
        """Begin to show what a bot has played action by action, if all before is shown."""
        if isinstance(event, MatchStarted):
            self.reached_ply = None
        if not isinstance(event, ActionsPlayed) or self.reached_ply is not None:
            return
        if event.by_stand_in or self.mirror.head.seats[event.player].holder.kind == "bot":
            self.reached_ply = min(event.ply, self.timeline.last_ply)

    def turns_shown(self) -> tuple[RecordTurn, ...]:
        """Return the turns played, but for what is still to be shown."""
        turns, reached = self.timeline.turns(), self.reached_ply
        shown = turns if reached is None else tuple(turn for turn in turns if turn.ply < reached)
        return turns_as_shown(shown, self.cells)

    def _tell(self, event: Event) -> None:
        match event:
            case MatchStarted():
                self.shown_ply = None
                self.message = self.cast.sentence(event)
            case HintTaken(player=player) if player not in self.own_seats:
                self.message = self.cast.sentence(event)
            case ActionsPlayed(is_makeshift=True) | TurnTakenBack():
                self.message = self.cast.sentence(event)
            case MatchEnded():
                self.message = ""  # the end has a place of its own
            case ActionsPlayed() if self.message != self._announcement:
                self.message = ""  # it was about the position before
            case OfferEnded(player=player, how="declined") if player in self.own_seats:
                self.message = self.cast.sentence(event)
            case OfferEnded(player=player, how="withdrawn") if player not in self.own_seats:
                self.message = self.cast.sentence(event)
            case Muted(name=name, is_muted=is_muted):
                self.talk_rights.note(name, is_muted=is_muted)
                self.message = self._sentence_of_room(event)
            case _ if isinstance(event, _ROOM_EVENTS):
                self.message = self._sentence_of_room(event)

    def _sentence_of_room(self, event: Event) -> str:
        return sentence_to(event, self.mirror.account) or self.cast.sentence(event)

    def look(self, ply: int) -> None:
        """Show the position after ``ply`` actions; the last one is the live one."""
        ply = max(0, min(ply, self.timeline.last_ply))
        self.shown_ply = None if ply == self.timeline.last_ply else ply
        self.show_rest()
        self._reasons_of = None

    def choose(self, target: Target) -> bool:
        """Choose a target for the turn in the making; return whether something came of it."""
        self._reasons_of = None
        if not self._may_compose():
            return False
        self.composer.lays_forced = self.lays_forced
        is_chosen = self.composer.choose(target)
        self._say_of(target, self.composer.message)
        return is_chosen

    def _say_of(self, target: Target, text: str) -> None:
        """Say something about a target, until another one is pointed at."""
        self.message = self.cells.shown(text)
        self._spoken_of = (target, self.message)

    def point(self, target: Target | None) -> bool:
        """Take note of what is pointed at; return whether what was said of another target is out of place now."""
        if self._spoken_of is None or self._spoken_of[0] == target:
            return False
        if self.message == self._spoken_of[1]:
            self.message = ""
        self._reasons_of = self._spoken_of = None
        return True

    def type_actions(self, text: str) -> bool:
        """Add typed actions to the turn in the making; return whether they were legal.

        If not, ``refused_column`` (from 1) is where the text is wrong, ``None`` when that is nowhere in it.
        """
        self.refused_column = None
        self.show_rest()
        if not self._may_compose():
            return False
        try:
            own = self.cells.typed(text)
        except NotationError as error:
            self.message = str(error)
            return False
        self.composer.lays_forced = self.lays_forced
        is_added = self.composer.add_turn(own)
        self.message = self.cells.shown(self.composer.message) or self._remark(text)
        self.refused_column = self.composer.column if own == text else None
        return is_added

    def _remark(self, text: str) -> str:
        """Say once that a cell is another one in the game's report."""
        remark = "" if self._has_remarked else self.cells.remark(text)
        self._has_remarked = self._has_remarked or bool(remark)
        return remark

    def _may_compose(self) -> bool:
        if self.is_behind:
            self.show_rest()  # what is chosen on a position of the past would be chosen blindly
            return False
        if not self.is_live:
            self.shown_ply = None
            self.message = "back to the present position"
        elif self.is_sending:
            self.message = "your turn is on its way"
        elif self.is_watching or not self.own_seats:
            self.message = "you are watching"
        elif self.mirror.head.phase != "playing":
            self.message = "no match is being played"
        elif not self.mirror.is_my_turn:
            self.message = "it is not your turn"
        else:
            return True
        return False

    def explain(self, target: Target | None) -> None:
        """Say what is known of a cell, and mark the cells that this is about; a second time: no more."""
        if not isinstance(target, int) or self._reasons_of == target:
            self._reasons_of = None
            self.point(None)
            return
        hints = notes_of_cell(self.view, target)
        self._reasons_of = target if hints else None
        self._say_of(target, " ".join(hint.text for hint in hints) or self._why_not(target))

    def _why_not(self, cell: int) -> str:
        state = self.state
        name = picture_of(state).cells[cell].name
        if state.is_terminal:
            return f"{name}: the game is over"
        try:
            action = state.string_to_action(name)
        except NotationError:
            return f"{name}: nothing forbids it"
        return f"{name}: " + ("you can play here" if state.is_legal(action) else state.illegal_reason(action))

    @property
    def can_ask_for_hint(self) -> bool:
        """True if this guest may be told what to play."""
        return self.can_act and self.mirror.head.settings.hints

    def show_hint(self, hint: HintGiven, asked: State) -> None:
        """Say what the server suggests for the position ``asked``, and mark it on the board while that stands."""
        if self.mirror.state != asked:
            return
        self.message = self.cells.shown(hint_text(hint))
        after = asked
        for text in hint.actions:
            after = after.child(after.string_to_action(text))
        self._hinted, self._hinted_state = changed_cells(picture_of(asked), picture_of(after)), asked

    def undo_ply(self) -> Ply | None:
        """Return the number of actions left after undoing the last one sent; ``None`` if none can be undone."""
        if not self.can_act or not self.composer.base.actions_in_turn or not self.mirror.head.settings.may_undo:
            return None
        return Ply(self.timeline.last_ply - 1)

    def settle(self, refusal: str = "") -> None:
        """Take in the answer to a turn that was sent: the mirror holds it, or ``refusal`` says why not."""
        self.is_sending = self.is_late = False
        if refusal:
            self.composer.drop()
            self.message = refusal
        self.follow()

    def offer_to_answer(self) -> OfferView | None:
        """Return the offer that waits for an answer from here, ``None`` when none does."""
        waiting = [offer for offer in self.mirror.head.offers if offer.player not in self.own_seats]
        return waiting[0] if waiting and self.own_seats else None

    @property
    def can_rematch(self) -> bool:
        """True if there could be another match between those who hold the seats."""
        head = self.mirror.head
        return head.phase == "finished" and all(seat.holder.kind != "open" for seat in head.seats)

    def own_offer(self) -> OfferView | None:
        """Return the own offer that waits for the other player, ``None`` when none does."""
        own = [offer for offer in self.mirror.head.offers if offer.player in self.own_seats]
        return own[0] if own else None

    def answerable_offer(self, *, accept: bool) -> OfferView | None:
        """Return the offer to answer: the other player's, or else the own one, which can be withdrawn."""
        return self.offer_to_answer() or (None if accept else self.own_offer())

    def offer_text(self) -> str:
        """Return the banner of an offer; empty when none waits."""
        offer = self.offer_to_answer()
        if offer is not None:
            return f"{self.cast.offer(offer.kind, offer.player)}: F7 accepts, F8 declines"
        offer = self.own_offer()
        return "" if offer is None else f"{self.cast.offer(offer.kind, offer.player)}: F8 withdraws"

    def first_turn_text(self, now_ms: int) -> str:
        """Return what holds until the clock starts, at ``now_ms`` of the server's time; empty otherwise."""
        match = self.mirror.head.match
        if match is None or match.first_turn is None or match.to_move is None:
            return ""
        return first_turn_text(match.first_turn.until_ms - now_ms, self.cast.actor(match.to_move))

    def turn_text(self) -> str:
        """Return the player to move, or the thing that the room waits for."""
        head = self.mirror.head
        if not self.is_live:
            return f"looking back: action {self.ply} of {self.timeline.last_ply} (Ctrl-End shows the present)"
        if self.is_behind:
            return self.cast.turn(self.state, self.view)
        if self.is_sending:
            if not self.is_linked:
                return "your turn is sent as soon as the connection is back"
            return "no answer from the server yet: your turn is kept" if self.is_late else "sending your turn"
        if head.phase == "waiting":
            return f"waiting for an opponent: the code of this room is {head.room}"
        if head.phase != "playing" or head.match is None:
            return "the match is over" if head.match is not None else "the room is closed"
        if self.composer.is_complete:
            return "your turn is complete"
        return self.cast.turn(self.composer.state, self.composer.view)

    def prompt(self) -> str:
        """Return the next thing to do, as a sentence; empty for none."""
        is_composing = self.can_act and self.is_live and not self.is_behind
        return self.cells.shown(self.composer.prompt()) if is_composing else ""

    def ending_lines(self) -> list[str]:
        """Return the end as one sentence, and the scores, after the match; empty before."""
        match = self.mirror.match
        if match is None or match.termination is None or self.is_behind:
            return []
        cast, winner, scores = self.cast, match.winner, picture_of(self._present).scores
        if winner is None:
            lines = [capitalised(cast.ending(None, match.termination))]
        else:
            decided = score_text(scores, winner) if scores and match.termination == Termination.SCORE else ""
            reason = decided or reason_text(cast.sides, winner, match.termination)
            who = f"{cast.side(winner) if self.own_seats else cast.title(winner)} wins"
            if len(self.own_seats) == 1:
                who = "You win" if winner in self.own_seats else "You lose"
            lines = [capitalised(f"{who}: {reason}")]
        if scores is not None:
            lines += [f"{cast.side(player)}: {scores_text(scores[player])}" for player in PLAYERS]
        return lines
