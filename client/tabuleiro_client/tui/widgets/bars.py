"""Bars: the top bar with the connection, the footer of keys, a line of text, and scroll bars of whole cells."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.widgets import Footer, Static

from tabuleiro_client.net.link import CONNECTION_BROKE, LinkState
from tabuleiro_client.tui.session import Session


class Line(Static):
    """One line, or as many as are needed up to ``rows_count``. What does not fit is cut off."""

    DEFAULT_CSS: ClassVar[str] = """
    Line { height: 1; text-wrap: nowrap; }
    Line.growing { height: auto; min-height: 1; text-wrap: wrap; }
    """

    def __init__(self, text: str = "", *, id: str | None = None, rows_count: int = 1) -> None:
        super().__init__(text, id=id, markup=False, classes="growing" if rows_count > 1 else None)
        self.styles.max_height = rows_count
        self._rows_count = rows_count

    def write(self, text: str) -> None:
        """Write another text; the screen is laid out anew only when that takes more lines or fewer."""
        is_resized = self._rows_count > 1 and self._is_long(text) != self._is_long(str(self.content))
        self.update(text, layout=is_resized)

    def limit(self, rows_count: int) -> None:
        """Take so many lines at most from now on."""
        if rows_count != self._rows_count:
            self._rows_count = rows_count
            self.styles.max_height = rows_count

    def _is_long(self, text: str) -> bool:
        return len(text) > self.content_size.width

    def render(self) -> Content:
        text, width = str(self.content), self.content_size.width
        return Content(shortened(text, width * self._rows_count) if width else text)


def shortened(text: str, width: int) -> str:
    """Cut ``text`` at ``width`` columns, all its characters one column wide.

    >>> shortened("seven letters", 9), shortened("seven", 9)
    ('seven l..', 'seven')
    """
    return text if len(text) <= width else f"{text[: width - 2]}.."


HELP_ACTIONS = ("help", "app.help")


class KeyBar(Footer):
    """Leaves out the keys that do not fit whole, but never the help, which stands at the right end.

    It is composed anew only when other keys are to be shown. The library does so whenever the focus moves or a key
    may have begun or ceased to do something, which takes longer than all else when a field of a form is left.
    """

    DEFAULT_CSS: ClassVar[str] = """
    KeyBar FooterKey.help { dock: right; }
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._has_keys = False
        self._composed: list[tuple[Binding, bool, str]] = []

    def compose(self) -> ComposeResult:
        self._composed = self._offered()
        for widget in super().compose():
            if getattr(widget, "action", None) in HELP_ACTIONS:
                widget.add_class("help")
            yield widget
        self.call_after_refresh(self._show_what_fits)

    def on_resize(self) -> None:
        self._show_what_fits()

    def _show_what_fits(self) -> None:
        texts = {key: str(key.render()) for key in self.query("FooterKey")}
        room = self.size.width - sum(len(text) for key, text in texts.items() if key.has_class("help"))
        column = 0
        for key, text in texts.items():
            if not key.has_class("help"):
                key.display = column + len(text.rstrip()) <= room
                column += len(text)

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Show the keys of ``screen`` if they are others than those shown."""
        if not self._has_keys or self._offered() != self._composed:
            self._has_keys = True
            super().bindings_changed(screen)

    def _offered(self) -> list[tuple[Binding, bool, str]]:
        """Return the keys to show: the binding, whether it works now, and its tooltip."""
        shown = self.screen.active_bindings.values()
        return [(binding, enabled, tooltip) for _, binding, enabled, tooltip in shown if binding.show]


class TopBar(Vertical):
    """``title`` at the left, the connection at the right; the application calls :meth:`show_connection`."""

    DEFAULT_CSS = """
    TopBar { height: auto; dock: top; }
    TopBar Horizontal { height: 1; background: $panel; padding: 0 1; }
    TopBar #title { width: 1fr; text-style: bold; }
    TopBar #connection { width: auto; color: $text-muted; margin-left: 2; }
    TopBar #connection.lost { color: $error; text-style: bold; }
    TopBar #banner {
        display: none; height: auto; padding: 0 1;
        background: $error; color: $background; text-style: bold;
    }
    TopBar #banner.lost { display: block; }
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Line(self._title, id="title")
            yield Static("", id="connection", markup=False)
        yield Static("", id="banner", markup=False)

    def show_title(self, title: str) -> None:
        """Write another title."""
        if title != self._title:
            self._title = title
            self.query_one("#title", Line).update(title, layout=False)

    def show_connection(self, session: Session) -> None:
        """Write how the connection of ``session`` is now."""
        if not (self.query("#banner") and self.query("#connection")):
            return  # not composed yet, or gone already
        is_lost = session.state is LinkState.RECONNECTING or bool(session.reason)
        connection = self.query_one("#connection", Static)
        connection.update(connection_text(session))
        connection.set_class(is_lost, "lost")
        banner = self.query_one("#banner", Static)
        banner.set_class(is_lost, "lost")
        banner.update(lost_text(session))


def lost_text(session: Session) -> str:
    """Return the word about a connection that was lost."""
    why = "" if session.reason in ("", CONNECTION_BROKE) else f" ({session.reason})"
    is_coming_back = session.state is LinkState.RECONNECTING
    return (
        f"Connection lost{why}. {'Reconnecting ...' if is_coming_back else 'Connect again from the home screen'}"
    )


def connection_text(session: Session) -> str:
    """Return the name and the server of this guest, in a few words."""
    venue = session.venue
    if venue is None:
        return ""
    name = venue.link.welcome.name
    match session.state:
        case LinkState.CONNECTED:
            place = "this machine" if venue.is_local else venue.url.partition("://")[2]
            return f"{name} @ {place}"
        case LinkState.RECONNECTING:
            return f"{name}: reconnecting"
        case _:
            return f"{name}: {session.state.value}"


class WholeCellBars(ScrollBarRender):
    """Draws spaces of two colours only: the usual bars end in block characters, whose width is ambiguous."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


def use_whole_cells() -> None:
    """Draw all scroll bars of this process so."""
    ScrollBar.renderer = WholeCellBars
