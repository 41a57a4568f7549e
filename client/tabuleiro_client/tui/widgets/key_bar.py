"""The footer: the keys that do something now, from the left; the one that names all keys is always in sight."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

HELP_ACTIONS = ("help", "app.help")


class KeyBar(Footer):
    """Cuts off the keys that do not fit, but never the help, which stands at the right end."""

    DEFAULT_CSS: ClassVar[str] = """
    KeyBar FooterKey.help { dock: right; }
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if isinstance(widget, FooterKey) and widget.action in HELP_ACTIONS:
                widget.add_class("help")
            yield widget
