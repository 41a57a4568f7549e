"""A small form in the middle of the window: a few lines to fill in, and what is wrong with each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from tabuleiro_client.tui.context import Context, context_of
from tabuleiro_client.tui.keys import DIALOG_HELP, key
from tabuleiro_client.tui.room_form import Field
from tabuleiro_client.tui.widgets.forms import FieldRow

Answer = TypeVar("Answer")


class DialogScreen(ModalScreen[Answer | None]):
    """Asks for ``fields``, filled in with ``values`` at first; the answer is ``None`` when it is left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        DIALOG_HELP,
        key("escape", "give_up", "never mind", "Close this without an answer.", sign="Esc"),
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

    def on_input_submitted(self, event: Input.Submitted) -> None:
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
