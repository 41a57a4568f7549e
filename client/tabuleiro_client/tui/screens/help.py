"""The keys that work on the screen below, from its own bindings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from tabuleiro_client.tui.keys import EVERYWHERE, key, key_sign


class HelpScreen(ModalScreen[None]):
    """A page of keys with their sentences; any of its keys closes it."""

    BOX_COLUMNS: ClassVar[int] = 72
    BOX_FRAME_COLUMNS: ClassVar[int] = 6
    """Its padding, and the scroll bar."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("escape,question_mark,q,enter", "close", "close", "Close this page.", sign="Esc"),
    ]
    DEFAULT_CSS = f"""
    HelpScreen {{ align: center middle; }}
    HelpScreen > VerticalScroll {{
        width: {BOX_COLUMNS}; max-width: 96%; height: auto; max-height: 90%;
        background: $panel; padding: 1 2;
    }}
    """

    def __init__(self) -> None:
        super().__init__()
        self._bindings_below: list[Binding] = []

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static("", id="keys", markup=False)

    def on_screen_resume(self) -> None:
        below = self.app.screen_stack[-2] if len(self.app.screen_stack) > 1 else self
        active = sorted(below.active_bindings.values(), key=lambda active: active.node is self.app)
        anywhere = [binding for binding in EVERYWHERE if binding.priority]  # in dialogs too
        self._bindings_below = [*(one.binding for one in active), *anywhere]
        self._write(self.app.size.width)
        page = self.query_one(VerticalScroll)
        page.scroll_home(animate=False)
        page.focus()

    def on_resize(self, event: events.Resize) -> None:
        self._write(event.size.width)

    def _write(self, screen_columns: int) -> None:
        columns = min(self.BOX_COLUMNS, screen_columns * 96 // 100) - self.BOX_FRAME_COLUMNS
        self.query_one("#keys", Static).update(key_page(self._bindings_below, columns))

    def action_close(self) -> None:
        """Close the page."""
        self.dismiss()


def key_page(bindings: Iterable[Binding], columns: int) -> str:
    """Return the sentences of ``bindings``, each with all keys that do the same, wrapped to ``columns``."""
    keys: dict[str, list[str]] = {}
    for binding in bindings:
        if binding.tooltip:
            signs = keys.setdefault(binding.tooltip, [])
            sign = key_sign(binding)
            if sign not in signs:
                signs.append(sign)
    width = max((len(" ".join(signs)) for signs in keys.values()), default=0)
    gap = " " * (width + 2)
    return "\n".join(
        textwrap.fill(sentence, columns, initial_indent=f"{' '.join(signs):<{width}}  ", subsequent_indent=gap)
        for sentence, signs in keys.items()
    )
