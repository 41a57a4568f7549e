"""The base of screens with a board: the board at the left, the panel at the right, the lines below.

Which position is shown, and what choices mean, is left to the screens of matches, watching and replays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from textual import events
from textual.actions import parse
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from tabuleiro.rules import State
from tabuleiro.rules.view import BoardView, Target
from tabuleiro_client.models.turn_composer import TurnComposer
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.context import Context, context_of
from tabuleiro_client.tui.present.layout import fitting_layout, smallest_layout
from tabuleiro_client.tui.present.notes import cell_note
from tabuleiro_client.tui.widgets.bars import KeyBar, Line, TopBar
from tabuleiro_client.tui.widgets.board import Board, OverlayMaker
from tabuleiro_client.tui.widgets.chat import Entry
from tabuleiro_client.tui.widgets.panel import Choices, Legend
from tabuleiro_client.tui.widgets.rules_page import RulesPanel

COMMAND_SIGN: Final = "/"
"""The sign before a command that is typed on a board."""

PANEL_MIN_COLUMNS: Final = 26
PANEL_MAX_COLUMNS: Final = 44
RULES_MAX_COLUMNS: Final = 60
OTHER_ROWS: Final = 6
"""Rows that are not the board's: the bar at the top, the lines below the board, the footer."""
LAVISH_ROWS: Final = 8
"""The same with the players on a line, a long message and a row of choices: a board may need some of these."""


class BoardScreen(Screen[None]):
    """A board with a panel; below the board whose turn it is, what to do, and what is under the cursor."""

    AUTO_FOCUS = "#board"
    BINDINGS: ClassVar[list[BindingType]] = [keys.BACK]
    DEFAULT_CSS = """
    BoardScreen #table { height: 1fr; }
    BoardScreen #lines { height: auto; padding: 0 1; }
    BoardScreen #turn { text-style: bold; }
    BoardScreen #say.message { color: $warning; }
    BoardScreen #lines Entry { padding: 0; background: $panel; }
    BoardScreen #note { color: $text-muted; }
    BoardScreen #note.banner { background: $warning; color: $background; text-style: bold; }
    BoardScreen.tight #choices.empty { display: none; }
    BoardScreen #panel { width: 36; height: 1fr; background: $surface; }
    BoardScreen.narrow #panel { display: none; }
    BoardScreen #rules { display: none; }
    BoardScreen.learning #rules { display: block; }
    BoardScreen.learning #panel .aside { display: none; }
    BoardScreen #brief { display: none; text-style: bold; }
    BoardScreen.narrow #brief { display: block; }
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._first_title = title
        self._lines: dict[str, str] = {}
        self._keys_shown: tuple[bool | None, ...] = ()
        self._edges_shown: tuple[str, ...] | None = None

    @property
    def context(self) -> Context:
        """The application, as far as this needs it."""
        return context_of(self)

    @property
    def board(self) -> Board:
        """The board."""
        return self.query_one("#board", Board)

    @property
    def game_name(self) -> str:
        """The name of the game on the board."""
        raise NotImplementedError

    @property
    def is_typed_on(self) -> bool:
        """True if letters and digits begin a line of actions now, and so are no commands."""
        return isinstance(self.focused, Board | RulesPanel)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that do something now: none that is typed."""
        active = super().active_bindings
        return {key: one for key, one in active.items() if len(key) > 1} if self.is_typed_on else active

    def on_key(self, event: events.Key) -> None:
        character = event.character or ""
        if self.is_typed_on and character.isascii() and (character.isalnum() or character == COMMAND_SIGN):
            event.stop()
            event.prevent_default()
            self.set_focus(self.board)  # what is typed is for the board, also while the rules are read
            self.begin_typing(character)

    def begin_typing(self, character: str) -> None:
        """Open the line of actions with what was typed on the board."""
        self.query_one(Entry).open_for("play", character)

    def on_input_changed(self, event: Entry.Changed) -> None:
        """Put the cursor on the cell that the line names last."""
        entry, view = self.query_one(Entry), self.current_view()
        if view is None:
            return
        words = re.findall(r"[a-z]+[0-9]+|[0-9]+-[0-9]+", entry.value.lower()) if entry.kind == "play" else []
        named = [cell.index for cell in view.cells if cell.name.lower() in words[-1:]]
        if named or self.board.is_named:
            self.board.show_named(named[0] if named else None)

    def copied_position(self, state: State) -> str:
        """Copy the text of a position and return it, as a sentence."""
        text = state.to_position()
        self.app.copy_to_clipboard(text)
        return f"position (copied, if your terminal allows it): {text}"

    def show_choices(self, composer: TurnComposer | None, *, leaves_out: str = "") -> None:
        """Offer the choices of the turn in the making; one that has to be made takes the keys."""
        choices = [] if composer is None else composer.choices()
        row, is_asking = self.query_one(Choices), composer is not None and composer.is_asking
        row.show([choice for choice in choices if choice.action != leaves_out], is_asking=is_asking)
        if is_asking and self.focused is self.board:
            self.set_focus(row)
        elif not is_asking and self.focused is row:
            self.set_focus(self.board)

    def compose(self) -> ComposeResult:
        yield TopBar(self._first_title)
        with Horizontal(id="table"):
            yield Board(self.choose, self.point, id="board")
            with Vertical(id="panel"):
                yield from self.compose_panel()
                yield RulesPanel(id="rules")
                yield Legend(id="legend", classes="aside")
        with Vertical(id="lines"):
            yield Line(id="brief")
            yield Line(id="turn")
            yield Line(id="say", rows_count=2)
            yield Entry(id="entry")
            yield Line(id="note")
            yield Choices(id="choices")
        yield KeyBar()

    def compose_panel(self) -> Iterable[Widget]:
        """Yield the widgets of the panel, from the top; those of the class ``aside`` make room for the rules."""
        return ()

    def on_mount(self) -> None:
        for bar in self.query(TopBar):  # a screen that is left at once has lost it already
            bar.show_connection(self.context.session)

    def on_resize(self, event: events.Resize) -> None:
        self.part_columns(event.size)

    def part_columns(self, size: Size) -> None:
        """Part the columns between board and panel: first a board as large as it can be, then the panel."""
        view = self.current_view()
        if view is None:
            return
        is_tight = smallest_layout(view).height > size.height - LAVISH_ROWS
        self.set_class(is_tight, "tight")
        self.query_one("#say", Line).limit(1 if is_tight else 2)
        rows = size.height - OTHER_ROWS
        layout = fitting_layout(view, size.width - PANEL_MIN_COLUMNS - 1, rows, self.board.wished_size)
        if layout is not None and layout.is_bare:
            alone = fitting_layout(view, size.width, rows - 1)
            layout = layout if alone is None or alone.is_bare else None
        # With no board that fits beside it, the panel leaves its columns to the board, or to the word about that.
        spare = 0 if layout is None else size.width - 1 - layout.width
        self.set_class(spare < PANEL_MIN_COLUMNS, "narrow")
        most = RULES_MAX_COLUMNS if self.has_class("learning") else PANEL_MAX_COLUMNS
        self.query_one("#panel").styles.width = max(PANEL_MIN_COLUMNS, min(most, spare))
        self.show_note()  # it stands in for what the panel says

    def current_view(self) -> BoardView | None:
        """Return the position on the board, ``None`` before there is one."""
        return None

    def show_position(self, view: BoardView, make_overlay: OverlayMaker) -> None:
        """Draw a position, and the note about the cell that is pointed at."""
        edges = tuple(edge.text for edge in view.edges)
        if edges != self._edges_shown:
            # What is written at the edges of the board comes and goes, and takes columns.
            self._edges_shown = edges
            self.part_columns(self.size)
        self.board.show(view, make_overlay)
        self.query_one(Legend).show(view)
        self.show_note()

    def open_rules(self) -> bool:
        """Show the rules of the game beside the board, and go there; return whether there is room for them."""
        if self.has_class("narrow"):
            return False
        rules = self.query_one(RulesPanel)
        rules.show(self.game_name)
        self.add_class("learning")
        self.part_columns(self.size)
        rules.focus()
        return True

    def on_rules_panel_closed(self) -> None:
        """Show the board as before."""
        self.remove_class("learning")
        self.part_columns(self.size)
        self.board.focus()

    def point(self) -> None:
        """Something else is pointed at on the board."""
        self.show_note()

    def show_note(self) -> None:
        """Write what is known of the cell that is pointed at."""
        view, board = self.current_view(), self.board
        if view is None:
            return
        note = cell_note(view, board.target) if isinstance(board.target, int) else ""
        self.write_line("note", note)

    def write_line(self, name: str, text: str) -> None:
        """Write one of the lines below the board: ``brief`` (for the panel), ``turn``, ``say``, ``note``."""
        if self._lines.get(name) != text:
            self._lines[name] = text
            self.query_one(f"#{name}", Line).write(text)

    def show_keys(self) -> None:
        """Let the footer show the keys that do something now, if they are others than before."""
        keys_now = (
            self.board.can_choose,
            *(
                self.check_action(name, parameters)
                for name, parameters in (
                    parse(binding.action)[1:] for binding in self.BINDINGS if isinstance(binding, Binding)
                )
            ),
        )
        if keys_now != self._keys_shown:
            self._keys_shown = keys_now
            self.refresh_bindings()

    def choose(self, target: Target) -> None:
        """Handle the choice of a cell or an edge on the board."""

    def action_back(self) -> None:
        """Leave the screen."""
        self.context.leave_screen()
