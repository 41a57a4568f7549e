"""A line of text that takes its keys in the order in which they are pressed, however quickly they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from textual import events
from textual.binding import Binding
from textual.widgets import Input

_EDITING: Final[Mapping[str, str]] = {
    key: binding.action
    for binding in Input.BINDINGS
    if isinstance(binding, Binding) and binding.action != "submit"
    for key in binding.key.split(",")
}
"""The actions of editing, by key. Enter goes its way up, with whatever the keys before it have said."""


class LineInput(Input):
    """An input on one line.

    The keys of bindings go up to the application before they do something, and letters don't: in a burst, letters
    would overtake a backspace before them. So the line does what its own bindings say itself.
    """

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(value, placeholder, compact=True, select_on_focus=False, id=id)

    async def on_key(self, event: events.Key) -> None:
        """Run the action of an editing key at once."""
        action = _EDITING.get(event.key)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)
