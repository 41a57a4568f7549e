"""Xero-G written the obvious way: the yardstick for the speed of the real one, and its second opinion.

A position is a dictionary from (column, row) to value. Moves are found path by path: each step in each direction,
with the set of the edges crossed so far carried along. Nothing is remembered, nothing is shared with the package.
The one short cut is the one RULES.md gives: a ship landed on before in the same turn is not boosted from again.
Source: RULES.md, "Xero-G".
"""

from __future__ import annotations

from collections.abc import Iterator

Square = tuple[int, int]
Ships = dict[Square, int]
Edge = frozenset[Square]

COLUMNS = "abcdef"
BASE_ROWS = (6, -1)
"""By player, the row of the base to enter, counted from 0 at the bottom; as a target it is in column 0."""


class NaiveXeroG:
    """A position of Xero-G; ``history`` holds all from the end of the setup on, this one included."""

    def __init__(
        self,
        variant: str = "xero-g",
        position: str | None = None,
        ships: Ships | None = None,
        mover: int = 0,
        winner: int | None = None,
        history: tuple[tuple[Ships, int], ...] = (),
    ) -> None:
        self.variant = variant
        self.ships = ships or {}
        self.mover = mover
        self.entered_by = winner
        if position is not None:
            rows, player = position.split()
            self.mover = int(player)
            for row, digits in enumerate(rows.split("/")):
                for column, digit in enumerate(digits):
                    if digit != "0":
                        self.ships[column, row] = int(digit)
        self.history = history if len(self.ships) < 12 else (*history, (self.ships, self.mover))

    @property
    def is_setup(self) -> bool:
        """Whether ships are still being placed."""
        return not self.history and self.entered_by is None

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do."""
        return not self.legal_texts()

    @property
    def to_move(self) -> int | None:
        """The player who must act, ``None`` at the end."""
        return None if self.is_over else self.mover

    @property
    def winner(self) -> int | None:
        """The winner at the end; ``None`` before it, and for a draw."""
        if self.entered_by is not None:
            return self.entered_by
        if self.is_over and not self.is_third_time():
            return 1 - self.mover
        return None

    def is_third_time(self) -> bool:
        """Whether the same ships stood here with the same player to move twice before."""
        return self.history.count((self.ships, self.mover)) >= 3

    def home_row(self, player: int) -> int:
        """The row nearest to ``player`` with a ship on it."""
        rows = [row for _, row in self.ships]
        return min(rows) if player == 0 else max(rows)

    def legal_texts(self) -> list[str]:
        """The texts of all legal actions, in the order of their numbers."""
        if self.entered_by is not None:
            return []
        if self.is_setup:
            return self.placement_texts()
        if self.is_third_time():
            return []
        home = self.home_row(self.mover)
        texts = []
        for start in sorted(self.ships, key=board_order):
            if start[1] == home:
                for target in sorted(self.targets(start), key=board_order):
                    texts += self.texts_of(start, target)
        return texts

    def placement_texts(self) -> list[str]:
        """The texts of the setup: what is not placed yet on the squares not taken yet."""
        row = 0 if self.mover == 0 else 5
        placed = [value for square, value in self.ships.items() if square[1] == row]
        squares = [(column, row) for column in range(6) if (column, row) not in self.ships]
        values = [value for value in (1, 2, 3) if placed.count(value) < 2]
        return [f"{value}@{name(square)}" for square in squares for value in values]

    def targets(self, start: Square) -> dict[Square, int]:
        """Where the ship on ``start`` can end a run, and in how many steps of the whole turn at least."""
        others = {square: value for square, value in self.ships.items() if square != start}
        steps: dict[Square, int] = {}
        for end, count in self.iter_ends(others, start, self.ships[start], frozenset(), frozenset()):
            steps[end] = min(count, steps.get(end, count))
        return steps

    def iter_ends(
        self, others: Ships, square: Square, steps: int, crossed: frozenset[Edge], boosters: frozenset[Square]
    ) -> Iterator[tuple[Square, int]]:
        """Yield end and length of all paths on from ``square``, with ``steps`` left to the end of the run."""
        for other in neighbours(square):
            edge = frozenset((square, other))
            if edge in crossed:
                continue
            if other[1] == BASE_ROWS[self.mover]:
                if steps == 1:
                    yield (0, other[1]), len(crossed) + 1
            elif not 0 <= other[0] <= 5 or not 0 <= other[1] <= 5:
                continue
            elif steps > 1:
                if other not in others:
                    yield from self.iter_ends(others, other, steps - 1, crossed | {edge}, boosters)
            else:
                yield other, len(crossed) + 1
                if other in others and other not in boosters:
                    value = others[other]
                    yield from self.iter_ends(others, other, value, crossed | {edge}, boosters | {other})

    def texts_of(self, start: Square, target: Square) -> list[str]:
        """The texts of the actions that end on ``target``: several when a ship there is to be put somewhere."""
        if target[1] == BASE_ROWS[self.mover]:
            return [f"{name(start)}-base"]
        if target not in self.ships or target == start:
            return [f"{name(start)}-{name(target)}"]
        rows = range(6)
        if self.variant == "gyges":
            limit = self.home_row(1 - self.mover)
            rows = range(limit + 1) if self.mover == 0 else range(limit, 6)
        drops = [(column, row) for row in rows for column in range(6)]
        return [
            f"{name(start)}x{name(target)}@{name(drop)}"
            for drop in drops
            if drop not in self.ships or drop == start
        ]

    def child(self, text: str) -> NaiveXeroG:
        """The position after the action ``text``, which must be legal."""
        ships, mover, entered_by = dict(self.ships), 1 - self.mover, None
        if text[1] == "@":
            ships[square_of(text[2:])] = int(text[0])
            mover = 0 if len(ships) < 6 or len(ships) == 12 else 1
        else:
            value = ships.pop(square_of(text[:2]))
            if text.endswith("-base"):
                entered_by = self.mover
            elif "x" in text:
                ships[square_of(text[6:])] = ships[square_of(text[3:5])]
                ships[square_of(text[3:5])] = value
            else:
                ships[square_of(text[3:])] = value
        return NaiveXeroG(self.variant, None, ships, mover, entered_by, self.history)


def neighbours(square: Square) -> list[Square]:
    """The four places around ``square``, on the board or not."""
    column, row = square
    return [(column, row + 1), (column + 1, row), (column, row - 1), (column - 1, row)]


def board_order(square: Square) -> tuple[bool, int, int]:
    """Row by row from the bottom, the bases last."""
    column, row = square
    return not 0 <= row <= 5, row, column


def name(square: Square) -> str:
    return f"{COLUMNS[square[0]]}{square[1] + 1}"


def square_of(text: str) -> Square:
    return COLUMNS.index(text[0]), int(text[1]) - 1
