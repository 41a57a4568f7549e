"""Check vectors: whole games as another rules program played them, one JSON object a line.

An object holds ``game``, ``options`` and ``actions``; ``legal_counts`` and ``to_move`` give, before each action,
the number of legal actions and the side to move. ``over`` is true if the game has ended after the last action,
``winner`` is the player who won (``null`` for nobody), ``draw`` is true if it ended with no winner, ``scores``
holds the group scores of both players. The first three must be there, and everything that is there is checked.
Files are left to the callers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tabuleiro.errors import GameOptionError, IllegalActionError, NotationError, VectorError, shown
from tabuleiro.rules import State, registry


def _is_list_of(items: object, is_item: Callable[[object], bool]) -> bool:
    return isinstance(items, list) and all(map(is_item, items))


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_player(value: object) -> bool:
    return type(value) is int and value in (0, 1)


def _are_scores(value: object) -> bool:
    return _is_list_of(value, lambda item: _is_list_of(item, _is_count)) and len(value) == 2  # type: ignore[arg-type]


_REQUIRED: Final = ("game", "options", "actions")
_SHAPES: Final[Mapping[str, tuple[str, Callable[[object], bool]]]] = {
    "game": ("the name of a game", lambda value: isinstance(value, str)),
    "options": ("an object of options", lambda value: isinstance(value, dict)),
    "actions": ("a list of texts", lambda value: _is_list_of(value, lambda item: isinstance(item, str))),
    "legal_counts": ("a list of numbers", lambda value: _is_list_of(value, _is_count)),
    "to_move": ("a list of 0 and 1", lambda value: _is_list_of(value, _is_player)),
    "winner": ("0, 1 or null", lambda value: value is None or _is_player(value)),
    "draw": ("true or false", lambda value: isinstance(value, bool)),
    "over": ("true or false", lambda value: isinstance(value, bool)),
    "scores": ("two lists of numbers", _are_scores),
}
"""The shape of each field of a vector, in words and as a test."""


@dataclass(frozen=True, slots=True)
class VectorCount:
    """The amount that was checked: whole games, and the actions played in them."""

    games: int
    plies: int


def check_vectors(lines: Iterable[str]) -> VectorCount:
    """Replay every vector through the rules; blank lines are skipped.

    Raises:
        VectorError: A line is malformed or differs from the rules.
    """
    games = plies = 0
    for number, text in enumerate(lines, start=1):
        if text.strip():
            games += 1
            plies += check_vector(_read_vector(text, number), number)
    return VectorCount(games, plies)


def _read_vector(text: str, line: int) -> dict[str, Any]:
    """Return the vector in a line, every field of the right shape."""
    try:
        vector = json.loads(text)
    except (ValueError, RecursionError):
        raise VectorError(line, None, "a JSON object", shown(text.strip())) from None
    if not isinstance(vector, dict):
        raise VectorError(line, None, "a JSON object", shown(text.strip()))
    for field in _REQUIRED:
        if field not in vector:
            raise VectorError(line, None, f"a field {field!r}", "an object without it")
    for field, value in vector.items():
        if field not in _SHAPES:
            raise VectorError(line, None, f"only the fields {', '.join(_SHAPES)}", shown(field))
        expected, is_right = _SHAPES[field]
        if not is_right(value):
            raise VectorError(line, None, f"{expected} as {field!r}", shown(value))
    for field in ("legal_counts", "to_move"):
        if field in vector and len(vector[field]) != len(vector["actions"]):
            raise VectorError(line, None, f"as many {field!r} as actions", str(len(vector[field])))
    return vector


def check_vector(vector: Mapping[str, Any], line: int) -> int:
    """Replay one vector whose fields have the right shapes, and return the number of plies.

    Raises:
        VectorError: The rules differ from the vector.
    """
    try:
        state = registry.load(vector["game"], vector["options"]).initial_state()
    except GameOptionError as error:
        raise VectorError(line, None, f"{error.expected} as {error.option!r}", shown(error.value)) from error
    for ply, text in enumerate(vector["actions"]):
        for field, counted in (("to_move", state.to_move), ("legal_counts", len(state.legal_actions()))):
            if field in vector:
                _compare(line, ply, field, vector[field][ply], counted)
        try:
            state = state.apply(state.string_to_action(text))
        except IllegalActionError as error:
            raise VectorError(line, ply, f"{shown(text)} to be legal", error.reason) from error
        except NotationError as error:
            raise VectorError(line, ply, error.expected, shown(text)) from error
    ply = len(vector["actions"])
    for field, got in _end_of(state).items():
        if field in vector:
            _compare(line, ply, field, vector[field], got)
    return ply


def _end_of(state: State) -> dict[str, object]:
    """Return the fields that describe the last state."""
    outcome, scores = state.outcome, state.view().scores
    return {
        "over": outcome is not None,
        "winner": None if outcome is None else outcome.winner,
        "draw": outcome is not None and outcome.winner is None,
        "scores": None if scores is None else [list(groups) for groups in scores],
    }


def _compare(line: int, ply: int, field: str, expected: object, got: object) -> None:
    if expected != got:
        raise VectorError(line, ply, f"{field} {json.dumps(expected)}", json.dumps(got))
