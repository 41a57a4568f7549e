"""Places that can be opened from anywhere, by the home screen and the command palette, and the way to a server.

Screens are loaded when they are opened, so that the program starts quickly.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

from textual.app import App

from tabuleiro.errors import ConfigError, GuestNameTakenError, TabuleiroError
from tabuleiro.ids import Phase
from tabuleiro.rules import registry
from tabuleiro_client.net.addresses import DEFAULT_SERVER, default_server
from tabuleiro_client.net.identity import login_name
from tabuleiro_client.net.link import LinkState
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.tui.context import Context, context_of
from tabuleiro_client.tui.entrance import ask_for_room

if TYPE_CHECKING:
    from tabuleiro_client.net.server import Venue
    from tabuleiro_client.tui.room_form import Opponent


def travel(app: App[Any], way: Coroutine[Any, Any, None]) -> None:
    """Go somewhere, in place of where we were just going; what goes wrong is told."""
    app.run_worker(_told(app, way), name="travel", group="travel", exclusive=True)


async def _told(app: App[Any], way: Awaitable[None]) -> None:
    try:
        await way
    except (TabuleiroError, ModuleNotFoundError) as error:
        context_of(app).tell(problem_text(error))


def known_servers(context: Context) -> list[tuple[str, str]]:
    """Return the servers this user has been on, with the name there, the one used last first."""
    return [(identity.server, identity.name) for identity in context.identities.players()]


async def to_lobby(app: App[Any], url: str, name: str) -> None:
    """Connect to a server and open its lobby; a name that is somebody else's by now is asked for again.

    Raises: ClientError, CommandError, ConnectionLostError.
    """
    context_of(app).tell(f"connecting to {url} ...")
    venue: Venue | None
    try:
        venue = await context_of(app).session.be_online(url, name)
    except GuestNameTakenError as error:
        venue = await ask_for_server(app, url, name, _name_problem(error))
    context_of(app).tell("")
    if venue is not None:
        _open_lobby(app, venue, None)


def _open_lobby(app: App[Any], venue: Venue, phase: Phase | None) -> None:
    from tabuleiro_client.tui.screens.lobby import LobbyScreen

    app.push_screen(LobbyScreen(venue, phase))


async def be_online(app: App[Any]) -> Venue | None:
    """Return the present server, or the one used last, or ask for one; ``None`` if none is named.

    Raises: ClientError, CommandError, ConnectionLostError.
    """
    venue, known = context_of(app).session.venue, known_servers(context_of(app))
    if venue is not None and not venue.is_local and context_of(app).session.state is LinkState.CONNECTED:
        return venue
    if known:
        return await context_of(app).session.be_online(*known[0])
    return await ask_for_server(app, *_usual_destination(app))


def _usual_destination(app: App[Any]) -> tuple[str, str]:
    """Return the server used last and the name there, or the defaults."""
    known = known_servers(context_of(app))
    return known[0] if known else (_usual_server(), context_of(app).settings.name or login_name())


def _name_problem(error: GuestNameTakenError) -> tuple[str, str]:
    """Return the error for a name that belongs to somebody else, and its field."""
    return f"{error.name} is somebody else there; choose another name", "name"


async def ask_for_server(
    app: App[Any], url: str, name: str, problem: tuple[str, str | None] = ("", None)
) -> Venue | None:
    """Ask for a server until we are on it; ``None`` when the question is left.

    ``url`` and ``name`` are filled in at first; ``problem`` is what is wrong with them, and the field it is about,
    ``None`` for no single one.
    """
    from tabuleiro_client.tui.screens.dialogs import ConnectScreen

    while True:
        chosen = await app.push_screen_wait(ConnectScreen(url, name, *problem))
        if chosen is None:
            return None
        url, name = chosen.url, chosen.name
        context_of(app).tell(f"connecting to {url} ...")
        try:
            return await context_of(app).session.be_online(url, name)
        except GuestNameTakenError as error:
            problem = _name_problem(error)
        except TabuleiroError as error:
            problem = problem_text(error), None
        finally:
            context_of(app).tell("")


def _usual_server() -> str:
    try:
        return default_server()
    except ConfigError:
        return DEFAULT_SERVER


async def _new_local_match(app: App[Any], opponent: Opponent) -> None:
    from tabuleiro_client.tui.room_form import RoomForm
    from tabuleiro_client.tui.screens.new_match import NewMatchScreen

    app.push_screen(NewMatchScreen(RoomForm(opponent, is_local=True)))


async def _online(app: App[Any]) -> None:
    venue = await ask_for_server(app, *_usual_destination(app))
    if venue is not None:
        _open_lobby(app, venue, None)


async def _watch(app: App[Any]) -> None:
    venue = await be_online(app)
    if venue is not None:
        _open_lobby(app, venue, "playing")


async def _join(app: App[Any]) -> None:
    if await be_online(app) is not None:
        await ask_for_room(app)


async def open_replays(app: App[Any], wanted: str = "") -> None:
    """Open the list of own matches, of those that have the words ``wanted``."""
    from tabuleiro_client.tui.screens.replays import ReplaysScreen

    app.push_screen(ReplaysScreen(wanted))


async def _rules(app: App[Any]) -> None:
    from tabuleiro_client.tui.screens.board_screen import BoardScreen
    from tabuleiro_client.tui.screens.rules import RulesScreen

    if isinstance(app.screen, RulesScreen) or (isinstance(app.screen, BoardScreen) and app.screen.open_rules()):
        return
    games = (getattr(screen, "game_name", None) for screen in reversed(app.screen_stack))
    app.push_screen(RulesScreen(next((game for game in games if isinstance(game, str)), None)))


async def _tutorial(app: App[Any]) -> None:
    from tabuleiro_client.tui.screens.questions import PickerScreen
    from tabuleiro_client.tui.screens.tutorial import TutorialScreen

    titles = {name: registry.game_type(name).title for name in registry.names()}
    game = await app.push_screen_wait(PickerScreen("Which game do you want to learn?", titles))
    if game is not None:
        app.push_screen(TutorialScreen(game))


async def _settings(app: App[Any]) -> None:
    from tabuleiro_client.tui.screens.settings import SettingsScreen

    app.push_screen(SettingsScreen())


PLACES: Final[Mapping[str, tuple[str, str, Callable[[App[Any]], Coroutine[Any, Any, None]]]]] = {
    "bot": (
        "against a bot",
        "Any of the four games on this machine, against a bot of the strength you choose.",
        lambda app: _new_local_match(app, "bot"),
    ),
    "both": (
        "two people at this keyboard",
        "Both sides are played from here, turn by turn.",
        lambda app: _new_local_match(app, "both"),
    ),
    "bots": (
        "watch two bots play",
        "Choose a level for each side and look on.",
        lambda app: _new_local_match(app, "bots"),
    ),
    "connect": ("another server ...", "Connect to a server by its address, under a name of yours.", _online),
    "join": (
        "enter a room by its code",
        "Join or watch the room whose code somebody gave you, on the server used last.",
        _join,
    ),
    "watch": ("watch matches", "The matches that are being played on the server used last.", _watch),
    "replays": (
        "replays",
        "Look through your matches, or a record in a file: step, jump, try moves.",
        open_replays,
    ),
    "tutorial": (
        "learn a game",
        "Find the move: positions of each game, from the first step to a small combination.",
        _tutorial,
    ),
    "rules": (
        "rules, with a board to try",
        "A page of rules for each game, and a board to try it on.",
        _rules,
    ),
    "settings": ("settings", "Theme, characters, board size, bell, your name.", _settings),
}
"""By name: the title, a sentence, and the way."""
