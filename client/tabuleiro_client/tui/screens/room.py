"""A room while no match is on the board: who sits where, bots, invitations, talk; and what comes after a match.

The board of a match is a screen of its own, opened when the match starts; leaving that one comes back to here.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from tabuleiro.errors import ClientError, CommandError, ConnectionLostError
from tabuleiro.ids import PLAYERS, Player, RoomCode, TimestampMs
from tabuleiro.protocol.messages import (
    CHAT_MAX_CHARS,
    Answer,
    ChangeSettings,
    ClientMessage,
    Offer,
    Say,
    SeatBot,
    SwapSeats,
)
from tabuleiro.settings import RoomSettings
from tabuleiro_client.models.play_options import levels_to_offer
from tabuleiro_client.models.saved_matches import ShelvedMatch
from tabuleiro_client.net.addresses import format_room_address
from tabuleiro_client.net.library import Client
from tabuleiro_client.net.room import Change, EnteredRoom
from tabuleiro_client.net.server import Venue
from tabuleiro_client.text import rooms
from tabuleiro_client.text.rooms import brief_options_text
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.match_model import MatchModel
from tabuleiro_client.tui.places import problem_text
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.muting import ask_whom_to_mute
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.screens.picker import PickerScreen
from tabuleiro_client.tui.screens.room_settings import RoomSettingsScreen
from tabuleiro_client.tui.settings_form import SettingsForm
from tabuleiro_client.tui.widgets.bars import TopBar
from tabuleiro_client.tui.widgets.chat import Chat, Entry, chat_problem


class RoomScreen(PageScreen):
    """The room ``code`` of ``venue``, in which this guest is already; ``secret`` is what a private one wants."""

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

    def __init__(self, venue: Venue, code: RoomCode, secret: str | None) -> None:
        super().__init__(f"room {code}")
        self.room: EnteredRoom | None = None
        self.model: MatchModel | None = None
        self._venue = venue
        self._code = code
        self._secret = secret
        self._is_match_open = False
        self._shelved: ShelvedMatch | None = None

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal():
            with VerticalScroll(id="facts", can_focus=False):
                yield Static("", id="code", markup=False)
                yield Static("", id="invitation", markup=False)
                yield Static("", id="seats", markup=False)
                yield Static("", id="state", markup=False)
                yield Static("", id="settings", markup=False)
            with Vertical(id="talk"):
                yield Static("talk", classes="heading", markup=False)
                yield Chat(id="chat")
        yield Static("", id="offer", markup=False)
        yield Entry(id="entry")

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._told(self._stay()), name="stay in a room")

    def _entry(self) -> AbstractAsyncContextManager[EnteredRoom]:
        return Client(self._venue.link).watch(self._code, secret=self._secret)

    async def _stay(self) -> None:
        """Follow the room until it is gone or this screen is."""
        async with self._entry() as room:
            self.room = room
            self.model = MatchModel(room.mirror, self.client.writing)
            try:
                self._take_in()
                async for change in room:
                    self._hear(change, self.model)
                    if not room.has_unread:
                        self._take_in()
                self._take_in()  # the room is gone, and what came last is not shown yet
            finally:
                self.room = None

    def _hear(self, change: Change, model: MatchModel) -> None:
        """Say what happened, unless another screen is there to say it."""
        before = model.message
        model.take(change)
        if model.message != before and self.app.screen is self:
            self.say(model.message)

    def _take_in(self) -> None:
        """Show the room as it is now, keep it in mind, and go to the board when a match has started."""
        assert self.room is not None
        head = self.room.mirror.head
        self._keep_in_mind(self.room)
        if head.phase == "playing" and not self._is_match_open:
            self.action_open_match()
        if self.app.screen is self:
            self.show_all()

    def _keep_in_mind(self, room: EnteredRoom) -> None:
        """Remember the match for the home screen, whenever something in that has changed."""
        head, own = room.mirror.head, room.mirror.own_seats
        if not own:
            return
        others = [head.seats[seat].holder.name or "" for seat in PLAYERS if seat not in own]
        venue = self._venue
        match = ShelvedMatch(
            server=venue.server,
            guest=venue.link.welcome.name,
            room=head.room,
            game=room.mirror.game.title,
            board=brief_options_text(type(room.mirror.game), head.options),
            phase=head.phase,
            opponent=others[0] if others else "",
            seen_at_ms=TimestampMs(self.client.now_ms()),
            is_local=venue.is_local,
            secret=self._secret,
        )
        if self._shelved is None or not self._shelved.says_the_same(match):
            self._shelved = match
            with suppress(ClientError):  # a full disk is no reason to disturb a match
                self.client.shelf.keep(match)

    def on_screen_resume(self) -> None:
        if self._is_match_open:
            self._is_match_open = False
            if self.model is not None and self.model.mirror.head.phase == "playing":
                # Whoever leaves a match that goes on has said so already.
                self.client.leave_screen()
                return
        self.show_all()

    def show_all(self) -> None:
        """Draw everything anew."""
        room, model = self.room, self.model
        if room is None or model is None:
            return
        mirror, style = room.mirror, self.client.writing
        head = mirror.head
        self.query_one(TopBar).show_title(rooms.title(mirror.game, head))
        secrets = room.secrets
        self._write("code", rooms.code_text(head.room, secrets))
        self._write("invitation", rooms.invitation_text(self._invitation(), head))
        self._write("seats", "\n".join(rooms.seat_lines(mirror.game, head, mirror.own_seats, style)))
        self._write("state", "\n".join(model.ending_lines() or [rooms.waiting_text(head)]))
        self._write("settings", "\n".join(rooms.settings_lines(head.settings)))
        self.query_one(Chat).show(mirror.chat, style)
        offer = self.query_one("#offer", Static)
        offer.update(model.offer_text())
        offer.set_class(bool(model.offer_text()), "open")
        self.refresh_bindings()

    def _write(self, name: str, text: str) -> None:
        static = self.query_one(f"#{name}", Static)
        static.update(text)
        static.display = bool(text)

    def _invitation(self) -> str:
        """The command by which somebody else joins; empty when there is none that we know."""
        if self.room is None or self._venue.is_local:
            return ""
        is_private = self.room.mirror.head.settings.is_private
        return self._venue.signposts(self._code, self.room.secrets, is_private=is_private).join

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key does something now; the footer shows those that do."""
        if self.room is None or self.model is None:
            return action not in {binding.action.partition("(")[0] for binding in keys.ROOM}
        head = self.room.mirror.head
        is_host = self.client.is_host_of(head)
        if action == "copy_invitation":
            return bool(rooms.invitation_text(self._invitation(), head))
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
            return is_host and bool(self.model.talk_rights.people(self.model.mirror))
        if action == "answer":
            return self.model.answerable_offer(accept=parameters == (True,)) is not None
        if action == "open_match":
            return head.match is not None
        return True

    def _levels(self) -> tuple[str, ...]:
        assert self.room is not None
        return self._venue.levels(type(self.room.mirror.game))

    def _bot_seat(self) -> Player | None:
        """The seat for a bot: a free one, else the one a bot has already; ``None`` when people hold both."""
        assert self.room is not None
        seats = self.room.mirror.head.seats
        for kind in ("open", "bot"):
            found = [seat for seat in PLAYERS if seats[seat].holder.kind == kind]
            if found:
                return found[0]
        return None

    def ask(self, message: ClientMessage) -> None:
        """Ask the server for something in this room; a refusal is said."""
        if self.room is not None:
            self._run_asking(self.room.request(message))

    def _run_asking(self, request: Coroutine[Any, Any, None]) -> None:
        self.say("")
        self.run_worker(self._told(request), name="request", group="requests")

    def action_copy_code(self) -> None:
        """Copy the code of the room."""
        address = format_room_address(self._code, self._secret)
        self.app.copy_to_clipboard(address)
        self.say(f"{address} was copied, if your terminal allows it")

    def action_copy_invitation(self) -> None:
        """Copy the command by which somebody else joins."""
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
                self.ask(SeatBot(id=0, room=self._code, seat=place, level=level))

        question = "Which computer player? After the first, the weakest come first."
        levels = {level: level for level in levels_to_offer(self._levels())}
        self.app.push_screen(PickerScreen(question, levels), chosen)

    def action_unseat_bot(self) -> None:
        """Take the bot off its seat."""
        assert self.room is not None
        seats = self.room.mirror.head.seats
        bots = [seat for seat in PLAYERS if seats[seat].holder.kind == "bot"]
        if bots:
            self.ask(SeatBot(id=0, room=self._code, seat=bots[-1], level=None))

    def action_swap(self) -> None:
        """Let the players change seats."""
        self.ask(SwapSeats(id=0, room=self._code))

    def action_change_settings(self) -> None:
        """Fill in what shall be otherwise from the next match on."""
        if self.room is None:
            return
        form = SettingsForm(self.room.mirror.head, self._levels())
        self.app.push_screen(RoomSettingsScreen(form, self._ask_for_settings))

    def _ask_for_settings(self, settings: RoomSettings) -> None:
        self.ask(ChangeSettings(id=0, room=self._code, settings=settings))

    def action_rematch(self) -> None:
        """Offer a rematch."""
        self.ask(Offer(id=0, room=self._code, kind="rematch"))

    def action_answer(self, accept: bool) -> None:
        """Answer the other player's offer, or withdraw the own one."""
        if self.model is None:
            return
        offer = self.model.answerable_offer(accept=accept)
        if offer is not None:
            self.ask(Answer(id=0, room=self._code, kind=offer.kind, accept=accept))

    def action_open_match(self) -> None:
        """Open the board."""
        if self.room is None or self.room.mirror.head.match is None:
            return
        self._is_match_open = True
        self.say("")
        self.client.call_for_attention("the match begins - tabuleiro")
        self.app.push_screen(MatchScreen(self._entry))

    def action_chat(self) -> None:
        """Write to the room."""
        self.query_one(Entry).open_for("say")

    def action_mute(self) -> None:
        """Ask who shall be muted or may talk again."""
        if self.room is not None and self.model is not None:
            ask_whom_to_mute(self.client, self.room, self.model, self._run_asking)

    def on_entry_typed(self, event: Entry.Typed) -> None:
        """A word to the room was typed; what cannot be said is kept in the line."""
        text, problem = event.text, chat_problem(event.text)
        if problem:
            self.say(problem)
            self.query_one(Entry).refuse("say", text, CHAT_MAX_CHARS + 1)
        elif self.room is not None:
            self.say("")
            self.run_worker(self._say_to(self.room, text), name="request", group="requests")

    async def _say_to(self, room: EnteredRoom, text: str) -> None:
        try:
            await room.request(Say(id=0, room=self._code, text=text))
        except (CommandError, ConnectionLostError) as error:
            self.say(problem_text(error))
            self.query_one(Entry).refuse("say", text)

    def action_back(self) -> None:
        """Leave the room, and give the seat up; nothing is lost by it."""
        if self.room is None:
            self.client.leave_screen()
        else:
            self.run_worker(self._leave(self.room), name="leaving", group="leaving", exclusive=True)

    async def _leave(self, room: EnteredRoom) -> None:
        with suppress(CommandError, ConnectionLostError):
            await room.leave()
        if self._shelved is not None and self._shelved.phase == "waiting":
            self.client.shelf.forget(self._shelved)
        self.client.leave_screen()
