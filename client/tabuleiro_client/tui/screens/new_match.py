"""A new match or quick play: the room is made by a form, on the server we are on or on that of this process."""

from __future__ import annotations

from tabuleiro_client.tui.entrance import enter_room
from tabuleiro_client.tui.room_form import RoomForm
from tabuleiro_client.tui.screens.form import FormScreen


class NewMatchScreen(FormScreen):
    """Makes the room that ``form`` describes, for a local form on the server of this process."""

    def __init__(self, form: RoomForm) -> None:
        super().__init__(form, "quick play" if form.is_quick else "new match")

    async def submit(self) -> None:
        if self.form.is_local:
            await self.context.session.be_local(self.context.settings.name or None)
        await enter_room(self.app, self.form.request(), in_place=True)
