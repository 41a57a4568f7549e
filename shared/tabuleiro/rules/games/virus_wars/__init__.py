"""Virus Wars: contaminate, absorb, wall in. Source: RULES.md, "Virus Wars"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from tabuleiro.errors import GameOptionError
from tabuleiro.ids import Player, opponent
from tabuleiro.rules.base import Game, Outcome, State, Termination
from tabuleiro.rules.board import (
    COLUMN_LETTERS,
    SquareBoard,
    bit_indexes,
    position_error,
    split_position,
    square_board,
)
from tabuleiro.rules.options import (
    ChoiceOption,
    IntOption,
    Options,
    OptionSpec,
    OptionValue,
    PositionOption,
    check_options,
)
from tabuleiro.rules.view import BoardView, CellView, EdgeSide, EdgeView, Hint, Mark

PIECE_NAMES = {"x": "blue virus", "X": "blue zombie", "o": "red virus", "O": "red zombie"}

_RULES_PAGE = """\
VIRUS WARS

Two players, blue (x) and red (o). A turn is a fixed number of actions.
An action names a cell that you can reach:
  - an empty cell gets one of your viruses (contamination);
  - an enemy virus becomes a zombie of yours (absorption).
Zombies (X and O) never change and never leave.

You reach the eight neighbours of your viruses, and the eight neighbours of
your zombies as long as their chain of adjacent own zombies touches one of
your viruses. A chain that touches none is asleep until it is joined again.
What you placed earlier in the same turn counts.

opening=corners: blue starts in the top left corner, red in the bottom right.
opening=edges:   the board starts empty; your first virus goes anywhere on
                 your own edge: the left column for blue, the right for red.

Whoever must act and reaches nothing loses, also in the middle of a turn.
There are no draws and no passing. Actions are cells: c3
"""


class VirusWars(Game):
    """The rules of Virus Wars with a board size, a turn length and an opening."""

    name = "virus-wars"
    title = "Virus Wars"
    sides = ("blue", "red")
    option_specs: ClassVar[tuple[OptionSpec, ...]] = (
        IntOption("rows", 4, 19, 11, "rows of the board"),
        IntOption("cols", 4, 19, 11, "columns of the board"),
        IntOption("steps", 1, 9, 5, "actions in a turn"),
        IntOption("first_turn_steps", 1, 9, None, "actions in the first turn (default: as many as steps)"),
        ChoiceOption("opening", ("corners", "edges"), "corners", "where the players start"),
        PositionOption("start from this position"),
    )
    presets: ClassVar[Mapping[str, Options]] = {
        "feup-a": {"rows": 10, "cols": 10, "steps": 3, "opening": "edges"},
        "feup-b": {"rows": 11, "cols": 11, "steps": 5, "opening": "corners"},
    }
    rules_page = _RULES_PAGE

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        self.board: SquareBoard = square_board(int(options["rows"]), int(options["cols"]))
        self.steps = int(options["steps"])
        self.first_turn_steps = int(options["first_turn_steps"])
        self.has_edge_opening = options["opening"] == "edges"
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
        rows, mover, (left_text,) = split_position(
            text, [board.cols] * board.rows, ".xoXO", ["actions left in the turn"]
        )
        if left_text not in map(str, range(1, self.steps + 1)):
            raise position_error(text, f"1 to {self.steps} actions left in the turn, got {left_text[:9]!a}")
        cells = "".join(rows)
        x, o, big_x, big_o = (
            sum(1 << index for index, character in enumerate(cells) if character == piece) for piece in "xoXO"
        )
        if not self.has_edge_opening:
            for player, ever_alive in enumerate((x | big_o, o | big_x)):
                if not ever_alive:
                    raise position_error(text, f"a virus of player {player}, or a zombie made of one")
        left = int(left_text)
        return VirusWarsState(self, mover, left, (x, o), (big_x, big_o), 1, self.steps - left, None)


class VirusWarsState(State):
    """A position of Virus Wars. An action is the index of the cell it names."""

    __slots__ = (
        "_accessible",
        "_actions_in_turn",
        "_turn_number",
        "actions_left",
        "game",
        "last_action",
        "mover",
        "viruses",
        "zombies",
    )

    def __init__(
        self,
        game: VirusWars,
        mover: Player,
        actions_left: int,
        viruses: tuple[int, int],
        zombies: tuple[int, int],
        turn_number: int,
        actions_in_turn: int,
        last_action: int | None,
    ) -> None:
        self.game = game
        self.mover = mover
        self.actions_left = actions_left
        self.viruses = viruses
        self.zombies = zombies
        self.last_action = last_action
        self._turn_number = turn_number
        self._actions_in_turn = actions_in_turn
        self._accessible: int | None = None

    @property
    def to_move(self) -> Player | None:
        return self.mover if self.accessible() else None

    @property
    def outcome(self) -> Outcome | None:
        if self.accessible():
            return None
        return Outcome(opponent(self.mover), Termination.BLOCKED)

    @property
    def turn_number(self) -> int:
        return self._turn_number

    @property
    def actions_in_turn(self) -> int:
        return self._actions_in_turn

    def accessible(self) -> int:
        """The cells the mover may choose, as a bit set."""
        if self._accessible is None:
            self._accessible = self.accessible_to(self.mover)
        return self._accessible

    def accessible_to(self, player: Player) -> int:
        """The cells ``player`` could choose if it were their turn, as a bit set."""
        board = self.game.board
        own, enemy = self.viruses[player], self.viruses[1 - player]
        free = board.full ^ (own | enemy | self.zombies[0] | self.zombies[1])
        if self.game.has_edge_opening and not own | self.zombies[player]:
            return free & (board.right_column if player else board.left_column)
        return board.spread8(own | self.awake_zombies(player)) & (free | enemy)

    def awake_zombies(self, player: Player) -> int:
        """The zombies of ``player`` whose chain touches one of their viruses, as a bit set."""
        spread8, zombies = self.game.board.spread8, self.zombies[player]
        if not zombies:
            return 0
        awake = spread8(self.viruses[player]) & zombies
        while True:
            wider = spread8(awake) & zombies
            if wider == awake:
                return awake
            awake = wider

    def legal_actions(self) -> tuple[int, ...]:
        return bit_indexes(self.accessible())

    def legal_count(self) -> int:
        return self.accessible().bit_count()

    def is_legal(self, action: int) -> bool:
        return action >= 0 and bool(self.accessible() >> action & 1)

    def child(self, action: int) -> Self:
        mover, bit = self.mover, 1 << action
        viruses, zombies = self.viruses, self.zombies
        if viruses[1 - mover] & bit:
            if mover:
                viruses, zombies = (viruses[0] ^ bit, viruses[1]), (zombies[0], zombies[1] | bit)
            else:
                viruses, zombies = (viruses[0], viruses[1] ^ bit), (zombies[0] | bit, zombies[1])
        elif mover:
            viruses = (viruses[0], viruses[1] | bit)
        else:
            viruses = (viruses[0] | bit, viruses[1])
        left = self.actions_left - 1
        if left:
            turn, made = self._turn_number, self._actions_in_turn + 1
        else:
            mover, left = opponent(mover), self.game.steps
            turn, made = self._turn_number + 1, 0
        return type(self)(self.game, mover, left, viruses, zombies, turn, made, action)

    def illegal_reason(self, action: int) -> str:
        board = self.game.board
        if not 0 <= action < board.cell_count:
            return "there is no such cell"
        bit = 1 << action
        if self.viruses[self.mover] & bit:
            return "your own virus is there"
        if (self.zombies[0] | self.zombies[1]) & bit:
            return "a zombie is there, and zombies never change"
        if not self.viruses[self.mover] | self.zombies[self.mover] and self.game.has_edge_opening:
            return f"your first virus goes on the {'right' if self.mover else 'left'} column"
        return "you have no virus or awake zombie next to it"

    def action_to_string(self, action: int) -> str:
        if not 0 <= action < self.game.board.cell_count:
            raise ValueError(f"{action} is no cell of this board")
        return self.game.board.names[action]

    def string_to_action(self, text: str) -> int:
        return self.game.board.parse_cell(text)

    def piece_at(self, index: int) -> str:
        """The character that position texts use for the cell ``index``."""
        bit = 1 << index
        for player, (virus, zombie) in enumerate((("x", "X"), ("o", "O"))):
            if self.viruses[player] & bit:
                return virus
            if self.zombies[player] & bit:
                return zombie
        return "."

    def to_position(self) -> str:
        board = self.game.board
        rows = (
            "".join(self.piece_at(board.index(row, col)) for col in range(board.cols)) for row in range(board.rows)
        )
        return f"{'/'.join(rows)} {self.mover} {self.actions_left}"

    def key(self) -> tuple[object, ...]:
        return (self.mover, self.actions_left, *self.viruses, *self.zombies)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VirusWarsState):
            return NotImplemented
        return (self.game, self.key(), self._turn_number) == (other.game, other.key(), other._turn_number)

    def __hash__(self) -> int:
        return hash((self.key(), self._turn_number))

    def view(self) -> BoardView:
        board = self.game.board
        awake = tuple(self.awake_zombies(player) for player in (0, 1))
        return BoardView(
            topology="square",
            cells=tuple(self._cell_view(index, awake[0] | awake[1]) for index in range(board.cell_count)),
            row_labels=tuple(str(row) for row in range(board.rows, 0, -1)),
            column_labels=tuple((2 * col, COLUMN_LETTERS[col]) for col in range(board.cols)),
            to_move=self.to_move,
            actions_left=None if self.is_terminal else self.actions_left,
            edges=self._edge_views(),
            hints=tuple(self._chain_hints(0, awake[0]) + self._chain_hints(1, awake[1])),
            piece_names=PIECE_NAMES,
        )

    def _cell_view(self, index: int, awake: int) -> CellView:
        board, piece = self.game.board, self.piece_at(index)
        marks = set()
        if index == self.last_action:
            marks.add(Mark.LAST)
        if self.accessible() >> index & 1:
            marks.add(Mark.LEGAL)
        if piece in "XO":
            marks.add(Mark.AWAKE if awake >> index & 1 else Mark.ASLEEP)
        row, col = divmod(index, board.cols)
        return CellView(
            index=index,
            name=board.names[index],
            x=2 * col,
            y=board.rows - 1 - row,
            piece=piece,
            owner=None if piece == "." else 0 if piece in "xX" else 1,
            marks=frozenset(marks),
        )

    def _edge_views(self) -> tuple[EdgeView, ...]:
        """The edges on which a player still has to enter the board."""
        if not self.game.has_edge_opening:
            return ()
        sides: tuple[tuple[EdgeSide, Player], ...] = (("left", 0), ("right", 1))
        return tuple(
            EdgeView(side, player, f"{VirusWars.sides[player]} starts here", self.to_move == player)
            for side, player in sides
            if not self.viruses[player] | self.zombies[player]
        )

    def _chain_hints(self, player: Player, awake: int) -> list[Hint]:
        """One hint for each chain of zombies of ``player``."""
        board, rest, hints = self.game.board, self.zombies[player], []
        while rest:
            chain = rest & -rest
            while (wider := board.spread8(chain) & rest) != chain:
                chain = wider
            rest ^= chain
            condition = "awake" if chain & awake else "asleep"
            count = chain.bit_count()
            text = f"{count} zombie{'s' if count > 1 else ''} of {VirusWars.sides[player]}, {condition}"
            hints.append(Hint(f"zombies-{condition}", text, bit_indexes(chain), player))
        return hints
