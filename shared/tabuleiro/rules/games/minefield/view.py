"""The picture of a Minefield position: its pieces, edges, and sentences that say why a cell is forbidden."""

from __future__ import annotations

from typing import Final

from tabuleiro.ids import Player, opponent
from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.games.minefield.areas import Areas, Stones, name_stones
from tabuleiro.rules.view import EdgeView, Note, Piece

PIECES: Final = (Piece("b", "black stone", 0), Piece("w", "white stone", 1))

EDGES: Final = (
    EdgeView("top", 0, "black joins top and bottom"),
    EdgeView("bottom", 0, "black joins top and bottom"),
    EdgeView("left", 1, "white joins left and right"),
    EdgeView("right", 1, "white joins left and right"),
)
_EDGE_NAMES: Final = ("top and bottom", "left and right")


def path_note(sides: tuple[str, str], winner: Player, path: tuple[int, ...]) -> Note:
    """Return the note for the chain of stones that joins the edges of ``winner``."""
    # Part of a list of words about a cell, unlike the bans, which are sentences.
    text = f"{sides[winner]} joined {_EDGE_NAMES[winner]} with a chain of {len(path)} stones"
    return Note("path", text, path, winner)


def ban_notes(areas: Areas, sides: tuple[str, str], stones: Stones, banned: Stones, player: Player) -> list[Note]:
    """Return one note for each hard corner and each switch that keeps ``player`` off a cell."""
    own, enemy, side = stones[player], stones[1 - player], sides[player].capitalize()
    notes = []
    for cell in bit_indexes(banned[player]):
        for pattern in areas.iter_bans(cell, own, enemy):
            made_with = name_stones(areas.board, pattern.stones, stones)
            name = areas.board.names[cell]
            text = f"{side} may not take {name}: it would make a {pattern.name} with {made_with}."
            notes.append(Note(pattern.kind, text, bit_indexes(pattern.stones), player, cell))
    return notes


def skip_notice(sides: tuple[str, str], skipped: Player) -> str:
    """Return the sentence that tells of a player without a legal cell."""
    return (
        f"{sides[skipped].capitalize()} has no legal cell and is skipped: {sides[opponent(skipped)]} moves again."
    )
