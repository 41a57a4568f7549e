"""The thoughts of bots as pages: what each choice is worth to a level, and the tree of a search."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from textwrap import wrap
from typing import ClassVar, Final

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from tabuleiro.protocol.messages import Explanation
from tabuleiro.rules import Game, State
from tabuleiro.rules.search_tree import SearchTree
from tabuleiro_client.models.analysis import Explained
from tabuleiro_client.text.coordinates import coordinates_of
from tabuleiro_client.text.explanation import explanation_lines
from tabuleiro_client.text.search_tree import tree_lines
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.widgets.chat import Entry

ENGINES: Final = ("alpha-beta", "minimax")
DEPTH: Final = 2

POSITION: Final = "position "
"""The start of a line whose text is read by programs."""

_HANGING: Final = "      "
"""Before the lines that a numbered candidate takes beyond its first."""


class ThinkingScreen(PageScreen):
    """The names of bots above, the thoughts of the chosen one below; others can be typed."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.THINKING, *keys.READING]
    DEFAULT_CSS = """
    ThinkingScreen #names { height: auto; padding: 1 1 0 1; }
    ThinkingScreen VerticalScroll { height: 1fr; margin-top: 1; padding: 0 1; scrollbar-size-vertical: 1; }
    ThinkingScreen #thoughts { height: auto; width: 1fr; }
    """

    def __init__(
        self, game: Game, title: str, bots: Sequence[str], bot: str | None, lines: Sequence[str] = ()
    ) -> None:
        super().__init__(f"{game.title}: {title}")
        self._game = game
        self.bots = tuple(dict.fromkeys([*bots, *([] if bot is None else [bot])]))
        self.bot = bot
        self._lines: Sequence[str] = lines

    def compose_body(self) -> Iterable[Widget]:
        yield Static("", id="names", markup=False)
        with VerticalScroll():
            yield Static("", id="thoughts", markup=False)
        yield Entry(id="entry")

    def on_mount(self) -> None:
        super().on_mount()
        self._show()
        if not self._lines:
            self.start(self._think(self.bot))

    async def think(self, name: str | None) -> Sequence[str]:
        """Return the thoughts of the bot called ``name``, ``None`` for the usual one, and set ``bot``.

        Raises: TabuleiroError.
        """
        raise NotImplementedError

    async def _think(self, name: str | None) -> None:
        self.say("thinking ...")
        self._lines = await self.think(name)
        if self.bot is not None and self.bot not in self.bots:
            self.bots = (*self.bots, self.bot)
        self.say("")
        self._show()
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        self._show()

    def _show(self) -> None:
        names = Text()
        for name in self.bots:
            names.append(f" {name} ", Style(bold=True, reverse=name == self.bot))
            names.append(" ")
        self.query_one("#names", Static).update(names)
        width = max(20, self.query_one(VerticalScroll).scrollable_content_region.width)
        shown: list[str] = []
        cells = coordinates_of(self._game, is_report=self.context.writing.has_report_cells)
        for line in self._lines:
            indent = _HANGING if line[:2].strip().isdigit() else ""
            told = line if line.startswith(POSITION) else cells.shown(line)
            shown += wrap(told, width, subsequent_indent=indent) or [""]
        self.query_one("#thoughts", Static).update("\n".join(shown))

    def action_choose(self, step: int) -> None:
        """Ask the next bot, or the one before."""
        if self.bots:
            place = self.bots.index(self.bot) + step if self.bot in self.bots else 0
            self.start(self._think(self.bots[place % len(self.bots)]))

    def action_type(self) -> None:
        """Ask for the name of another bot."""
        self.query_one(Entry).open_for("bot")

    def on_entry_typed(self, event: Entry.Typed) -> None:
        self.start(self._think(event.text))

    def action_scroll_page(self, lines: int) -> None:
        """Scroll the page down by so many lines, up if negative."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


class ExplainScreen(ThinkingScreen):
    """What each choice is worth to a level of the bots; ``explain`` asks about another one."""

    def __init__(
        self, game: Game, found: Explained, explain: Callable[[str | None], Awaitable[Explanation]]
    ) -> None:
        first = found.explanation
        lines = explanation_lines(game, first)
        super().__init__(game, "what a bot thinks", found.levels, first.level, lines)
        self._explain = explain

    async def think(self, name: str | None) -> Sequence[str]:
        found = await self._explain(name)
        self.bot = found.level
        return explanation_lines(self._game, found)


class TreeScreen(ThinkingScreen):
    """The tree of a search from ``state`` on, which ``grow`` makes for an engine and a depth."""

    BINDINGS: ClassVar[list[BindingType]] = list(keys.TREE)

    def __init__(self, state: State, grow: Callable[[str, int], Awaitable[SearchTree]]) -> None:
        super().__init__(state.game, "the tree of a search", ENGINES, ENGINES[0])
        self._state = state
        self._grow = grow
        self._depth = DEPTH

    async def think(self, name: str | None) -> Sequence[str]:
        wanted = name or ENGINES[0]
        tree = await self._grow(wanted, self._depth)
        self.bot = wanted
        return tree_lines(self._game, self._state, tree, is_ascii=self.context.writing.ascii)

    def action_grow(self, depth: int) -> None:
        """Show so many actions ahead."""
        self._depth = depth
        self.start(self._think(self.bot))
