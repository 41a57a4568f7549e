"""The actions of Xero-G as numbers and as texts. Source: RULES.md, "Xero-G".

Legality is left to ``state``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tabuleiro.errors import NotationError
from tabuleiro.rules.games.xero_g.moves import BASE, BOARD, SQUARE_COUNT, VALUES

TARGET_COUNT = SQUARE_COUNT + 1
"""The squares and the base."""
NO_DROP = SQUARE_COUNT
"""In the place of a drop square: nothing is reprogrammed."""
DROP_COUNT = SQUARE_COUNT + 1
FIRST_MOVE = SQUARE_COUNT * len(VALUES)
"""Placements are numbered below this, moves from here on."""
ACTION_COUNT = FIRST_MOVE + SQUARE_COUNT * TARGET_COUNT * DROP_COUNT

EXPECTED_TEXT = "an action such as 3@c1 (in the setup), a1-b3, a1xb3@c4 or c6-base"

_CELL = r"[a-z][0-9]{1,2}|\([^()]*\)|\[[^\[\]]*\]|[0-9]{1,2}\s*-\s*[0-9]{1,2}"
_PLACEMENT = re.compile(rf"([123])\s*@\s*({_CELL})")
_MOVE = re.compile(rf"({_CELL})\s*(?:-\s*(base|{_CELL})|x\s*({_CELL})\s*@\s*({_CELL}))")


class Placement(NamedTuple):
    """Put a ship of ``value`` (1..3) on ``square``, in the setup."""

    value: int
    square: int


class Move(NamedTuple):
    """Move the ship on ``start`` to ``target`` (a square or ``BASE``).

    ``drop`` is the square for the ship that was on ``target``, ``NO_DROP`` when nothing is reprogrammed.
    """

    start: int
    target: int
    drop: int = NO_DROP


def placement_number(value: int, square: int) -> int:
    """Return the number of the action that puts a ship of ``value`` on ``square``."""
    return square * len(VALUES) + value - 1


def move_number(start: int, target: int, drop: int) -> int:
    """Return the number of a move; numbers ascend by start, then target, then drop.

    >>> move_number(0, 0, 0) == FIRST_MOVE
    True
    """
    return FIRST_MOVE + (start * TARGET_COUNT + target) * DROP_COUNT + drop


def action_of(number: int) -> Placement | Move:
    """Return the action with this number.

    Raises:
        ValueError: The number names no action.
    """
    if 0 <= number < FIRST_MOVE:
        square, value = divmod(number, len(VALUES))
        return Placement(value + 1, square)
    if FIRST_MOVE <= number < ACTION_COUNT:
        rest, drop = divmod(number - FIRST_MOVE, DROP_COUNT)
        start, target = divmod(rest, TARGET_COUNT)
        if target != BASE or drop == NO_DROP:
            return Move(start, target, drop)
    raise ValueError(f"{number} is no action of Xero-G")


def format_action(number: int) -> str:
    """Return the canonical text of an action.

    Raises:
        ValueError: The number names no action.

    >>> format_action(move_number(0, 13, NO_DROP)), format_action(move_number(0, 13, 20))
    ('a1-b3', 'a1xb3@c4')
    """
    action, names = action_of(number), BOARD.names
    if isinstance(action, Placement):
        return f"{action.value}@{names[action.square]}"
    if action.drop != NO_DROP:
        return f"{names[action.start]}x{names[action.target]}@{names[action.drop]}"
    return f"{names[action.start]}-{target_name(action.target)}"


def parse_action(text: str) -> int:
    """Read an action: canonical text, any case, spaces around its parts, cells also as ``(row,column)`` and so on.

    Raises:
        NotationError: The text names no action.

    >>> format_action(parse_action("[1, 3]-[3, 2]"))
    'c1-b3'
    """
    cleaned = text.strip().lower()
    placement = _PLACEMENT.fullmatch(cleaned)
    if placement is not None:
        return placement_number(int(placement[1]), BOARD.parse_cell(placement[2]))
    move = _MOVE.fullmatch(cleaned)
    if move is None:
        raise NotationError(text, EXPECTED_TEXT)
    start = BOARD.parse_cell(move[1])
    if move[2] == "base":
        return move_number(start, BASE, NO_DROP)
    if move[2] is not None:
        return move_number(start, BOARD.parse_cell(move[2]), NO_DROP)
    return move_number(start, BOARD.parse_cell(move[3]), BOARD.parse_cell(move[4]))


def target_name(target: int) -> str:
    """Return the name of a square, ``base`` for :data:`~tabuleiro.rules.games.xero_g.moves.BASE`."""
    return "base" if target == BASE else BOARD.names[target]
