"""A position of Minefield: whose turn it is, what is legal, and how it ends. Source: RULES.md, "Minefield"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from tabuleiro.ids import Player, opponent
from tabuleiro.rules.base import Game, Outcome, State, Termination
from tabuleiro.rules.board import SquareBoard, bit_indexes, square_board
from tabuleiro.rules.games.minefield import view
from tabuleiro.rules.games.minefield.areas import Areas, Stones, areas_of, name_stones
from tabuleiro.rules.games.minefield.connection import joined_through, shortest_path
from tabuleiro.rules.games.minefield.view import PIECES
from tabuleiro.rules.options import OptionValue
from tabuleiro.rules.view import BoardView, Mark, Piece, cell_views


class MinefieldRules(Game):
    """The rules as a position asks for them: the board, and its areas unless the beginner's rules hold."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        self.size = int(options["size"])
        self.board: SquareBoard = square_board(self.size, self.size)
        self.areas: Areas | None = areas_of(self.size) if options["rules"] == "standard" else None


class MinefieldState(State):
    """A position of Minefield. An action is the index of the cell it names.

    ``stones`` and ``banned`` hold a bit set for each player; ``banned`` cells are empty. ``mover`` is who acts
    next or, at the end of a game, would have. ``skipped`` is the player whom the rules have just passed over,
    or ``None``; the turn of the other then goes on, because a turn ends when the opponent may act.
    """

    game: MinefieldRules

    __slots__ = (
        "_actions_in_turn",
        "_legal",
        "_outcome",
        "banned",
        "last_action",
        "mover",
        "skipped",
        "stones",
    )

    def __init__(
        self,
        game: MinefieldRules,
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

    def pieces(self) -> tuple[tuple[Piece, int], ...]:
        return tuple(zip(PIECES, self.stones, strict=True))

    def to_position(self) -> str:
        return f"{self.position_rows(self.game.board.row_lengths)} {self.mover}"

    def key(self) -> tuple[object, ...]:
        return (self.mover, *self.stones)

    def view(self) -> BoardView:
        game, board, path = self.game, self.game.board, self._winning_path()
        marks = {
            Mark.LAST: 0 if self.last_action is None else 1 << self.last_action,
            Mark.WINNING: sum(1 << cell for cell in path),
            Mark.LEGAL: self._legal,
            Mark.FORBIDDEN: 0 if self.to_move is None else self.banned[self.to_move],
        }
        notes = []
        if path:
            notes.append(view.path_note(game.sides, opponent(self.mover), path))
        if self.to_move is not None and game.areas is not None:
            notes += view.ban_notes(game.areas, game.sides, self.stones, self.banned, self.to_move)
        return BoardView(
            topology="square",
            cells=cell_views(board, self.pieces(), marks),
            row_labels=board.row_labels,
            column_labels=board.column_labels,
            to_move=self.to_move,
            actions_left=None,
            edges=view.EDGES,
            notes=tuple(notes),
            notices=() if self.skipped is None else (view.skip_notice(game.sides, self.skipped),),
            piece_names={piece.letter: piece.name for piece in PIECES},
        )

    def _winning_path(self) -> tuple[int, ...]:
        """Return a shortest chain of stones that joins the winner's edges; empty without a winner."""
        if self._outcome is None or self._outcome.winner is None:
            return ()
        winner = self._outcome.winner
        return shortest_path(self.game.board, self.stones[winner], winner)
