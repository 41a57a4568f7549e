"""A position of Iris: whose turn it is, what is legal, and the scores. Source: RULES.md, "Iris"."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Self

from tabuleiro.errors import NotationError
from tabuleiro.ids import PLAYERS, Player, opponent
from tabuleiro.rules.base import Game, Outcome, State, Termination
from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.games.iris import view
from tabuleiro.rules.games.iris.board import HexBoard, hex_board
from tabuleiro.rules.games.iris.view import PIECES, Groups
from tabuleiro.rules.options import OptionValue
from tabuleiro.rules.view import BoardView, Choice, Mark, Piece, cell_views

COLOURS_BY_SIDE: Mapping[int, tuple[str, ...]] = {
    5: ("red", "yellow", "green", "blue"),
    6: ("red", "orange", "yellow", "green", "blue"),
    7: ("red", "orange", "yellow", "green", "blue", "violet"),
    8: ("red", "orange", "yellow", "green", "cyan", "blue", "violet"),
}
"""The colours of the rim clockwise from a1, by side; RULES.md names those of side 6."""

PASSES_TO_END = 2


class IrisRules(Game):
    """The rules as a position asks for them: the board with its colours, and the cells that stones may go on."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        side = int(options["side"])
        self.board: HexBoard = hex_board(side)
        self.neutral = self.board.full ^ self.board.rim
        self.pass_action = self.board.cell_count
        colours = COLOURS_BY_SIDE[side]
        self.colour_of = {index: colours[place % len(colours)] for place, index in enumerate(self.board.perimeter)}

    def turn_targets(self, stones: tuple[int, int], passes: int) -> int:
        """Return the cells where the first stone of a turn may go, as a bit set; empty when the game is over."""
        if passes == PASSES_TO_END:
            return 0
        # Black moves first, so that no black stone means the first turn.
        return self.board.full ^ (stones[0] | stones[1]) if stones[0] else self.neutral

    def second_targets(self, first: int, empty: int) -> int:
        """Return the cells of ``empty`` where the second stone may go after a first on the cell ``first``."""
        board = self.board
        if board.rim >> first & 1:
            return empty & 1 << board.opposite(first)
        return empty & self.neutral & ~board.neighbours[first]


class IrisState(State):
    """A position of Iris. An action is the index of a cell, or the number of cells for ``pass``.

    ``first`` is the cell of the first stone of a turn begun, ``None`` between turns; ``targets`` is the bit set of
    the cells that the mover may choose, empty exactly at the end; ``passes`` counts the passes just made.
    """

    game: IrisRules

    __slots__ = (
        "_actions_in_turn",
        "_groups",
        "first",
        "forfeited",
        "last_stones",
        "mover",
        "passes",
        "stones",
        "targets",
    )

    def __init__(
        self,
        game: IrisRules,
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
        """True if the turn just ended had no second stone, with the board not full."""
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
    def actions_in_turn(self) -> int:
        return self._actions_in_turn

    @property
    def can_pass(self) -> bool:
        """True if ``pass`` is legal: at the start of any turn but the first."""
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
        """Return the state after a turn of ``stone_count`` stones; the last turn of a game stays current."""
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

    def choice(self, action: int) -> Choice:
        return Choice("pass", (), "pass") if action == self.game.pass_action else super().choice(action)

    def string_to_action(self, text: str) -> int:
        """Read ``pass``, a cell name, or a report form, in upper or lower case, with spaces around.

        The report forms ``(3,4)``, ``3-4`` and ``[3, 4]`` mean the third row from the top, row c, and the fourth
        cell in it: rows are named from the top here, where square boards count them from the bottom.

        Raises:
            NotationError: The text names no action of this board.
        """
        if text.strip().lower() == "pass":
            return self.game.pass_action
        board = self.game.board
        try:
            return board.parse_cell(text)
        except NotationError as error:
            raise NotationError(text, f"{board.expected_cell} or pass", error.fault) from None

    def groups(self, player: Player) -> Groups:
        """Return the groups of ``player`` that score: (score, cells as a bit set), highest score first."""
        if self._groups is None:
            self._groups = (self._scoring_groups(0), self._scoring_groups(1))
        return self._groups[player]

    def _scoring_groups(self, player: Player) -> Groups:
        board = self.game.board
        scored = [((part & board.rim).bit_count(), part) for part in board.components(self.stones[player])]
        return tuple(sorted((group for group in scored if group[0]), key=lambda group: -group[0]))

    def scores(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the scores of the groups of black and of white, highest first, those of 0 left out."""
        black, white = (tuple(score for score, _ in self.groups(player)) for player in PLAYERS)
        return black, white

    def deciding_rank(self) -> int | None:
        """Return the first place at which the scores differ (0: the best groups), ``None`` if they are equal."""
        pairs = enumerate(zip_longest(*self.scores(), fillvalue=0))
        return next((rank for rank, (black, white) in pairs if black != white), None)

    def pieces(self) -> tuple[tuple[Piece, int], ...]:
        return tuple(zip(PIECES, self.stones, strict=True))

    def to_position(self) -> str:
        board = self.game.board
        first = "-" if self.first is None else board.names[self.first]
        return f"{self.position_rows(board.row_lengths)} {self.mover} {first} {self.passes}"

    def key(self) -> tuple[object, ...]:
        return (self.mover, *self.stones, self.first, self.passes)

    def view(self) -> BoardView:
        """Return the position as a picture.

        ``last`` marks every stone of the turn begun, or else of the turn just ended. ``forbidden`` marks only the
        neutral cells that the first stone bans, not all that happens to be closed to the second. ``scores`` leaves
        out groups that score 0.
        """
        game, board = self.game, self.game.board
        opposite = 0
        if self.first is not None and board.rim >> self.first & 1:
            opposite = 1 << board.opposite(self.first)
        banned = self._banned()
        marks = {
            Mark.LAST: self.last_stones,
            Mark.LEGAL: self.targets,
            Mark.REQUIRED: self.targets & opposite,
            Mark.FORBIDDEN: banned,
            Mark.WINNING: self._winning_group(),
        }
        notes = view.turn_notes(board, self.first, banned, self.mover, is_first_turn=not self.stones[0])
        return BoardView(
            topology="hex",
            cells=cell_views(board, self.pieces(), marks, game.colour_of),
            row_labels=board.row_labels,
            column_labels=(),
            to_move=self.to_move,
            actions_left=self._actions_left(),
            notes=(*notes, *view.group_notes(game.sides, (self.groups(0), self.groups(1)))),
            notices=self._notices(),
            scores=self.scores(),
            piece_names={piece.letter: piece.name for piece in PIECES},
        )

    def _actions_left(self) -> int | None:
        """Return the stones left in the turn, ``None`` at the end; a pass or a forfeit may still shorten it."""
        if self.is_terminal:
            return None
        is_short = self.first is not None or not self.stones[0] or self.targets.bit_count() == 1
        return 1 if is_short else 2

    def _banned(self) -> int:
        """Return the empty neutral cells from which the first stone of the turn begun keeps the second."""
        game = self.game
        if self.first is None or game.board.rim >> self.first & 1:
            return 0
        return game.board.neighbours[self.first] & game.neutral & ~(self.stones[0] | self.stones[1])

    def _winning_group(self) -> int:
        """Return the group that decided the game, as a bit set; 0 while there is none, or no single one.

        It is the winner's group at the first place where the scores differ. Where the winner has more groups of
        that score, it is not defined which of them stands at that place, so none is named.
        """
        outcome, rank = self.outcome, self.deciding_rank()
        if outcome is None or outcome.winner is None or rank is None:
            return 0
        groups = self.groups(outcome.winner)
        rivals = [cells for score, cells in groups if score == groups[rank][0]]
        return rivals[0] if len(rivals) == 1 else 0

    def _notices(self) -> tuple[str, ...]:
        """Return what ended a turn or the game without a stone being placed."""
        other, notices = self.game.sides[opponent(self.mover)], []
        if self.passes == 1:
            notices.append(f"{other} passed")
        if self.forfeited:
            name = self.game.board.names[self.last_stones.bit_length() - 1]
            notices.append(f"{other} forfeits the second stone: no empty neutral cell away from {name}")
        if self.is_terminal:
            notices.append("both players passed in succession" if self.passes else "the board is full")
            notices.append(view.verdict(self.game.sides, self.scores(), self.deciding_rank()))
        return tuple(notices)
