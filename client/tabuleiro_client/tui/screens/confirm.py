"""A question before something that cannot be undone."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from tabuleiro_client.tui.keys import DIALOG_HELP, key


class ConfirmScreen(ModalScreen[bool]):
    """Asks ``question``; the answer is true only for y or a click on the word that says so."""

    BINDINGS: ClassVar[list[BindingType]] = [
        DIALOG_HELP,
        key("y", "answer(True)", "yes", "Do it."),
        key("n,escape", "answer(False)", "no", "Leave everything as it is.", sign="n"),
    ]
    DEFAULT_CSS = """
    ConfirmScreen { align: center middle; }
    ConfirmScreen > Vertical { width: 56; max-width: 96%; height: auto; background: $panel; padding: 1 2; }
    ConfirmScreen Horizontal { height: auto; margin-top: 1; }
    ConfirmScreen Button { margin-right: 2; }
    """

    def __init__(self, question: str, yes: str) -> None:
        super().__init__()
        self._question = question
        self._yes = yes

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, markup=False)
            with Horizontal():
                yield Button(f"y  {self._yes}", id="yes", variant="error", compact=True)
                yield Button("n  no", id="no", compact=True)

    def on_mount(self) -> None:
        self.query_one("#no").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, is_yes: bool) -> None:
        """Answer the question."""
        self.dismiss(is_yes)
