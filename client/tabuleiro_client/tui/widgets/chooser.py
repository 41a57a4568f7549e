"""A value that is chosen from a few: the arrow keys, the space bar or a click go to the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from tabuleiro_client.tui.keys import key


class Chooser(Widget, can_focus=True):
    """Shows the title of ``value`` between two arrows; ``choices`` maps values to titles."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("right,space", "choose(1)", "next value", "Choose the next value.", shown=False),
        key("left", "choose(-1)", "value before", "Choose the value before.", shown=False),
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

    def on_click(self, event: events.Click) -> None:
        self.action_choose(-1 if event.x < 2 else 1)
