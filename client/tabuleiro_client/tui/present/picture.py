"""Drawing a position with what a person adds to it: view, layout, overlay and glyphs in, rows of ink out.

The characters beside a glyph say what colour says as well::

    >x<  under the cursor             [x]  chosen or changed by the last turn
    =x=  chosen in the turn made now  (x)  part of what decided the game
    {x}  a hint                       !x!  the reason asked for
    *x*  on the route                 ~x~  opposite the cursor
    :x:  a piece that may be chosen    +   an empty cell that may be
     *   the only cell the rules leave
     -   forbidden by the rules        .   any other empty cell

In tall cells a glyph set may draw the same marks as frames. Where most empty cells may be chosen, those keep the
dot, and the others are blank. A colour printed on a cell stays there, between the marks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from itertools import chain
from typing import Final

from tabuleiro.rules.view import BoardView, CellView, EdgeView, Mark, Target
from tabuleiro_client.text.board import empty_glyph, ground_letters
from tabuleiro_client.tui.present.glyphs import ASCII, FILL, ROLES, GlyphSet
from tabuleiro_client.tui.present.ink import PLAIN, Canvas, Ink, Role, Row
from tabuleiro_client.tui.present.layout import TALL_SIZES, Box, Layout, Size, side_edges_text
from tabuleiro_client.tui.present.overlay import Overlay

GROUNDS: Final = (Role.GROUND, Role.GROUND_ALT, Role.GROUND_THIRD)
_COLOURED: Final[Mapping[str, Role]] = {
    role.value: role
    for role in (Role.RED, Role.ORANGE, Role.YELLOW, Role.GREEN, Role.CYAN, Role.BLUE, Role.VIOLET)
}
_SHOWN_MARKS: Final = frozenset({Mark.WINNING, Mark.LAST})
"""What is marked beside the glyph, whatever a person does."""
_LABEL: Final = Ink(Role.LABEL)
_LABEL_STRONG: Final = Ink(Role.LABEL_STRONG, bold=True)
_LEGAL: Final = Ink(Role.LEGAL, bold=True)
_FORBIDDEN: Final = Ink(Role.FORBIDDEN, bold=True)
_MARK: Final = Ink(Role.MARK, bold=True)
_ON_COLOUR: Final = Ink(Role.GROUND_LETTER)
_EMPTY: Final = Ink(Role.EMPTY)
_CHOOSABLE: Final = "::"


def board_rows(view: BoardView, layout: Layout, overlay: Overlay, glyphs: GlyphSet) -> list[Row]:
    """Draw ``view``; ``layout`` is one of the same board. The rows are ``layout.width`` wide."""
    return list(_Picture(view, layout, overlay, glyphs).rows().values())


def some_rows(
    wanted: Collection[int], view: BoardView, layout: Layout, overlay: Overlay, glyphs: GlyphSet
) -> Mapping[int, Row]:
    """Return the same rows as :func:`board_rows` draws, by their numbers, but only the ``wanted`` ones."""
    return _Picture(view, layout, overlay, glyphs, wanted).rows()


class _Picture:
    """A picture in the making; of the ``wanted`` rows, ``None`` for all of them."""

    def __init__(
        self,
        view: BoardView,
        layout: Layout,
        overlay: Overlay,
        glyphs: GlyphSet,
        wanted: Collection[int] | None = None,
    ) -> None:
        self._view = view
        self._layout = layout
        self._overlay = overlay
        self._glyphs = glyphs
        self._letters = ground_letters(view)
        self._empty = empty_glyph(view, is_ascii=True) if glyphs is ASCII else glyphs.empty
        self._marks_legal = overlay.shows_legal and not self._is_mostly_legal()
        self._canvas = Canvas(layout.width, layout.height, wanted)
        self._cells = view.cells if wanted is None else self._cells_near(wanted)
        self._marked = {overlay.cursor, overlay.opposite, *overlay.picked, *overlay.reasons, *overlay.route}
        self._marked |= overlay.last | overlay.hint

    def _cells_near(self, rows: Collection[int]) -> list[CellView]:
        """Return the cells that write on any of ``rows``: also on the lines above and below them."""
        near = {row + step for row in rows for step in (-1, 0, 1)}
        boxes = self._layout.boxes
        return [
            cell
            for cell in self._view.cells
            if not near.isdisjoint(range(boxes[cell.index].y, boxes[cell.index].y + boxes[cell.index].height))
        ]

    def rows(self) -> dict[int, Row]:
        if self._layout.size is Size.MEDIUM:
            self._draw_lines()
        for cell in self._cells:
            self._draw_cell(cell, self._layout.boxes[cell.index])
        self._draw_labels()
        self._draw_edges()
        return self._canvas.rows()

    def _targets(self, target: Target) -> bool:
        """Return whether ``target`` may be chosen."""
        if self._overlay.targets is not None:
            return target in self._overlay.targets
        if isinstance(target, int):
            return Mark.LEGAL in self._view.cells[target].marks
        return any(edge.side == target and edge.is_target for edge in self._view.edges)

    def _is_mostly_legal(self) -> bool:
        """Return whether most empty cells may be chosen, so that the others are the ones to mark."""
        empty = [cell.index for cell in self._view.cells if cell.piece == "."]
        return 2 * sum(self._targets(index) for index in empty) > len(empty)

    def _draw_lines(self) -> None:
        if self._layout.topology == "hex":
            for cell in self._cells:
                self._draw_hexagon(cell, self._layout.boxes[cell.index])
            return
        ink = Ink(Role.GRID, Role.GROUND)
        box, grid = self._layout.board_box, self._glyphs.grid
        for y in range(box.height):
            if y % 2:
                line = (f"{grid[1]}   " * (box.width // 4 + 1))[: box.width]
            else:
                ends = grid[2:5] if y == 0 else grid[8:] if y == box.height - 1 else grid[5:8]
                line = ends[0] + (3 * grid[0] + ends[1]) * (box.width // 4 - 1) + 3 * grid[0] + ends[2]
            self._canvas.write(box.x, box.y + y, line, ink)

    def _draw_hexagon(self, cell: CellView, box: Box) -> None:
        """Draw the six lines round a cell, shared with its neighbours."""
        ink = Ink(Role.GRID, Role.GROUND)
        x, y = box.x, box.y
        rising, falling, upright = tuple(self._glyphs.hexagon)
        self._canvas.write(x, y - 1, f"{rising} {falling}", ink)
        self._canvas.write(x - 1, y, f"{upright}   {upright}", ink)
        self._canvas.write(x, y + 1, falling, ink)
        self._canvas.write(x + 2, y + 1, rising, ink)
        self._canvas.write(x + 1, y + 1, " ", ink)

    def _draw_cell(self, cell: CellView, box: Box) -> None:
        ground = self._ground(cell)
        pair, marked = self._mark(cell)
        bg = ground if cell.ground else marked or ground
        for row in range(box.height):
            self._canvas.write(box.x, box.y + row, " " * box.width, PLAIN.on(bg))
        if self._layout.size in TALL_SIZES and cell.piece != ".":
            self._draw_sprite(cell, box, bg)
        else:
            glyph, ink = self._glyph(cell)
            x, y = box.centre
            self._canvas.write(x, y, glyph, ink.on(bg))
        if pair or marked:
            self._draw_pair(pair or "  ", box, marked or ground)
        if cell.ground:
            self._draw_ground_letter(cell, box, bg)

    def _draw_pair(self, pair: str, box: Box, bg: Role) -> None:
        ink = (_LEGAL if pair == _CHOOSABLE else _MARK).on(bg)
        left, right = self._glyphs.frame(pair) if box.height > 1 else (pair[0], pair[1])
        for row in range(box.height):
            part = 0 if row == 0 else len(left) - 1 if row == box.height - 1 else len(left) // 2
            self._canvas.write(box.x, box.y + row, left[part], ink)
            self._canvas.write(box.x + box.width - 1, box.y + row, right[part], ink)

    def _ground(self, cell: CellView) -> Role:
        if cell.ground:
            return _COLOURED[cell.ground]
        if self._layout.topology == "hex":
            return GROUNDS[cell.x % 3] if self._layout.size is not Size.MEDIUM else Role.GROUND
        return GROUNDS[(cell.x // 2 + cell.y) % 2] if self._layout.size is not Size.MEDIUM else Role.GROUND

    def _draw_ground_letter(self, cell: CellView, box: Box, bg: Role) -> None:
        letter = self._letters[cell.ground]
        if self._layout.size is Size.MEDIUM:
            ink = Ink(Role.GROUND_LETTER, _COLOURED[cell.ground], bold=True)
            self._canvas.write(box.x + 1, box.y - 1, letter, ink)
        else:
            x = box.x + 1 if self._layout.size is Size.SMALL else box.x
            self._canvas.write(x, box.y, letter, Ink(Role.GROUND_LETTER, bg, bold=True))

    def _glyph(self, cell: CellView) -> tuple[str, Ink]:
        """Return the character of a cell and its ink, but for the ground."""
        overlay, marks = self._overlay, cell.marks
        if cell.piece != ".":
            is_asleep = Mark.ASLEEP in marks
            ink = _piece_ink(cell.piece, is_asleep=is_asleep)
            return self._glyphs.glyph(cell.piece, is_asleep=is_asleep), ink
        if Mark.REQUIRED in marks:
            return "*", _LEGAL
        if cell.index in overlay.route:
            return "*", _MARK
        if self._marks_legal and self._targets(cell.index):
            return "+", _LEGAL
        if overlay.shows_forbidden and Mark.FORBIDDEN in marks:
            return "-", _FORBIDDEN
        if overlay.shows_legal and not self._marks_legal and not self._targets(cell.index):
            return " ", PLAIN
        return self._empty, _ON_COLOUR if cell.ground else _EMPTY

    def _mark(self, cell: CellView) -> tuple[str, Role | None]:
        """Return the characters beside the glyph and the ground below it, for the most urgent mark."""
        overlay, index = self._overlay, cell.index
        pair, bg = self._urgent_mark(cell) if index in self._marked or cell.marks & _SHOWN_MARKS else ("", None)
        if bg is None and index == overlay.hover:
            bg = Role.HOVER
        is_choosable = overlay.shows_legal and cell.piece != "." and self._targets(index)
        if not pair and is_choosable:
            pair = _CHOOSABLE
        return pair, bg

    def _urgent_mark(self, cell: CellView) -> tuple[str, Role | None]:
        overlay, index = self._overlay, cell.index
        ranked: tuple[tuple[bool, str, Role], ...] = (
            (index == overlay.cursor, "><", Role.HINT if index in overlay.hint else Role.CURSOR),
            (index in overlay.picked, "==", Role.PICKED),
            (index in overlay.hint, "{}", Role.HINT),
            (index in overlay.reasons, "!!", Role.REASON),
            (index in overlay.route, "**", Role.ROUTE),
            (index == overlay.opposite, "~~", Role.OPPOSITE),
            (Mark.WINNING in cell.marks, "()", Role.WINNING),
            (Mark.LAST in cell.marks or index in overlay.last, "[]", Role.LAST),
        )
        return next(((pair, bg) for is_so, pair, bg in ranked if is_so), ("", None))

    def _draw_sprite(self, cell: CellView, box: Box, bg: Role) -> None:
        is_asleep = Mark.ASLEEP in cell.marks
        ink = _piece_ink(cell.piece, is_asleep=is_asleep).on(bg)
        sprite = self._glyphs.sprite(cell.piece, self._layout.size, is_asleep=is_asleep)
        left = box.x + (box.width - len(sprite[0])) // 2
        top = box.y + (box.height - len(sprite)) // 2
        for row, line in enumerate(sprite):
            for column, character in enumerate(line):
                if character != " ":
                    self._draw_dot(left + column, top + row, character, ink, is_solid=FILL in line)

    def _draw_dot(self, x: int, y: int, character: str, ink: Ink, *, is_solid: bool) -> None:
        if not self._glyphs.fills_by_reverse:
            self._canvas.write(x, y, character, ink)
        elif character == FILL or (character.isalnum() and is_solid):
            filled = Ink(ink.fg, ink.bg, bold=ink.bold, reverse=True)
            self._canvas.write(x, y, " " if character == FILL else character, filled)
        else:
            self._canvas.write(x, y, character, Ink(ink.fg, ink.bg))

    def _draw_labels(self) -> None:
        layout, cursor = self._layout, self._overlay.cursor
        at = self._view.cells[cursor] if isinstance(cursor, int) else None
        for y, label in enumerate(self._view.row_labels):
            if not self._canvas.has(layout.row(y)):
                continue
            ink = _LABEL_STRONG if at is not None and at.y == y else _LABEL
            row = [cell for cell in self._view.cells if cell.y == y]
            if layout.topology == "hex":
                first, last = layout.boxes[row[0].index], layout.boxes[row[-1].index]
                gap = 2 if layout.size is Size.MEDIUM else 1
                self._canvas.write(first.x - gap - len(label), layout.row(y), label, ink)
                self._canvas.write(last.x + last.width + gap, layout.row(y), row[-1].name, ink)
            else:
                self._canvas.write(0, layout.row(y), label.rjust(layout.label_width), ink)
                if any(Mark.HOME in cell.marks for cell in row):
                    home = layout.left + layout.board_width + layout.right_bar
                    self._canvas.write(home, layout.row(y), " <", _LABEL_STRONG)
        plain = self._bare_label_ink()
        if plain is not _LABEL:
            self._canvas.write(layout.left, layout.below, " " * layout.board_width, plain)
        for x, label in self._view.column_labels if self._canvas.has(layout.below) else ():
            ink = _LABEL_STRONG.on(plain.bg) if at is not None and at.x == x else plain
            self._canvas.write(layout.column(x), layout.below, label, ink)

    def _bare_label_ink(self) -> Ink:
        """Return the ink of the letters of columns, which stand in for the edge below on a bare board."""
        edges = [edge for edge in self._view.edges if edge.side == "bottom"] if self._layout.is_bare else []
        return self._edge_ink(edges[0]) if edges else _LABEL

    def _draw_edges(self) -> None:
        for edge in self._view.edges:
            if edge.side in ("left", "right"):
                self._draw_side(edge)
            elif not self._layout.is_bare:
                self._draw_bar(edge)
        if not self._layout.has_side_text:
            return
        text, layout = side_edges_text(self._view), self._layout
        start = layout.left + (layout.board_width - len(text)) // 2
        self._canvas.write(max(0, min(start, layout.width - len(text))), layout.side_text_y, text, _LABEL)

    def _edge_ink(self, edge: EdgeView) -> Ink:
        is_pointed_at = edge.side in (self._overlay.cursor, self._overlay.hover)
        bg = Role.CURSOR if is_pointed_at else Role.GROUND
        return Ink(Role.SIDE_1 if edge.owner else Role.SIDE_0, bg, bold=edge.is_target or is_pointed_at)

    def _draw_bar(self, edge: EdgeView) -> None:
        """Draw the edge above or below the board: a bar with its text, in plus signs when it may be entered."""
        layout, width = self._layout, self._layout.board_width
        is_target = self._overlay.shows_legal and self._targets(edge.side)
        text = edge.text if len(edge.text) + 4 <= width else _shortened(edge.text, width - 4)
        text = f"+ {text} +" if is_target else f" {text} "
        fill = self._glyphs.edges.get(edge.side, "=" if edge.owner == 0 else "-")
        y = 0 if edge.side == "top" else layout.bottom_edge_y
        self._canvas.write(layout.left, y, text.center(width, fill)[:width], self._edge_ink(edge))

    def _draw_side(self, edge: EdgeView) -> None:
        """Draw the edge left or right of the board: a bar of one column."""
        layout = self._layout
        x = layout.left - 1 if edge.side == "left" else layout.left + layout.board_width
        ink, fill = self._edge_ink(edge), self._glyphs.edges.get(edge.side, "=" if edge.owner == 0 else "|")
        for y in range(layout.board_height):
            self._canvas.write(x, layout.top + y, fill, ink)


@cache
def _piece_ink(piece: str, *, is_asleep: bool) -> Ink:
    return Ink(ROLES.get(piece), bold=not is_asleep, dim=is_asleep)


def _shortened(text: str, width: int) -> str:
    """Return the short text of an edge on a narrow board: the action done there, or the owner."""
    done_there = text.partition(" that ")[2]
    return done_there if 0 < len(done_there) <= width else text.partition(" ")[0][: max(width, 0)]


def changed_rows(
    layout: Layout, before: tuple[BoardView, Overlay], after: tuple[BoardView, Overlay]
) -> frozenset[int] | None:
    """Return the rows of the picture that may differ; ``None`` when that may be any of them.

    Both are positions of one game, drawn by ``layout`` with the same glyphs.
    """
    (old, old_overlay), (new, overlay) = before, after
    if not _are_alike(old_overlay, overlay) or (old is not new and not _is_same_board(old, new, overlay)):
        return None
    cells = _pointed_at(old_overlay, overlay)
    if cells is None:
        return None
    if old is not new:
        cells.update(mine.index for mine, other in zip(new.cells, old.cells, strict=True) if mine != other)
    boxes = (layout.boxes[cell] for cell in cells)
    rows = set(chain.from_iterable(range(box.y, box.y + box.height) for box in boxes))
    if old_overlay.cursor != overlay.cursor and layout.has_columns:
        rows.add(layout.below)  # the letters of columns, of which one is strong
    return frozenset(rows)


def _are_alike(old: Overlay, new: Overlay) -> bool:
    """Return whether both say the same of the cells in general."""
    return (old.targets, old.shows_legal, old.shows_forbidden) == (
        new.targets,
        new.shows_legal,
        new.shows_forbidden,
    )


def _is_same_board(old: BoardView, new: BoardView, overlay: Overlay) -> bool:
    """Return whether only cells can differ; the marks of legal ones depend on their number."""
    return (
        not overlay.shows_legal
        and len(old.cells) == len(new.cells)
        and old.edges == new.edges
        and (old.row_labels, old.column_labels) == (new.row_labels, new.column_labels)
    )


def _pointed_at(old: Overlay, new: Overlay) -> set[int] | None:
    """Return the cells of which the overlays say something different; ``None`` when it is also said of an edge."""
    cells: set[int] = set()
    for was, now in ((old.cursor, new.cursor), (old.hover, new.hover), (old.opposite, new.opposite)):
        if was != now:
            if isinstance(was, str) or isinstance(now, str):
                return None
            cells.update(cell for cell in (was, now) if cell is not None)
    for were, are in (
        (old.picked, new.picked),
        (old.last, new.last),
        (old.reasons, new.reasons),
        (old.hint, new.hint),
    ):
        cells |= were ^ are
    if old.route != new.route:
        cells.update(old.route, new.route)
    return cells
