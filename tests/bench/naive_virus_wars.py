"""Virus Wars written the obvious way: the yardstick for the speed of the real one, and its second opinion.

A position is a dictionary from (column, row) to the piece there, everything is worked out again at every call,
and nothing is shared with the package. Source: RULES.md, "Virus Wars".
"""

from __future__ import annotations

Cell = tuple[int, int]

VIRUSES = "xo"
ZOMBIES = "XO"
LETTERS = "abcdefghijklmnopqrs"


class NaiveVirusWars:
    """A position of Virus Wars. ``first_turn_steps`` counts only at the start, where ``pieces`` is not given."""

    def __init__(
        self,
        rows: int = 11,
        cols: int = 11,
        steps: int = 5,
        opening: str = "corners",
        first_turn_steps: int | None = None,
        pieces: dict[Cell, str] | None = None,
        mover: int = 0,
        left: int | None = None,
        *,
        is_first_virus_free: bool = False,
    ) -> None:
        self.rows = rows
        self.cols = cols
        self.steps = steps
        self.opening = opening
        self.mover = mover
        self.is_first_virus_free = is_first_virus_free
        self.left = left or first_turn_steps or steps
        if pieces is not None:
            self.pieces = pieces
        elif opening == "edges":
            self.pieces = {}
        else:
            self.pieces = {(0, rows - 1): "x", (cols - 1, 0): "o"}

    def cells(self) -> list[Cell]:
        """Every cell, row by row from the bottom."""
        return [(col, row) for row in range(self.rows) for col in range(self.cols)]

    def is_awake(self, cell: Cell) -> bool:
        """Whether the piece of the mover on ``cell`` is a virus, or a zombie on a chain that touches one."""
        piece = self.pieces.get(cell)
        if piece == VIRUSES[self.mover]:
            return True
        if piece != ZOMBIES[self.mover]:
            return False
        chain, rest = {cell}, [cell]
        while rest:
            for other in around(rest.pop()):
                if self.pieces.get(other) == VIRUSES[self.mover]:
                    return True
                if self.pieces.get(other) == ZOMBIES[self.mover] and other not in chain:
                    chain.add(other)
                    rest.append(other)
        return False

    @property
    def is_entering(self) -> bool:
        """Whether the mover puts a first virus on their edge."""
        own = (VIRUSES[self.mover], ZOMBIES[self.mover])
        return self.opening == "edges" and not any(piece in own for piece in self.pieces.values())

    def is_accessible(self, cell: Cell) -> bool:
        """Whether the mover may choose ``cell``."""
        if self.pieces.get(cell, VIRUSES[1 - self.mover]) != VIRUSES[1 - self.mover]:
            return False
        if self.is_entering:
            return cell not in self.pieces and cell[0] == (self.cols - 1 if self.mover else 0)
        return any(self.is_awake(other) for other in around(cell))

    def legal_texts(self) -> list[str]:
        """The texts of all legal actions, row by row from the bottom."""
        return [f"{LETTERS[col]}{row + 1}" for col, row in self.cells() if self.is_accessible((col, row))]

    @property
    def is_over(self) -> bool:
        """Whether the mover cannot act."""
        return not self.legal_texts()

    @property
    def to_move(self) -> int | None:
        """The player who must act, ``None`` at the end."""
        return None if self.is_over else self.mover

    @property
    def winner(self) -> int | None:
        """The opponent of whoever cannot act; ``None`` before the end."""
        return 1 - self.mover if self.is_over else None

    def child(self, text: str) -> NaiveVirusWars:
        """The position after the action ``text``, which must be legal."""
        cell = LETTERS.index(text[0]), int(text[1:]) - 1
        piece = (ZOMBIES if cell in self.pieces else VIRUSES)[self.mover]
        left = self.left - (0 if self.is_entering and self.is_first_virus_free else 1)
        mover, left = (self.mover, left) if left else (1 - self.mover, self.steps)
        pieces = {**self.pieces, cell: piece}
        is_free = self.is_first_virus_free
        return NaiveVirusWars(
            self.rows, self.cols, self.steps, self.opening, None, pieces, mover, left, is_first_virus_free=is_free
        )


def around(cell: Cell) -> list[Cell]:
    """The eight places around ``cell``, on the board or not."""
    col, row = cell
    return [(col + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
