"""Minefield: join your two edges where some cells are forbidden. Source: RULES.md, "Minefield".

Areas and their bans are looked up in ``minefield_areas``, edges and paths in ``minefield_connection``; the
picture is drawn by ``minefield_view``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from tabuleiro.ids import Player, opponent
from tabuleiro.rules.base import Game, Outcome, State, Termination
from tabuleiro.rules.board import SquareBoard, bit_indexes, position_error, split_position, square_board
from tabuleiro.rules.games.minefield.areas import Areas, Stones, areas_of, name_stones
from tabuleiro.rules.games.minefield.connection import deciding_cells, is_joined, joined_through
from tabuleiro.rules.games.minefield.view import board_view
from tabuleiro.rules.options import (
    ChoiceOption,
    IntOption,
    Options,
    OptionSpec,
    OptionValue,
    PositionOption,
    check_options,
)
from tabuleiro.rules.view import BoardView

_PIECES = "bw"

_RULES_PAGE = """\
MINEFIELD

Two players, black (b) and white (w); black moves first. Put one stone of
yours on an empty cell. Black joins the top and bottom edges, white joins
left and right. Stones hang together along rows and columns, not diagonally.
Whoever joins their two edges wins at once.

With rules=standard your stone may not make one of these, in whatever colours
and turned whichever way (. is an empty cell):

  hard corner         b .      a 2x2 area with two stones of one colour on
                      w b      opposite corners, one of the other on a third
                               corner, and the fourth cell empty

  switch    b . w     b . . w  a 2x3 or 2x4 area with two stones of each
            w . b     w . . b  colour on its corners, equal colours opposite,
                               and nothing between

rules=beginner has neither ban.

Nobody may pass. Who has no legal cell is skipped: the other moves again. When
neither has one, the game is a draw. Actions are cells: c3
"""


class Minefield(Game):
    """The rules of Minefield with a board size and the standard or beginner's rules."""

    name = "minefield"
    title = "Minefield"
    sides = ("black", "white")
    option_specs: ClassVar[tuple[OptionSpec, ...]] = (
        IntOption("size", 5, 19, 13, "rows and columns of the board"),
        ChoiceOption("rules", ("standard", "beginner"), "standard", "with or without forbidden cells"),
        PositionOption("start from this position"),
    )
    presets: ClassVar[Mapping[str, Options]] = {
        f"feup-{size}": {"size": size, "rules": "standard"} for size in (10, 13, 16)
    }
    rules_page = _RULES_PAGE

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        self.size = int(options["size"])
        self.board: SquareBoard = square_board(self.size, self.size)
        self.areas: Areas | None = areas_of(self.size) if options["rules"] == "standard" else None
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
        rows, mover, _ = split_position(text, [self.size] * self.size, "." + _PIECES, [])
        cells = "".join(rows)
        black, white = (
            sum(1 << index for index, character in enumerate(cells) if character == piece) for piece in _PIECES
        )
        stones = (black, white)
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
        """The player whose edges are joined, if any; never both, since their paths would cross.

        Joining ends the game, so that some stone of the winner must have come last: one that was needed, and
        without which the position was possible.
        """
        for player in (0, 1):
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


class MinefieldState(State):
    """A position of Minefield. An action is the index of the cell it names.

    ``stones`` and ``banned`` hold a bit set for each player; ``banned`` cells are empty. ``mover`` is who acts
    next or, at the end of a game, would have. ``skipped`` is the player whom the rules have just passed over,
    or ``None``; the turn of the other then goes on, because a turn ends when the opponent may act.
    """

    __slots__ = (
        "_actions_in_turn",
        "_legal",
        "_outcome",
        "_turn_number",
        "banned",
        "game",
        "last_action",
        "mover",
        "skipped",
        "stones",
    )

    def __init__(
        self,
        game: Minefield,
        stones: Stones,
        banned: Stones,
        mover: Player,
        winner: Player | None,
        before: MinefieldState | None = None,
        last_action: int | None = None,
    ) -> None:
        """Settle who acts next: ``mover``, unless they are skipped or the game is over.

        ``winner`` is the player whose edges are joined; ``before`` the state that ``last_action`` was played
        in, or ``None`` at the start.
        """
        self.game = game
        self.stones = stones
        self.banned = banned
        self.last_action = last_action
        self.mover = mover
        self.skipped: Player | None = None
        self._outcome: Outcome | None = None
        self._legal = 0
        if winner is None:
            self._settle_mover()
        else:
            self._outcome = Outcome(winner, Termination.CONNECTION)
        if before is None:
            self._turn_number, self._actions_in_turn = 1, 0
        elif self._outcome is None and self.skipped is None:
            self._turn_number, self._actions_in_turn = before._turn_number + 1, 0
        else:
            self._turn_number, self._actions_in_turn = before._turn_number, before._actions_in_turn + 1

    def _settle_mover(self) -> None:
        empty = self.game.board.full ^ (self.stones[0] | self.stones[1])
        self._legal = empty ^ self.banned[self.mover]
        if self._legal:
            return
        other = opponent(self.mover)
        self._legal = empty ^ self.banned[other]
        if self._legal:
            self.mover, self.skipped = other, self.mover
        else:
            self._outcome = Outcome(None, Termination.DEADLOCK)

    @property
    def to_move(self) -> Player | None:
        return self.mover if self._outcome is None else None

    @property
    def outcome(self) -> Outcome | None:
        return self._outcome

    @property
    def turn_number(self) -> int:
        return self._turn_number

    @property
    def actions_in_turn(self) -> int:
        return self._actions_in_turn

    def legal_actions(self) -> tuple[int, ...]:
        return bit_indexes(self._legal)

    def legal_count(self) -> int:
        return self._legal.bit_count()

    def is_legal(self, action: int) -> bool:
        return action >= 0 and bool(self._legal >> action & 1)

    def child(self, action: int) -> Self:
        game, player = self.game, self.mover
        own = self.stones[player] | 1 << action
        stones = (self.stones[0], own) if player else (own, self.stones[1])
        banned = self.banned
        if game.areas is not None:
            banned = game.areas.banned_cells_after(banned, stones, action, player)
        winner = player if joined_through(game.board, own, action, player) else None
        return type(self)(game, stones, banned, opponent(player), winner, self, action)

    def illegal_reason(self, action: int) -> str:
        board = self.game.board
        if not 0 <= action < board.cell_count:
            return "there is no such cell"
        piece = self.piece_at(action)
        if piece != ".":
            return f"a {'black' if piece == 'b' else 'white'} stone is there"
        if self.game.areas is not None:
            for pattern in self.game.areas.iter_bans(action, self.stones[self.mover], self.stones[1 - self.mover]):
                return f"it would make a {pattern.name} with {name_stones(board, pattern.stones, self.stones)}"
        return super().illegal_reason(action)

    def action_to_string(self, action: int) -> str:
        if not 0 <= action < self.game.board.cell_count:
            raise ValueError(f"{action} is no cell of this board")
        return self.game.board.names[action]

    def string_to_action(self, text: str) -> int:
        return self.game.board.parse_cell(text)

    def piece_at(self, index: int) -> str:
        """The character that position texts use for the cell ``index``."""
        if self.stones[0] >> index & 1:
            return "b"
        return "w" if self.stones[1] >> index & 1 else "."

    def to_position(self) -> str:
        size = self.game.size
        cells = "".join(self.piece_at(index) for index in range(size * size))
        rows = (cells[start : start + size] for start in range(0, size * size, size))
        return f"{'/'.join(rows)} {self.mover}"

    def key(self) -> tuple[object, ...]:
        return (self.mover, *self.stones)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MinefieldState):
            return NotImplemented
        return (self.game, self.key(), self._turn_number) == (other.game, other.key(), other._turn_number)

    def __hash__(self) -> int:
        return hash((self.key(), self._turn_number))

    def view(self) -> BoardView:
        return board_view(self)
