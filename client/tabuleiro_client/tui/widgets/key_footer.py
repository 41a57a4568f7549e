"""The keys at the foot of a screen, composed anew only when they are others than those shown."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Footer


class KeyFooter(Footer):
    """The library's footer, without its word for the command palette.

    The library makes all its widgets again whenever the focus moves or any key may have begun or ceased to do
    something, which takes longer than all else that happens when a field of a form is left.
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._composed: list[tuple[Binding, bool, str]] = []

    def compose(self) -> ComposeResult:
        self._composed = self._offered()
        yield from super().compose()

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Show the keys of ``screen`` if they are others than those shown."""
        if not self._bindings_ready or self._offered() != self._composed:
            super().bindings_changed(screen)

    def _offered(self) -> list[tuple[Binding, bool, str]]:
        """What stands for each key that is to be shown: the binding, whether it works now, what is said of it."""
        shown = self.screen.active_bindings.values()
        return [(binding, enabled, tooltip) for _, binding, enabled, tooltip in shown if binding.show]
