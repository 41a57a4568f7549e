"""The base of screens without a board: a title, a body, a line for messages, the keys."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from tabuleiro.errors import TabuleiroError
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.context import Context, context_of
from tabuleiro_client.tui.widgets.bars import KeyBar, TopBar


class PageScreen(Screen[None]):
    """A page called ``title``."""

    BINDINGS: ClassVar[list[BindingType]] = [keys.BACK]
    DEFAULT_CSS = """
    PageScreen #say { height: auto; max-height: 3; padding: 0 1; color: $warning; }
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self.page_title = title

    @property
    def context(self) -> Context:
        """The application, as far as this needs it."""
        return context_of(self)

    def compose(self) -> ComposeResult:
        yield TopBar(self.page_title)
        yield from self.compose_body()
        yield Static("", id="say", markup=False)
        yield KeyBar()

    def compose_body(self) -> Iterable[Widget]:
        """Yield the widgets between title and keys, from the top."""
        return ()

    def on_mount(self) -> None:
        for bar in self.query(TopBar):  # a screen that is left at once has lost it already
            bar.show_connection(self.context.session)

    def connection_changed(self) -> None:
        """React to another connection or another state of it; the line at the top shows it already."""

    def say(self, text: str) -> None:
        """Say something in the line above the keys; empty for nothing."""
        if self.is_attached:
            self.query_one("#say", Static).update(showable(text, self.context.writing))

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what takes a while, in place of what was started before; what goes wrong is said."""
        self.run_worker(self._told(work), name="work", group="work", exclusive=True)

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except NoMatches:
            # The screen is being left, and has lost the first of its widgets: there is nothing to show any more.
            return
        except (TabuleiroError, ModuleNotFoundError) as error:
            self.say(problem_text(error))

    def action_back(self) -> None:
        """Leave the page."""
        self.context.leave_screen()
