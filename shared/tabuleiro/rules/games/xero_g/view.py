"""The picture of a Xero-G position: its ships, the bases, the home rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tabuleiro.ids import Player
from tabuleiro.rules.games.xero_g.moves import SIDE, VALUES
from tabuleiro.rules.view import EdgeView, Note, Piece

PIECES: Final = tuple(Piece(str(value), f"ship of value {value}") for value in VALUES)


def base_view(sides: tuple[str, str], player: Player, entered: int, *, is_target: bool) -> EdgeView:
    """Return the base that ``player`` wants to enter; ``entered`` is the value of the ship in it, 0 for none."""
    text = f"base that {sides[player]} enters"
    if entered:
        text = f"base that {sides[player]} has entered with a ship of value {entered}"
    return EdgeView("bottom" if player else "top", player, text, is_target)


def home_note(sides: tuple[str, str], player: Player, row: int) -> Note:
    """Return the note for the home row of ``player``; rows count from 0."""
    squares = tuple(range(SIDE * row, SIDE * (row + 1)))
    return Note("home-row", f"home row of {sides[player]}: row {row + 1}", squares, player)


def supply_note(sides: tuple[str, str], mover: Player, values: Iterable[int]) -> Note:
    """Return the note for the ``values`` of the ships that the mover still has to place."""
    return Note("to-place", f"{sides[mover]} still has to place {', '.join(map(str, values))}", (), mover)
