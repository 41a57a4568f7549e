"""The list of replays: own matches, whose records the servers keep, imported ones, and records in files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import DataTable, Input, Static

from tabuleiro.errors import ClientError, GameOptionError, IllegalActionError, NotationError
from tabuleiro.notation.record import MatchRecord
from tabuleiro.notation.record_text import parse_record
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro_client.models.records import FileMatches, Match, Matches, RoomMatches
from tabuleiro_client.models.saved_matches import ImportedRecord, SavedMatch, fits, row_of
from tabuleiro_client.text.matches import HEADINGS
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui.entrance import go_on, go_to_server
from tabuleiro_client.tui.keys import key
from tabuleiro_client.tui.old_matches import ask_about
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.screens.replay import ReplayScreen
from tabuleiro_client.tui.session import Session


class MatchTable(DataTable[str]):
    """The table of own matches; Enter opens the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("enter", "open_match", "open", "Look through the match under the cursor.", sign="Enter"),
    ]

    def action_open_match(self) -> None:
        """Open the match under the cursor."""
        self.action_select_cursor()


class ReplaysScreen(PageScreen):
    """A line for the name of a file, and the own matches below it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("slash", "type_file", "file", "Type the name of a file.", sign="/"),
        key(
            "f3",
            "find",
            "find",
            "Show the matches that have what you type: a game, a name, a result, a date.",
            sign="F3",
        ),
        key("c", "go_on", "continue", "Continue the match under the cursor, if it is not over.", sign="c"),
        key("delete,x", "ask_about", "end", "End or delete the match under the cursor.", sign="x"),
    ]
    DEFAULT_CSS = """
    ReplaysScreen Input { margin: 1 2 0 2; background: $surface; }
    ReplaysScreen .heading { padding: 1 2 0 2; text-style: bold; color: $primary; }
    ReplaysScreen MatchTable { height: 1fr; margin: 0 1; background: $background; scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1; }
    ReplaysScreen #none { padding: 0 2; height: 1fr; color: $text-muted; }
    """

    def __init__(self, wanted: str = "") -> None:
        """``wanted`` are words that the matches listed at first have; empty for all."""
        super().__init__("replays")
        self._wanted = wanted
        self._matches: list[SavedMatch | ImportedRecord] = []
        self._listed: list[SavedMatch | ImportedRecord] = []

    def compose_body(self) -> Iterable[Widget]:
        yield Static("A record in a file", classes="heading", markup=False)
        yield Input(placeholder="name of the file, Enter opens it", compact=True, select_on_focus=False, id="file")
        yield Static("Your matches, the last ones first", classes="heading", markup=False)
        yield Input(
            self._wanted,
            placeholder="find: a game, a name, a result, a date (F3)",
            compact=True,
            select_on_focus=False,
            id="find",
        )
        yield MatchTable(cursor_type="row")
        yield Static("None yet: the matches you play are listed here.", id="none", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(MatchTable).add_columns(*HEADINGS)
        self._read()
        table = self.query_one(MatchTable)
        table.display = self.query_one("#find").display = bool(self._matches)
        self.query_one("#none").display = not self._matches
        if self._matches:
            table.focus()
        else:
            self.query_one("#file").focus()

    def on_screen_resume(self) -> None:
        if self.query(MatchTable):
            self._read()

    def _read(self) -> None:
        """Read which matches there are now, and list those looked for."""
        self._matches = self.context.saved_matches.played()
        self._list(self.query_one("#find", Input).value)

    def _list(self, wanted: str) -> None:
        """List the matches that have all words of ``wanted``."""
        rows = [(match, self._texts(match)) for match in self._matches]
        fitting = [(match, row) for match, row in rows if fits(row, wanted)]
        self._listed = [match for match, _ in fitting]
        table = self.query_one(MatchTable)
        place = table.cursor_row
        table.clear()
        table.add_rows([row for _, row in fitting])
        table.move_cursor(row=min(place, len(fitting) - 1), animate=False)
        self.refresh_bindings()

    def _texts(self, match: SavedMatch | ImportedRecord) -> tuple[str, ...]:
        return tuple([showable(text, self.context.writing) for text in row_of(match)])

    def action_type_file(self) -> None:
        """Go to the line for the name of a file."""
        self.query_one("#file").focus()

    def action_find(self) -> None:
        """Go to the line that says which matches are listed."""
        self.query_one("#find").focus()

    def _chosen(self) -> SavedMatch | None:
        """Return the match under the cursor; ``None`` for none, or an imported record."""
        place = self.query_one(MatchTable).cursor_row
        chosen = self._listed[place] if 0 <= place < len(self._listed) else None
        return chosen if isinstance(chosen, SavedMatch) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if a key does something now; the footer shows those that do."""
        if action not in ("go_on", "ask_about"):
            return True
        chosen = self._chosen() if isinstance(self.focused, MatchTable) else None
        return chosen is not None and (action == "ask_about" or not chosen.is_over)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        self.refresh_bindings()

    def action_go_on(self) -> None:
        """Continue the match under the cursor."""
        chosen = self._chosen()
        if chosen is not None:
            self.say("")
            self.start(go_on(self.app, chosen))

    def action_ask_about(self) -> None:
        """Ask what to do about the match under the cursor."""
        chosen = self._chosen()
        if chosen is not None:
            self.say("")
            self.start(self._ask_about(chosen))

    async def _ask_about(self, match: SavedMatch) -> None:
        await ask_about(self.app, match)
        self._read()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "find":
            self._list(event.value)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        self.say("")
        chosen = self._listed[event.cursor_row]
        self.start(self._open_imported(chosen) if isinstance(chosen, ImportedRecord) else self._open_match(chosen))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "find":
            self.query_one(MatchTable).focus()
            return
        name = event.value.strip()
        if name:
            self.say("")
            self.start(self._open_file(name))

    async def _open_file(self, name: str) -> None:
        if name == "-":
            raise ClientError("the standard input is this terminal: name a file")
        matches = FileMatches(name)
        match = matches.read()
        if matches.last == 1:
            self._open(match.record)
        else:
            self._open(match.record, match, matches)

    async def _open_imported(self, imported: ImportedRecord) -> None:
        try:
            self._open(parse_record(imported.text))
        except NotationError as error:
            raise ClientError(f"the record cannot be read: {error}") from error

    async def _open_match(self, match: SavedMatch) -> None:
        self.say(f"asking for the record of {match.room} ...")
        matches = RoomMatches(partial(_ask, self.context.session, match))
        newest = await matches.newest()
        self._open(newest.record, newest, matches)
        self.say("")

    def _open(self, record: MatchRecord, match: Match | None = None, matches: Matches | None = None) -> None:
        try:
            screen = ReplayScreen(record, match, matches, has_report_cells=self.context.writing.has_report_cells)
        except (GameOptionError, NotationError, IllegalActionError) as error:
            raise ClientError(f"the record cannot be replayed: {error}") from error
        self.app.push_screen(screen)


async def _ask(session: Session, match: SavedMatch, number: int | None) -> RecordPlayed:
    """Ask the server of ``match`` for a match of its room; a file of this machine is read, whoever is using it.

    Raises: as :func:`go_to_server` and :func:`local_record`, CommandError.
    """
    if match.is_local:
        from tabuleiro_client.net.server import database_of_key, local_record

        found = await local_record(match.room, number, database_of_key(match.server))
        if found is not None:
            return found
    venue = await go_to_server(session, match)
    return await venue.link.get_record(match.room, number, match.secret)
