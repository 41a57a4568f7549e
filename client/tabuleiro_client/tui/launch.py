"""Starting the Textual client for what the command line asks, and leaving a clean terminal on every way out."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tabuleiro.errors import TabuleiroError
from tabuleiro.protocol.messages import WatchRoom
from tabuleiro_client.models.play_options import PlayOptions
from tabuleiro_client.net.addresses import default_server, named_room
from tabuleiro_client.net.lobby import own_room
from tabuleiro_client.net.room import enter
from tabuleiro_client.text.rooms import back_in_room_text
from tabuleiro_client.text.terminal import detect_style
from tabuleiro_client.tui.app import FirstScreen, TabuleiroApp
from tabuleiro_client.tui.entrance import screen_of_room
from tabuleiro_client.tui.screens.home import HomeScreen
from tabuleiro_client.tui.terminal.output import clean_terminal

if TYPE_CHECKING:
    from tabuleiro.notation.record import MatchRecord
    from tabuleiro_client.models.records import Match, Matches

LEAVING_LIMIT_S: Final = 3.0
"""How long an orderly end may take: the last texts to the terminal, goodbye to the server, the end of our own."""

_ENDING_SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")


async def replay_record(
    record: MatchRecord,
    match: Match | None,
    matches: Matches | None,
    *,
    is_ascii: bool,
    coordinates: str | None = None,
) -> int:
    """Look through a record, or through the matches of its room or file, both ``None`` for a record of its own.

    Raises: GameOptionError, NotationError or IllegalActionError for a record that the rules refuse.
    """
    from tabuleiro_client.tui.screens.replay import ReplayScreen

    app = _new_app(lambda: screen, is_ascii, coordinates)
    screen = ReplayScreen(record, match, matches, has_report_cells=app.writing.has_report_cells)
    return await run(app)


def _new_app(first: FirstScreen, is_ascii: bool, coordinates: str | None) -> TabuleiroApp:
    """Return the application; ``coordinates`` is the option, ``None``: the setting decides."""
    wished = None if coordinates is None else coordinates == "report"
    return TabuleiroApp(first, force_ascii=is_ascii_wanted(is_ascii), has_report_cells=wished)


async def play(options: PlayOptions, *, name: str | None, is_ascii: bool, coordinates: str | None = None) -> int:
    """Do what the command line of `tabuleiro play` says; the home screen when it says nothing.

    Raises: ClientError, CommandError, StoreError, ModuleNotFoundError.
    """
    first: FirstScreen = HomeScreen
    app = _new_app(lambda: first(), is_ascii, coordinates)
    try:
        if not options.is_nothing:
            first = await _asked_screen(app, options, name)
    except BaseException:
        await app.session.leave()
        raise
    return await run(app)


async def _asked_screen(app: TabuleiroApp, options: PlayOptions, name: str | None) -> FirstScreen:
    """Go where the command line says; errors are told before the terminal is drawn on."""
    request = options.request()  # what is wrong with it is told before anything is started
    if not options.is_far and options.is_direct:
        venue = await app.session.go_local(name or app.settings.name or None)
    elif not options.is_far:
        return HomeScreen
    else:
        url = options.server or default_server()
        is_new = name is None and app.identities.find(url) is None
        venue = await app.session.go_online(url, (app.settings.name or None) if is_new else name)
    if not options.is_direct:
        from tabuleiro_client.tui.screens.lobby import LobbyScreen

        return lambda: LobbyScreen(venue)
    private = app.saved_matches.private_rooms(venue.server, venue.link.welcome.name)
    again = await own_room(venue.link, request, private) if options.is_far else None
    if again is not None:
        app.greeting = back_in_room_text(again.room, venue.url)
    room = await enter(venue.link, again or request)
    return lambda: screen_of_room(venue, room, app.writing, is_to_watch=False)


async def watch_in_room(
    url: str,
    code: str,
    *,
    name: str | None,
    is_ascii: bool,
    secret: str | None = None,
    coordinates: str | None = None,
) -> int:
    """Watch the room ``code`` of a server, which may hold the secret. Raises: ClientError, CommandError."""
    from tabuleiro_client.tui.open_room import OpenRoom
    from tabuleiro_client.tui.screens.watch import WatchScreen

    room_code, written = named_room(code)
    app = _new_app(lambda: WatchScreen(OpenRoom(room, app.writing, is_watching=True)), is_ascii, coordinates)
    try:
        venue = await (app.session.go_looking_on(url) if name is None else app.session.go_online(url, name))
        room = await enter(venue.link, WatchRoom(id=0, room=room_code, secret=secret or written))
    except BaseException:
        await app.session.leave()
        raise
    return await run(app)


def is_ascii_wanted(is_asked: bool) -> bool:
    """Return True if only ASCII may be drawn: on request, or because the terminal has no more characters."""
    is_console = os.environ.get("TERM") == "linux"
    return detect_style(sys.stdout, os.environ, force_ascii=is_asked or is_console).ascii


async def run(app: TabuleiroApp) -> int:
    """Run the application until it is left, and return the exit status: 1 after a crash, 128 + N after signal N.

    The terminal is left as it was found, also after a signal or a crash, as far as it is there and takes
    anything. The process ends soon after that, whatever still holds it up.
    """
    loop = asyncio.get_running_loop()
    stopping: list[int] = []
    if sys.platform != "win32":
        from tabuleiro_client.tui.terminal.driver import LastingDriver

        app.driver_class = LastingDriver

    def stop(number: int) -> None:
        stopping.append(number)
        end_process_within(LEAVING_LIMIT_S, 128 + number)
        app.exit(128 + number)

    numbers = [number for name in _ENDING_SIGNALS if (number := getattr(signal, name, None)) is not None]
    status: int | None = 1
    with clean_terminal():
        for number in numbers:
            with suppress(NotImplementedError, RuntimeError):
                loop.add_signal_handler(number, stop, number)
        try:
            status = await app.run_async()
        finally:
            for number in numbers:
                with suppress(NotImplementedError, RuntimeError):
                    loop.remove_signal_handler(number)
            status = 128 + stopping[0] if stopping else app.return_code or status or 0
            end_process_within(LEAVING_LIMIT_S, status)
            with suppress(OSError):  # the terminal may be gone
                print(*app.farewells.values(), sep="\n", end="\n" if app.farewells else "", flush=True)
            with suppress(TabuleiroError):
                await app.session.leave()
    return status


def end_process_within(limit_s: float, status: int) -> None:
    """End the process after ``limit_s`` seconds unless it has ended by then.

    A server that does not answer, or a look-up of an address that has begun, would hold it up for much longer.
    """
    last_way_out = threading.Timer(limit_s, os._exit, (status,))
    last_way_out.daemon = True
    last_way_out.start()
