"""Minefield written the obvious way: the yardstick for the speed of the real one, and its second opinion.

A position is a dictionary from (column, row) to player. Whether a stone is allowed is found by putting it there
and looking at every area of the board that holds it; nothing is remembered, nothing is shared with the package.
Source: RULES.md, "Minefield".
"""

from __future__ import annotations

Cell = tuple[int, int]
Stones = dict[Cell, int]
Area = tuple[str, int, int, int, int]
"""What it may be, then its left column, bottom row, right column and top row."""

SHAPES = {"hard corner": [(2, 2)], "switch": [(3, 2), (2, 3), (4, 2), (2, 4)]}
LETTERS = "abcdefghijklmnopqrs"


class NaiveMinefield:
    """A position of Minefield on a board of ``size`` x ``size`` cells; ``mover`` may turn out to be skipped."""

    def __init__(
        self, size: int = 13, rules: str = "standard", stones: Stones | None = None, mover: int = 0
    ) -> None:
        self.size = size
        self.rules = rules
        self.stones = stones or {}
        self.mover = mover

    def cells(self) -> list[Cell]:
        """Every cell, row by row from the bottom."""
        return [(col, row) for row in range(self.size) for col in range(self.size)]

    def areas_with(self, cell: Cell) -> list[Area]:
        """Every area holding ``cell`` that could be a hard corner or a switch."""
        col, row = cell
        return [
            (kind, left, bottom, left + width - 1, bottom + height - 1)
            for kind, shapes in SHAPES.items()
            for width, height in shapes
            for left in range(max(0, col - width + 1), min(col, self.size - width) + 1)
            for bottom in range(max(0, row - height + 1), min(row, self.size - height) + 1)
        ]

    def patterns(self) -> set[Area]:
        """The hard corners and switches on the board."""
        areas = {area for cell in self.stones for area in self.areas_with(cell)}
        return {area for area in areas if is_pattern(self.stones, area)}

    def is_allowed(self, cell: Cell, player: int) -> bool:
        """Whether ``player`` may put a stone on ``cell``."""
        if cell in self.stones:
            return False
        stones = {**self.stones, cell: player}
        return self.rules == "beginner" or not any(is_pattern(stones, area) for area in self.areas_with(cell))

    def cells_for(self, player: int) -> list[Cell]:
        """The cells where ``player`` may put a stone."""
        return [cell for cell in self.cells() if self.is_allowed(cell, player)]

    @property
    def winner(self) -> int | None:
        """The player whose edges are joined, ``None`` while there is none, and for a draw."""
        for player in (0, 1):
            axis = 1 - player
            own = {cell for cell, owner in self.stones.items() if owner == player}
            reached = {cell for cell in own if cell[axis] == 0}
            while more := {cell for cell in own - reached if any(near in reached for near in beside(cell))}:
                reached |= more
            if any(cell[axis] == self.size - 1 for cell in reached):
                return player
        return None

    @property
    def to_move(self) -> int | None:
        """The player who must act, ``None`` at the end."""
        if self.winner is None:
            for player in (self.mover, 1 - self.mover):
                if any(self.is_allowed(cell, player) for cell in self.cells()):
                    return player
        return None

    @property
    def is_over(self) -> bool:
        """Whether somebody has won or nobody can act."""
        return self.to_move is None

    def legal_texts(self) -> list[str]:
        """The texts of all legal actions, row by row from the bottom."""
        player = self.to_move
        return [] if player is None else [f"{LETTERS[col]}{row + 1}" for col, row in self.cells_for(player)]

    def child(self, text: str) -> NaiveMinefield:
        """The position after the action ``text``, which must be legal."""
        player = self.to_move
        assert player is not None
        cell = LETTERS.index(text[0]), int(text[1:]) - 1
        return NaiveMinefield(self.size, self.rules, {**self.stones, cell: player}, 1 - player)

    def distance(self, player: int) -> int | None:
        """The stones ``player`` still needs to join their edges, ``None`` when cut off."""
        axis = 1 - player
        costs = {
            cell: int(cell not in self.stones) for cell in self.cells() if self.stones.get(cell) in (player, None)
        }
        best = {cell: cost for cell, cost in costs.items() if cell[axis] == 0}
        changed = True
        while changed:
            changed = False
            for cell, cost in costs.items():
                over = min((best[near] + cost for near in beside(cell) if near in best), default=None)
                if over is not None and over < best.get(cell, over + 1):
                    best[cell] = over
                    changed = True
        return min((length for cell, length in best.items() if cell[axis] == self.size - 1), default=None)


def is_pattern(stones: Stones, area: Area) -> bool:
    """Whether the area is a hard corner or a switch, whichever its kind says."""
    kind, left, bottom, right, top = area
    corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
    around = [stones.get(cell) for cell in corners]
    if kind == "switch":
        cells = [(col, row) for col in range(left, right + 1) for row in range(bottom, top + 1)]
        stones_count = sum(cell in stones for cell in cells)
        return stones_count == 4 and around in ([0, 1, 0, 1], [1, 0, 1, 0])
    for turn in range(4):
        first, second, third, fourth = around[turn:] + around[:turn]
        if first is not None and first == third and second == 1 - first and fourth is None:
            return True
    return False


def beside(cell: Cell) -> list[Cell]:
    """The four places that share an edge with ``cell``, on the board or not."""
    col, row = cell
    return [(col + 1, row), (col - 1, row), (col, row + 1), (col, row - 1)]
