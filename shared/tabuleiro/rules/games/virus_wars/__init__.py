"""Virus Wars: contaminate, absorb, wall in. Source: RULES.md, "Virus Wars"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from tabuleiro.descriptors import ChoiceSetting, GameOption, NumberSetting, PositionSetting
from tabuleiro.errors import GameOptionError
from tabuleiro.rules.board import cells_of, position_error, split_position
from tabuleiro.rules.games.virus_wars.state import VirusWarsRules, VirusWarsState
from tabuleiro.rules.options import Options, OptionValue, check_options

__all__ = ["VirusWars", "VirusWarsState"]

_RULES_PAGE = """\
VIRUS WARS

AIM
Leave the other player without a move. Whoever must act and reaches no cell
loses, also in the middle of a turn. Nobody passes, and there are no draws.

A TURN
Blue and red take turns; blue begins. A turn is several actions: five in the
usual match, and the count of those left is always shown. An action names a
cell that you can reach, for example c3:
- An empty cell gets one of your viruses.
- A virus of the enemy becomes a zombie of yours.
Zombies never change and never leave. Your own cells cannot be chosen.

WHAT YOU REACH
You reach the eight neighbours of each of your viruses. You reach the
neighbours of your zombies too, while these are awake. Zombies next to each
other form a chain: it is awake as long as one of them touches a virus of
yours, else it is asleep until it is joined again. What you placed earlier in
the same turn counts.

THE START
Blue has one virus in the top left corner, red one in the bottom right corner.
In matches that start from the edges the board is empty: your first virus goes
anywhere on your own edge, the left column for blue, the right one for red.

EXAMPLE
Blue has three actions and plays c3 d4 d3. The red virus on c3 becomes a
zombie of blue. It touches the virus on b3, so it is awake, and blue reaches
d4 and d3 from it.
"""


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
        PositionSetting("position", "start from this position", max_chars=1000),
    )
    presets: ClassVar[Mapping[str, Options]] = {
        "feup-a": {"rows": 10, "cols": 10, "steps": 3, "opening": "edges"},
        "feup-b": {"rows": 11, "cols": 11, "steps": 5, "opening": "corners"},
    }
    rules_page = _RULES_PAGE

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
