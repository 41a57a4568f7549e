"""A position of Virus Wars. Source: RULES.md, "Virus Wars"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from tabuleiro.ids import PLAYERS, Player, opponent
from tabuleiro.rules.base import Game, Outcome, State, Termination
from tabuleiro.rules.board import SquareBoard, bit_indexes, square_board
from tabuleiro.rules.games.virus_wars.view import PIECES, chain_notes, edge_views
from tabuleiro.rules.options import OptionValue
from tabuleiro.rules.view import BoardView, EdgeView, Mark, Piece, cell_views


class VirusWarsRules(Game):
    """The rules as a position asks for them: the board, the actions in a turn, the opening."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        self.board: SquareBoard = square_board(int(options["rows"]), int(options["cols"]))
        self.steps = int(options["steps"])
        self.has_edge_opening = options["opening"] == "edges"
        self.has_free_first_virus = options.get("first_virus") == "free"


class VirusWarsState(State):
    """A position of Virus Wars. An action is the index of the cell it names."""

    game: VirusWarsRules

    __slots__ = (
        "_accessible",
        "_actions_in_turn",
        "actions_left",
        "last_action",
        "mover",
        "viruses",
        "zombies",
    )

    def __init__(
        self,
        game: VirusWarsRules,
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
    def actions_in_turn(self) -> int:
        return self._actions_in_turn

    def enters_free(self, player: Player) -> bool:
        """Return True if the next virus of ``player`` is their first and costs no action."""
        return self.game.has_free_first_virus and not self.viruses[player] | self.zombies[player]

    def accessible(self) -> int:
        """Return the cells that the mover may choose, as a bit set."""
        if self._accessible is None:
            self._accessible = self.accessible_to(self.mover)
        return self._accessible

    def accessible_to(self, player: Player) -> int:
        """Return the cells that ``player`` could choose if it were their turn, as a bit set."""
        board = self.game.board
        own, enemy = self.viruses[player], self.viruses[1 - player]
        free = board.full ^ (own | enemy | self.zombies[0] | self.zombies[1])
        if self.game.has_edge_opening and not own | self.zombies[player]:
            return free & (board.right_column if player else board.left_column)
        return board.spread8(own | self.awake_zombies(player)) & (free | enemy)

    def awake_zombies(self, player: Player) -> int:
        """Return the zombies of ``player`` whose chain touches one of their viruses, as a bit set."""
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
        left = self.actions_left - (not self.enters_free(mover))
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

    def pieces(self) -> tuple[tuple[Piece, int], ...]:
        cells = (self.viruses[0], self.zombies[0], self.viruses[1], self.zombies[1])
        return tuple(zip(PIECES, cells, strict=True))

    def to_position(self) -> str:
        return f"{self.position_rows(self.game.board.row_lengths)} {self.mover} {self.actions_left}"

    def key(self) -> tuple[object, ...]:
        return (self.mover, self.actions_left, *self.viruses, *self.zombies)

    def view(self) -> BoardView:
        board = self.game.board
        awake = self.awake_zombies(0) | self.awake_zombies(1)
        marks = {
            Mark.LAST: 0 if self.last_action is None else 1 << self.last_action,
            Mark.LEGAL: self.accessible(),
            Mark.AWAKE: awake,
            Mark.ASLEEP: (self.zombies[0] | self.zombies[1]) ^ awake,
        }
        return BoardView(
            topology="square",
            cells=cell_views(board, self.pieces(), marks),
            row_labels=board.row_labels,
            column_labels=board.column_labels,
            to_move=self.to_move,
            actions_left=None if self.is_terminal else self.actions_left,
            edges=self._edges(),
            notes=chain_notes(board, self.game.sides, self.zombies, awake),
            piece_names={piece.letter: piece.name for piece in PIECES},
        )

    def _edges(self) -> tuple[EdgeView, ...]:
        if not self.game.has_edge_opening:
            return ()
        entering = [player for player in PLAYERS if not self.viruses[player] | self.zombies[player]]
        return edge_views(self.game.sides, entering, self.to_move, is_free=self.game.has_free_first_virus)
