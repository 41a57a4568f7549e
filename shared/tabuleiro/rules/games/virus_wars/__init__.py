"""Virus Wars: contaminate, absorb, wall in. Source: RULES.md, "Virus Wars"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from tabuleiro.descriptors import ChoiceSetting, GameOption, NumberSetting, PositionSetting
from tabuleiro.errors import GameOptionError
from tabuleiro.rules.board import cells_of, position_error, split_position
from tabuleiro.rules.games.virus_wars.page import DIAGRAMS, PAGE
from tabuleiro.rules.games.virus_wars.state import VirusWarsRules, VirusWarsState
from tabuleiro.rules.options import Options, OptionValue, check_options

__all__ = ["VirusWars", "VirusWarsState"]


class VirusWars(VirusWarsRules):
    """The rules of Virus Wars with a board size, a turn length and an opening."""

    name = "virus-wars"
    title = "Virus Wars"
    sides = ("blue", "red")
    has_draws = False
    option_specs: ClassVar[tuple[GameOption, ...]] = (
        NumberSetting("rows", "rows of the board", low=4, high=30, default=11),
        NumberSetting("cols", "columns of the board", low=4, high=30, default=11),
        NumberSetting("steps", "actions in a turn", low=1, high=9, default=5),
        NumberSetting("first_turn_steps", "actions in the first turn (default: as many as steps)", low=1, high=9),
        ChoiceSetting("opening", "where the players start", choices=("corners", "edges"), default="corners"),
        ChoiceSetting(
            "first_virus",
            "with the opening edges: does the first virus count as an action?",
            choices=("counts", "free"),
            default="counts",
        ),
        PositionSetting("position", "start from this position", max_chars=1000),
    )
    presets: ClassVar[Mapping[str, Options]] = {
        "feup-a": {"rows": 10, "cols": 10, "steps": 3, "opening": "edges", "first_virus": "free"},
        "feup-b": {"rows": 11, "cols": 11, "steps": 5, "opening": "corners"},
    }
    rules_page = PAGE
    diagrams = DIAGRAMS

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        self.first_turn_steps = int(options["first_turn_steps"])
        self._start = self._read_start()

    @classmethod
    def from_options(cls, options: Options) -> Self:
        checked = check_options(cls.option_specs, options)
        steps = int(checked["steps"])
        first = int(checked.setdefault("first_turn_steps", steps))
        if first > steps:
            raise GameOptionError("first_turn_steps", first, f"a whole number from 1 to steps ({steps})")
        if checked["opening"] == "edges" and steps >= int(checked["cols"]):
            raise GameOptionError(
                "steps", steps, f"fewer steps than columns ({checked['cols']}) with the opening edges"
            )
        if checked["first_virus"] == "counts":
            del checked["first_virus"]  # so that games without it are those that earlier versions read
        elif checked["opening"] != "edges":
            raise GameOptionError("first_virus", "free", "counts, unless the opening is edges")
        return cls(checked)

    def initial_state(self) -> VirusWarsState:
        return self._start

    def _read_start(self) -> VirusWarsState:
        position = self.options.get("position")
        if position is not None:
            return self._read_position(str(position))
        board = self.board
        if self.has_edge_opening:
            viruses = (0, 0)
        else:
            viruses = (board.top_row & board.left_column, board.bottom_row & board.right_column)
        return VirusWarsState(self, 0, self.first_turn_steps, viruses, (0, 0), 1, 0, None)

    def _read_position(self, text: str) -> VirusWarsState:
        board = self.board
        cells, mover, (left_text,) = split_position(text, board.row_lengths, ".xoXO", ["actions left in the turn"])
        if left_text not in map(str, range(1, self.steps + 1)):
            raise position_error(text, f"1 to {self.steps} actions left in the turn, got {left_text[:9]!a}")
        x, o, big_x, big_o = (cells_of(letter, cells) for letter in "xoXO")
        if not self.has_edge_opening:
            for player, ever_alive in enumerate((x | big_o, o | big_x)):
                if not ever_alive:
                    raise position_error(text, f"a virus of player {player}, or a zombie made of one")
        left = int(left_text)
        return VirusWarsState(self, mover, left, (x, o), (big_x, big_o), 1, self.steps - left, None)
