"""The rules of each game on a page, and a board to try them on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tabuleiro.rules import registry
from tabuleiro.rules.options import Options
from tabuleiro_client.tui.keys import key
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.screens.try_board import TryScreen

SMALL_BOARDS: Final[Mapping[str, Options]] = {
    "virus-wars": {"rows": 6, "cols": 6, "steps": 3},
    "xero-g": {"setup": "random", "seed": 7},
    "iris": {"side": 5},
    "minefield": {"size": 7},
}
"""The options of the boards to try; a game that is not listed is tried as usual."""


class RulesScreen(PageScreen):
    """The games at the left, the rules of the highlighted one at the right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("t,enter", "try_game", "try it", "Try the game on a small board, both sides from here.", sign="t"),
        key("right,space,pagedown", "scroll_page(1)", "read on", "Scroll the page down.", sign="Space"),
        key("left,pageup", "scroll_page(-1)", "back up", "Scroll the page up.", shown=False),
    ]
    DEFAULT_CSS = """
    RulesScreen OptionList {
        width: 16; height: 1fr; border: none; padding: 1 1 0 1; background: $surface;
    }
    RulesScreen OptionList:focus { border: none; }
    RulesScreen VerticalScroll { width: 1fr; padding: 1 1 0 2; scrollbar-size-vertical: 1; }
    RulesScreen #page { width: auto; max-width: 100%; height: auto; }
    """

    def __init__(self) -> None:
        super().__init__("rules")

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal():
            yield GameList(
                *(Option(registry.game_type(name).title, id=name) for name in registry.names()),
                markup=False,
                compact=True,
            )
            with VerticalScroll(can_focus=False):
                yield Static("", id="page", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(GameList).focus()
        self.query_one(GameList).highlighted = 0

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self.query_one("#page", Static).update(registry.game_type(str(event.option_id)).rules_page)
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.action_try_game()

    def action_try_game(self) -> None:
        """Try the highlighted game."""
        place = self.query_one(GameList).highlighted
        name = registry.names()[place or 0]
        self.app.push_screen(TryScreen(name, SMALL_BOARDS.get(name, {})))

    def action_scroll_page(self, step: int) -> None:
        """Scroll the page."""
        page = self.query_one(VerticalScroll)
        if step > 0:
            page.scroll_page_down(animate=False)
        else:
            page.scroll_page_up(animate=False)


class GameList(OptionList, inherit_bindings=False):
    """The games; the keys that scroll belong to the page beside it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("down,j", "cursor_down", "next", "The next game.", shown=False),
        key("up,k", "cursor_up", "before", "The game before.", shown=False),
    ]
