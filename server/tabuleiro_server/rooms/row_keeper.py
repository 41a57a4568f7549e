"""Knows what a room's row on disk says, and makes it exact before the room leaves memory."""

from __future__ import annotations

from tabuleiro.errors import StoreError
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.rooms.journal import Journal
from tabuleiro_server.rooms.refusals import unavailable
from tabuleiro_server.rooms.room_rows import UNKNOWN_ROW, RowOnDisk, outline_of


class RowKeeper:
    """The row of one room. ``on_disk`` is what it says once all appends that are underway are stored."""

    def __init__(self, journal: Journal, on_disk: RowOnDisk) -> None:
        self.on_disk = on_disk
        self._journal = journal

    def forget(self) -> None:
        """Something may have been written that is not known here."""
        self.on_disk = UNKNOWN_ROW

    async def settle(self, room: RoomState) -> bool:
        """Make the row exact for a room whose events are all on disk; tells whether it is.

        What is appended meanwhile comes behind it, and marks it as provisional again.
        """
        if self.on_disk.is_provisional:
            settled = self.on_disk = RowOnDisk(outline_of(room), is_provisional=False)
            try:
                await self._journal.save_row(room)
            except StoreError as error:
                unavailable(error)  # for the log: nobody has asked for this
                if self.on_disk is settled:
                    self.forget()
        return not self.on_disk.is_provisional
