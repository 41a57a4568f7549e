"""Which rows of a picture look different after something has changed, so that only those are drawn anew.

Drawing them is left to :mod:`tabuleiro_client.tui.present.picture`.
"""

from __future__ import annotations

from itertools import chain

from tabuleiro.rules.view import BoardView
from tabuleiro_client.tui.present.layout import Layout
from tabuleiro_client.tui.present.overlay import Overlay


def changed_rows(
    layout: Layout, before: tuple[BoardView, Overlay], after: tuple[BoardView, Overlay]
) -> frozenset[int] | None:
    """The rows of the picture that may differ; ``None`` when that may be any of them.

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
    """Whether both say the same of the cells in general."""
    return (old.targets, old.shows_legal, old.shows_forbidden) == (
        new.targets,
        new.shows_legal,
        new.shows_forbidden,
    )


def _is_same_board(old: BoardView, new: BoardView, overlay: Overlay) -> bool:
    """Whether cells are all that can be different; how legal ones are marked depends on how many there are."""
    return (
        not overlay.shows_legal
        and len(old.cells) == len(new.cells)
        and old.edges == new.edges
        and (old.row_labels, old.column_labels) == (new.row_labels, new.column_labels)
    )


def _pointed_at(old: Overlay, new: Overlay) -> set[int] | None:
    """The cells of which the overlays say something different; ``None`` when it is also said of an edge."""
    cells: set[int] = set()
    for was, now in ((old.cursor, new.cursor), (old.hover, new.hover), (old.opposite, new.opposite)):
        if was != now:
            if isinstance(was, str) or isinstance(now, str):
                return None
            cells.update(cell for cell in (was, now) if cell is not None)
    for were, are in ((old.picked, new.picked), (old.last, new.last), (old.reasons, new.reasons)):
        cells |= were ^ are
    if old.route != new.route:
        cells.update(old.route, new.route)
    return cells
