"""Asking for the code of a room, and for the secret of a private one."""

from __future__ import annotations

from dataclasses import dataclass

from tabuleiro.errors import NotationError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import JoinRoom, WatchRoom
from tabuleiro_client.net.addresses import parse_room_address
from tabuleiro_client.tui.room_form import Field
from tabuleiro_client.tui.screens.dialog import DialogScreen

_FIELDS = (
    Field("code", "code of the room", "e.g. K7MQ4, or K7MQ4-SECRET"),
    Field("secret", "secret", "of a private room, else empty"),
)


@dataclass(frozen=True, slots=True)
class RoomWish:
    """A room to enter. ``secret`` is ``None`` unless it is private."""

    room: RoomCode
    secret: str | None
    is_to_watch: bool

    def request(self) -> JoinRoom | WatchRoom:
        """Return the request to the server."""
        if self.is_to_watch:
            return WatchRoom(id=0, room=self.room, secret=self.secret)
        return JoinRoom(id=0, room=self.room, secret=self.secret)


class JoinScreen(DialogScreen[RoomWish]):
    """Asks for a room; ``before`` is what was asked for last, and ``problem`` why that led nowhere.

    ``field`` is whose problem it is: ``None`` when it is no field's.
    """

    def __init__(self, before: RoomWish | None = None, problem: str = "", field: str | None = None) -> None:
        buttons = {"join": "join", "watch": "watch"}
        values = {"code": "", "secret": ""}
        if before is not None:
            values = {"code": before.room, "secret": before.secret or ""}
        super().__init__("Enter a room by its code", _FIELDS, values, buttons)
        self._first_problem = (problem, field)

    def begin(self) -> None:
        super().begin()
        if any(self._first_problem):
            self.show_problem(*self._first_problem)

    def answer(self, button: str) -> RoomWish | None:
        try:
            code, secret = parse_room_address(self.values["code"])
        except NotationError as error:
            self.show_problem(f"expected {error.expected}", "code")
            return None
        # A secret that was typed with the code is newer than one left from an answer before.
        return RoomWish(code, secret or self.values["secret"].strip() or None, button == "watch")
