"""A board to look at, on which nothing can be chosen."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from tabuleiro_client.tui.widgets.board import Board


class BoardPicture(Board, can_focus=False, inherit_bindings=False):
    """Draws what :meth:`show` was given last, as large as fits."""

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    BoardPicture { width: 1fr; height: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(lambda target: None, id=id)
