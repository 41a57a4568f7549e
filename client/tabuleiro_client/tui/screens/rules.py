"""The rules of each game on a page, and a board to try them on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Static

from tabuleiro.rules import registry
from tabuleiro.rules.options import Options
from tabuleiro_client.tui.keys import READING, key
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.screens.replay import TryScreen
from tabuleiro_client.tui.widgets.rules_page import RulesPage

SMALL_BOARDS: Final[Mapping[str, Options]] = {
    "virus-wars": {"rows": 6, "cols": 6, "steps": 3},
    "xero-g": {"setup": "random", "seed": 7},
    "iris": {"side": 5},
    "minefield": {"size": 7},
}
"""The options of the boards to try; a game that is not listed is tried as usual."""


class RulesScreen(PageScreen):
    """The names of the games above, the rules of the chosen one below; ``None`` chooses the first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("right,tab", "choose_game(1)", "next game", "Turn to the next game.", sign="->"),
        key(
            "left,shift+tab", "choose_game(-1)", "game before", "Turn to the game before.", shown=False, sign="<-"
        ),
        key("t,enter", "try_game", "try it", "Try the game on a small board, both sides from here.", sign="t"),
        *READING,
    ]
    DEFAULT_CSS = """
    RulesScreen #games { height: 2; padding: 1 1 0 1; link-style: none; }
    RulesScreen RulesPage { height: 1fr; margin-top: 1; }
    """

    def __init__(self, game: str | None = None) -> None:
        super().__init__("rules")
        self.game = game or registry.names()[0]

    def compose_body(self) -> Iterable[Widget]:
        yield Static("", id="games")
        yield RulesPage()

    def on_mount(self) -> None:
        super().on_mount()
        self._show()

    def _show(self) -> None:
        names = Text()
        for name in registry.names():
            style = Style(meta={"@click": f"screen.open_game('{name}')"}, bold=True, reverse=name == self.game)
            names.append(f" {registry.game_type(name).title} ", style)
            names.append(" ")
        self.query_one("#games", Static).update(names)
        self.query_one(RulesPage).show(self.game)

    def action_open_game(self, name: str) -> None:
        """Show the rules of a game."""
        self.game = name
        self._show()

    def action_choose_game(self, step: int) -> None:
        """Show the rules of the next game, or of the one before."""
        names = registry.names()
        self.action_open_game(names[(names.index(self.game) + step) % len(names)])

    def action_try_game(self) -> None:
        """Try the game."""
        self.app.push_screen(TryScreen(self.game, SMALL_BOARDS.get(self.game, {})))

    def action_scroll_page(self, lines: int) -> None:
        """Scroll the page down by so many lines, up if negative."""
        self.query_one(RulesPage).scroll_relative(y=lines, animate=False)
