"""Position texts: the part that all games share.

A text is the rows in the order of their names joined by ``/``, one character a cell, then the player to move,
then what else the game needs, parted by spaces. Source: RULES.md, "Words".
"""

from __future__ import annotations

from collections.abc import Sequence

from tabuleiro.errors import GameOptionError
from tabuleiro.ids import Player


def split_position(
    text: str, row_lengths: Sequence[int], alphabet: str, field_names: Sequence[str]
) -> tuple[list[str], Player, list[str]]:
    """Take a position text apart.

    ``row_lengths`` gives the cells of each row, ``alphabet`` the characters a cell may be, ``field_names`` what
    must follow the player to move. Returns the rows, the player and the further fields, all as texts.

    Raises: GameOptionError for option ``position`` that says which part is wrong.
    """
    fields = text.split()
    wanted = ["rows", "player to move", *field_names]
    if len(fields) != len(wanted):
        raise position_error(text, f"{len(wanted)} parts ({', '.join(wanted)}), got {len(fields)}")
    rows = fields[0].split("/")
    if len(rows) != len(row_lengths):
        raise position_error(text, f"{len(row_lengths)} rows joined by '/', got {len(rows)}")
    for number, (row, length) in enumerate(zip(rows, row_lengths, strict=True), start=1):
        if len(row) != length:
            raise position_error(text, f"{length} cells in row {number}, got {len(row)}")
        strange = [character for character in row if character not in alphabet]
        if strange:
            raise position_error(text, f"only '{alphabet}' in row {number}, got {strange[0]!a}")
    if fields[1] not in ("0", "1"):
        raise position_error(text, f"0 or 1 as the player to move, got {fields[1]!a}")
    return rows, 0 if fields[1] == "0" else 1, fields[2:]


def position_error(text: str, expected: str) -> GameOptionError:
    """The error for a position that cannot be, with the reason."""
    return GameOptionError("position", text, expected)
