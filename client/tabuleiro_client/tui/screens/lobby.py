"""The rooms of a server as they are now, who is here and what they write; the ways into a room."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import DataTable, Input, Static

from tabuleiro.errors import ClientError, CommandError
from tabuleiro.ids import AccountId, Phase
from tabuleiro.protocol.messages import CHAT_MAX_CHARS, Announcement, JoinRoom, LobbyUpdate, RoomList, WatchRoom
from tabuleiro_client.net.entering import EntryRequest
from tabuleiro_client.net.lobby import follow_lobby
from tabuleiro_client.net.server import Venue
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.text.sentences import chat_problem
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.entrance import ask_for_room, enter_room
from tabuleiro_client.tui.keys import key
from tabuleiro_client.tui.lobby_model import HEADINGS, LobbyModel, LobbyRow
from tabuleiro_client.tui.room_form import RoomForm
from tabuleiro_client.tui.screens.new_match import NewMatchScreen
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.screens.questions import PickerScreen
from tabuleiro_client.tui.widgets.bars import Line
from tabuleiro_client.tui.widgets.chat import Chat, Entry

PEOPLE_MIN_COLUMNS = 104


class RoomTable(DataTable[str]):
    """The table of rooms; Enter is the screen's."""

    BINDINGS: ClassVar[list[BindingType]] = [binding for binding in keys.LOBBY if binding.action == "enter_room"]

    def action_enter_room(self) -> None:
        """Enter the room under the cursor."""
        self.action_select_cursor()


class Finder(Input):
    """The line for what is looked for in the list, which is the screen's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("down,enter", "screen.to_list", "list", "Go to the list of what was found.", sign="Enter"),
        key("escape", "screen.find_all", "all", "Clear the search: show all rooms again.", sign="Esc"),
    ]


class LobbyScreen(PageScreen):
    """The rooms of ``venue``; ``phase`` is the state of rooms to begin with, ``None``: open and running."""

    BINDINGS: ClassVar[list[BindingType]] = [binding for binding in keys.LOBBY if binding.action != "enter_room"]
    DEFAULT_CSS = """
    LobbyScreen .filters { padding: 0 1; color: $text-muted; height: 1; }
    LobbyScreen #filter, LobbyScreen Finder { width: 1fr; }
    LobbyScreen #count, LobbyScreen #find { width: auto; }
    LobbyScreen Finder { background: $background; }
    LobbyScreen Finder:focus { background: $panel; }
    LobbyScreen #here { padding: 0 1; color: $text-muted; }
    LobbyScreen RoomTable { width: 1fr; height: 1fr; background: $background; scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1; }
    LobbyScreen #side { width: 34; background: $surface; }
    LobbyScreen #people { height: auto; max-height: 40%; padding: 0 1; scrollbar-size-vertical: 1; }
    LobbyScreen #people Vertical { height: auto; }
    LobbyScreen #side .heading { padding: 1 1 0 1; text-style: bold; color: $primary; }
    LobbyScreen.narrow #side .heading { display: none; }
    LobbyScreen.narrow #body { layout: vertical; }
    LobbyScreen.narrow #people { display: none; }
    LobbyScreen.narrow #side { width: 1fr; height: 5; }
    LobbyScreen.silent.narrow #side { display: none; }
    LobbyScreen #here { display: none; }
    LobbyScreen.narrow #here { display: block; }
    LobbyScreen #empty { padding: 1 2; width: 1fr; color: $text-muted; display: none; }
    LobbyScreen.empty #empty { display: block; }
    LobbyScreen.empty RoomTable { display: none; }
    """

    def __init__(self, venue: Venue, phase: Phase | None = None) -> None:
        super().__init__(f"rooms of {venue.url.partition('://')[2]}")
        self.model: LobbyModel | None = None
        self._venue = venue
        self._phase = phase
        self._rows: list[LobbyRow] = []

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(classes="filters"):
            yield Line(id="filter")
            yield Static("", id="count", markup=False)
        with Horizontal(classes="filters"):
            yield Static("find (F3): ", id="find", markup=False)
            yield Finder(placeholder="a code, a name, a game", compact=True, select_on_focus=False)
        with Horizontal(id="body"):
            yield RoomTable(cursor_type="row", zebra_stripes=False)
            yield Static("", id="empty", markup=False)
            with Vertical(id="side"):
                with VerticalScroll(id="people", can_focus=False), Vertical():
                    yield Static("", id="names", markup=False)
                yield Static("chat", classes="heading", markup=False)
                yield Chat(tells_watching=False)
        yield Line(id="here")
        yield Entry(id="entry")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(RoomTable).add_columns(*HEADINGS)
        self.query_one(RoomTable).focus()
        self.model = LobbyModel(self._venue.link.account, self.context.writing)
        if self._phase is not None:
            self.model.show_only(self._phase)
        self.show_all()
        self._follow()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < PEOPLE_MIN_COLUMNS, "narrow")

    def _follow(self) -> None:
        """Follow the list by the present filter, in place of the one before."""
        if self.model is not None:
            self.run_worker(self._told(self._listen(self.model)), name="lobby", group="lobby", exclusive=True)

    async def _listen(self, model: LobbyModel) -> None:
        has_announced = False
        async with follow_lobby(self._venue.link, model.game, model.phases) as news:
            async for told in news:
                match told:
                    case RoomList():
                        model.start(told)
                        if has_announced:  # the list comes anew once the server is back
                            self.say("")
                            has_announced = False
                    case LobbyUpdate():
                        model.take(told)
                    case Announcement():
                        self.say(f"the server says: {told.text}")
                        has_announced = True
                self.show_all()

    def show_all(self) -> None:
        """Draw the list anew, with the cursor on the same room."""
        model = self.model
        if model is None or not self.is_attached:
            return
        style = self.context.writing
        rows = model.rows()
        self.query_one("#filter", Line).write(model.filter_text())
        self.query_one("#count", Static).update(model.count_text(len(rows)))
        self.query_one("#empty", Static).update("\n".join(model.empty_lines()))
        self.query_one("#here", Line).update(showable(model.people_text(), style))
        self.query_one("#names", Static).update("\n".join([f"{model.people_count} here", *model.people_lines()]))
        self.query_one(Chat).show(model.chat(), style)
        self.set_class(not model.chat(), "silent")
        self.set_class(not rows, "empty")
        if rows == self._rows:
            return
        table = self.query_one(RoomTable)
        chosen = self._chosen()
        self._rows = rows
        table.clear()
        for row in rows:
            first = f"{row.room} *" if row.is_own else row.room
            table.add_row(first, *row.texts[1:], key=row.room)
        codes = [row.room for row in rows]
        if chosen is not None and chosen.room in codes:
            table.move_cursor(row=codes.index(chosen.room), animate=False)
        if rows and self.focused is None:
            # An empty table is hidden, and so loses the focus.
            self.call_after_refresh(table.focus)
        self.refresh_bindings()

    def _chosen(self) -> LobbyRow | None:
        """Return the room under the cursor, or ``None``."""
        place = self.query_one(RoomTable).cursor_row
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if a key does something now; the footer shows those that do."""
        if action == "find":
            return not isinstance(self.focused, Finder)
        if action == "hide_writer":
            return self.model is not None and bool(self.model.writers())
        if action == "find_all":
            return self.model is not None and bool(self.model.wanted)
        return bool(self._rows) if action == "watch_room" else True

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        row = self._chosen()
        if row is not None:
            is_to_join = row.is_own or row.has_free_seat
            request = JoinRoom(id=0, room=row.room) if is_to_join else WatchRoom(id=0, room=row.room)
            self._enter(request)

    def _enter(self, request: EntryRequest) -> None:
        self.say("")
        self.start(enter_room(self.app, request))

    def action_watch_room(self) -> None:
        """Watch the room under the cursor."""
        row = self._chosen()
        if row is not None:
            self._enter(WatchRoom(id=0, room=row.room))

    def action_new_room(self) -> None:
        """Make a room."""
        self.app.push_screen(NewMatchScreen(self._form(is_quick=False)))

    def action_quick_play(self) -> None:
        """Play with whoever waits."""
        self.app.push_screen(NewMatchScreen(self._form(is_quick=True)))

    def _form(self, *, is_quick: bool) -> RoomForm:
        form = RoomForm("person", is_local=False, is_quick=is_quick)
        if self.model is not None and self.model.game is not None:
            form.set("game", self.model.game)
        return form

    def action_by_code(self) -> None:
        """Enter a room by its code."""
        self.say("")
        self.start(ask_for_room(self.app))

    def action_next_game(self) -> None:
        """Show the rooms of the next game."""
        if self.model is not None:
            self.model.next_game()
            self.show_all()
            self._follow()

    def action_next_state(self) -> None:
        """Show rooms in another state."""
        if self.model is not None:
            self.model.next_state()
            self.show_all()
            self._follow()

    def action_find(self) -> None:
        """Go to the line for what is looked for."""
        self.query_one(Finder).focus()

    def on_input_changed(self, event: Finder.Changed) -> None:
        if self.model is not None and isinstance(event.input, Finder):
            self.model.wanted = event.value
            self.show_all()
            self.refresh_bindings()

    def action_chat(self) -> None:
        """Write to everybody in the lobby."""
        self.query_one(Entry).open_for("say")

    def on_entry_typed(self, event: Entry.Typed) -> None:
        """Send a line of chat; one that cannot be sent comes back."""
        self.say("")
        self.run_worker(self._told(self._send(event.text)), name="chat", group="chat")

    async def _send(self, text: str) -> None:
        problem = chat_problem(text)
        column: int | None = CHAT_MAX_CHARS + 1
        if not problem:
            try:
                await self._venue.link.say_in_lobby(text)
                return
            except (CommandError, ClientError) as error:
                problem, column = problem_text(error), None
        self.say(problem)
        self.query_one(Entry).refuse("say", text, column)

    def action_hide_writer(self) -> None:
        """Ask whose lines shall be hidden, or shown again."""
        model = self.model
        if model is None:
            return
        style, writers = self.context.writing, model.writers()

        def title(account: AccountId) -> str:
            name = showable(writers[account], style)
            return f"show what {name} writes" if account in model.hidden else f"hide what {name} writes"

        def picked(account: str | None) -> None:
            if account is not None:
                model.hide(AccountId(account))
                self.show_all()

        titles = {str(account): title(account) for account in writers}
        self.app.push_screen(PickerScreen("Whose lines?", titles), picked)

    def action_find_all(self) -> None:
        """Look for nothing any more, and go back to the list."""
        self.query_one(Finder).value = ""
        self.action_to_list()

    def action_to_list(self) -> None:
        """Go to the list, if there is anything in it."""
        self.set_focus(self.query_one(RoomTable) if self._rows else None)
