"""Iris: two stones a turn, groups that reach the coloured rim. Source: RULES.md, "Iris".

What a position looks like is left to :mod:`tabuleiro.rules.games.iris.view`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, zip_longest
from typing import ClassVar, Self

from tabuleiro.errors import NotationError
from tabuleiro.ids import Player, opponent
from tabuleiro.rules.base import Game, Outcome, State, Termination
from tabuleiro.rules.board import bit_indexes, position_error, split_position
from tabuleiro.rules.games.iris.board import HexBoard, hex_board
from tabuleiro.rules.games.iris.view import iris_view
from tabuleiro.rules.options import IntOption, Options, OptionSpec, OptionValue, PositionOption, check_options
from tabuleiro.rules.view import BoardView

COLOURS_BY_SIDE: Mapping[int, tuple[str, ...]] = {
    5: ("red", "yellow", "green", "blue"),
    6: ("red", "orange", "yellow", "green", "blue"),
    7: ("red", "orange", "yellow", "green", "blue", "violet"),
    8: ("red", "orange", "yellow", "green", "cyan", "blue", "violet"),
}
"""The colours of the rim clockwise from a1, by side; RULES.md names those of side 6."""

PASSES_TO_END = 2

Groups = tuple[tuple[int, int], ...]
"""Groups of one player: (score, cells as a bit set)."""

_RULES_PAGE = """\
IRIS

Two players, black (b) and white (w), on a hexagon of hexagonal cells. The
cells of the rim are coloured; opposite cells have the same colour. All other
cells are neutral. Rows are lettered from the top, cells numbered from the
left: a1.

The first turn is one black stone on a neutral cell.
Every later turn is two stones, one after the other:
  - after a first stone on a coloured cell, the second must go on the
    opposite coloured cell;
  - after a first stone on a neutral cell, the second must go on an empty
    neutral cell that is not next to it. If there is none, the second stone
    is forfeited and the turn ends.
Instead of any turn but the first you may pass.

The game ends when the board is full, or when both players pass in
succession. A group is a connected set of stones of one colour; it scores the
number of coloured cells in it. Compare the best groups of the two players,
then the second best, and so on; a missing group counts 0. The first
difference decides: 9 7 4 beats 9 7 3 3. No difference at all is a draw.

Actions are cells or pass: f6
"""


class Iris(Game):
    """The rules of Iris on a board of a given side."""

    name = "iris"
    title = "Iris"
    sides = ("black", "white")
    option_specs: ClassVar[tuple[OptionSpec, ...]] = (
        IntOption("side", 5, 8, 6, "cells on each side of the board"),
        PositionOption("start from this position"),
    )
    presets: ClassVar[Mapping[str, Options]] = {}
    rules_page = _RULES_PAGE

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        side = int(options["side"])
        self.board: HexBoard = hex_board(side)
        self.neutral = self.board.full ^ self.board.rim
        self.pass_action = self.board.cell_count
        colours = COLOURS_BY_SIDE[side]
        self.colour_of = {index: colours[place % len(colours)] for place, index in enumerate(self.board.perimeter)}
        self._start = self._read_start()

    @classmethod
    def from_options(cls, options: Options) -> Self:
        return cls(check_options(cls.option_specs, options))

    def initial_state(self) -> IrisState:
        return self._start

    def turn_targets(self, stones: tuple[int, int], passes: int) -> int:
        """The cells where the first stone of a turn may go, as a bit set; empty when the game is over."""
        if passes == PASSES_TO_END:
            return 0
        # Black moves first, so that no black stone means the first turn.
        return self.board.full ^ (stones[0] | stones[1]) if stones[0] else self.neutral

    def second_targets(self, first: int, empty: int) -> int:
        """The cells of ``empty`` where the second stone may go after one on the cell ``first``, as a bit set."""
        board = self.board
        if board.rim >> first & 1:
            return empty & 1 << board.opposite(first)
        return empty & self.neutral & ~board.neighbours[first]

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
        rows, mover, (first_text, passes_text) = split_position(
            text, board.row_lengths, ".bw", ["first stone of a turn begun or -", "passes just made"]
        )
        cells = "".join(rows)
        black, white = (
            sum(1 << index for index, character in enumerate(cells) if character == piece) for piece in "bw"
        )
        if passes_text not in ("0", "1", "2"):
            raise position_error(text, f"0, 1 or 2 passes just made, got {passes_text[:9]!a}")
        passes = int(passes_text)
        if first_text not in ("-", *board.names):
            raise position_error(text, f"the cell of the first stone or -, got {first_text[:9]!a}")
        first = None if first_text == "-" else board.names.index(first_text)
        stones = (black, white)
        fault = self._turn_fault(mover, stones, first, passes) or self._board_fault(stones, first)
        if fault is not None:
            raise position_error(text, fault)
        if first is None:
            return IrisState(self, mover, stones, None, passes, self.turn_targets(stones, passes))
        targets = self.second_targets(first, board.full ^ (black | white))
        return IrisState(self, mover, stones, first, 0, targets, 1, 1, 1 << first)

    def _turn_fault(self, mover: Player, stones: tuple[int, int], first: int | None, passes: int) -> str | None:
        """What the fields after the rows would have to be, ``None`` when they fit the board."""
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
        """What the rows would have to hold, ``None`` when complete turns can have left them."""
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


class IrisState(State):
    """A position of Iris. An action is the index of a cell, or the number of cells for ``pass``.

    ``first`` is the cell of the first stone of a turn begun, ``None`` between turns; ``targets`` is the bit set of
    the cells that the mover may choose, empty exactly at the end; ``passes`` counts the passes just made.
    """

    __slots__ = (
        "_actions_in_turn",
        "_groups",
        "_turn_number",
        "first",
        "forfeited",
        "game",
        "last_stones",
        "mover",
        "passes",
        "stones",
        "targets",
    )

    def __init__(
        self,
        game: Iris,
        mover: Player,
        stones: tuple[int, int],
        first: int | None,
        passes: int,
        targets: int,
        turn_number: int = 1,
        actions_in_turn: int = 0,
        last_stones: int = 0,
        forfeited: bool = False,
    ) -> None:
        self.game = game
        self.mover: Player = mover
        self.stones = stones
        self.first = first
        self.passes = passes
        self.targets = targets
        self._turn_number = turn_number
        self._actions_in_turn = actions_in_turn
        self.last_stones = last_stones
        """The stones of the turn begun, or else of the turn just ended, as a bit set; 0 after a pass."""
        self.forfeited = forfeited
        """Whether the turn just ended had to do without its second stone, with the board not full."""
        self._groups: tuple[Groups, Groups] | None = None

    @property
    def to_move(self) -> Player | None:
        return self.mover if self.targets else None

    @property
    def is_terminal(self) -> bool:
        return not self.targets

    @property
    def outcome(self) -> Outcome | None:
        if self.targets:
            return None
        # Scores are positive and highest first, so that comparing the tuples counts missing groups as 0.
        black, white = self.scores()
        winner: Player | None = None if black == white else 0 if black > white else 1
        return Outcome(winner, Termination.SCORE)

    @property
    def turn_number(self) -> int:
        return self._turn_number

    @property
    def actions_in_turn(self) -> int:
        return self._actions_in_turn

    @property
    def can_pass(self) -> bool:
        """Whether ``pass`` is legal: at the start of any turn but the first."""
        return self.first is None and bool(self.targets) and bool(self.stones[0])

    def legal_actions(self) -> tuple[int, ...]:
        cells = bit_indexes(self.targets)
        return (*cells, self.game.pass_action) if self.can_pass else cells

    def legal_count(self) -> int:
        return self.targets.bit_count() + self.can_pass

    def is_legal(self, action: int) -> bool:
        if action == self.game.pass_action:
            return self.can_pass
        return action >= 0 and bool(self.targets >> action & 1)

    def child(self, action: int) -> Self:
        game, mover = self.game, self.mover
        if action == game.pass_action:
            return self._turn_ended(self.stones, self.passes + 1, 0, 0)
        bit = 1 << action
        black, white = self.stones
        stones = (black, white | bit) if mover else (black | bit, white)
        if self.first is not None:
            return self._turn_ended(stones, 0, 2, self.last_stones | bit)
        if not black:
            return self._turn_ended(stones, 0, 1, bit)
        empty = game.board.full ^ (stones[0] | stones[1])
        targets = game.second_targets(action, empty)
        if not targets:
            return self._turn_ended(stones, 0, 1, bit, forfeited=bool(empty))
        return type(self)(game, mover, stones, action, 0, targets, self._turn_number, 1, bit)

    def _turn_ended(
        self, stones: tuple[int, int], passes: int, stone_count: int, last_stones: int, forfeited: bool = False
    ) -> Self:
        """The state after a turn of ``stone_count`` stones; at the end the last turn stays the current one."""
        targets = self.game.turn_targets(stones, passes)
        mover, turn, made = opponent(self.mover), self._turn_number + 1, 0
        if not targets:
            turn, made = self._turn_number, stone_count or 1
        return type(self)(self.game, mover, stones, None, passes, targets, turn, made, last_stones, forfeited)

    def illegal_reason(self, action: int) -> str:
        game, board, first = self.game, self.game.board, self.first
        if action == game.pass_action:
            if first is None:
                return "the first turn is one stone on a neutral cell, not a pass"
            return "the turn has begun, its second stone must be placed"
        if not 0 <= action < board.cell_count:
            return "there is no such cell"
        if (self.stones[0] | self.stones[1]) >> action & 1:
            return "a stone is there already"
        if first is None:
            return "the first turn is one stone on a neutral cell"
        if board.rim >> first & 1:
            return (
                f"the second stone must go on {board.names[board.opposite(first)]}, opposite {board.names[first]}"
            )
        if board.rim >> action & 1:
            return f"the second stone must go on a neutral cell, as {board.names[first]} is neutral"
        return f"the second stone may not be next to the first, on {board.names[first]}"

    def action_to_string(self, action: int) -> str:
        if action == self.game.pass_action:
            return "pass"
        if not 0 <= action < self.game.board.cell_count:
            raise ValueError(f"{action} is neither a cell of this board nor a pass")
        return self.game.board.names[action]

    def string_to_action(self, text: str) -> int:
        """Read ``pass``, a cell name, or a report form, in upper or lower case, with spaces around.

        The report forms ``(3,4)``, ``3-4`` and ``[3, 4]`` mean the third row from the top, row c, and the fourth
        cell in it: rows are named from the top here, where square boards count them from the bottom.

        Raises: NotationError when the text names no action of this board.
        """
        if text.strip().lower() == "pass":
            return self.game.pass_action
        board = self.game.board
        try:
            return board.parse_cell(text)
        except NotationError:
            raise NotationError(text, f"{board.expected_cell} or pass") from None

    def groups(self, player: Player) -> Groups:
        """The groups of ``player`` that score: (score, cells as a bit set), highest score first."""
        if self._groups is None:
            self._groups = (self._scoring_groups(0), self._scoring_groups(1))
        return self._groups[player]

    def _scoring_groups(self, player: Player) -> Groups:
        board = self.game.board
        scored = [((part & board.rim).bit_count(), part) for part in board.components(self.stones[player])]
        return tuple(sorted((group for group in scored if group[0]), key=lambda group: -group[0]))

    def scores(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The scores of the groups of black and of white, highest first; groups that score 0 are left out."""
        black, white = (tuple(score for score, _ in self.groups(player)) for player in (0, 1))
        return black, white

    def deciding_rank(self) -> int | None:
        """The place (0 for the best groups) at which the scores differ first, ``None`` when they are equal."""
        pairs = enumerate(zip_longest(*self.scores(), fillvalue=0))
        return next((rank for rank, (black, white) in pairs if black != white), None)

    def piece_at(self, index: int) -> str:
        """The character that position texts use for the cell ``index``."""
        if self.stones[0] >> index & 1:
            return "b"
        return "w" if self.stones[1] >> index & 1 else "."

    def to_position(self) -> str:
        board = self.game.board
        cells = (self.piece_at(index) for index in range(board.cell_count))
        rows = ("".join(islice(cells, length)) for length in board.row_lengths)
        first = "-" if self.first is None else board.names[self.first]
        return f"{'/'.join(rows)} {self.mover} {first} {self.passes}"

    def key(self) -> tuple[object, ...]:
        return (self.mover, *self.stones, self.first, self.passes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IrisState):
            return NotImplemented
        return (self.game, self.key(), self._turn_number) == (other.game, other.key(), other._turn_number)

    def __hash__(self) -> int:
        return hash((self.key(), self._turn_number))

    def view(self) -> BoardView:
        return iris_view(self)
