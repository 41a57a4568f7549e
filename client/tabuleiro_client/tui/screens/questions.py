"""Questions over the screen below: yes or no, and one of a few."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import ActiveBinding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, OptionList, Static
from textual.widgets.option_list import Option

from tabuleiro_client.tui.keys import DIALOG_HELP, MENU_LETTERS, key, key_sign

NO_LETTERS: Final[Mapping[str, str]] = {}


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


class PickerScreen(ModalScreen[str | None]):
    """Asks ``question``; the answer is one of the values of ``choices`` (value: title), ``None`` for none.

    ``letters`` (letter: value) pick a choice too.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        DIALOG_HELP,
        key("escape", "give_up", "cancel", "Pick nothing.", sign="Esc"),
    ]
    DEFAULT_CSS = """
    PickerScreen { align: center middle; }
    PickerScreen > Vertical { width: 48; max-width: 96%; height: auto; background: $panel; padding: 1 2; }
    PickerScreen OptionList {
        height: auto; max-height: 12; margin-top: 1; border: none; background: $panel; padding: 0;
    }
    PickerScreen .way-out { margin-top: 1; color: $text-muted; }
    PickerScreen OptionList:focus { border: none; background-tint: $foreground 0%; }
    """

    def __init__(self, question: str, choices: Mapping[str, str], letters: Mapping[str, str] = NO_LETTERS) -> None:
        super().__init__()
        self._question = question
        self._choices = choices
        self._letters = letters

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, markup=False)
            options = [Option(title, id=value) for value, title in self._choices.items()]
            yield OptionList(*options, markup=False)
            yield Static("Enter picks, ? keys, Esc closes", classes="way-out", markup=False)

    def on_key(self, event: events.Key) -> None:
        value = self._letters.get(event.character or "")
        if value is not None:
            event.stop()
            self.dismiss(value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_id)

    def action_give_up(self) -> None:
        """Pick nothing."""
        self.dismiss(None)


class MenuScreen(PickerScreen):
    """Lists ``commands``; the answer is the action of one."""

    DEFAULT_CSS = """
    MenuScreen > Vertical { width: 72; }
    MenuScreen OptionList { max-height: 18; }
    """

    def __init__(self, commands: Iterable[ActiveBinding]) -> None:
        choices, letters = {}, {}
        for _, binding, _, sentence in commands:
            letter = MENU_LETTERS.get(binding.action, binding.key if len(binding.key) == 1 else " ")
            sign = "" if key_sign(binding) == letter else f" ({key_sign(binding)})"
            choices[binding.action] = f"{letter}  {sentence.rstrip('.')}{sign}"
            letters[letter] = binding.action
        letters.pop(" ", None)
        super().__init__("What would you like to do?", choices, letters)
