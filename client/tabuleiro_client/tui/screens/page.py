"""What the screens without a board share: a title, a body, a line to say something, the keys."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, cast

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
from tabuleiro_client.tui.widgets.bars import KeyBar, TopBar

if TYPE_CHECKING:
    from tabuleiro_client.tui.app import TabuleiroApp


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
    def client(self) -> TabuleiroApp:
        """The application, by its own type."""
        return cast("TabuleiroApp", self.app)

    def compose(self) -> ComposeResult:
        yield TopBar(self.page_title)
        yield from self.compose_body()
        yield Static("", id="say", markup=False)
        yield KeyBar()

    def compose_body(self) -> Iterable[Widget]:
        """The widgets between title and keys, from the top."""
        return ()

    def on_mount(self) -> None:
        for bar in self.query(TopBar):  # a screen that is left at once has lost it already
            bar.show_connection(self.client.session)

    def connection_changed(self) -> None:
        """The connection is another than before, or in another state; the line at the top tells of it already."""

    def say(self, text: str) -> None:
        """Say something in the line above the keys; empty for nothing."""
        if self.is_attached:
            self.query_one("#say", Static).update(showable(text, self.client.writing))

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
        self.client.leave_screen()
