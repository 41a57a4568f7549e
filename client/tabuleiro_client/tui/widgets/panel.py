"""The panel at the board: the players with their clocks, the list of turns, and the row of choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from tabuleiro.notation.record import RecordTurn
from tabuleiro.rules.view import BoardView
from tabuleiro_client.models.turn_composer import Choice
from tabuleiro_client.text.board import drawn_pieces
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.context import context_of
from tabuleiro_client.tui.present.glyphs import ROLES
from tabuleiro_client.tui.present.ink import Ink, Role
from tabuleiro_client.tui.present.notes import MoveRow, move_rows
from tabuleiro_client.tui.present.players import ClockFace, PlayerLine, Urgency
from tabuleiro_client.tui.widgets.line_list import LineList
from tabuleiro_client.tui.widgets.strips import finished

_SIDES: Final = (Role.SIDE_0, Role.SIDE_1)
_BOLD: Final = Style(bold=True)
_PLAIN: Final = Style()
_INDENT: Final = " " * 4
"""Before what is noted of a player, on the second line."""

_Word = tuple[str, Style]


class Players(Widget):
    """Shows what :meth:`show` was given last."""

    ALLOW_SELECT: ClassVar[bool] = False
    DEFAULT_CSS = """
    Players { height: 4; padding: 0 1; background: $surface; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: tuple[Sequence[PlayerLine], bool] = ((), False)
        self._rows: list[list[_Word]] = []
        self._strips: list[Strip] = []
        self._strips_for: object = None

    def show(self, lines: Sequence[PlayerLine], *, is_stone: bool) -> None:
        """Show both players; nothing is drawn when nothing has changed."""
        if (lines, is_stone) != self._shown:
            self._shown = (lines, is_stone)
            self._write()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._write()

    def on_resize(self) -> None:
        self._write()

    def _write(self) -> None:
        """Work the lines out again, and have those drawn that are others than before."""
        width, style = self.size.width, self.visual_style.rich_style
        rows = self._written(width)
        is_known = (width, style) == self._strips_for and len(rows) == len(self._rows)
        changed = [y for y, row in enumerate(rows) if not is_known or row != self._rows[y]]
        strips = [self._strip(row, style) if y in changed else self._strips[y] for y, row in enumerate(rows)]
        self._rows, self._strips, self._strips_for = rows, strips, (width, style)
        if changed:  # no region at all would mean the whole of it
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def render_lines(self, crop: Region) -> list[Strip]:
        strips = self._strips[slice(*crop.line_span)]
        strips += [Strip([])] * (crop.height - len(strips))
        return finished(self, strips, crop)

    def _strip(self, row: Sequence[_Word], style: Style) -> Strip:
        side = Segment(" ", Style(bgcolor=style.bgcolor))
        return Strip([side, *(Segment(text, style + its) for text, its in row), side])

    def _written(self, width: int) -> list[list[_Word]]:
        """Return the words of all lines, each line ``width`` columns."""
        lines, is_stone = self._shown
        clocks = [self._clock(line.clock) for line in lines]
        clock_width = max((cell_len(text) for text, _ in clocks), default=0)
        rest = max(0, width - clock_width)
        rows = []
        for line, (text, style) in zip(lines, clocks, strict=True):
            name = [("> " if line.is_to_move else "  ", _BOLD), *self._chip(line, is_stone=is_stone)]
            name.append((line.name, _BOLD))
            rows.append([*_fitted(name, rest), (" " * (clock_width - cell_len(text)) + text, style)])
            note = [(_INDENT, _PLAIN), (f"{line.side}, {line.presence}", self._note_style(line))]
            rows.append([*_fitted(note, rest), (" " * clock_width, _PLAIN)])
        return rows

    def _chip(self, line: PlayerLine, *, is_stone: bool) -> Sequence[_Word]:
        if not line.glyph:
            return (("^ " if line.player == 0 else "v ", _BOLD),)
        ink = Ink(_SIDES[line.player], Role.GROUND if is_stone else None, bold=True)
        return ((line.glyph, context_of(self).brush(is_stone=is_stone).style(ink)), (" ", _BOLD))

    def _note_style(self, line: PlayerLine) -> Style:
        return self._colour("error" if line.is_away else "text-muted")

    def _clock(self, clock: ClockFace | None) -> _Word:
        if clock is None:
            return ("", _PLAIN)
        if clock.urgency is Urgency.CRITICAL:
            return (f"!{clock.text}", _BOLD + self._colour("error"))
        if clock.urgency is Urgency.LOW:
            return (clock.text, _BOLD + self._colour("error"))
        return (clock.text, _BOLD if clock.is_running else _PLAIN)

    def _colour(self, name: str) -> Style:
        if not context_of(self).colour_count:
            return _PLAIN
        colour = self.app.theme_variables.get(name, "")
        return Style(color=colour) if colour.startswith("#") else Style(dim=True)


def _fitted(words: Sequence[_Word], width: int) -> list[_Word]:
    """Cut ``words`` at ``width`` columns, or fill the last of them up to it."""
    fitted: list[_Word] = []
    for text, style in words:
        is_last = len(fitted) == len(words) - 1
        taken = width if is_last else min(cell_len(text), width)
        fitted.append((set_cell_size(text, taken), style))
        width -= taken
    return fitted


class Moves(LineList[MoveRow]):
    """Shows the turns that :meth:`show` was given last."""

    DEFAULT_CSS = """
    Moves { height: 1fr; min-height: 2; padding: 0 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: object = None
        self._given: tuple[Sequence[RecordTurn], tuple[str, str], int, Mapping[int, str]] = ((), ("", ""), 0, {})

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._shown = None  # with other rows to see, the turn on the board may be out of sight
        self.show(*self._given)

    def show(
        self,
        turns: Sequence[RecordTurn],
        glyphs: tuple[str, str],
        ply: int,
        marks: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """List ``turns`` with the ``marks`` behind them, by their numbers, and show which one led to ``ply``."""
        self._given = (turns, glyphs, ply, marks)
        width = max(self.size.width - 1, 12)  # a column for the bar that scrolls
        key = (tuple(turns), glyphs, ply, width, tuple(marks.items()))
        if key == self._shown:
            return
        self._shown = key
        rows = move_rows(turns, glyphs, ply, width, marks)
        self.show_entries(rows)
        shown = [place for place, row in enumerate(rows) if row.is_shown]
        self.scroll_so_that(shown[-1] if shown else 0)

    def content_of(self, entry: MoveRow) -> Content:
        return Content.styled(entry.text, "bold") if entry.is_shown else Content(entry.text)


class Legend(Static):
    """The pieces as they are drawn, and their names; as many beside each other as fit."""

    DEFAULT_CSS = """
    Legend { height: auto; padding: 0 1; color: $text-muted; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__("", id=id, classes=classes)
        self._view: BoardView | None = None
        self._shown: object = None

    def show(self, view: BoardView) -> None:
        """Name the pieces of ``view``, and the letters of the colours on its cells."""
        self._view = view
        self._write()

    def on_resize(self) -> None:
        self._write()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._write()

    def _write(self) -> None:
        view, width = self._view, self.content_size.width
        if view is None or width <= 0:
            return
        context = context_of(self)
        shown = (view.piece_names, width, context.glyphs, context.settings.theme)
        if shown == self._shown:
            return
        self._shown = shown
        brush, is_stone = context.brush(is_stone="b" in view.piece_names), "b" in view.piece_names
        entries: list[Text] = []
        for piece, is_asleep, name in drawn_pieces(view):
            ink = Ink(ROLES.get(piece), Role.GROUND if is_stone else None, bold=not is_asleep, dim=is_asleep)
            glyph = context.glyphs.glyph(piece, is_asleep=is_asleep)
            entry = Text.assemble((glyph, brush.style(ink)), f" {name}")
            if is_asleep:
                entries[-1].append("  ").append_text(entry)  # not parted from the piece awake
            else:
                entries.append(entry)
        self.update(_flowed(entries, width))


def _flowed(entries: Sequence[Text], width: int) -> Text:
    """Return entries one after the other, none of them parted at the end of a line."""
    lines = [Text()]
    for entry in entries:
        gap = "  " if lines[-1] else ""
        if lines[-1] and len(lines[-1]) + len(gap) + len(entry) > width:
            lines.append(Text())
            gap = ""
        lines[-1].append(gap).append_text(entry)
    return Text("\n").join(lines)


class Choices(Static):
    """Shows the choices that :meth:`show` was given last; a click runs the action of the screen.

    Where one has to be made, this may have the focus, and takes its letters.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(keys.CHOOSER)
    DEFAULT_CSS = """
    Choices { height: 1; padding: 0 1; link-style: none; link-style-hover: bold; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, classes="empty")
        self._shown: Sequence[Choice] | None = None

    def show(self, choices: Sequence[Choice], *, is_asking: bool) -> None:
        """Offer ``choices``, with ``is_asking`` by their letters too; nothing is drawn when they are the same."""
        self.can_focus = is_asking
        if choices == self._shown:
            return
        self._shown = list(choices)
        self.set_class(not choices, "empty")
        text = Text()
        for choice in choices:
            click = Style(meta={"@click": f"screen.{choice.action}"}, bold=True, reverse=True)
            text.append(f" {choice.key} {choice.label} ", style=click)
            text.append("  ")
        self.update(text)
