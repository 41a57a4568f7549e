"""The footer: the keys that do something now, from the left; the one that names all keys is always in sight."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

HELP_ACTIONS = ("help", "app.help")


class KeyBar(Footer):
    """Cuts off the keys that do not fit, but never the help, which stands at the right end.

    It is composed anew only when other keys are to be shown. The library does so whenever the focus moves or a key
    may have begun or ceased to do something, which takes longer than all else when a field of a form is left.
    """

    DEFAULT_CSS: ClassVar[str] = """
    KeyBar FooterKey.help { dock: right; }
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._composed: list[tuple[Binding, bool, str]] = []

    def compose(self) -> ComposeResult:
        self._composed = self._offered()
        for widget in super().compose():
            if isinstance(widget, FooterKey) and widget.action in HELP_ACTIONS:
                widget.add_class("help")
            yield widget

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Show the keys of ``screen`` if they are others than those shown."""
        if not self._bindings_ready or self._offered() != self._composed:
            super().bindings_changed(screen)

    def _offered(self) -> list[tuple[Binding, bool, str]]:
        """What stands for each key that is to be shown: the binding, whether it works now, what is said of it."""
        shown = self.screen.active_bindings.values()
        return [(binding, enabled, tooltip) for _, binding, enabled, tooltip in shown if binding.show]
