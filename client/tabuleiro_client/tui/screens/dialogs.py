"""Dialogs: forms of a few fields over the screen below, to connect to a server, join a room or export a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from tabuleiro.errors import ConfigError, NotationError
from tabuleiro.ids import RoomCode
from tabuleiro.notation.formats import RecordFormat, write_record
from tabuleiro.notation.record import MatchRecord
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro.protocol.messages import JoinRoom, WatchRoom
from tabuleiro.protocol.names import NAME_RULE, parse_name
from tabuleiro_client.net.addresses import parse_room_address
from tabuleiro_client.tui.context import Context, context_of
from tabuleiro_client.tui.keys import DIALOG_HELP, key
from tabuleiro_client.tui.room_form import Field
from tabuleiro_client.tui.widgets.forms import FieldRow

Answer = TypeVar("Answer")


class DialogScreen(ModalScreen[Answer | None]):
    """Asks for ``fields``, filled in with ``values`` at first; the answer is ``None`` when it is left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        DIALOG_HELP,
        key("escape", "give_up", "cancel", "Close this without an answer.", sign="Esc"),
        key("down", "app.focus_next", "next", "Go to the next field.", shown=False),
        key("up", "app.focus_previous", "before", "Go to the field before.", shown=False),
    ]
    DEFAULT_CSS = """
    DialogScreen { align: center middle; }
    DialogScreen > Vertical { width: 74; max-width: 96%; height: auto; background: $panel; padding: 1 2; }
    DialogScreen .title { text-style: bold; margin-bottom: 1; }
    DialogScreen FieldRow { margin-bottom: 1; }
    DialogScreen #problem { color: $error; text-style: bold; height: auto; display: none; margin-bottom: 1; }
    DialogScreen #problem.open { display: block; }
    DialogScreen #buttons { height: auto; }
    DialogScreen Button { margin-right: 2; }
    DialogScreen .way-out { width: 1fr; text-align: right; color: $text-muted; }
    """

    def __init__(
        self, title: str, fields: Iterable[Field], values: Mapping[str, str], buttons: Mapping[str, str]
    ) -> None:
        super().__init__()
        self.values = dict(values)
        self._title = title
        self._fields = list(fields)
        self._buttons = buttons

    @property
    def context(self) -> Context:
        """The application, as far as this needs it."""
        return context_of(self)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title", markup=False)
            for field in self._fields:
                yield FieldRow(field, self.values[field.name], "")
            yield Static("", id="problem", markup=False)
            with Horizontal(id="buttons"):
                for place, (name, label) in enumerate(self._buttons.items()):
                    yield Button(label, id=name, variant="default" if place else "primary", compact=True)
                yield Static("F1 keys, Esc closes", classes="way-out", markup=False)

    def on_mount(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Put the cursor where the filling in begins."""
        self.query(FieldRow).first().take_focus()

    def answer(self, button: str) -> Answer | None:
        """Return the answer by a button; ``None`` after showing an error."""
        raise NotImplementedError

    def show_problem(self, problem: str, field: str | None = None) -> None:
        """Say what is wrong, at a field if it is one's."""
        for row in self.query(FieldRow):
            is_here = row.field.name == field
            row.show(row.field, self.values[row.field.name], problem if is_here else "")
            if is_here:
                row.take_focus()
        line = self.query_one("#problem", Static)
        line.update(problem if field is None else "")
        line.set_class(field is None and bool(problem), "open")

    def on_field_row_filled(self, event: FieldRow.Filled) -> None:
        self.values[event.name] = event.text

    def on_field_row_left(self, event: FieldRow.Left) -> None:
        self._give(next(iter(self._buttons)))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self._give(str(event.button.id))

    def _give(self, button: str) -> None:
        # Enter can come before the word of the last key.
        self.values |= {row.field.name: row.text for row in self.query(FieldRow)}
        answer = self.answer(button)
        if answer is not None:
            self.dismiss(answer)

    def action_give_up(self) -> None:
        """Close without an answer."""
        self.dismiss(None)


_DESTINATION_FIELDS = (
    Field("address", "server", "e.g. ws://HOST:8765"),
    Field("name", "your name there", "2 to 20 letters"),
)


@dataclass(frozen=True, slots=True)
class Destination:
    """A server by its checked address, and who to be there."""

    url: str
    name: str


class ConnectScreen(DialogScreen[Destination]):
    """Asks for a server; ``problem`` is why the last answer led nowhere, ``field`` whose it is, if it is one's."""

    def __init__(self, url: str, name: str, problem: str = "", field: str | None = None) -> None:
        values = {"address": url, "name": name}
        super().__init__("Play online", _DESTINATION_FIELDS, values, {"connect": "connect"})
        self._first_problem = (problem, field)

    def begin(self) -> None:
        super().begin()
        if any(self._first_problem):
            self.show_problem(*self._first_problem)

    def answer(self, button: str) -> Destination | None:
        try:
            url = parse_server_url(self.values["address"], "server")
        except ConfigError:
            self.show_problem("expected an address like ws://HOST:PORT or wss://HOST", "address")
            return None
        try:
            return Destination(url, parse_name(self.values["name"]))
        except NotationError:
            self.show_problem(f"expected {NAME_RULE}", "name")
            return None


_ROOM_FIELDS = (
    Field("code", "code of the room", "e.g. K7MQ4, or K7MQ4-SECRET"),
    Field("secret", "secret", "of a private room, else empty"),
)


@dataclass(frozen=True, slots=True)
class RoomWish:
    """A room to enter. ``secret`` is ``None`` unless it is private."""

    room: RoomCode
    secret: str | None
    is_to_watch: bool

    def request(self) -> JoinRoom | WatchRoom:
        """Return the request to the server."""
        if self.is_to_watch:
            return WatchRoom(id=0, room=self.room, secret=self.secret)
        return JoinRoom(id=0, room=self.room, secret=self.secret)


class JoinScreen(DialogScreen[RoomWish]):
    """Asks for a room; ``before`` is what was asked for last, and ``problem`` why that led nowhere.

    ``field`` is whose problem it is: ``None`` when it is no field's.
    """

    def __init__(self, before: RoomWish | None = None, problem: str = "", field: str | None = None) -> None:
        buttons = {"join": "join", "watch": "watch"}
        values = {"code": "", "secret": ""}
        if before is not None:
            values = {"code": before.room, "secret": before.secret or ""}
        super().__init__("Enter a room by its code", _ROOM_FIELDS, values, buttons)
        self._first_problem = (problem, field)

    def begin(self) -> None:
        super().begin()
        if any(self._first_problem):
            self.show_problem(*self._first_problem)

    def answer(self, button: str) -> RoomWish | None:
        try:
            code, secret = parse_room_address(self.values["code"])
        except NotationError as error:
            self.show_problem(f"expected {error.expected}", "code")
            return None
        # A secret that was typed with the code is newer than one left from an answer before.
        return RoomWish(code, secret or self.values["secret"].strip() or None, button == "watch")


_FILE_FIELDS = (
    Field("file", "file", "a new one"),
    Field(
        "format",
        "written as",
        "a record can be replayed",
        {RecordFormat.RECORD: "a record", RecordFormat.JSON: "JSON"},
    ),
)


class ExportScreen(DialogScreen[str]):
    """Writes ``record``, whose match is called ``name`` on its server, ``None`` without one; answers the path."""

    def __init__(self, record: MatchRecord, name: str | None) -> None:
        values = {"file": f"{name or record.game}.txt", "format": RecordFormat.RECORD}
        super().__init__("Write this record into a file", _FILE_FIELDS, values, {"write": "write"})
        self._record = record
        self._file_name = name

    def answer(self, button: str) -> str | None:
        typed = self.values["file"].strip()
        if not typed:
            self.show_problem("expected the name of a file", "file")
            return None
        try:
            path = Path(typed).expanduser()
            with path.open("x", encoding="utf-8") as file:
                file.write(self._text())
        except FileExistsError:
            self.show_problem("there is such a file already", "file")
        except (OSError, ValueError, RuntimeError) as error:
            # A name may hold what no file name can, or the home of nobody.
            self.show_problem(getattr(error, "strerror", None) or str(error), "file")
        else:
            return str(path)
        return None

    def _text(self) -> str:
        return write_record(self._record, RecordFormat(self.values["format"]), game_id=self._file_name)
