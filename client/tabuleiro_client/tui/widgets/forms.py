"""Parts of forms: a field on one line with its label and help, a value chosen from a few, the box around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from tabuleiro_client.tui.keys import key
from tabuleiro_client.tui.room_form import Field

GO_ON: Final = "Go to the next field; from the last one to the button, or start at once where few are shown."


class Chooser(Widget, can_focus=True):
    """Shows the title of ``value`` between two arrows; ``choices`` maps values to titles."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("right,space", "choose(1)", "next value", "Choose the next value.", shown=False),
        key("left", "choose(-1)", "value before", "Choose the value before.", shown=False),
        key("enter", "leave", "go on", GO_ON, sign="Enter"),
    ]
    DEFAULT_CSS = """
    Chooser { height: 1; width: 25; background: $surface; }
    Chooser:focus { background: $primary; color: $background; text-style: bold; }
    Chooser:focus:nocolor { text-style: reverse; }
    """

    @dataclass
    class Changed(Message):
        """Another value was chosen."""

        chooser: Chooser
        value: str

        @property
        def control(self) -> Chooser:
            """The chooser."""
            return self.chooser

    class Left(Message):
        """The value is the wanted one: Enter was pressed."""

    def __init__(self, choices: Mapping[str, str], value: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.choices = choices
        self.value = value

    def show(self, choices: Mapping[str, str], value: str) -> None:
        """Offer ``choices`` with ``value`` chosen; nothing is told of it."""
        if (choices, value) != (self.choices, self.value):
            self.choices, self.value = choices, value
            self.refresh()

    def render(self) -> Text:
        title = self.choices.get(self.value, self.value)
        return Text(f"< {title} >" if len(self.choices) > 1 else f"  {title}", no_wrap=True, overflow="crop")

    def action_choose(self, step: int) -> None:
        """Choose another value."""
        values = list(self.choices)
        if len(values) < 2:
            return
        place = values.index(self.value) if self.value in values else 0
        self.value = values[(place + step) % len(values)]
        self.refresh()
        self.post_message(self.Changed(self, self.value))

    def action_leave(self) -> None:
        """Say that the value is the wanted one."""
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        self.action_choose(-1 if event.x < 2 else 1)


class Line(Input):
    """A line of text; what it holds is selected when it gets the focus, so that typing replaces it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("pagedown", "choose(1)", "next value", "Choose the next of the usual values.", shown=False),
        key("pageup", "choose(-1)", "value before", "Choose the usual value before.", shown=False),
        key("enter", "submit", "go on", GO_ON, sign="Enter"),
    ]

    def __init__(self, usual: Sequence[str], value: str, empty_text: str) -> None:
        super().__init__(value, empty_text, compact=True)
        self._usual = usual

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if a key does something here."""
        return bool(self._usual) if action == "choose" else super().check_action(action, parameters)

    def action_choose(self, step: int) -> None:
        """Take another of the usual values; from any other text, the first or the last of them."""
        start = -1 if step > 0 else 0
        place = self._usual.index(self.value) if self.value in self._usual else start
        self.value = self._usual[(place + step) % len(self._usual)]
        self.action_select_all()


class FieldRow(Horizontal):
    """Shows a field; :class:`Filled` tells of every change."""

    FIELDS: ClassVar[str] = "FieldRow Input, FieldRow Chooser, Button"
    """What the arrow keys go to: fields, and the buttons below them."""

    DEFAULT_CSS = """
    FieldRow { height: auto; }
    FieldRow .label { width: 18; color: $text-muted; }
    FieldRow Input { width: 25; background: $surface; }
    FieldRow Input:focus { background: $panel; text-style: underline; }
    FieldRow .hint { width: 1fr; padding-left: 2; color: $text-muted; height: auto; }
    FieldRow .hint.wrong { color: $error; text-style: bold; }
    """

    @dataclass
    class Filled(Message):
        """Somebody filled the field ``name`` in."""

        name: str
        text: str

    @dataclass
    class Left(Message):
        """Somebody is done with the field ``name``."""

        name: str

    def __init__(self, field: Field, value: str, problem: str) -> None:
        super().__init__(name=field.name)
        self.field = field
        self._value = value
        # Kept, since a row that is taken away while it is made has no children to be asked for.
        self._entry: Chooser | Line
        if field.choices is not None:
            self._entry = Chooser(field.choices, value)
        else:
            self._entry = Line(field.usual, value, field.empty_text)
        self._hint = Static("", classes="hint", markup=False)
        self._show_hint(problem)

    def compose(self) -> ComposeResult:
        yield Static(self.field.label, classes="label", markup=False)
        yield self._entry
        yield self._hint

    def fits(self, field: Field) -> bool:
        """Return whether :meth:`show` can show ``field`` in this row."""
        own = self.field
        return (own.name, own.label, own.heading, own.choices is None) == (
            field.name,
            field.label,
            field.heading,
            field.choices is None,
        )

    def take_focus(self) -> None:
        """Put the cursor into the field."""
        self._entry.focus()

    @property
    def text(self) -> str:
        """The value that is filled in, also before :class:`Filled` has told of it."""
        return self._entry.value

    def show(self, field: Field, value: str, problem: str) -> None:
        """Show the field, which this row must fit, as it is now; nothing is told of it.

        What somebody is filling in is left alone: ``value`` may be what it was a key ago.
        """
        self.field = field
        entry, is_being_filled = self._entry, self.has_focus_within
        if isinstance(entry, Chooser):
            assert field.choices is not None
            if not is_being_filled or entry.value not in field.choices:
                self._value = value
            entry.show(field.choices, self._value)
        else:
            entry.placeholder = field.empty_text
            if not is_being_filled:
                self._value = value
                with self.prevent(Input.Changed):
                    entry.value = value
        self._show_hint(problem)

    def _show_hint(self, problem: str) -> None:
        self._hint.update(f"! {problem}" if problem else self.field.help)
        self._hint.set_class(bool(problem), "wrong")

    def on_chooser_left(self, event: Chooser.Left) -> None:
        event.stop()
        self.post_message(self.Left(self.field.name))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.post_message(self.Left(self.field.name))

    def on_chooser_changed(self, event: Chooser.Changed) -> None:
        event.stop()
        self._fill(event.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    def _fill(self, value: str) -> None:
        # A line that is made with a text in it tells of a change as well.
        if value != self._value:
            self._value = value
            self.post_message(self.Filled(self.field.name, value))


def widgets_of(field: Field, value: str) -> list[Widget]:
    """Return the row of a field, below its heading if it has one; both have the field's name."""
    row = FieldRow(field, value, "")
    if not field.heading:
        return [row]
    return [Static(field.heading, name=field.name, classes="heading", markup=False), row]


class FormBox(VerticalScroll, can_focus=False, inherit_bindings=False):
    """Scrolls to the field that has the focus, and with the wheel."""

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    FormBox { width: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    FormBox .heading { text-style: bold; color: $primary; margin-top: 1; }
    """
