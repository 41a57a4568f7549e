"""The ways to a server and into a room, and which screen a room is shown on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from tabuleiro.errors import ClientError
from tabuleiro.protocol.messages import WatchRoom
from tabuleiro_client.models.saved_matches import SavedMatch
from tabuleiro_client.net.link import LinkState
from tabuleiro_client.net.room import EnteredRoom, EntryRequest, enter
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.tui.session import Session

if TYPE_CHECKING:
    from tabuleiro_client.net.server import Venue
    from tabuleiro_client.tui.app import TabuleiroApp


async def arrive_online(session: Session, url: str, name: str | None) -> Venue:
    """Be on the server at ``url`` as ``name`` (``None``: as the guest used last), connecting only if need be.

    Raises: ClientError, CommandError, ConnectionLostError.
    """
    return _present_venue(session, url, name) or await session.go_online(url, name)


async def arrive_local(session: Session, name: str | None) -> Venue:
    """Be on the server of this process as ``name`` (``None``: as the guest used last), started only if need be.

    Raises: as :meth:`Session.go_local`.
    """
    venue = session.venue
    if venue is not None and venue.is_local and _present_venue(session, venue.server, name) is not None:
        return venue
    return await session.go_local(name)


def _present_venue(session: Session, server: str, name: str | None) -> Venue | None:
    venue = session.venue
    if venue is None or session.state is not LinkState.CONNECTED or venue.server != server:
        return None
    return venue if name in (None, venue.link.welcome.name) else None


async def enter_room(client: TabuleiroApp, request: EntryRequest, *, in_place: bool = False) -> None:
    """Enter a room of the server we are on, and open a screen for it, or put it ``in_place`` of the present one.

    Raises: CommandError, ClientError.
    """
    venue = client.session.venue
    if venue is None:
        raise ClientError("not connected to a server")
    room = await enter(venue.link, request)
    screen = screen_of_room(venue, room, client.writing, is_to_watch=isinstance(request, WatchRoom))
    if in_place:
        client.switch_screen(screen)
    else:
        client.push_screen(screen)


def screen_of_room(venue: Venue, room: EnteredRoom, style: TextStyle, *, is_to_watch: bool) -> Screen[Any]:
    """Return the screen for a room just entered: who only looks on sees the board at once."""
    # These are many modules: they are loaded when the first room is entered.
    from tabuleiro_client.tui.open_room import OpenRoom
    from tabuleiro_client.tui.screens.room import RoomScreen
    from tabuleiro_client.tui.screens.watch import WatchScreen

    if not room.mirror.own_seats and (is_to_watch or room.mirror.head.phase != "waiting"):
        return WatchScreen(OpenRoom(room, style, is_watching=True))
    return RoomScreen(venue, OpenRoom(room, style))


async def go_on(client: TabuleiroApp, match: SavedMatch) -> None:
    """Come back to a match: to its server, as who we were there, into its room.

    Raises: as :func:`arrive_online` and :func:`enter_room`; ClientError when another terminal has the match.
    """
    if match.is_local:
        venue = await arrive_local(client.session, match.guest)
        if venue.server != match.server:
            raise ClientError(f"this match is kept in {match.server}, which another terminal is using")
    else:
        await arrive_online(client.session, match.server, match.guest)
    await enter_room(client, WatchRoom(id=0, room=match.room, secret=match.secret))
