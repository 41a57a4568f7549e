"""Asking for a server and a name there."""

from __future__ import annotations

from dataclasses import dataclass

from tabuleiro.errors import ConfigError, NotationError
from tabuleiro.protocol.names import NAME_RULE, parse_name
from tabuleiro_client.net.addresses import parse_server_url
from tabuleiro_client.tui.room_form import Field
from tabuleiro_client.tui.screens.dialog import DialogScreen

_FIELDS = (
    Field("address", "server", "e.g. ws://HOST:8765"),
    Field("name", "your name there", "2 to 20 letters"),
)


@dataclass(frozen=True, slots=True)
class Destination:
    """A server by its checked address, and who to be there."""

    url: str
    name: str


class ConnectScreen(DialogScreen[Destination]):
    """Asks for a server; ``problem`` is why the last answer led nowhere, ``field`` whose it is, if it is one's."""

    def __init__(self, url: str, name: str, problem: str = "", field: str | None = None) -> None:
        values = {"address": url, "name": name}
        super().__init__("Play online", _FIELDS, values, {"connect": "connect"})
        self._first_problem = (problem, field)

    def begin(self) -> None:
        super().begin()
        if any(self._first_problem):
            self.show_problem(*self._first_problem)

    def answer(self, button: str) -> Destination | None:
        try:
            url = parse_server_url(self.values["address"], "server")
        except ConfigError:
            self.show_problem("expected an address like ws://HOST:PORT or wss://HOST", "address")
            return None
        try:
            return Destination(url, parse_name(self.values["name"]))
        except NotationError:
            self.show_problem(f"expected {NAME_RULE}", "name")
            return None
