"""Minefield: join your two edges where some cells are forbidden. Source: RULES.md, "Minefield".

Areas with their bans are in ``areas``, edges and paths in ``connection``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from tabuleiro.descriptors import ChoiceSetting, GameOption, NumberSetting, PositionSetting
from tabuleiro.ids import PLAYERS, Player, opponent
from tabuleiro.rules.board import cells_of, position_error, split_position
from tabuleiro.rules.games.minefield.areas import Stones, name_stones
from tabuleiro.rules.games.minefield.connection import deciding_cells, is_joined
from tabuleiro.rules.games.minefield.page import DIAGRAMS, PAGE
from tabuleiro.rules.games.minefield.state import MinefieldRules, MinefieldState
from tabuleiro.rules.options import Options, OptionValue, check_options

__all__ = ["Minefield", "MinefieldState"]


class Minefield(MinefieldRules):
    """The rules of Minefield with a board size and the standard or beginner's rules."""

    name = "minefield"
    title = "Minefield"
    sides = ("black", "white")
    option_specs: ClassVar[tuple[GameOption, ...]] = (
        NumberSetting("size", "rows and columns of the board", low=5, high=19, default=13),
        ChoiceSetting(
            "rules", "with or without forbidden cells", choices=("standard", "beginner"), default="standard"
        ),
        PositionSetting("position", "start from this position"),
    )
    presets: ClassVar[Mapping[str, Options]] = {
        f"feup-{size}": {"size": size, "rules": "standard"} for size in (10, 13, 16)
    }
    rules_page = PAGE
    diagrams = DIAGRAMS

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        position = options.get("position")
        if position is None:
            self._start = MinefieldState(self, (0, 0), (0, 0), 0, None)
        else:
            self._start = self._read_position(str(position))

    @classmethod
    def from_options(cls, options: Options) -> Self:
        return cls(check_options(cls.option_specs, options))

    def initial_state(self) -> MinefieldState:
        return self._start

    def _read_position(self, text: str) -> MinefieldState:
        cells, mover, _ = split_position(text, self.board.row_lengths, ".bw", [])
        stones = (cells_of("b", cells), cells_of("w", cells))
        self._check_counts(text, stones, mover)
        banned = (0, 0)
        if self.areas is not None:
            pattern = self.areas.find_impossible(stones)
            if pattern is not None:
                got = name_stones(self.board, pattern.stones, stones)
                raise position_error(text, f"no {pattern.name} under the standard rules, got {got}")
            banned = self.areas.banned_cells(stones)
        winner = self._find_winner(text, stones, mover)
        return MinefieldState(self, stones, banned, mover, winner)

    def _check_counts(self, text: str, stones: Stones, mover: Player) -> None:
        """Refuse numbers of stones that cannot be.

        Without bans nobody is ever skipped, so the stones alternate. With them either player may have been
        skipped any number of times, and only the very first stone is known to be black.
        """
        black, white = (own.bit_count() for own in stones)
        if self.areas is None:
            if black - white != mover:
                wanted = "one black stone more than white ones" if mover else "as many black stones as white ones"
                raise position_error(text, f"{wanted} with player {mover} to move, got {black} and {white}")
        elif not black and (white or mover):
            raise position_error(text, "a black stone, because player 0 moves first")

    def _find_winner(self, text: str, stones: Stones, mover: Player) -> Player | None:
        """Return the player whose edges are joined, if any; never both, since their paths would cross.

        Joining ends the game, so that some stone of the winner must have come last: one that was needed, and
        without which the position was possible.
        """
        for player in PLAYERS:
            if not is_joined(self.board, stones[player], player):
                continue
            if player == mover:
                raise position_error(
                    text, f"player {opponent(player)} to move: player {player} has joined their edges"
                )
            for cell in deciding_cells(self.board, stones[player], player):
                before = (stones[0] & ~(1 << cell), stones[1] & ~(1 << cell))
                if self.areas is None or self.areas.find_impossible(before) is None:
                    return player
            raise position_error(text, f"edges of player {player} not joined before their last stone")
        return None
