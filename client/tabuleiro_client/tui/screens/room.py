"""A room while no match is on the board: who sits where, bots, invitations, chat; and what comes after a match.

The board of a match is a screen of its own, opened when the match starts; leaving that one comes back to here.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Final

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from tabuleiro.errors import ClientError, CommandError
from tabuleiro.ids import PLAYERS, Player
from tabuleiro.settings import RoomSettings
from tabuleiro_client.models.play_options import levels_to_offer
from tabuleiro_client.models.saved_matches import RoomMemory
from tabuleiro_client.net.addresses import format_room_address
from tabuleiro_client.net.room import Change
from tabuleiro_client.net.server import Signposts, Venue
from tabuleiro_client.text import rooms
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.open_room import OpenRoom
from tabuleiro_client.tui.room_form import SettingsForm
from tabuleiro_client.tui.screens.form import FormScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.screens.questions import PickerScreen
from tabuleiro_client.tui.screens.room_view import RoomView
from tabuleiro_client.tui.widgets.bars import TopBar
from tabuleiro_client.tui.widgets.chat import Chat, Entry

_WAYS_OUT: Final = {
    "keep": "k  keep the room and my seat, and leave",
    "close": "c  give my seat up; a room without players is closed",
    "stay": "s  stay here",
}


class RoomScreen(PageScreen, RoomView):
    """A room of ``venue``. It follows the room, also while a board is open above."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = list(keys.ROOM)
    DEFAULT_CSS = """
    RoomScreen #facts { width: 1fr; padding: 1 2 0 2; scrollbar-size-vertical: 1; }
    RoomScreen #facts Static { margin-bottom: 1; }
    RoomScreen #code { text-style: bold; color: $accent; }
    RoomScreen #seats { color: $foreground; }
    RoomScreen #settings { color: $text-muted; }
    RoomScreen #talk { width: 36; background: $surface; }
    RoomScreen #talk .heading { padding: 1 1 0 1; text-style: bold; color: $primary; }
    RoomScreen #offer { display: none; height: auto; padding: 0 1; background: $warning; color: $background; }
    RoomScreen #offer.open { display: block; }
    """

    def __init__(self, venue: Venue, open_room: OpenRoom) -> None:
        super().__init__(f"room {open_room.room.code}")
        self.open_room = open_room
        self._venue = venue
        self._board: MatchScreen | None = None
        self._memory: RoomMemory | None = None

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal():
            with VerticalScroll(id="facts", can_focus=False):
                yield Static("", id="code", markup=False)
                yield Static("", id="invitation", markup=False)
                yield Static("", id="seats", markup=False)
                yield Static("", id="state", markup=False)
                yield Static("", id="settings", markup=False)
                yield Static("", id="watching", markup=False)
            with Vertical(id="talk"):
                yield Static("chat", classes="heading", markup=False)
                yield Chat(id="chat")
        yield Static("", id="offer", markup=False)
        yield Entry(id="entry")

    def hear(self, change: Change, said: str) -> None:
        """Say what happened, unless another screen is there to say it."""
        if said and self.app.screen is self:
            self.say(said)

    def catch_up(self) -> None:
        """Show the room as it is now, keep it in mind, and go to the board when a match has started."""
        if self not in self.app.screen_stack:
            return  # it is still on its way there, and what is opened now would lie below it
        self._keep_in_mind()
        if self.room.mirror.head.phase == "playing" and self._board is None:
            self.action_open_match()
        if self.app.screen is self:
            self.show_all()

    def _keep_in_mind(self) -> None:
        """Remember the match for the home screen, whenever something in that has changed, and the way back."""
        head, venue = self.room.mirror.head, self._venue
        if self.room.mirror.own_seats and head.phase in ("waiting", "playing") and not self.model.is_gone:
            back = venue.signposts(head.room, None, is_private=False).back
            self.context.farewells[head.room] = rooms.kept_seat_text(head, back, is_local=venue.is_local)
        else:
            self.context.farewells.pop(head.room, None)
        self._memory = self._memory or RoomMemory(self.context.saved_matches, venue, self.room)
        self._memory.note(self.context.now_ms())

    def on_screen_resume(self) -> None:
        if self._board is not None and self._board not in self.app.screen_stack:
            self._board = None
            if self.room.mirror.head.phase == "playing":
                # Whoever leaves a match that goes on has said so already.
                self._leave_seat_kept()
                return
        self.catch_up()

    def show_all(self) -> None:
        """Draw everything anew."""
        model, mirror, style = self.model, self.room.mirror, self.context.writing
        head = mirror.head
        self.query_one(TopBar).show_title(rooms.title(mirror.game, head))
        secrets = self.room.secrets
        self._write("code", rooms.code_text(head.room, secrets))
        self._write("invitation", rooms.invitation_text(self._signposts(), head))
        self._write("seats", "\n".join(rooms.seat_lines(mirror.game, head, mirror.own_seats, style)))
        self._write("state", "\n".join(model.ending_lines() or [rooms.waiting_text(head)]))
        self._write("settings", "\n".join(rooms.settings_lines(head.settings)))
        self._write("watching", rooms.watching_text(self._signposts()))
        self.query_one(Chat).show(mirror.chat, style)
        offer = self.query_one("#offer", Static)
        offer.update(model.offer_text())
        offer.set_class(bool(model.offer_text()), "open")
        self.refresh_bindings()

    def _write(self, name: str, text: str) -> None:
        static = self.query_one(f"#{name}", Static)
        static.update(text)
        static.display = bool(text)

    def _signposts(self) -> Signposts:
        """Return the commands that lead here; nobody is told the way to a server that ends with this program."""
        if self._venue.is_local:
            return Signposts("", "", "")
        is_private = self.room.mirror.head.settings.is_private
        return self._venue.signposts(self.room.code, self.room.secrets, is_private=is_private)

    def _invitation(self) -> str:
        """Return the link or command to send to others, to join or else to watch; empty if unknown."""
        signposts = self._signposts()
        has_free_seat = rooms.invitation_text(signposts, self.room.mirror.head)
        if has_free_seat:
            return signposts.join_page or signposts.join
        return signposts.watch_page or signposts.watch

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if a key does something now; the footer shows those that do."""
        head = self.room.mirror.head
        is_host = self.context.is_host_of(head)
        if action == "copy_invitation":
            return bool(self._invitation())
        if action == "seat_bot":
            return is_host and self._bot_seat() is not None and bool(self._levels())
        if action == "unseat_bot":
            return is_host and any(seat.holder.kind == "bot" for seat in head.seats)
        if action == "swap":
            return is_host
        if action == "change_settings":
            return is_host and head.phase in ("waiting", "finished")
        if action == "rematch":
            return self.model.can_rematch and bool(self.model.own_seats)
        if action == "chat":
            return not self.model.is_gone
        if action == "mute":
            return self.can_mute()
        if action == "answer":
            return self.model.answerable_offer(accept=parameters == (True,)) is not None
        if action == "open_match":
            return head.match is not None
        return True

    def _levels(self) -> tuple[str, ...]:
        return self._venue.levels(type(self.room.mirror.game))

    def _bot_seat(self) -> Player | None:
        """Return the seat for a bot: a free one, else that of a bot; ``None`` if people hold both."""
        seats = self.room.mirror.head.seats
        for kind in ("open", "bot"):
            found = [seat for seat in PLAYERS if seats[seat].holder.kind == kind]
            if found:
                return found[0]
        return None

    def _ask(self, request: Coroutine[Any, Any, None]) -> None:
        self.say("")
        self.ask(request)

    def action_copy_code(self) -> None:
        """Copy the code of the room."""
        address = format_room_address(self.room.code, self.room.secret)
        self.app.copy_to_clipboard(address)
        self.say(f"{address} was copied, if your terminal allows it")

    def action_copy_invitation(self) -> None:
        """Copy the command by which somebody else joins, or watches when no seat is free."""
        self.app.copy_to_clipboard(self._invitation())
        self.say("the command was copied, if your terminal allows it")

    def action_seat_bot(self) -> None:
        """Ask for a level, and put a bot of it on the seat."""
        seat = self._bot_seat()
        if seat is None:
            return
        place: Player = seat

        def chosen(level: str | None) -> None:
            if level is not None:
                self._ask(self.room.seat_bot(place, level))

        question = "Which bot? After the first, the weakest come first."
        levels = {level: level for level in levels_to_offer(self._levels())}
        self.app.push_screen(PickerScreen(question, levels), chosen)

    def action_unseat_bot(self) -> None:
        """Take the bot off its seat."""
        seats = self.room.mirror.head.seats
        bots = [seat for seat in PLAYERS if seats[seat].holder.kind == "bot"]
        if bots:
            self._ask(self.room.seat_bot(bots[-1], None))

    def action_swap(self) -> None:
        """Let the players change seats."""
        self._ask(self.room.swap_seats())

    def action_change_settings(self) -> None:
        """Fill in what shall be otherwise from the next match on."""
        form = SettingsForm(self.room.mirror.head, self._levels())
        change = self.room.change_settings
        self.app.push_screen(RoomSettingsScreen(form, lambda settings: self._ask(change(settings))))

    def action_rematch(self) -> None:
        """Offer a rematch."""
        self._ask(self.room.offer("rematch"))

    def action_answer(self, accept: bool) -> None:
        """Answer the other player's offer, or withdraw the own one."""
        offer = self.model.answerable_offer(accept=accept)
        if offer is not None:
            self._ask(self.room.answer(offer.kind, accept=accept))

    def action_open_match(self) -> None:
        """Open the board."""
        if self.room.mirror.head.match is None:
            return
        self.say("")
        self.model.message = ""
        self.context.call_for_attention("the match begins - tabuleiro")
        self._board = MatchScreen(self.open_room)
        self.app.push_screen(self._board)

    def on_entry_typed(self, event: Entry.Typed) -> None:
        """Handle a typed line of chat."""
        self.say("")
        self.say_to_room(event.text)

    def action_back(self) -> None:
        """Leave the room; whoever waits in it is asked what becomes of the seat."""
        if self.model.own_seats and self.room.mirror.head.phase == "waiting" and not self.model.is_gone:
            question = f"Leave room {self.room.code}? The match begins when somebody joins."
            letters = {text[0]: way for way, text in _WAYS_OUT.items()}
            self.app.push_screen(PickerScreen(question, _WAYS_OUT, letters), self._go)
        else:
            self._go("close")

    def _go(self, way: str | None) -> None:
        if way == "keep":
            self._leave_seat_kept()
        elif way == "close":
            self.run_worker(self._leave(), name="leaving", group="leaving", exclusive=True)

    def _leave_seat_kept(self) -> None:
        """Leave the screen, and say what becomes of the seat on the one below; at the end, that is said then."""
        self.context.leave_screen()
        self.context.tell(self.context.farewells.get(self.room.code, ""))

    async def _leave(self) -> None:
        with suppress(CommandError, ClientError):
            await self.room.leave()
        self.context.farewells.pop(self.room.code, None)
        if self._memory is not None:
            self._memory.forget_unplayed()
        self.context.leave_screen()


class RoomSettingsScreen(FormScreen):
    """Fills ``settings_form`` in, and goes back with what is wished for, which ``ask`` asks the server for."""

    BINDINGS: ClassVar[list[BindingType]] = [replace(keys.SUBMIT, description="change")]

    def __init__(self, settings_form: SettingsForm, ask: Callable[[RoomSettings], None]) -> None:
        super().__init__(settings_form, "settings of the room")
        self._settings_form = settings_form
        self._ask = ask

    async def submit(self) -> None:
        self.context.leave_screen()
        self._ask(self._settings_form.change())
