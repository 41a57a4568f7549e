"""Iris written the obvious way: the yardstick for the speed of the real one, and its second opinion.

Cells are cube coordinates, a position is a dictionary, everything is worked out again at every call, and nothing
is shared with the package. Source: RULES.md, "Iris".
"""

from __future__ import annotations

from itertools import zip_longest

Cell = tuple[int, int, int]
"""Cube coordinates: column, row from the centre, and what makes them sum to 0."""

DIRECTIONS = ((1, 0, -1), (1, -1, 0), (0, -1, 1), (-1, 0, 1), (-1, 1, 0), (0, 1, -1))


class NaiveIris:
    """A position of Iris on a board of ``side`` cells a side."""

    def __init__(
        self,
        side: int = 6,
        stones: dict[Cell, int] | None = None,
        mover: int = 0,
        first: Cell | None = None,
        passes: int = 0,
    ) -> None:
        self.side = side
        self.stones = stones or {}
        self.mover = mover
        self.first = first
        self.passes = passes

    def cells(self) -> dict[str, Cell]:
        """Every cell by its name, row by row from the top."""
        named = {}
        reach = range(-self.side + 1, self.side)
        for row in reach:
            in_row = [(q, row, -q - row) for q in reach if -q - row in reach]
            for number, cell in enumerate(in_row, start=1):
                named["abcdefghijklmno"[row + self.side - 1] + str(number)] = cell
        return named

    def is_coloured(self, cell: Cell) -> bool:
        """Whether ``cell`` lies on the perimeter."""
        return max(abs(part) for part in cell) == self.side - 1

    @property
    def is_over(self) -> bool:
        """Whether both passed in succession or the board is full."""
        return self.passes == 2 or len(self.stones) == len(self.cells())

    @property
    def to_move(self) -> int | None:
        """The player who must act, ``None`` at the end."""
        return None if self.is_over else self.mover

    def legal_texts(self) -> list[str]:
        """The texts of all legal actions: cells by row, then ``pass``."""
        if self.is_over:
            return []
        texts = [name for name, cell in self.cells().items() if cell not in self.stones and self.may_place(cell)]
        if self.first is None and self.stones:
            texts.append("pass")
        return texts

    def may_place(self, cell: Cell) -> bool:
        """Whether the turn as it stands allows a stone on the empty ``cell``."""
        if not self.stones:
            return not self.is_coloured(cell)
        if self.first is None:
            return True
        if self.is_coloured(self.first):
            return cell == tuple(-part for part in self.first)
        return not self.is_coloured(cell) and cell not in neighbours(self.first)

    def child(self, text: str) -> NaiveIris:
        """The position after the action ``text``, which must be legal."""
        if text == "pass":
            return NaiveIris(self.side, dict(self.stones), 1 - self.mover, None, self.passes + 1)
        cell = self.cells()[text]
        stones = {**self.stones, cell: self.mover}
        if self.first is None and self.stones:
            begun = NaiveIris(self.side, stones, self.mover, cell, 0)
            if begun.legal_texts():
                return begun
        return NaiveIris(self.side, stones, 1 - self.mover, None, 0)

    def scores(self) -> list[list[int]]:
        """The scores of the groups of both players, highest first, without the groups that score 0."""
        both: list[list[int]] = []
        for player in (0, 1):
            left = {cell for cell, owner in self.stones.items() if owner == player}
            scores = []
            while left:
                group, edge = set(), [left.pop()]
                while edge:
                    cell = edge.pop()
                    group.add(cell)
                    for other in neighbours(cell):
                        if other in left:
                            left.remove(other)
                            edge.append(other)
                scores.append(sum(self.is_coloured(cell) for cell in group))
            both.append(sorted((score for score in scores if score), reverse=True))
        return both

    @property
    def winner(self) -> int | None:
        """The player with the better groups at the end; ``None`` before it, and for a draw."""
        if self.is_over:
            for black, white in zip_longest(*self.scores(), fillvalue=0):
                if black != white:
                    return 0 if black > white else 1
        return None


def neighbours(cell: Cell) -> list[Cell]:
    """The six places around ``cell``, on the board or not."""
    q, r, s = cell
    return [(q + dq, r + dr, s + ds) for dq, dr, ds in DIRECTIONS]
