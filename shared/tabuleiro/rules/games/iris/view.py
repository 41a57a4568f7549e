"""The picture of an Iris position: its pieces, notes and the comparison of the scores."""

from __future__ import annotations

from typing import Final

from tabuleiro.ids import PLAYERS, Player
from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.games.iris.board import HexBoard
from tabuleiro.rules.view import Note, Piece
from tabuleiro.text import counted

Groups = tuple[tuple[int, int], ...]
"""Groups of one player: (score, cells as a bit set)."""

Scores = tuple[int, ...]
"""Scores of the groups of one player, highest first."""

PIECES: Final = (Piece("b", "black stone", 0), Piece("w", "white stone", 1))

_PLACES: Final = ("largest", "second largest", "third largest")


def turn_notes(
    board: HexBoard, first: int | None, banned: int, mover: Player, *, is_first_turn: bool
) -> list[Note]:
    """Return what the rules ask of the turn now, beyond an empty cell.

    ``first`` is the cell of the first stone of the turn, ``banned`` the cells that it bans.
    """
    if is_first_turn:
        return [Note("first-turn", "the first turn is one stone on a neutral cell", owner=0)]
    if first is None:
        return []
    if board.rim >> first & 1:
        target = board.opposite(first)
        text = f"the second stone must go on {board.names[target]}, opposite {board.names[first]}"
        return [Note("opposite", text, (first, target), mover, target)]
    text = f"the second stone goes on a neutral cell that is not next to {board.names[first]}"
    return [Note("ban", text, bit_indexes(banned), mover)]


def group_notes(sides: tuple[str, str], groups: tuple[Groups, Groups]) -> list[Note]:
    """Return one note for each group that scores, black's before white's, the best first."""
    notes = []
    for player in PLAYERS:
        for score, cells in groups[player]:
            stones = counted(cells.bit_count(), f"{sides[player]} stone")
            notes.append(Note("group", f"a group of {stones} scores {score}", bit_indexes(cells), player))
    return notes


def verdict(sides: tuple[str, str], all_scores: tuple[Scores, Scores], rank: int | None) -> str:
    """Return the comparison of the scores in words; ``rank`` is the first place where they differ."""
    if rank is None:
        return "all group scores are equal: a draw"
    black, white = (scores[rank] if rank < len(scores) else 0 for scores in all_scores)
    winner = sides[0 if black > white else 1]
    high, low = max(black, white), min(black, white)
    place = _PLACES[rank] if rank < len(_PLACES) else f"{rank + 1}th largest"
    return f"{winner} wins {high}-{low} on the {place} group"
