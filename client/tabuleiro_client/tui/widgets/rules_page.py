"""The rules of a game as a page to scroll through: headings, paragraphs, and diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Static

from tabuleiro.rules import Game, registry
from tabuleiro.rules.page import Stage, parts_of
from tabuleiro_client.text.rules import PAGE_COLUMNS, beside, pieces_line
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.context import Context, context_of
from tabuleiro_client.tui.present.layout import Layout, Size
from tabuleiro_client.tui.present.overlay import Overlay
from tabuleiro_client.tui.present.picture import board_rows
from tabuleiro_client.tui.themes import theme_named


class RulesPage(VerticalScroll):
    """Shows the rules of the game that :meth:`show` was given last, as wide as there is room, up to 78 columns."""

    DEFAULT_CSS = """
    RulesPage { padding: 0 1; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    RulesPage Static { width: 1fr; height: auto; }
    """

    def __init__(self, *, id: str | None = None, can_focus: bool = False) -> None:
        super().__init__(id=id, can_focus=can_focus)
        self._game = ""
        self._shown: object = None

    def compose(self) -> ComposeResult:
        yield Static("", id="page", markup=False)

    def show(self, game: str) -> None:
        """Show the rules of a game, from the top."""
        if game != self._game:
            self._game = game
            self._write()
            self.scroll_home(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        self._write()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._write()

    def _write(self) -> None:
        width = min(self.scrollable_content_region.width, PAGE_COLUMNS)
        context = context_of(self)
        shown = (self._game, width, context.glyphs, context.settings.theme)
        if self._game and width > 0 and shown != self._shown:
            self._shown = shown
            self.query_one("#page", Static).update(rules_text(self._game, context, width))


class RulesPanel(RulesPage):
    """The same beside a board, with keys to scroll and to close it while it has the focus."""

    class Closed(Message):
        """The rules are no longer wanted."""

    BINDINGS: ClassVar[list[BindingType]] = list(keys.RULES_PANEL)
    DEFAULT_CSS = """
    RulesPanel { height: 1fr; background: $surface; }
    RulesPanel:focus { background: $panel; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, can_focus=True)

    def action_close(self) -> None:
        """Close the rules."""
        self.post_message(self.Closed())


def rules_text(game: str, context: Context, width: int) -> Text:
    """Return the rules of ``game`` for a page of ``width`` columns."""
    game_type = registry.game_type(game)
    accent = theme_named(context.settings.theme).ui.accent
    strong = Style(bold=True, color=accent if context.colour_count else None)
    text = Text()
    title, *parts = parts_of(game_type.rules_page)
    text.append(f"{title.text}\n", Style(bold=True, underline=True))
    for part in parts:
        match part.kind:
            case "heading":
                text.append(f"\n{part.text.capitalize()}\n", strong)
            case "item":
                lines = wrap(part.text, width, initial_indent="- ", subsequent_indent="  ")
                text.append("".join(f"{line}\n" for line in lines))
            case "diagrams":
                for name in part.text.split():
                    text.append(_diagram(game_type, name, context, width))
            case _:
                text.append("".join(f"{line}\n" for line in wrap(part.text, width)))
    text.append(f"\n{pieces_line(game_type, context.writing)}\n")
    return text


def _diagram(game: type[Game], name: str, context: Context, width: int) -> Text:
    """Return a diagram with its caption, after an empty line."""
    boards = [[(row, len(row)) for row in _rows(stage, context)] for stage in game.stages(name)]
    rows = beside(boards, game.diagrams[name].caption, width)
    return Text("\n").join([Text(), *(Text.assemble(*row) for row in rows), Text()])


def _rows(stage: Stage, context: Context) -> Sequence[Text]:
    """Return the rows of a small board."""
    style_of = context.brush(is_stone="b" in stage.view.piece_names).style
    overlay = Overlay(route=stage.route, shows_legal=True, shows_forbidden=True)
    rows = board_rows(stage.view, Layout(stage.view, Size.SMALL), overlay, context.glyphs)
    return [Text.assemble(*((span.text, style_of(span.ink)) for span in row)) for row in rows]
