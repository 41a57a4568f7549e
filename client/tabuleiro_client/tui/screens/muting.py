"""How the host of a room chooses who may talk in it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from tabuleiro_client.net.room import EnteredRoom
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui.match_model import MatchModel
from tabuleiro_client.tui.screens.picker import PickerScreen

if TYPE_CHECKING:
    from tabuleiro_client.tui.app import TabuleiroApp

Run = Callable[[Coroutine[Any, Any, None]], None]
"""Runs a request and says a refusal."""


def ask_whom_to_mute(client: TabuleiroApp, room: EnteredRoom, model: MatchModel, run: Run) -> None:
    """Let the host pick somebody, who is muted then or may talk again."""
    people = model.talk_rights.people(room.mirror)

    def title(name: str) -> str:
        shown = showable(name, client.writing)
        return f"let {shown} talk again" if people[name] else f"mute {shown}"

    async def change(name: str) -> None:
        await room.mute(name, is_muted=not people[name])
        model.talk_rights.note(name, is_muted=not people[name])

    def picked(name: str | None) -> None:
        if name is not None:
            run(change(name))

    client.push_screen(PickerScreen("Who may talk in this room?", {name: title(name) for name in people}), picked)
