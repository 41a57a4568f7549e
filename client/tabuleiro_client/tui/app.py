"""The Textual application: settings, theme and session that all screens share, and the way from one to the next.

What the command line asked for comes in as the first screen; see :mod:`tabuleiro_client.tui.launch`.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
import traceback
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
from rich.text import Text
from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.command import CommandPalette, Provider
from textual.screen import Screen

from tabuleiro.errors import ClientError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import RoomHead
from tabuleiro_client.models.saved_matches import SavedMatches
from tabuleiro_client.net.files import config_folder, data_folder
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.terminal import is_east_asian, showable
from tabuleiro_client.tui.keys import EVERYWHERE
from tabuleiro_client.tui.line_history import LineHistory
from tabuleiro_client.tui.pacing import InputQueue, Typed
from tabuleiro_client.tui.palette import PaletteCommands, commands_of
from tabuleiro_client.tui.places import PLACES, travel
from tabuleiro_client.tui.present.glyphs import ASCII, EAST_ASIAN, UNICODE, GlyphSet
from tabuleiro_client.tui.screens.help import HelpScreen
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.screens.questions import MenuScreen
from tabuleiro_client.tui.session import Session
from tabuleiro_client.tui.settings import Settings, SettingsFile
from tabuleiro_client.tui.terminal.output import TerminalTitle
from tabuleiro_client.tui.themes import THEMES, Brush, screen_colours_256, theme_named
from tabuleiro_client.tui.widgets.bars import TopBar, use_whole_cells

CRASH_REPORT_NAME: Final = "crash-report.txt"

DAMAGE_SHOWN_S: Final = 20.0
"""How long it is told that a file cannot be read."""

GREETING_SHOWN_S: Final = 10.0

FirstScreen = Callable[[], Screen[Any]]


def time_of_day_ms() -> int:
    """Return the time of day by this machine's clock, in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


class TabuleiroApp(App[int]):
    """The terminal client. ``opening`` makes the first screen; when the last is left, so is the program.

    ``typed_lines`` are the lines typed on screens, by what they are for; ``typed_count`` counts what was typed.
    ``farewells`` are said, by rooms, when the program has ended, ``greeting`` at its start; empty for nothing.
    ``now_ms`` reads the clock. ``session`` is the server this user is at, ``settings`` what is chosen;
    ``writing`` what may be written, ``input_queue`` what everything typed passes.
    """

    TITLE = "tabuleiro"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {PaletteCommands}
    BINDINGS: ClassVar[list[BindingType]] = list(EVERYWHERE)
    CSS = """
    Footer { background: $panel; }
    ModalScreen { background: $background 70%; }
    SearchIcon { display: none; }
    CommandPalette #--input { border: blank; }
    CommandPalette #--input.--list-visible { border-bottom: none; }
    CommandPalette CommandList { border-bottom: blank; }
    CommandPalette LoadingIndicator.--visible { visibility: hidden; }
    Toast.-information { border-left: ascii $success; }
    Toast.-warning { border-left: ascii $warning; }
    Toast.-error { border-left: ascii $error; }
    OptionList:nocolor > .option-list--option-highlighted { text-style: bold underline; }
    DataTable:nocolor > .datatable--cursor { text-style: reverse; }
    Button.-primary { background: $panel; color: $primary; }
    Button.-primary:focus { background: $primary; color: $background; }
    Button:nocolor:focus { text-style: bold reverse; }
    FooterKey .footer-key--description { padding: 0 2 0 0; }
    """

    def __init__(
        self,
        opening: FirstScreen,
        *,
        settings: Settings | None = None,
        force_ascii: bool = False,
        has_report_cells: bool | None = None,
        now_ms: Callable[[], int] = time_of_day_ms,
    ) -> None:
        has_no_colour = bool(os.environ.get("NO_COLOR"))
        super().__init__(ansi_color=True if has_no_colour else None)
        self._settings_file = SettingsFile(config_folder())
        self.settings = self._settings_file.load() if settings is None else settings
        self.identities = IdentityFolder(config_folder())
        self.session = Session(self.identities, self._connection_changed)
        self.saved_matches = SavedMatches(config_folder())
        self.now_ms = now_ms
        self.is_looked_at = True
        self.typed_lines: dict[str, LineHistory] = {}
        self.typed_count = 0
        self.farewells: dict[RoomCode, str] = {}
        self.greeting = ""
        self.title_bar = TerminalTitle(self._write, self.TITLE)
        self._opening = opening
        self._force_ascii = force_ascii
        self._has_report_cells = has_report_cells
        self._has_no_colour = has_no_colour
        self._is_east_asian = is_east_asian(os.environ)
        self.input_queue = InputQueue(self, super().on_event)
        use_whole_cells()
        self._brushes: dict[tuple[str, bool], Brush] = {}
        for theme in THEMES.values():
            self.register_theme(screen_colours_256(theme.ui) if self.colour_count == 256 else theme.ui)
        self.theme = theme_named(self.settings.theme).name

    @property
    def writing(self) -> TextStyle:
        """The characters and colours that this terminal takes."""
        wished = self._has_report_cells
        return TextStyle(
            color=self.colour_count > 0,
            ascii=self._force_ascii or self.settings.is_ascii,
            has_report_cells=self.settings.has_report_cells if wished is None else wished,
        )

    @property
    def glyphs(self) -> GlyphSet:
        """The characters that boards are drawn with."""
        return ASCII if self.writing.ascii else EAST_ASIAN if self._is_east_asian else UNICODE

    @property
    def colour_count(self) -> int:
        """The number of colours of the terminal, 0 for none."""
        if self._has_no_colour or self.console.color_system is None:
            return 0
        return {"standard": 16, "windows": 16, "256": 256}.get(self.console.color_system, 1 << 24)

    def brush(self, *, is_stone: bool) -> Brush:
        """Return the styles for a picture's ink, by the theme and the terminal."""
        key = (self.theme, is_stone)
        if key not in self._brushes:
            theme = theme_named(self.theme)
            self._brushes[key] = Brush(theme, is_stone=is_stone, colour_count=self.colour_count)
        return self._brushes[key]

    def change_settings(self, **changes: object) -> None:
        """Change settings, apply them at once and keep them; a file that cannot be written is told."""
        self.settings = msgspec.structs.replace(self.settings, **changes)
        self.theme = theme_named(self.settings.theme).name
        self.refresh(layout=True)
        try:
            self._settings_file.save(self.settings)
        except ClientError as error:
            self.notify(str(error), severity="error")

    def on_mount(self) -> None:
        self.push_screen(self._opening())
        if self.greeting:
            self.notify(showable(self.greeting, self.writing), timeout=GREETING_SHOWN_S, markup=False)
        if self._settings_file.problem:
            self._tell_of_damage(self._settings_file.problem)

    async def on_unmount(self) -> None:
        self.title_bar.give_back()
        await self.session.leave()

    def _fatal_error(self) -> None:
        """Keep the report of a crash and say where it is.

        The library has no public place for this. Without it a crash would fill the terminal with a traceback and
        the values of all variables, secrets among them, and nothing would be left to send.
        """
        error = sys.exc_info()[1]
        assert error is not None, "it is called where the error was caught"
        self.bell()
        self.exit(1, return_code=1, message=Text(write_report(data_folder(), error)))

    async def on_event(self, event: events.Event) -> None:
        """Take what is typed one after another; see :mod:`tabuleiro_client.tui.pacing`."""
        if isinstance(event, Typed) and not event.is_forwarded:
            self.typed_count += 1
            await self.input_queue.take(event)
        else:
            await super().on_event(event)

    def on_app_focus(self) -> None:
        self.is_looked_at = True
        self.title_bar.rest()

    def on_app_blur(self) -> None:
        self.is_looked_at = False

    def action_help(self) -> None:
        """Show the keys that work on the present screen, or close their page."""
        if isinstance(self.screen, CommandPalette):
            self.pop_screen()
        if isinstance(self.screen, HelpScreen):
            self.pop_screen()
        else:
            self.push_screen(HelpScreen())

    def action_rules(self) -> None:
        """Open the rules of the game on the present screen."""
        travel(self, PLACES["rules"][2](self))

    def action_menu(self) -> None:
        """List the commands of the present screen, and do what is picked."""
        commands = commands_of(self.screen)

        def picked(action: str | None) -> None:
            for command in commands:
                if command.binding.action == action:
                    self.call_later(self.run_action, action, command.node)

        self.push_screen(MenuScreen(commands), picked)

    def action_suspend_process(self) -> None:
        """Go back to the shell, with all processes that it started for this."""
        if not hasattr(os, "getsid") or os.getsid(0) == os.getpgrp():
            self.tell("there is no shell to go back to")
        elif self._driver is not None and self._driver.can_suspend:
            os.killpg(os.getpgrp(), signal.SIGTSTP)

    def is_host_of(self, head: RoomHead) -> bool:
        """Return True if this user is the host of a room of the present server."""
        venue = self.session.venue
        return venue is not None and venue.link.welcome.name == head.host_name

    def action_command_palette(self) -> None:
        """Open the command palette; the library's own words in it need more than ASCII."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder="find a command"))

    def leave_screen(self, problem: str = "") -> None:
        """Go back to the screen before, with a word about the problem; the program ends after the first."""
        if len(self.screen_stack) > 2:
            self.pop_screen()
            if problem:
                self.notify(problem, severity="error")
        elif problem:
            self.exit(1, return_code=1, message=f"tabuleiro: {problem}")
        else:
            self.exit(0)

    def tell(self, text: str) -> None:
        """Say something on the present screen, or beside it when that has no line for it; empty for nothing."""
        if isinstance(self.screen, PageScreen):
            self.screen.say(text)
        elif text:
            self.notify(showable(text, self.writing), markup=False)

    def call_for_attention(self, title: str) -> None:
        """Ring and change the terminal's title, as far as that is wanted, while nobody looks at the terminal."""
        if self.is_looked_at:
            return
        if self.settings.rings_bell:
            self.bell()
        # The Linux console has no title, and some of its versions write what is meant to be one on the screen.
        if self.settings.changes_title and os.environ.get("TERM") != "linux":
            self.title_bar.call(title)

    def rest(self) -> None:
        """Take the call for attention back."""
        self.title_bar.rest()

    async def quiet(self, limit_s: float) -> None:
        """Wait until what was typed is done and drawn, but no longer than for so many seconds."""
        await self.input_queue.quiet(limit_s)

    def _write(self, sequence: str) -> None:
        # The library has no public way to write to its terminal. Without it the title of the window would not
        # call when it is one's turn.
        if self._driver is not None:
            self._driver.write(sequence)

    def _tell_of_damage(self, problem: str) -> None:
        """Tell of a file of this user that cannot be read; it may have been edited by hand, so there is time."""
        self.notify(showable(problem, self.writing), severity="warning", timeout=DAMAGE_SHOWN_S, markup=False)

    def _connection_changed(self) -> None:
        while self.identities.notices:
            self._tell_of_damage(str(self.identities.notices.pop(0)))
        for screen in self.screen_stack:
            for bar in screen.query(TopBar):
                bar.show_connection(self.session)
            if isinstance(screen, PageScreen):
                screen.connection_changed()


def write_report(folder: Path, error: BaseException) -> str:
    """Keep the report of ``error``, the last one only, in ``folder``; return a sentence for the person.

    It holds no values of variables: those may be secret.
    """
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    lines = [
        f"tabuleiro {version('tabuleiro')}, Python {platform.python_version()}, {platform.platform()}\n",
        f"TERM={os.environ.get('TERM', '')}\n\n",
        *traceback.format_exception(error),
    ]
    path = folder / CRASH_REPORT_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
    except OSError as problem:
        return f"tabuleiro has crashed ({what}); no report could be kept in {folder}: {problem.strerror}"
    return f"tabuleiro has crashed ({what}). The report is in {path}"
