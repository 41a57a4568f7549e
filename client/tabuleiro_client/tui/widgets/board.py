"""The board: draws a position as large as fits, and tells where a person points, clicks and moves the cursor.

What is drawn comes from :mod:`tabuleiro_client.tui.present`; what a choice means is for the screen to say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tabuleiro.rules.view import BoardView, CellView, EdgeSide, Mark, Target
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.context import Context, context_of
from tabuleiro_client.tui.present.glyphs import GlyphSet
from tabuleiro_client.tui.present.ink import Row
from tabuleiro_client.tui.present.layout import Layout, Size, fitting_layout
from tabuleiro_client.tui.present.overlay import NOTHING, Overlay
from tabuleiro_client.tui.present.picture import board_rows, changed_rows, some_rows
from tabuleiro_client.tui.present.window import Window, fitting_window, least_window
from tabuleiro_client.tui.widgets.strips import finished

OverlayMaker = Callable[[Target | None, Target | None], Overlay]
"""Makes the overlay for a cursor and a hovered target."""

WHEEL_ROWS: Final = 2
"""How far the wheel of the mouse moves the window on a large board."""

Picture = tuple[BoardView, Layout, Overlay, GlyphSet]
"""All that a picture is made of."""


class Board(Widget, can_focus=True):
    """Draws what :meth:`show` was given last; ``cursor`` and ``hover`` are what is pointed at.

    ``choose`` is called with what is clicked, or chosen by a key. Without ``can_choose`` there is nothing to
    choose, and the arrows are left to the screen. With ``is_named`` the cursor is shown without the focus.
    ``pointed`` is called when the cursor or the mouse is somewhere else. Of a board that is too large for the room
    a ``window`` is shown. It follows the cursor, or the last turn where there is nothing to choose.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(keys.BOARD)
    DEFAULT_CSS = """
    Board { width: 1fr; height: 1fr; }
    """

    def __init__(
        self,
        choose: Callable[[Target], None],
        pointed: Callable[[], None] = lambda: None,
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        # Called at once, not told by messages: a key pressed right after must find the choice made, and what is
        # written about the cell pointed at is drawn together with the cursor, not a frame later.
        self._choose = choose
        self._pointed = pointed
        self.can_choose = True
        self.is_named = False
        self.cursor: Target | None = None
        self.hover: Target | None = None
        self.layout_shown: Layout | None = None
        self.window: Window | None = None
        self._view: BoardView | None = None
        self._make_overlay: OverlayMaker = lambda cursor, hover: NOTHING
        self._overlay = NOTHING
        self._rows: list[Row] = []
        self._strips: dict[int, Strip] = {}
        self._drawn: Picture | None = None
        self._drawn_size = self.size
        self._layout_for: tuple[object, ...] = ()
        self._followed: Target | None = None
        self._wanted_x = 0

    @property
    def context(self) -> Context:
        """The application, as far as this needs it."""
        return context_of(self)

    @property
    def wished_size(self) -> Size | None:
        """The size of cells that is not to be gone beyond, ``None`` for the largest that fits."""
        wish = self.context.settings.board_size
        return None if wish == "auto" else Size(wish)

    @property
    def target(self) -> Target | None:
        """The target pointed at: by the mouse, or else by the cursor."""
        return self.cursor if self.hover is None else self.hover

    def show(self, view: BoardView, make_overlay: OverlayMaker) -> None:
        """Draw ``view`` with what ``make_overlay`` adds for where the person points."""
        if self._view is None or len(self._view.cells) != len(view.cells):
            self.cursor = self.hover = None
        is_new = view is not self._view
        self._view, self._make_overlay = view, make_overlay
        if self.cursor is None:
            self.cursor = self._first_cursor(view)
            self._follow(self.cursor)
        if is_new and not self.can_choose:
            self._follow(next((cell.index for cell in view.cells if Mark.LAST in cell.marks), self.cursor))
        self.redraw()

    def redraw(self) -> None:
        """Work the picture out again: something that it depends on has changed."""
        if self._view is None or not self.size.area:
            return
        self._find_layout(self._view)
        self._overlay = self._make_overlay(self.cursor if self.has_focus or self.is_named else None, self.hover)
        if self.window is not None:
            self._redraw_window(self._view, self.window)
            return
        before, size_before, layout = self._drawn, self._drawn_size, self.layout_shown
        picture = None if layout is None else (self._view, layout, self._overlay, self.context.glyphs)
        self._drawn, self._drawn_size = picture, self.size
        if before is not None and picture is not None and self.size == size_before:
            if before[1] is layout and before[3] is picture[3]:
                self._redraw_changed(before, picture)
                return
        elif before is picture and self.size == size_before:
            return
        self._rows, self._strips = [] if picture is None else board_rows(*picture), {}
        self.refresh()

    def _redraw_window(self, view: BoardView, window: Window) -> None:
        """Work the window on the board out, and draw those of its rows that are different."""
        last = self._overlay.last | {cell.index for cell in view.cells if Mark.LAST in cell.marks}
        whole = board_rows(view, window.layout, self._overlay, self.context.glyphs)
        rows, before = window.rows(whole, last), self._rows
        self._rows, self._drawn = rows, None
        if len(before) != len(rows) or self.size != self._drawn_size:
            self._drawn_size, self._strips = self.size, {}
            self.refresh()
            return
        changed = [y + self._top for y, row in enumerate(rows) if row != before[y]]
        for y in changed:
            self._strips.pop(y, None)
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _redraw_changed(self, before: Picture, picture: Picture) -> None:
        """Work only those rows out that can be different: a moved cursor must not cost a whole board."""
        view, layout, overlay, _ = picture
        wanted = changed_rows(layout, (before[0], before[2]), (view, overlay))
        rows = some_rows(range(layout.height) if wanted is None else wanted, *picture)
        changed = [y for y, row in rows.items() if row != self._rows[y]]
        for y in changed:
            self._rows[y] = rows[y]
            self._strips.pop(y + self._top, None)
        if changed:  # no region at all would mean the whole of it
            self.refresh(*(Region(0, y + self._top, self.size.width, 1) for y in changed))

    def _find_layout(self, view: BoardView) -> None:
        """Lay the board out anew when its shape or the room for it has changed."""
        edges = tuple((edge.side, edge.text) for edge in view.edges)
        shape = (view.topology, len(view.cells), view.row_labels, view.column_labels, edges)
        wanted = (*shape, self.size, self.wished_size)
        if wanted != self._layout_for:
            self._layout_for = wanted
            self.layout_shown = fitting_layout(view, self.size.width, self.size.height, self.wished_size)
            self.window = None
            if self.layout_shown is None:
                self.window = fitting_window(view, self.size.width, self.size.height)
                self._follow(self._followed)

    def render_lines(self, crop: Region) -> list[Strip]:
        strips = self._strips
        for y in crop.line_range:
            if y not in strips:
                strips[y] = self.render_line(y)
        return finished(self, [strips[y] for y in crop.line_range], crop)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips = {}

    def render_line(self, y: int) -> Strip:
        """Line ``y`` of this widget."""
        if self._shown_size is None or self._view is None:
            return self._word_too_small(y)
        width, base = self.size.width, self.visual_style.rich_style
        y -= self._top
        if not 0 <= y < len(self._rows):
            return Strip.blank(width, base)
        style_on = self.context.brush(is_stone="b" in self._view.piece_names).style_on
        segments = [Segment(" " * self._left, base)]
        segments += [Segment(span.text, style_on(base, span.ink)) for span in self._rows[y]]
        left, drawn = self._left, self._shown_size[0]
        rest = max(0, width - left - drawn)
        return Strip([*segments, Segment(" " * rest, base)], left + drawn + rest)

    @property
    def _left(self) -> int:
        """The column at which the picture begins, so that it is in the middle of the room there is."""
        return 0 if self._shown_size is None else max(0, (self.size.width - self._shown_size[0]) // 2)

    @property
    def _top(self) -> int:
        """The line at which the picture begins, in the middle as well."""
        return 0 if self._shown_size is None else max(0, (self.size.height - self._shown_size[1]) // 2)

    @property
    def _shown_size(self) -> tuple[int, int] | None:
        """The columns and rows of what is drawn; ``None`` when there is not even room for a window."""
        shown = self.window or self.layout_shown
        return None if shown is None else (shown.width, shown.height)

    def _word_too_small(self, y: int) -> Strip:
        lines: list[str] = []
        if self._view is not None:
            need, window = least_window(self._view), self.app.size
            columns = window.width + max(0, need.width - self.size.width)
            rows = window.height + max(0, need.height - self.size.height)
            lines = ["The window is too small", "for this board. Make it", f"{columns} columns x {rows} rows."]
        base = self.visual_style.rich_style
        if y >= len(lines):
            return Strip.blank(self.size.width, base)
        return Strip([Segment(lines[y], base + Style(bold=True))]).adjust_cell_length(self.size.width, base)

    def target_at(self, x: int, y: int) -> Target | None:
        """Return the target at column ``x`` of row ``y`` of this widget."""
        shown = self.window or self.layout_shown
        return None if shown is None else shown.hit(x - self._left, y - self._top)

    def place_of(self, target: Target) -> tuple[int, int] | None:
        """Return the column and row of this widget at which ``target`` is drawn; ``None`` while it is not."""
        shown = self.window or self.layout_shown
        place = None if shown is None else shown.place(target)
        return None if place is None else (place[0] + self._left, place[1] + self._top)

    def on_resize(self) -> None:
        self._strips = {}
        self.redraw()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.redraw()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover_over(self.target_at(event.x, event.y))

    def on_leave(self) -> None:
        self._hover_over(None)

    def on_click(self, event: events.Click) -> None:
        target = self.target_at(event.x, event.y)
        if target is not None and event.button == 1:
            self._put_cursor(target)
            self._choose(target)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll_window(event, WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll_window(event, -WHEEL_ROWS)

    def _scroll_window(self, event: events.MouseEvent, rows: int) -> None:
        if self.window is not None:
            event.stop()
            self.window = self.window.scrolled(rows)
            self.redraw()

    def _follow(self, target: Target | None) -> None:
        """Move the window, if there is one, so that ``target`` is in it."""
        self._followed = target
        if self.window is not None:
            self.window = self.window.following(target)

    def _hover_over(self, target: Target | None) -> None:
        if target != self.hover:
            self.hover = target
            self.redraw()
            self._pointed()

    def _put_cursor(self, target: Target) -> None:
        if isinstance(target, int) and self._view is not None:
            self._wanted_x = self._view.cells[target].x
        self.cursor = target
        self.hover = None
        self._follow(target)
        self.redraw()
        self._pointed()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key does something now; the footer shows those that do."""
        return self.can_choose or action not in ("choose", "jump_legal", "move")

    def action_choose(self) -> None:
        """Choose what is under the cursor."""
        if self.cursor is not None:
            self._choose(self.cursor)

    def show_named(self, target: Target | None) -> None:
        """Put the cursor on what is named while something is typed; ``None``: nothing is named any more."""
        self.is_named = target is not None
        if target is None:
            self.redraw()
        else:
            self._put_cursor(target)

    def action_point(self, dx: int, dy: int) -> None:
        """Move the cursor by one cell, whatever the arrows do."""
        self.action_move(dx, dy)

    def action_move(self, dx: int, dy: int) -> None:
        """Move the cursor by one cell, or onto an edge that may be entered and back."""
        view = self._view
        if view is None or self.cursor is None:
            return
        if not isinstance(self.cursor, int):
            self._leave_edge(view, self.cursor, dy)
            return
        here = view.cells[self.cursor]
        if dx:
            row = sorted((cell for cell in view.cells if cell.y == here.y), key=lambda cell: cell.x)
            place = row.index(here) + dx
            if 0 <= place < len(row):
                self._wanted_x = row[place].x
                self._put_cursor(row[place].index)
            return
        row = [cell for cell in view.cells if cell.y == here.y + dy]
        if row:
            self._step_into(row)
        else:
            self._enter_edge("top" if dy < 0 else "bottom")

    def _step_into(self, row: list[CellView]) -> None:
        """Go to the cell of another row that is nearest to where the cursor was put last, keeping that in mind."""
        wanted = self._wanted_x
        self._put_cursor(min(row, key=lambda cell: (abs(cell.x - wanted), cell.x)).index)
        self._wanted_x = wanted

    def _enter_edge(self, side: EdgeSide) -> None:
        targets = self._overlay.targets
        edges = [edge for edge in self._view.edges if edge.side == side] if self._view is not None else []
        if any(edge.is_target for edge in edges) if targets is None else side in targets:
            self._put_cursor(side)

    def _leave_edge(self, view: BoardView, side: EdgeSide, dy: int) -> None:
        y = 0 if side == "top" else len(view.row_labels) - 1
        if (side == "top") == (dy > 0):
            self._step_into([cell for cell in view.cells if cell.y == y])

    def action_jump_legal(self, step: int) -> None:
        """Move the cursor to the next cell that can be chosen, or the one before."""
        if self._view is None:
            return
        targets = self._overlay.targets
        cells = [
            cell
            for cell in sorted(self._view.cells, key=lambda cell: (cell.y, cell.x))
            if (Mark.LEGAL in cell.marks if targets is None else cell.index in targets)
        ]
        if not cells:
            return
        indexes = [cell.index for cell in cells]
        if self.cursor in indexes:
            self._put_cursor(indexes[(indexes.index(self.cursor) + step) % len(indexes)])
        else:
            self._put_cursor(indexes[0])

    def _first_cursor(self, view: BoardView) -> int:
        """Return a cell in the middle of the board."""
        xs, ys = [cell.x for cell in view.cells], [cell.y for cell in view.cells]
        x, y = (min(xs) + max(xs)) / 2, max(ys) / 2
        middle = min(view.cells, key=lambda cell: (abs(cell.x - x) + 2 * abs(cell.y - y), cell.index))
        self._wanted_x = middle.x
        return middle.index


class BoardPicture(Board, can_focus=False, inherit_bindings=False):
    """Draws what :meth:`show` was given last, as large as fits."""

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    BoardPicture { width: 1fr; height: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(lambda target: None, id=id)
