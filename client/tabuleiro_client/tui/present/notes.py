"""Sentences about a cell, and about the groups on a board, from the hints of a position."""

from __future__ import annotations

from tabuleiro.rules.view import BoardView, Hint, Mark


def hints_of_cell(view: BoardView, cell: int) -> list[Hint]:
    """What the position says of one cell: what forbids or requires it first, then what it is part of."""
    about = [hint for hint in view.hints if hint.target == cell]
    return about + [hint for hint in view.hints if hint.target != cell and cell in hint.cells]


def cell_note(view: BoardView, cell: int) -> str:
    """A cell in a few words: its name, its piece, its colour, and the first hint about it."""
    there = view.cells[cell]
    words = [there.name]
    if there.piece != ".":
        asleep = " asleep" if Mark.ASLEEP in there.marks else ""
        words.append(view.piece_names.get(there.piece, there.piece) + asleep)
    elif Mark.FORBIDDEN in there.marks:
        words.append("forbidden (w: why)" if hints_of_cell(view, cell) else "forbidden")
    if there.ground:
        words.append(there.ground)
    groups = [hint for hint in hints_of_cell(view, cell) if hint.target is None and hint.kind != "ban"]
    if groups:
        words.append(groups[0].text)
    return ", ".join(words)


def facts(view: BoardView, sides: tuple[str, str]) -> str:
    """What is worth seeing all the time beside the board: group scores or the compass; empty for nothing."""
    if view.scores is None:
        return compass(view, sides)
    width = max(map(len, sides))
    return "\n".join(
        f"{side:<{width}}  groups {' '.join(map(str, scores)) or '0'}"
        for side, scores in zip(sides, view.scores, strict=True)
    )


def compass(view: BoardView, sides: tuple[str, str]) -> str:
    """A compass of three lines that says where each side wants to go; empty where edges mean something else."""
    aims = {edge.side: sides[edge.owner] for edge in view.edges}
    if aims.keys() != {"top", "bottom"} or aims["top"] == aims["bottom"]:
        return ""
    return f"  N    {aims['top']} goes up, to win there\nW + E\n  S    {aims['bottom']} goes down, to win there"
