"""Iris: two stones a turn, groups that reach the coloured rim. Source: RULES.md, "Iris"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from tabuleiro.descriptors import GameOption, NumberSetting, PositionSetting
from tabuleiro.ids import Player
from tabuleiro.rules.board import cells_of, position_error, split_position
from tabuleiro.rules.games.iris.page import DIAGRAMS, PAGE
from tabuleiro.rules.games.iris.state import IrisRules, IrisState
from tabuleiro.rules.options import Options, OptionValue, check_options

__all__ = ["Iris", "IrisState"]


class Iris(IrisRules):
    """The rules of Iris on a board of a given side."""

    name = "iris"
    title = "Iris"
    sides = ("black", "white")
    option_specs: ClassVar[tuple[GameOption, ...]] = (
        NumberSetting("side", "cells on each side of the board", low=5, high=8, default=6),
        PositionSetting("position", "start from this position"),
    )
    presets: ClassVar[Mapping[str, Options]] = {}
    rules_page = PAGE
    diagrams = DIAGRAMS

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        self._start = self._read_start()

    @classmethod
    def from_options(cls, options: Options) -> Self:
        return cls(check_options(cls.option_specs, options))

    def initial_state(self) -> IrisState:
        return self._start

    def _read_start(self) -> IrisState:
        position = self.options.get("position")
        if position is None:
            return IrisState(self, 0, (0, 0), None, 0, self.turn_targets((0, 0), 0))
        return self._read_position(str(position))

    def _read_position(self, text: str) -> IrisState:
        """Read a position text.

        What can be seen from the board alone is checked; who took how many turns to get there is not.
        """
        board = self.board
        cells, mover, (first_text, passes_text) = split_position(
            text, board.row_lengths, ".bw", ["first stone of a turn begun or -", "passes just made"]
        )
        stones = (cells_of("b", cells), cells_of("w", cells))
        if passes_text not in ("0", "1", "2"):
            raise position_error(text, f"0, 1 or 2 passes just made, got {passes_text[:9]!a}")
        passes = int(passes_text)
        if first_text not in ("-", *board.names):
            raise position_error(text, f"the cell of the first stone or -, got {first_text[:9]!a}")
        first = None if first_text == "-" else board.names.index(first_text)
        fault = self._turn_fault(mover, stones, first, passes) or self._board_fault(stones, first)
        if fault is not None:
            raise position_error(text, fault)
        if first is None:
            return IrisState(self, mover, stones, None, passes, self.turn_targets(stones, passes))
        targets = self.second_targets(first, board.full ^ (stones[0] | stones[1]))
        return IrisState(self, mover, stones, first, 0, targets, 1, 1, 1 << first)

    def _turn_fault(self, mover: Player, stones: tuple[int, int], first: int | None, passes: int) -> str | None:
        """Return what the fields after the rows would have to be, ``None`` when they fit the board."""
        occupied = stones[0] | stones[1]
        if not occupied:
            if (mover, first, passes) != (0, None, 0):
                return "player 0, no first stone (-) and 0 passes on an empty board: the first turn"
            return None
        if first is not None:
            name = self.board.names[first]
            if not stones[mover] >> first & 1:
                return f"a stone of player {mover} on {name}, the first of the turn begun"
            if passes:
                return "0 passes just made while a turn is begun"
            if not self.second_targets(first, self.board.full ^ occupied):
                return f"an empty cell for the second stone after {name}, or no turn begun (-)"
        if passes and occupied == self.board.full:
            return "0 passes just made on a full board"
        return None

    def _board_fault(self, stones: tuple[int, int], first: int | None) -> str | None:
        """Return what the rows would have to hold, ``None`` when complete turns can have left them."""
        board = self.board
        black, white = stones
        if not black | white:
            return None
        in_progress = 0 if first is None else 1 << first
        if not black & self.neutral & ~in_progress:
            return "a black stone on a neutral cell, where the first turn put one"
        for index in board.perimeter[: len(board.perimeter) // 2]:
            pair = 1 << index | 1 << board.opposite(index)
            if not pair & in_progress and any(side & pair not in (0, pair) for side in stones):
                names = f"{board.names[index]} and {board.names[board.opposite(index)]}"
                return f"the same on the opposite coloured cells {names}"
        return None
