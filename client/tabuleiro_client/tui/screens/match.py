"""Playing a match: composing turns, offers and their answers, resigning, aborting, claiming, talking."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

from textual.binding import Binding, BindingType

from tabuleiro.errors import CommandError, ConnectionLostError
from tabuleiro.ids import Player
from tabuleiro.protocol.events import OfferEnd, OfferEnded, OfferKind
from tabuleiro.protocol.messages import Abort, Answer, ClaimWin, Offer, Resign
from tabuleiro.rules.view import Target
from tabuleiro_client.models.turn_composer import PASS_TEXT, ShipComposer
from tabuleiro_client.net.room import EnteredRoom
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.match_model import MatchModel
from tabuleiro_client.tui.present.players import claim_text
from tabuleiro_client.tui.screens.confirm import ConfirmScreen
from tabuleiro_client.tui.screens.live import LiveScreen, RoomEntry
from tabuleiro_client.tui.screens.picker import PickerScreen
from tabuleiro_client.tui.widgets.chat import Entry
from tabuleiro_client.tui.widgets.panel import Choices

_SHIP_ACTIONS = frozenset({"ship", "boost", "reprogram"})


class MatchScreen(LiveScreen):
    """A match that is played from here; with no seat in the room it only shows it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.MATCH,
        *keys.SHIPS,
        Binding("dollar_sign", "scroll_to_end", "present", show=False, tooltip="Show the present position again."),
    ]

    def __init__(self, entry: RoomEntry) -> None:
        super().__init__(entry, is_watching=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key does something now; the footer shows those that do."""
        model = self.model
        if model is None:
            return action not in {binding.action.partition("(")[0] for binding in (*keys.MATCH, *keys.SHIPS)}
        phase = model.mirror.head.phase
        if action == "hint":
            return model.can_ask_for_hint
        if action in _SHIP_ACTIONS:
            ships = model.composer if isinstance(model.composer, ShipComposer) else None
            return ships is not None and ships.position.is_setup == (action == "ship")
        if action == "undo":
            return model.can_act and (model.composer.can_step_back or model.undo_request() is not None)
        if action == "send":
            return model.can_act and bool(model.composer.actions)
        if action == "pass_turn":
            return model.can_act and model.composer.can_pass()
        if action == "offer":
            is_rematch = parameters == ("rematch",)
            can_be = model.can_rematch if is_rematch else phase == "playing"
            return bool(model.own_seats) and can_be
        if action == "chat":
            return not model.is_gone
        if action == "mute":
            return self.can_mute()
        if action == "answer":
            return model.answerable_offer(accept=parameters == (True,)) is not None
        if action == "abort":
            match = model.mirror.match
            return phase == "playing" and bool(model.own_seats) and match is not None and match.can_abort
        if action in ("resign", "claim"):
            return phase == "playing" and bool(model.own_seats)
        return True

    def show_words(self) -> None:
        super().show_words()
        model = self.model
        if model is not None and self.is_whole:
            is_composing = model.can_act and model.is_live
            self.query_one(Choices).show(model.composer.choices() if is_composing else [])

    def next_steps(self) -> str:
        return (
            "r rematch   [ ] look back   Esc leave"
            if self.model and self.model.own_seats
            else super().next_steps()
        )

    def choose(self, target: Target) -> None:
        """Add an action to the turn in the making; once that is complete, any choice sends it."""
        model = self.model
        if model is None:
            return
        if model.can_act and model.is_live and model.composer.is_complete:
            self.action_send()
            return
        model.choose(target)
        self._composed()

    def _composed(self) -> None:
        """Send a turn that is complete, unless a word to send it is wanted; show what there is now."""
        model = self.model
        is_waiting = (
            self.client.settings.asks_before_sending and model is not None and not model.composer.is_single
        )
        if model is not None and model.composer.is_complete and model.can_act and not is_waiting:
            self.action_send()
        else:
            self.show_all()

    def action_send(self) -> None:
        """Send what is composed of the turn."""
        model, room = self.model, self.room
        if model is None or room is None or not model.can_act or not model.composer.actions:
            return
        model.is_sending, model.message = True, ""
        self.run_worker(self._play(room, model.composer.texts()), name="turn", group="turn")
        self.show_all()

    async def _play(self, room: EnteredRoom, texts: list[str]) -> None:
        refusal = ""
        try:
            await room.play(texts)
        except CommandError as error:
            refusal = f"the server refuses: {error.message}; your turn was taken back"
        except ConnectionLostError as error:
            refusal = f"your turn was taken back: {error}"
        if self.model is not None:
            self.model.settle(refusal)
            self.show_all()

    def action_undo(self) -> None:
        """Undo the last choice of the turn in the making, or the last action of the turn already sent."""
        model = self.model
        if model is None or not model.can_act:
            return
        request = None if model.composer.can_step_back else model.undo_request()
        if request is not None:
            self.ask(lambda code, match: request, "undone")
        elif model.composer.step_back():
            model.message = ""
            self.show_all()

    def action_pass_turn(self) -> None:
        """Pass."""
        model = self.model
        if model is not None and model.can_act and model.type_actions(PASS_TEXT):
            self.action_send()

    def action_ship(self, value: int) -> None:
        """Choose the value of the ship to place next."""
        composer = self._ships()
        if composer is not None:
            composer.set_value(value)
            self._say_of(composer)

    def action_boost(self) -> None:
        """Run on from the ship landed on."""
        composer = self._ships()
        if composer is not None:
            composer.boost()
            self._say_of(composer)

    def action_reprogram(self) -> None:
        """Put the ship landed on elsewhere."""
        composer = self._ships()
        if composer is not None:
            composer.reprogram()
            self._say_of(composer)

    def _ships(self) -> ShipComposer | None:
        model = self.model
        if model is None or not model.can_act or not isinstance(model.composer, ShipComposer):
            return None
        return model.composer

    def _say_of(self, composer: ShipComposer) -> None:
        assert self.model is not None
        self.model.message = composer.message
        self.show_all()

    def action_hint(self) -> None:
        """Ask the server what to play."""
        if self.room is not None and self.model is not None and self.model.can_ask_for_hint:
            self.model.message = "the server thinks about a hint"
            self.run_asking(self._show_hint(self.room, self.model))
            self.show_all()

    async def _show_hint(self, room: EnteredRoom, model: MatchModel) -> None:
        asked = model.mirror.state
        model.show_hint(await room.take_hint(), asked)
        self.show_all()

    def action_type(self) -> None:
        """Type actions."""
        self.query_one(Entry).open_for("play")

    def action_chat(self) -> None:
        """Write to the room."""
        self.query_one(Entry).open_for("say")

    def on_entry_typed(self, event: Entry.Typed) -> None:
        """A line was typed: a word to the room, or actions."""
        model = self.model
        if event.kind == "say":
            self.say_to_room(event.text)
        elif model is not None:
            if not model.type_actions(event.text):
                self.query_one(Entry).refuse("play", event.text, model.refused_column)
            self._composed()

    def action_offer(self, kind: OfferKind) -> None:
        """Offer a draw or a rematch, or ask to take the last turn back."""

        def offer() -> None:
            self.ask(lambda code, match: Offer(id=0, room=code, kind=kind))

        if kind == "draw" and self._plays_both:
            # Nobody else is asked: a slip of a finger would end the match.
            self._confirm("End this match in a draw?", "draw", offer)
        else:
            offer()

    @property
    def _plays_both(self) -> bool:
        """Whether both sides are played from here."""
        return self.model is not None and len(self.model.own_seats) == 2

    def action_answer(self, accept: bool) -> None:
        """Answer the other player's offer, or withdraw the own one."""
        model = self.model
        if model is None:
            return
        offer = model.answerable_offer(accept=accept)
        if offer is not None:
            kind = offer.kind
            how: OfferEnd = "withdrawn" if offer.player in model.own_seats else "declined"
            said = "" if accept else model.cast.sentence(OfferEnded(kind, offer.player, how))
            self.ask(lambda code, match: Answer(id=0, room=code, kind=kind, accept=accept), said)

    def action_resign(self) -> None:
        """Ask, and give the match up; at one keyboard either of the two may."""
        if self._plays_both:
            self._ask_who_resigns()
        else:
            self._confirm("Give this match up?", "resign", self._resign)

    def _ask_who_resigns(self) -> None:
        assert self.model is not None
        sides = self.model.mirror.game.sides

        def picked(side: str | None) -> None:
            if side is not None:
                self._resign(0 if side == sides[0] else 1)

        choices = {side: f"{side} gives this match up" for side in sides}
        self.app.push_screen(PickerScreen("Who gives this match up?", choices), picked)

    def _resign(self, seat: Player | None = None) -> None:
        self.ask(lambda code, match: Resign(id=0, room=code, match=match.number, seat=seat))

    def action_abort(self) -> None:
        """Ask, and end the match without a result."""
        self._confirm(
            "End this match without a result? That is possible until both players have made an action.",
            "abort",
            lambda: self.ask(lambda code, match: Abort(id=0, room=code, match=match.number)),
        )

    def action_claim(self) -> None:
        """Claim the win over an opponent who stays away."""
        self.ask(lambda code, match: ClaimWin(id=0, room=code, match=match.number))

    def _confirm(self, question: str, yes: str, act: Callable[[], None]) -> None:
        """Ask ``question`` and act on a yes."""

        def answered(is_yes: bool | None) -> None:
            if is_yes:
                act()

        self.app.push_screen(ConfirmScreen(question, yes), answered)

    def banner_text(self) -> str:
        """The offer that waits, or that the win may be claimed."""
        model, room = self.model, self.room
        if model is None or room is None:
            return ""
        claim = claim_text(model.mirror.head, model.own_seats, room.server_now_ms())
        return claim or super().banner_text()

    def action_back(self) -> None:
        """Put down what is picked, or come back to the present, or leave; a running match asks first."""
        model = self.model
        if model is None:
            self.client.leave_screen()
        elif not model.is_live:
            self.look(model.timeline.last_ply)
        elif isinstance(model.composer, ShipComposer) and model.composer.ship is not None:
            self.action_undo()
        elif model.mirror.head.phase == "playing" and model.own_seats:
            question = "Leave this match? Your seat stays yours, and clocks run on."
            self._confirm(question, "leave", self.client.leave_screen)
        else:
            self._leave()

    def _leave(self) -> None:
        """Leave the screen; a seat that is not played from yet is given up."""
        room, model = self.room, self.model
        if room is not None and model is not None and model.own_seats and model.mirror.head.phase == "waiting":
            self.run_worker(self._give_up_seat(room), name="leaving")
        else:
            self.client.leave_screen()

    async def _give_up_seat(self, room: EnteredRoom) -> None:
        with suppress(CommandError, ConnectionLostError):
            await room.leave()
        self.client.leave_screen()
