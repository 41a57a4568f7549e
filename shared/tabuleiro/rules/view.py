"""The picture of a position: cells, marks, labels, notes. No colours, no I/O.

Cells carry lattice coordinates, so that a renderer needs no geometry of its own: ``y`` is the line from the
top of the picture, ``x`` the place in the line in half cells (square boards use even ``x`` only; the rows of a
hexagonal board are shifted by odd amounts against each other).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from tabuleiro.ids import Player
from tabuleiro.rules.board import Board, bit_indexes

Topology = Literal["square", "hex"]
EdgeSide = Literal["top", "bottom", "left", "right"]

Target = int | EdgeSide
"""A target on a board: a cell by its index, or an edge that can be entered."""

EMPTY: Final = "."
"""The character of an empty cell."""

_CELL: Final = re.compile(r"[a-z]+[0-9]+")


class Choice(NamedTuple):
    """A legal action for clients without rules: its text, and what is to be touched on the board to choose it.

    ``word`` tells apart actions with the same targets, e.g. the value of a ship to place, or names one without.
    """

    text: str
    targets: tuple[Target, ...]
    word: str = ""


class Piece(NamedTuple):
    """A kind of piece: its character in position texts, its name for people, its owner if it has one."""

    letter: str
    name: str
    owner: Player | None = None


class Mark(StrEnum):
    """A fact about a cell, beside the piece on it."""

    LAST = "last"
    """Chosen or changed by the last action."""
    LEGAL = "legal"
    """The player to move may choose it now."""
    AWAKE = "awake"
    """A zombie whose chain touches a virus of its owner (Virus Wars)."""
    ASLEEP = "asleep"
    """A zombie whose chain touches none (Virus Wars)."""
    HOME = "home"
    """On the home row of the player to move (Xero-G)."""
    WINNING = "winning"
    """Part of the path or group that decided the game."""
    FORBIDDEN = "forbidden"
    """Empty, but the rules forbid it to the player to move (Iris, Minefield)."""
    REQUIRED = "required"
    """The only cell the rules leave to the player to move (the opposite cell in Iris)."""


@dataclass(frozen=True, slots=True)
class CellView:
    """One cell. ``piece`` is the character that position texts use, ``.`` when empty.

    ``owner`` is ``None`` for an empty cell or a piece that belongs to nobody. ``ground`` is the name of the
    colour printed on the cell itself, empty when neutral.
    """

    index: int
    name: str
    x: int
    y: int
    piece: str
    owner: Player | None = None
    ground: str = ""
    marks: frozenset[Mark] = frozenset()


@dataclass(frozen=True, slots=True)
class EdgeView:
    """One side of the board that means something, e.g. an edge to be joined or a base to be entered."""

    side: EdgeSide
    owner: Player
    text: str
    is_target: bool = False
    """True if a legal action leads there now."""


@dataclass(frozen=True, slots=True)
class Note:
    """A fact about a set of cells, with a sentence for people.

    ``kind`` is a word renderers may know (``zombie-chain``, ``hard-corner``, ``switch``, ``group``, ...).
    ``target`` is the index of the cell that the fact forbids or requires, or ``None``.
    """

    kind: str
    text: str
    cells: tuple[int, ...] = ()
    owner: Player | None = None
    target: int | None = None


@dataclass(frozen=True, slots=True)
class BoardView:
    """A position as a picture waiting to be drawn.

    ``row_labels[y]`` names line ``y``; ``column_labels`` are ``(x, label)`` pairs, empty where columns have no
    names. ``actions_left`` counts the actions left in the turn, ``None`` when the rules don't fix it.
    ``notices`` tell of what the rules did by themselves just now (a skip, a forfeit). ``scores`` holds the group
    scores of both players, highest first, for games that have them, else ``None``.
    """

    topology: Topology
    cells: tuple[CellView, ...]
    row_labels: tuple[str, ...]
    column_labels: tuple[tuple[int, str], ...]
    to_move: Player | None
    actions_left: int | None
    edges: tuple[EdgeView, ...] = ()
    notes: tuple[Note, ...] = ()
    notices: tuple[str, ...] = ()
    scores: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    piece_names: Mapping[str, str] = field(default_factory=dict)
    """The name of each piece character, e.g. ``{"x": "blue virus"}``."""

    def __post_init__(self) -> None:
        if [cell.index for cell in self.cells] != list(range(len(self.cells))):
            raise ValueError("cells must be listed by index, from 0 without gaps")


def cell_views(
    board: Board,
    pieces: Iterable[tuple[Piece, int]],
    marks: Mapping[Mark, int],
    grounds: Mapping[int, str] | None = None,
) -> tuple[CellView, ...]:
    """Return the pictures of all cells of a board.

    Args:
        board: The names and the places of the cells.
        pieces: Each kind of piece with the bit set of its cells.
        marks: Each mark with the bit set of its cells.
        grounds: The colours printed on cells, by index.
    """
    piece_on = {index: piece for piece, cells in pieces for index in bit_indexes(cells)}
    marks_on: dict[int, list[Mark]] = {}
    for mark, cells in marks.items():
        for index in bit_indexes(cells):
            marks_on.setdefault(index, []).append(mark)
    nothing = Piece(EMPTY, "")
    return tuple(
        CellView(
            index=index,
            name=board.names[index],
            x=board.xs[index],
            y=board.ys[index],
            piece=piece_on.get(index, nothing).letter,
            owner=piece_on.get(index, nothing).owner,
            ground="" if grounds is None else grounds.get(index, ""),
            marks=frozenset(marks_on.get(index, ())),
        )
        for index in range(board.cell_count)
    )


def marked(view: BoardView, allowed: Iterable[str] = (), refused: Iterable[str] = ()) -> BoardView:
    """Return a picture that marks nothing as legal or forbidden but the last cells that these actions name."""
    legal, forbidden = (
        {name for text in texts for name in _CELL.findall(text)[-1:]} for texts in (allowed, refused)
    )
    cells = tuple(
        replace(
            cell,
            marks=cell.marks - {Mark.LEGAL, Mark.FORBIDDEN}
            | {Mark.LEGAL for name in legal if name == cell.name}
            | {Mark.FORBIDDEN for name in forbidden if name == cell.name},
        )
        for cell in view.cells
    )
    return replace(view, cells=cells)
