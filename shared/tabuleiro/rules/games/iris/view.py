"""The picture of an Iris position: marks, hints, notices and scores.

It decides nothing: legality, groups and scores come from :class:`tabuleiro.rules.games.iris.IrisState`.
Source: RULES.md, "Iris".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabuleiro.ids import Player, opponent
from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.view import BoardView, CellView, Hint, Mark

if TYPE_CHECKING:
    from tabuleiro.rules.games.iris import IrisState

PIECE_NAMES = {"b": "black stone", "w": "white stone"}


def iris_view(state: IrisState) -> BoardView:
    """Return the picture of ``state``.

    ``last`` marks every stone of the turn begun, or else of the turn just ended. ``forbidden`` marks only the
    neutral cells that the first stone bans, not all that happens to be closed to the second. ``scores`` leaves
    out groups that score 0.
    """
    board = state.game.board
    banned, winning = _banned(state), _winning_group(state)
    return BoardView(
        topology="hex",
        cells=tuple(_cell_view(state, index, banned, winning) for index in range(board.cell_count)),
        row_labels=board.row_letters,
        column_labels=(),
        to_move=state.to_move,
        actions_left=_actions_left(state),
        hints=(*_turn_hints(state, banned), *_group_hints(state, 0), *_group_hints(state, 1)),
        notices=_notices(state),
        scores=state.scores(),
        piece_names=PIECE_NAMES,
    )


def _actions_left(state: IrisState) -> int | None:
    """The stones left in the turn, ``None`` at the end. A pass or a forfeit may still shorten the turn."""
    if state.is_terminal:
        return None
    is_short = state.first is not None or not state.stones[0] or state.targets.bit_count() == 1
    return 1 if is_short else 2


def _banned(state: IrisState) -> int:
    """The empty neutral cells that the first stone of the turn begun keeps the second from, as a bit set."""
    board = state.game.board
    if state.first is None or board.rim >> state.first & 1:
        return 0
    return board.neighbours[state.first] & state.game.neutral & ~(state.stones[0] | state.stones[1])


def _winning_group(state: IrisState) -> int:
    """The group that decided the game, as a bit set; 0 while there is none, or no single one.

    It is the winner's group at the first place where the scores differ. Where the winner has more groups of
    that score, which of them stands at that place is not defined, so none is named.
    """
    outcome, rank = state.outcome, state.deciding_rank()
    if outcome is None or outcome.winner is None or rank is None:
        return 0
    groups = state.groups(outcome.winner)
    rivals = [cells for score, cells in groups if score == groups[rank][0]]
    return rivals[0] if len(rivals) == 1 else 0


def _cell_view(state: IrisState, index: int, banned: int, winning: int) -> CellView:
    game, board, piece = state.game, state.game.board, state.piece_at(index)
    is_legal = bool(state.targets >> index & 1)
    marked = {
        Mark.LAST: state.last_stones >> index & 1,
        Mark.LEGAL: is_legal,
        Mark.REQUIRED: is_legal and state.first == board.opposite(index) and board.rim >> index & 1,
        Mark.FORBIDDEN: banned >> index & 1,
        Mark.WINNING: winning >> index & 1,
    }
    return CellView(
        index=index,
        name=board.names[index],
        x=board.xs[index],
        y=board.ys[index],
        piece=piece,
        owner=None if piece == "." else 0 if piece == "b" else 1,
        ground=game.colour_of.get(index, ""),
        marks=frozenset(mark for mark, is_set in marked.items() if is_set),
    )


def _turn_hints(state: IrisState, banned: int) -> list[Hint]:
    """What the rules ask of the turn now, beyond an empty cell."""
    board, first = state.game.board, state.first
    if not state.stones[0]:
        return [Hint("first-turn", "the first turn is one stone on a neutral cell", owner=0)]
    if first is None:
        return []
    if board.rim >> first & 1:
        target = board.opposite(first)
        text = f"the second stone must go on {board.names[target]}, opposite {board.names[first]}"
        return [Hint("opposite", text, (first, target), state.mover, target)]
    text = f"the second stone goes on a neutral cell that is not next to {board.names[first]}"
    return [Hint("ban", text, bit_indexes(banned), state.mover)]


def _group_hints(state: IrisState, player: Player) -> list[Hint]:
    """One hint for each group of ``player`` that scores, the best first."""
    hints = []
    for score, cells in state.groups(player):
        count = cells.bit_count()
        stones = f"{count} {state.game.sides[player]} stone{'s' if count > 1 else ''}"
        hints.append(Hint("group", f"a group of {stones} scores {score}", bit_indexes(cells), player))
    return hints


def _notices(state: IrisState) -> tuple[str, ...]:
    """What ended a turn or the game without a stone being placed."""
    other, notices = state.game.sides[opponent(state.mover)], []
    if state.passes == 1:
        notices.append(f"{other} passed")
    if state.forfeited:
        name = state.game.board.names[state.last_stones.bit_length() - 1]
        notices.append(f"{other} forfeits the second stone: no empty neutral cell away from {name}")
    if state.is_terminal:
        notices.append("both players passed in succession" if state.passes else "the board is full")
        notices.append(_verdict(state))
    return tuple(notices)


def _verdict(state: IrisState) -> str:
    """The comparison of the scores in words."""
    rank = state.deciding_rank()
    if rank is None:
        return "all group scores are equal: a draw"
    black, white = (scores[rank] if rank < len(scores) else 0 for scores in state.scores())
    winner = state.game.sides[0 if black > white else 1]
    high, low = max(black, white), min(black, white)
    return f"{winner} wins: the scores differ first at group {rank + 1}, {high} against {low}"
