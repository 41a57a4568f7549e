"""What screens and widgets see of the application."""

from __future__ import annotations

from typing import Protocol, cast

from textual.dom import DOMNode

from tabuleiro.protocol.messages import RoomHead
from tabuleiro_client.text.board import TextStyle


class Context(Protocol):
    """The application, as far as its screens need it."""

    @property
    def writing(self) -> TextStyle:
        """What may be written on this terminal."""

    def is_host_of(self, head: RoomHead) -> bool:
        """Return whether this user is the host of a room of the present server."""


def context_of(node: DOMNode) -> Context:
    """Return the application that a screen or widget is part of."""
    return cast("Context", node.app)
