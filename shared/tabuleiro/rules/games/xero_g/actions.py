"""The actions of Xero-G as numbers and as texts. Source: RULES.md, "Xero-G".

An action is its result. Its texts are the canonical one, the moves of the Universal Gyges Interface (``0|1|9``),
and routes with every stop, as players of Gygès write them. Legality is left to
``state``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tabuleiro.errors import NotationError
from tabuleiro.ids import Player
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

UGI_BASES = (37, 36)
"""The numbers of the bases that player 0 and player 1 want to enter, in the Universal Gyges Interface."""

_NAME = r"[a-z][0-9]{1,2}"
_BASE_NAMES = ("base", "goal", "g")
_BASE = "|".join(_BASE_NAMES)
_CELL = r"[a-z][0-9]{1,2}|\([^()]*\)|\[[^\[\]]*\]|[0-9]{1,2}\s*-\s*[0-9]{1,2}"
_PLACEMENT = re.compile(rf"([123])(?:\s*@\s*({_CELL})|({_NAME}))")
_MOVE = re.compile(rf"({_CELL})\s*(?:-\s*({_BASE}|{_CELL})|x\s*({_CELL})\s*@\s*({_CELL}))")
_UGI = re.compile(r"([0-9]{1,2})\|([0-9]{1,2})(?:\|([0-9]{1,2}))?")
_ROUTE = re.compile(
    rf"(?P<run>{_NAME}(?:-{_NAME})*)(?:-(?P<base>{_BASE})|(?:x(?P<met>{_NAME})[-@]|@)(?P<drop>{_NAME}))?"
)
_DROP_IN_BRACKETS = re.compile(rf"\(({_NAME})\)")


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


def parse_action(text: str, mover: Player) -> tuple[int, tuple[int, ...]]:
    """Read an action; return its number, and the squares of all stops of a route, empty for other texts.

    Texts are the canonical one, in any case, with spaces around its parts, ``3@c1`` also as ``3c1``, the base
    also as ``goal`` or ``g``, cells also as ``(row,column)`` and so on; moves of the Universal Gyges Interface,
    where the number of the base depends on the ``mover``; and routes: the ships on the stops boost the mover,
    and one that is met at the end may be put elsewhere, ``a1-c2xc4@d4``, ``a1-c2-c4(d4)`` or ``a1-c2xc4-d4``.

    Raises:
        NotationError: The text names no action.

    >>> [format_action(parse_action(text, 0)[0]) for text in ("[1, 3]-[3, 2]", "0|1|9", "a6-a4-a1-g", "3c1")]
    ['c1-b3', 'a1xb1@d2', 'a6-base', '3@c1']
    """
    cleaned = text.strip().lower().removesuffix(".")
    placement = _PLACEMENT.fullmatch(cleaned)
    if placement is not None:
        return placement_number(int(placement[1]), BOARD.parse_cell(placement[2] or placement[3])), ()
    move = _MOVE.fullmatch(cleaned)
    if move is not None:
        start = BOARD.parse_cell(move[1])
        if move[3] is not None:
            return move_number(start, BOARD.parse_cell(move[3]), BOARD.parse_cell(move[4])), ()
        return move_number(start, _parse_target(move[2]), NO_DROP), ()
    ugi = _UGI.fullmatch(cleaned)
    if ugi is not None:
        return _parse_ugi(text, ugi, mover), ()
    route = _ROUTE.fullmatch(_DROP_IN_BRACKETS.sub(r"@\1", "".join(cleaned.split())))
    names = [] if route is None else route["run"].split("-")
    if route is not None:
        names += [name for name in (route["met"], route["base"]) if name is not None]
    if route is None or len(names) < 2:
        raise NotationError(text, EXPECTED_TEXT)
    stops = tuple(map(_parse_target, names))
    drop = NO_DROP if route["drop"] is None else BOARD.parse_cell(route["drop"])
    return move_number(stops[0], stops[-1], drop), stops


def _parse_target(name: str) -> int:
    return BASE if name in _BASE_NAMES else BOARD.parse_cell(name)


def _parse_ugi(text: str, found: re.Match[str], mover: Player) -> int:
    """Return the move of three numbers, or of two, the second of which may be the base."""
    start, target, drop = (NO_DROP if number is None else int(number) for number in found.groups())
    if found[3] is None and target == UGI_BASES[mover]:
        return move_number(start, BASE, NO_DROP)
    if max(start, target, drop if found[3] else 0) >= SQUARE_COUNT:
        base = UGI_BASES[mover]
        raise NotationError(text, f"squares from 0 to 35, or {base} for the base at the end, e.g. 0|1|9")
    return move_number(start, target, drop)


def target_name(target: int) -> str:
    """Return the name of a square, ``base`` for :data:`~tabuleiro.rules.games.xero_g.moves.BASE`."""
    return "base" if target == BASE else BOARD.names[target]
