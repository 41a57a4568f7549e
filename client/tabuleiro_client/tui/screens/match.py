"""Playing a match: composing turns, offers and their answers, resigning, aborting, claiming, talking."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

from textual.binding import BindingType

from tabuleiro.errors import ClientError, CommandError
from tabuleiro.ids import Player
from tabuleiro.protocol.events import OfferEnd, OfferEnded, OfferKind
from tabuleiro.rules.view import Target
from tabuleiro_client.models.turn_composer import PASS_TEXT, ShipComposer
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.present.players import claim_text
from tabuleiro_client.tui.screens.board_screen import COMMAND_SIGN
from tabuleiro_client.tui.screens.live import LiveScreen
from tabuleiro_client.tui.screens.questions import ConfirmScreen, PickerScreen
from tabuleiro_client.tui.widgets.chat import Entry, EntryKind


class MatchScreen(LiveScreen):
    """A match that is played from here; with no seat in the room it only shows it."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.MATCH, keys.CLAIM, *keys.STEPPING]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if a key does something now; the footer shows those that do."""
        model = self.model
        phase = model.mirror.head.phase
        if action == "hint":
            return model.can_ask_for_hint
        if action == "explain":
            return self.can_explain
        if action.startswith("scroll") and model.composer.is_asking:
            return False
        if action == "undo":
            return model.can_act and (model.composer.can_step_back or model.undo_ply() is not None)
        if action == "send":
            return model.can_act and bool(model.composer.actions)
        if action == "pass_turn":
            return model.can_act and model.composer.can_pass()
        if action == "offer":
            is_rematch = parameters == ("rematch",)
            can_be = model.can_rematch if is_rematch else phase == "playing"
            if parameters == ("draw",):
                can_be = can_be and model.mirror.game.has_draws
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
        if action == "claim":
            return bool(self._claim_text())
        if action == "resign":
            return phase == "playing" and bool(model.own_seats)
        return True

    def show_words(self) -> None:
        super().show_words()
        model = self.model
        if self.is_whole:
            is_composing = model.can_act and model.is_live
            self.show_choices(model.composer if is_composing else None)

    def next_steps(self) -> str:
        return "^r rematch   <- look back   Esc leave" if self.model.own_seats else super().next_steps()

    def begin_typing(self, character: str) -> None:
        """Open the line of actions while a match is played."""
        model = self.model
        is_command = character == COMMAND_SIGN and self.can_explain
        if is_command or (model.own_seats and model.mirror.head.phase == "playing"):
            super().begin_typing(character)
        else:
            self.say("no match is being played: F9 lists what you can do")

    def choose(self, target: Target) -> None:
        """Add an action to the turn in the making; once that is complete, any choice sends it."""
        model = self.model
        if model.can_act and model.is_live and model.composer.is_complete:
            self.action_send()
            return
        model.lays_forced = self.context.settings.lays_forced
        model.choose(target)
        self._composed()

    def _composed(self) -> None:
        """Send a turn that is complete, unless a word to send it is wanted; show what there is now."""
        model = self.model
        is_waiting = self.context.settings.asks_before_sending and not model.composer.is_single
        if model.composer.is_complete and model.can_act and not is_waiting:
            self.action_send()
        else:
            self.show_all()

    def action_send(self) -> None:
        """Send what is composed of the turn."""
        model = self.model
        if not model.can_act or not model.composer.actions:
            return
        model.is_sending, model.message = True, ""
        self.run_worker(self._play(model.composer.texts()), name="turn", group="turn")
        self.show_all()

    async def _play(self, texts: list[str]) -> None:
        refusal = ""
        try:
            await self.awaited(self.room.play(texts), self._is_late)
        except (CommandError, ClientError) as error:
            refusal = f"{problem_text(error)}; your turn was not played"
        self.model.settle(refusal)
        self.show_all()

    def _is_late(self) -> None:
        self.model.is_late = True
        self.show_all()

    def action_undo(self) -> None:
        """Undo the last choice of the turn in the making, or the last action of the turn already sent."""
        model = self.model
        if not model.can_act:
            return
        ply = None if model.composer.can_step_back else model.undo_ply()
        if ply is not None:
            self.ask(self.room.undo(ply), "undone")
        elif model.composer.step_back():
            model.message = ""
            self.show_all()

    def action_pass_turn(self) -> None:
        """Ask, and pass."""
        self._confirm("Pass this turn?", "pass", self._pass)

    def _pass(self) -> None:
        model = self.model
        if model.can_act and model.type_actions(PASS_TEXT):
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
        composer = self.model.composer
        return composer if self.model.can_act and isinstance(composer, ShipComposer) else None

    def _say_of(self, composer: ShipComposer) -> None:
        self.model.message = composer.message
        self.show_all()

    def action_hint(self) -> None:
        """Ask the server what to play."""
        if self.model.can_ask_for_hint:
            self.model.message = "thinking about a hint ..."
            self.ask(self._show_hint(), is_quick=False)
            self.show_all()

    async def _show_hint(self) -> None:
        asked = self.room.mirror.state
        self.model.show_hint(await self.room.take_hint(), asked)
        self.show_all()

    def action_type(self) -> None:
        """Type actions."""
        self.query_one(Entry).open_for("play")

    def take_line(self, kind: EntryKind, text: str) -> None:
        """Handle a typed line: chat, a turn to look at, or actions."""
        if kind != "play":
            super().take_line(kind, text)
            return
        if text.startswith(COMMAND_SIGN):
            self.take_command(text)
            return
        self.model.lays_forced = self.context.settings.lays_forced
        if not self.model.type_actions(text):
            self.query_one(Entry).refuse("play", text, self.model.refused_column)
        self._composed()

    def action_offer(self, kind: OfferKind) -> None:
        """Offer a draw or a rematch, or ask to take the last turn back, all but the rematch after a question."""

        def offer() -> None:
            self.ask(self.room.offer(kind))

        if kind == "rematch":
            offer()
        elif kind == "draw":
            question = "End this match in a draw?" if self._plays_both else "Offer a draw?"
            self._confirm(question, "draw", offer)
        else:
            question = "Take the last turn back?" if self._plays_both else "Ask to take your last turn back?"
            self._confirm(question, "take back", offer)

    @property
    def _plays_both(self) -> bool:
        """True if both sides are played from here."""
        return len(self.model.own_seats) == 2

    def action_answer(self, accept: bool) -> None:
        """Answer the other player's offer, or withdraw the own one."""
        offer = self.model.answerable_offer(accept=accept)
        if offer is not None:
            how: OfferEnd = "withdrawn" if offer.player in self.model.own_seats else "declined"
            said = "" if accept else self.model.cast.sentence(OfferEnded(offer.kind, offer.player, how))
            self.ask(self.room.answer(offer.kind, accept=accept), said)

    def action_resign(self) -> None:
        """Ask, and resign the match; at one keyboard either of the two may."""
        if self._plays_both:
            self._ask_who_resigns()
        else:
            self._confirm("Resign this match?", "resign", self._resign)

    def _ask_who_resigns(self) -> None:
        sides = self.model.mirror.game.sides

        def picked(side: str | None) -> None:
            if side is not None:
                self._resign(0 if side == sides[0] else 1)

        choices = {side: f"{side} resigns this match" for side in sides}
        self.app.push_screen(PickerScreen("Who resigns this match?", choices), picked)

    def _resign(self, seat: Player | None = None) -> None:
        self.ask(self.room.resign(seat))

    def action_abort(self) -> None:
        """Ask, and end the match without a result."""
        self._confirm(
            "End this match without a result? That is possible until both players have made an action.",
            "abort",
            lambda: self.ask(self.room.abort()),
        )

    def action_claim(self) -> None:
        """Claim the win over an opponent who stays away."""
        self.ask(self.room.claim_win())

    def _confirm(self, question: str, yes: str, act: Callable[[], None]) -> None:
        """Ask ``question`` and act on a yes."""

        def answered(is_yes: bool | None) -> None:
            if is_yes:
                act()

        self.app.push_screen(ConfirmScreen(question, yes), answered)

    def banner_text(self) -> str:
        """Return the banner of an offer that waits, or of a win that may be claimed."""
        return super().banner_text() or self._claim_text()

    def _claim_text(self) -> str:
        return claim_text(self.room.mirror.head, self.model.own_seats, self.room.server_now_ms())

    def action_back(self) -> None:
        """Put down what is picked, or come back to the present, or leave; a running match asks first."""
        model = self.model
        if not model.is_live:
            self.look(model.timeline.last_ply)
        elif isinstance(model.composer, ShipComposer) and model.composer.ship is not None:
            self.action_undo()
        elif model.mirror.head.phase == "playing" and model.own_seats:
            question = "Leave this match? Your seat stays yours, and clocks run on."
            self._confirm(question, "leave", self.context.leave_screen)
        else:
            self._leave()

    def _leave(self) -> None:
        """Leave the screen; a seat that is not played from yet is given up."""
        if self.model.own_seats and self.model.mirror.head.phase == "waiting":
            self.run_worker(self._give_up_seat(), name="leaving")
        else:
            self.context.leave_screen()

    async def _give_up_seat(self) -> None:
        with suppress(CommandError, ClientError):
            await self.room.leave()
        self.context.leave_screen()
