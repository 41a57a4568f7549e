"""The part of the application that screens and widgets see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from textual.dom import DOMNode

from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import RoomHead
from tabuleiro_client.models.saved_matches import SavedMatches
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.tui.line_history import LineHistory
from tabuleiro_client.tui.present.glyphs import GlyphSet
from tabuleiro_client.tui.session import Session
from tabuleiro_client.tui.settings import Settings
from tabuleiro_client.tui.themes import Brush


class Context(Protocol):
    """The application, as far as its screens need it.

    ``session`` is the server this user is at, ``settings`` what is chosen, ``identities`` the guests and
    ``saved_matches`` the matches of this user. ``typed_lines`` are the lines typed on screens, by what they are
    for; ``typed_count`` counts what was typed. ``now_ms`` reads the clock of this machine. ``farewells`` are said,
    by rooms, when the program has ended: the way back to a seat that is kept.
    """

    settings: Settings
    session: Session
    identities: IdentityFolder
    saved_matches: SavedMatches
    typed_lines: dict[str, LineHistory]
    typed_count: int
    now_ms: Callable[[], int]
    farewells: dict[RoomCode, str]

    @property
    def writing(self) -> TextStyle:
        """The characters and colours that this terminal takes."""

    @property
    def glyphs(self) -> GlyphSet:
        """The characters that boards are drawn with."""

    @property
    def colour_count(self) -> int:
        """The number of colours of the terminal, 0 for none."""

    def brush(self, *, is_stone: bool) -> Brush:
        """Return what turns a picture's ink into styles, by the theme and the terminal."""

    def change_settings(self, **changes: object) -> None:
        """Change settings, apply them at once and keep them."""

    def is_host_of(self, head: RoomHead) -> bool:
        """Return whether this user is the host of a room of the present server."""

    def leave_screen(self, problem: str = "") -> None:
        """Go back to the screen before, with a word about the problem; the program ends after the first."""

    def tell(self, text: str) -> None:
        """Say something on the present screen, or beside it; empty for nothing."""

    def call_for_attention(self, title: str) -> None:
        """Ring and change the terminal's title, as far as that is wanted, while nobody looks at the terminal."""

    def rest(self) -> None:
        """Take the call for attention back."""

    async def quiet(self, limit_s: float) -> None:
        """Wait until what was typed is done and drawn, but no longer than for so many seconds."""


def context_of(node: DOMNode) -> Context:
    """Return the application that a screen or widget is part of."""
    return cast("Context", node.app)
