"""What can be pressed beside the board: a row of words to click, each with the key that does the same."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text
from textual.widgets import Static

from tabuleiro_client.tui.turn_composer import Choice


class Choices(Static):
    """Shows the choices that :meth:`show` was given last; a click runs the action of the screen."""

    DEFAULT_CSS = """
    Choices { height: 1; padding: 0 1; link-style: none; link-style-hover: bold; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id)
        self._shown: Sequence[Choice] | None = None

    def show(self, choices: Sequence[Choice]) -> None:
        """Offer ``choices``; nothing is drawn when they are the same."""
        if choices == self._shown:
            return
        self._shown = list(choices)
        text = Text()
        for choice in choices:
            click = Style(meta={"@click": f"screen.{choice.action}"}, bold=True, reverse=True)
            text.append(f" {choice.key} {choice.label} ", style=click)
            text.append("  ")
        self.update(text)
