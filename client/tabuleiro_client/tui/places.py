"""Where one can go from anywhere: what the home screen and the command palette open, and the way to a server.

Screens are loaded when they are opened, so that the program starts quickly.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

from tabuleiro.errors import CommandError, ConfigError, GuestNameTakenError, TabuleiroError
from tabuleiro.ids import Phase
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro_client.net.addresses import DEFAULT_SERVER, default_server
from tabuleiro_client.net.identity import LOOKING_ON, login_name
from tabuleiro_client.net.link import LinkState
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.tui.entrance import arrive_online, enter_room

if TYPE_CHECKING:
    from tabuleiro_client.net.server import Venue
    from tabuleiro_client.tui.app import TabuleiroApp
    from tabuleiro_client.tui.room_form import Opponent


def travel(client: TabuleiroApp, way: Coroutine[Any, Any, None]) -> None:
    """Go somewhere, in place of where we were just going; what goes wrong is told."""
    client.run_worker(_told(client, way), name="travel", group="travel", exclusive=True)


async def _told(client: TabuleiroApp, way: Awaitable[None]) -> None:
    try:
        await way
    except (TabuleiroError, ModuleNotFoundError) as error:
        client.tell(problem_text(error))


def known_servers(client: TabuleiroApp) -> list[tuple[str, str]]:
    """The servers this user has been on, with the name there, the one used last first."""
    return [
        (identity.server, identity.name)
        for identity in client.identities.all()
        if "://" in identity.server and not identity.server.endswith(LOOKING_ON)
    ]


async def to_lobby(client: TabuleiroApp, url: str, name: str) -> None:
    """Connect to a server and open its lobby; a name that is somebody else's by now is asked for again.

    Raises: ClientError, CommandError, ConnectionLostError.
    """
    client.tell(f"connecting to {url} ...")
    venue: Venue | None
    try:
        venue = await arrive_online(client.session, url, name)
    except GuestNameTakenError as error:
        venue = await ask_for_server(client, url, name, _name_problem(error))
    client.tell("")
    if venue is not None:
        _open_lobby(client, venue, None)


def _open_lobby(client: TabuleiroApp, venue: Venue, phase: Phase | None) -> None:
    from tabuleiro_client.tui.screens.lobby import LobbyScreen

    client.push_screen(LobbyScreen(venue, phase))


async def be_online(client: TabuleiroApp) -> Venue | None:
    """The server we are on, or the one used last, or one that is asked for; ``None`` when none is named.

    Raises: ClientError, CommandError, ConnectionLostError.
    """
    venue, known = client.session.venue, known_servers(client)
    if venue is not None and not venue.is_local and client.session.state is LinkState.CONNECTED:
        return venue
    if known:
        return await arrive_online(client.session, *known[0])
    return await ask_for_server(client, *_usual_destination(client))


def _usual_destination(client: TabuleiroApp) -> tuple[str, str]:
    """The server used last and the name there, or what is usual where none was used yet."""
    known = known_servers(client)
    return known[0] if known else (_usual_server(), client.settings.name or login_name())


def _name_problem(error: GuestNameTakenError) -> tuple[str, str]:
    """What to say of a name that is somebody else's, and at which field."""
    return f"{error.name} is somebody else there; choose another name", "name"


async def ask_for_server(
    client: TabuleiroApp, url: str, name: str, problem: tuple[str, str | None] = ("", None)
) -> Venue | None:
    """Ask for a server until we are on it; ``None`` when the question is left.

    ``url`` and ``name`` are filled in at first; ``problem`` is what is wrong with them, and the field it is about,
    ``None`` for no single one.
    """
    from tabuleiro_client.tui.screens.connect import ConnectScreen

    while True:
        chosen = await client.push_screen_wait(ConnectScreen(url, name, *problem))
        if chosen is None:
            return None
        url, name = chosen.url, chosen.name
        client.tell(f"connecting to {url} ...")
        try:
            return await arrive_online(client.session, url, name)
        except GuestNameTakenError as error:
            problem = _name_problem(error)
        except TabuleiroError as error:
            problem = problem_text(error), None
        finally:
            client.tell("")


def _usual_server() -> str:
    try:
        return default_server()
    except ConfigError:
        return DEFAULT_SERVER


async def _new_local_match(client: TabuleiroApp, opponent: Opponent) -> None:
    from tabuleiro_client.tui.room_form import RoomForm
    from tabuleiro_client.tui.screens.new_match import NewMatchScreen

    client.push_screen(NewMatchScreen(RoomForm(opponent, is_local=True)))


async def _online(client: TabuleiroApp) -> None:
    venue = await ask_for_server(client, *_usual_destination(client))
    if venue is not None:
        _open_lobby(client, venue, None)


async def _watch(client: TabuleiroApp) -> None:
    venue = await be_online(client)
    if venue is not None:
        _open_lobby(client, venue, "playing")


async def ask_for_room(client: TabuleiroApp) -> None:
    """Ask for a room of the server we are on until we are in it, or the question is left."""
    from tabuleiro_client.tui.screens.join import JoinScreen

    wish = await client.push_screen_wait(JoinScreen())
    while wish is not None:
        try:
            await enter_room(client, wish.request())
            return
        except TabuleiroError as error:
            is_secret = isinstance(error, CommandError) and error.code == ErrorCode.BAD_SECRET
            screen = JoinScreen(wish, problem_text(error), "secret" if is_secret else None)
        wish = await client.push_screen_wait(screen)


async def _join(client: TabuleiroApp) -> None:
    if await be_online(client) is not None:
        await ask_for_room(client)


async def _replays(client: TabuleiroApp) -> None:
    from tabuleiro_client.tui.screens.replays import ReplaysScreen

    client.push_screen(ReplaysScreen())


async def _rules(client: TabuleiroApp) -> None:
    from tabuleiro_client.tui.screens.rules import RulesScreen

    client.push_screen(RulesScreen())


async def _settings(client: TabuleiroApp) -> None:
    from tabuleiro_client.tui.screens.settings import SettingsScreen

    client.push_screen(SettingsScreen())


PLACES: Final[Mapping[str, tuple[str, str, Callable[[TabuleiroApp], Coroutine[Any, Any, None]]]]] = {
    "bot": (
        "against the computer",
        "Any of the four games on this machine, against a computer player of the strength you choose.",
        lambda client: _new_local_match(client, "bot"),
    ),
    "both": (
        "two people at this keyboard",
        "Both sides are played from here, turn by turn.",
        lambda client: _new_local_match(client, "both"),
    ),
    "bots": (
        "watch two computers play",
        "Choose a level for each side and look on.",
        lambda client: _new_local_match(client, "bots"),
    ),
    "connect": ("another server ...", "Connect to a server by its address, under a name of yours.", _online),
    "join": (
        "enter a room by its code",
        "Join or watch the room whose code somebody gave you, on the server used last.",
        _join,
    ),
    "watch": ("watch matches", "The matches that are being played on the server used last.", _watch),
    "replays": ("replays", "Look through your matches, or a record in a file: step, jump, try moves.", _replays),
    "rules": (
        "rules, with a board to try",
        "A page of rules for each game, and a board to try it on.",
        _rules,
    ),
    "settings": ("settings", "Theme, characters, board size, bell, your name.", _settings),
}
"""By name: the title, a sentence, and the way."""
