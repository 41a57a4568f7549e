"""Hard corners and switches: the areas that Minefield's standard rules keep free of them.

They give the cells that are banned to a player, the reasons, and the changes that one more stone makes.
Source: RULES.md, "Minefield".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from tabuleiro.ids import Player
from tabuleiro.rules.board import SquareBoard, bit_indexes, square_board
from tabuleiro.text import listed

HARD_CORNER: Final = "hard-corner"
SWITCH: Final = "switch"
CROSSCUT: Final = "crosscut"

Stones = tuple[int, int]
"""The stones of player 0 and player 1, as bit sets."""

_SWITCH_SHAPES = ((2, 3), (3, 2), (2, 4), (4, 2))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of stones, there or about to be: ``kind`` is one of the constants above, ``stones`` a bit set."""

    kind: str
    stones: int

    @property
    def name(self) -> str:
        """The name for people."""
        return self.kind.replace("-", " ")


class Areas:
    """The 2x2, 2x3 and 2x4 areas of a board, looked up by the cell that stands on one of their corners.

    ``square_corners[cell]`` holds for each 2x2 area on ``cell`` the bits ``(opposite, beside, other beside)``;
    ``switch_corners[cell]`` the same for 2x3 and 2x4 areas with ``cell`` on a corner, followed by the cells
    between the corners. ``loosened[cell]`` are the cells whose ban a stone on ``cell`` can lift: those of its
    2x2 areas, and the corners of the larger areas that it would stand inside.
    """

    def __init__(self, board: SquareBoard) -> None:
        self.board = board
        squares: list[list[tuple[int, int, int]]] = [[] for _ in range(board.cell_count)]
        switches: list[list[tuple[int, int, int, int]]] = [[] for _ in range(board.cell_count)]
        self.loosened = [0] * board.cell_count
        for corners, _ in self._iter_areas((2, 2)):
            for cell, *others in _seen_from_each(corners):
                squares[cell].append((others[0], others[1], others[2]))
                self.loosened[cell] |= others[0] | others[1] | others[2]
        for shape in _SWITCH_SHAPES:
            for corners, between in self._iter_areas(shape):
                for cell, *others in _seen_from_each(corners):
                    switches[cell].append((others[0], others[1], others[2], between))
                for cell in bit_indexes(between):
                    self.loosened[cell] |= sum(1 << corner for corner in corners)
        self.square_corners = tuple(tuple(seen) for seen in squares)
        self.switch_corners = tuple(tuple(seen) for seen in switches)

    def _iter_areas(self, shape: tuple[int, int]) -> Iterator[tuple[tuple[int, int, int, int], int]]:
        """Yield the corners of each area, going round, and the set of its other cells."""
        height, width = shape
        index = self.board.index
        for row in range(self.board.rows - height + 1):
            for col in range(self.board.cols - width + 1):
                above, right = row + height - 1, col + width - 1
                corners = (index(row, col), index(row, right), index(above, right), index(above, col))
                cells = sum(1 << index(row + up, col + aside) for up in range(height) for aside in range(width))
                yield corners, cells ^ sum(1 << corner for corner in corners)

    def iter_bans(self, cell: int, own: int, enemy: int) -> Iterator[Pattern]:
        """Yield every hard corner and switch that an own stone on the empty ``cell`` would make.

        The patterns hold the stones that stand already.
        """
        occupied = own | enemy
        for opposite, beside, other in self.square_corners[cell]:
            sides = beside | other
            if own & opposite:
                third = occupied & sides
                if third & enemy and third != sides:
                    yield Pattern(HARD_CORNER, opposite | third)
            elif enemy & sides == sides and not enemy & opposite:
                yield Pattern(HARD_CORNER, sides)
        for opposite, beside, other, between in self.switch_corners[cell]:
            if own & opposite and enemy & beside and enemy & other and not occupied & between:
                yield Pattern(SWITCH, opposite | beside | other)

    def is_banned(self, cell: int, own: int, enemy: int) -> bool:
        """Return True if an own stone on the empty ``cell`` would make a hard corner or a switch."""
        return next(self.iter_bans(cell, own, enemy), None) is not None

    def banned_cells(self, stones: Stones) -> Stones:
        """Return the empty cells banned to each player, computed from the stones alone."""
        black, white = stones
        empty = bit_indexes(self.board.full ^ (black | white))
        return (
            sum(1 << cell for cell in empty if self.is_banned(cell, black, white)),
            sum(1 << cell for cell in empty if self.is_banned(cell, white, black)),
        )

    def banned_cells_after(self, banned: Stones, stones: Stones, cell: int, player: Player) -> Stones:
        """Return the cells banned to each player once ``player`` has put a stone on ``cell``.

        ``banned`` is the answer before the stone, ``stones`` hold the stone already. Only areas around the
        stone are looked at: bans that it may have lifted are tried again, and bans that it makes are added.
        """
        own, enemy = stones[player], stones[1 - player]
        to_own, to_enemy = self._new_bans(cell, own, enemy)
        to_own |= self._kept_bans(banned[player], cell, own, enemy)
        to_enemy |= self._kept_bans(banned[1 - player], cell, enemy, own)
        return (to_enemy, to_own) if player else (to_own, to_enemy)

    def _kept_bans(self, banned: int, cell: int, own: int, enemy: int) -> int:
        """Return the part of ``banned`` (to the owner of ``own``) that a new stone on ``cell`` leaves banned."""
        kept = banned & ~(1 << cell)
        for doubtful in bit_indexes(kept & self.loosened[cell]):
            if not self.is_banned(doubtful, own, enemy):
                kept ^= 1 << doubtful
        return kept

    def _new_bans(self, cell: int, own: int, enemy: int) -> Stones:
        """Return the cells that an own stone now on ``cell`` bans to its owner and to the enemy."""
        occupied = own | enemy
        to_own = to_enemy = 0
        for opposite, beside, other in self.square_corners[cell]:
            sides = beside | other
            if occupied & opposite:
                if own & opposite and not occupied & sides:
                    to_enemy |= sides
                continue
            third = occupied & sides
            if third & enemy and third != sides:
                to_own |= opposite
                to_enemy |= sides ^ third
        for opposite, beside, other, between in self.switch_corners[cell]:
            if occupied & between:
                continue
            if own & opposite:
                if enemy & beside and not occupied & other:
                    to_enemy |= other
                elif enemy & other and not occupied & beside:
                    to_enemy |= beside
            elif enemy & beside and enemy & other and not enemy & opposite:
                to_own |= opposite
        return to_own, to_enemy

    def find_impossible(self, stones: Stones) -> Pattern | None:
        """Return a pattern that no legal play leaves behind, or ``None``.

        Beside hard corners and switches that is the crosscut, a 2x2 area of four stones with each colour on
        opposite corners: whichever stone came last, the other three were a hard corner.
        """
        black, white = stones
        for cell in bit_indexes(black | white):
            own, enemy = (black, white) if black >> cell & 1 else (white, black)
            bit = 1 << cell
            for opposite, beside, other in self.square_corners[cell]:
                sides = beside | other
                if own & opposite and enemy & sides == sides:
                    return Pattern(CROSSCUT, bit | opposite | sides)
            pattern = next(self.iter_bans(cell, own, enemy), None)
            if pattern is not None:
                return Pattern(pattern.kind, bit | pattern.stones)
        return None


def _seen_from_each(corners: tuple[int, int, int, int]) -> Iterator[tuple[int, int, int, int]]:
    """Yield each corner's index with the bits of the opposite corner and of the two beside it."""
    for place, cell in enumerate(corners):
        opposite, beside, other = (1 << corners[(place + step) % 4] for step in (2, 1, 3))
        yield cell, opposite, beside, other


def name_stones(board: SquareBoard, cells: int, stones: Stones) -> str:
    """Name the stones on ``cells``, one at least, in words: ``black b2, white b3 and white c2``."""
    names = [f"{'black' if stones[0] >> cell & 1 else 'white'} {board.names[cell]}" for cell in bit_indexes(cells)]
    return listed(names)


@cache
def areas_of(size: int) -> Areas:
    """Return the one shared table of areas for boards of ``size`` x ``size`` cells."""
    return Areas(square_board(size, size))
