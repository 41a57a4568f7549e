"""Positions, and what a turn changed in them, in words for screen readers: no pictures, few lines.

Everything comes from the views. What happens in a room is said by :mod:`tabuleiro_client.text.sentences`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tabuleiro.rules.view import BoardView, CellView, Mark
from tabuleiro_client.text.board import scores_text


def position_lines(view: BoardView, sides: tuple[str, str]) -> list[str]:
    """Return a position: a line for each kind of piece with its cells, then edges, home rows and scores."""
    held = [cell for cell in view.cells if cell.piece != "."]
    lines = [f"{name}: {cells}" for name, cells in _grouped(view, held).items()] or ["no piece on the board"]
    lines.append(f"empty cells: {len(view.cells) - len(held)} of {len(view.cells)}")
    edges = {edge.text: [other.side for other in view.edges if other.text == edge.text] for edge in view.edges}
    lines += [text if len(places) > 1 else f"{places[0]}: {text}" for text, places in edges.items()]
    home = {view.row_labels[cell.y]: None for cell in view.cells if Mark.HOME in cell.marks}
    lines += [f"home row: {', '.join(home)}"] if home else []
    return [*lines, *score_lines(view, sides)]


def score_lines(view: BoardView, sides: tuple[str, str]) -> list[str]:
    """Return the scores of both sides on one line; none where a game has none."""
    if view.scores is None:
        return []
    both = (f"{side} {scores_text(scores)}" for side, scores in zip(sides, view.scores, strict=True))
    return [f"groups score: {', '.join(both)}"]


def change_text(before: BoardView, after: BoardView) -> str:
    """Return the changes of the board, cells with the same change together; empty for none."""
    fates: dict[str, list[CellView]] = {}
    for old, new in zip(before.cells, after.cells, strict=True):
        fate = _fate(before, old, new)
        if fate:
            fates.setdefault(fate, []).append(new)
    return "; ".join(f"{fate} {_cells(cells)}" for fate, cells in fates.items())


def _fate(view: BoardView, old: CellView, new: CellView) -> str:
    """Return the change of a cell, in words that its name can follow; empty for none."""
    if old.piece == new.piece:
        if (Mark.ASLEEP in old.marks) == (Mark.ASLEEP in new.marks):
            return ""
        return f"{view.piece_names[new.piece]} {'asleep' if Mark.ASLEEP in new.marks else 'awake again'} on"
    if new.piece == ".":
        return "empty now"
    if old.piece == ".":
        return f"{_name(view, new)} on"
    return f"{_name(view, new)} in place of {_name(view, old)} on"


def choices_text(view: BoardView) -> str:
    """Return the cells and edges that may be chosen; where most empty cells may, the others."""
    legal = [cell for cell in view.cells if Mark.LEGAL in cell.marks or Mark.REQUIRED in cell.marks]
    empty = [cell for cell in view.cells if cell.piece == "."]
    chosen = [cell for cell in legal if cell.piece == "."]
    others = [cell for cell in empty if cell not in chosen]
    parts = []
    if len(chosen) > len(others):
        parts.append(f"any empty cell but {_cells(others)}" if others else "any empty cell")
    elif chosen:
        parts.append(f"empty {_cells(chosen)}")
    parts += [f"{name} on {cells}" for name, cells in _grouped(view, legal).items() if name != "empty"]
    parts += [edge.text for edge in view.edges if edge.is_target]
    return f"you may choose: {'; '.join(parts)}" if parts else "nothing on the board can be chosen"


def place_text(view: BoardView, text: str) -> str:
    """Return the content of a cell and of its neighbours, or of a row; empty when ``text`` names neither."""
    name = text.strip().lower()
    here = next((cell for cell in view.cells if cell.name == name), None)
    if here is not None:
        reach = 2 if view.topology == "square" else 1
        around = [cell for cell in view.cells if cell is not here and _is_near(here, cell, reach)]
        return f"{_cells([here])}: {_name(view, here)}; around it: {_listed(_grouped(view, around))}"
    row = [cell for cell in view.cells if view.row_labels[cell.y].lower() == name]
    return f"row {name}: {_listed(_grouped(view, row))}" if row else ""


def _is_near(here: CellView, cell: CellView, reach: int) -> bool:
    """Return whether two cells touch; ``reach`` is the greatest distance of those in neighbouring rows."""
    across, along = abs(cell.y - here.y), abs(cell.x - here.x)
    return along <= 2 if across == 0 else across == 1 and along <= reach


def _listed(groups: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {cells}" for name, cells in groups.items())


def _grouped(view: BoardView, cells: Iterable[CellView]) -> dict[str, str]:
    """Return the names of cells by what is on them."""
    groups: dict[str, list[CellView]] = {}
    for cell in cells:
        groups.setdefault(_name(view, cell), []).append(cell)
    return {name: _cells(group) for name, group in groups.items()}


def _name(view: BoardView, cell: CellView) -> str:
    if cell.piece == ".":
        return "empty"
    return view.piece_names.get(cell.piece, cell.piece) + (" asleep" if Mark.ASLEEP in cell.marks else "")


def _cells(cells: Sequence[CellView]) -> str:
    return ", ".join(f"{cell.name} {cell.ground}" if cell.ground else cell.name for cell in cells)
