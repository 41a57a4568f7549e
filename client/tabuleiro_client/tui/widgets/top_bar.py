"""The line at the top of every screen: what is shown, and how the own connection is; a banner while it is lost."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tabuleiro_client.net.link import LinkState
from tabuleiro_client.tui.session import Session
from tabuleiro_client.tui.widgets.line import Line


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
        is_coming_back = session.state is LinkState.RECONNECTING
        again = "trying to come back" if is_coming_back else "connect again from the home screen"
        banner.update(f"! connection lost ({session.reason}) - {again}")


def connection_text(session: Session) -> str:
    """Who and where we are, in a few words."""
    venue = session.venue
    if venue is None:
        return "not connected"
    name = venue.link.welcome.name
    match session.state:
        case LinkState.CONNECTED:
            place = "this machine" if venue.is_local else venue.url.partition("://")[2]
            return f"{name} @ {place}"
        case LinkState.RECONNECTING:
            return f"{name}: reconnecting"
        case _:
            return f"{name}: {session.state.value}"
