"""The ways into a room of the server this user is at, and the screen that a room is shown on.

The screens of a room are many modules: they are loaded when the first room is entered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from tabuleiro.errors import ClientError, CommandError, TabuleiroError
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import WatchRoom
from tabuleiro_client.models.saved_matches import SavedMatch
from tabuleiro_client.net.entering import EntryRequest
from tabuleiro_client.net.room import EnteredRoom, enter
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.tui.context import context_of
from tabuleiro_client.tui.session import Session

if TYPE_CHECKING:
    from tabuleiro_client.net.server import Venue


async def enter_room(app: App[Any], request: EntryRequest, *, in_place: bool = False) -> None:
    """Enter a room of the server we are on, and open a screen for it, or put it ``in_place`` of the present one.

    Raises: CommandError, ClientError.
    """
    context = context_of(app)
    venue = context.session.venue
    if venue is None:
        raise ClientError("not connected to a server")
    room = await enter(venue.link, request)
    screen = screen_of_room(venue, room, context.writing, is_to_watch=isinstance(request, WatchRoom))
    if in_place:
        app.switch_screen(screen)
    else:
        app.push_screen(screen)


def screen_of_room(venue: Venue, room: EnteredRoom, style: TextStyle, *, is_to_watch: bool) -> Screen[Any]:
    """Return the screen for a room just entered: who only looks on sees the board at once."""
    from tabuleiro_client.tui.open_room import OpenRoom
    from tabuleiro_client.tui.screens.room import RoomScreen
    from tabuleiro_client.tui.screens.watch import WatchScreen

    if not room.mirror.own_seats and (is_to_watch or room.mirror.head.phase != "waiting"):
        return WatchScreen(OpenRoom(room, style, is_watching=True), venue)
    return RoomScreen(venue, OpenRoom(room, style))


async def ask_for_room(app: App[Any]) -> None:
    """Ask for a room of the server we are on until we are in it, or the question is left."""
    from tabuleiro_client.tui.screens.dialogs import JoinScreen

    wish = await app.push_screen_wait(JoinScreen())
    while wish is not None:
        try:
            await enter_room(app, wish.request())
            return
        except TabuleiroError as error:
            is_secret = isinstance(error, CommandError) and error.code == ErrorCode.BAD_SECRET
            screen = JoinScreen(wish, problem_text(error), "secret" if is_secret else None)
        wish = await app.push_screen_wait(screen)


async def go_on(app: App[Any], match: SavedMatch) -> None:
    """Come back to a match: to its server, as who we were there, into its room.

    Raises: as :meth:`Session.be_online` and :func:`enter_room`; ClientError when another terminal has the match.
    """
    await go_to_server(context_of(app).session, match)
    await enter_room(app, WatchRoom(id=0, room=match.room, secret=match.secret))


async def go_to_server(session: Session, match: SavedMatch) -> Venue:
    """Be on the server of a match, as who we were there.

    Raises: as :meth:`Session.be_online`; ClientError when another terminal has the match.
    """
    if not match.is_local:
        return await session.be_online(match.server, match.guest)
    return await session.be_local(match.guest, match.server)
