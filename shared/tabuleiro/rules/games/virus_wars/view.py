"""The picture of a Virus Wars position: its pieces, the edges to enter by, chains of zombies."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tabuleiro.ids import PLAYERS, Player
from tabuleiro.rules.board import SquareBoard, bit_indexes
from tabuleiro.rules.view import EdgeSide, EdgeView, Note, Piece
from tabuleiro.text import counted

PIECES: Final = (
    Piece("x", "blue virus", 0),
    Piece("X", "blue zombie", 0),
    Piece("o", "red virus", 1),
    Piece("O", "red zombie", 1),
)

_EDGES: Final[tuple[EdgeSide, EdgeSide]] = ("left", "right")
"""The edge by which each player enters with the opening ``edges``."""


def edge_views(
    sides: tuple[str, str], entering: Collection[Player], to_move: Player | None, *, is_free: bool
) -> tuple[EdgeView, ...]:
    """Return the edges on which the players ``entering`` put their first virus, which may cost no action."""
    words = "starts for free" if is_free else "starts here"
    return tuple(
        EdgeView(_EDGES[player], player, f"{sides[player]} {words}", to_move == player) for player in entering
    )


def chain_notes(
    board: SquareBoard, sides: tuple[str, str], zombies: tuple[int, int], awake: int
) -> tuple[Note, ...]:
    """Return one note for each chain of zombies; ``awake`` holds the zombies of both players that are."""
    notes = []
    for player in PLAYERS:
        rest = zombies[player]
        while rest:
            chain = rest & -rest
            while (wider := board.spread8(chain) & rest) != chain:
                chain = wider
            rest ^= chain
            condition = "awake" if chain & awake else "asleep"
            text = f"{counted(chain.bit_count(), 'zombie')} of {sides[player]}, {condition}"
            notes.append(Note(f"zombies-{condition}", text, bit_indexes(chain), player))
    return tuple(notes)
