"""Texts of turns: several actions on a line, read and written for the position they are played in.

The text and the legality of one action are left to :class:`~tabuleiro.rules.base.State`, the numbering of turns to
:mod:`tabuleiro.notation.record`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tabuleiro.errors import IllegalActionError, NotationError, TurnError
from tabuleiro.rules.base import State

_PART = r"(?:\([^()]*\)|\[[^\[\]]*\]|[^\s,\-])"
_LETTER_APART = r"(?<![^\s,])[A-Za-z]{1,2}\s+[0-9]{1,3}\.?(?![^\s,])"
_NUMBERS_APART = r"(?<!\S)(?<![0-9],\s)[0-9]{1,3}\s*,\s*[0-9]{1,3}\.?(?!\S)"
_ACTION = re.compile(rf"{_LETTER_APART}|{_NUMBERS_APART}|-*{_PART}+(?:(?:\s*-+\s*|\s+x\s+){_PART}+)*|-+")
"""Brackets keep commas and spaces, a hyphen and an ``x`` the spaces around: ``[3, 4]``, ``3 - 4``, ``a1 x b3``.

A letter and a number after it are one cell, and so are two numbers with a comma: ``a 4``, ``3,4``.
"""

_SIGNS = str.maketrans("\u2013\u2014\u2192\u00d7", "---x")
"""Dashes, the arrow and the cross that print uses for the signs of actions."""


@dataclass(frozen=True, slots=True)
class ActionText:
    """The text of one action and the ``column`` (from 1) where it begins."""

    text: str
    column: int


def split_actions(text: str) -> tuple[ActionText, ...]:
    """Split a line into the texts of actions, separated by spaces or commas. Nothing is read yet.

    >>> [action.text for action in split_actions("c3, (3,4) [3, 4]  3-4 3,4 a 4")]
    ['c3', '(3,4)', '[3, 4]', '3-4', '3,4', 'a 4']
    """
    return tuple(ActionText(found[0], found.start() + 1) for found in _ACTION.finditer(text.translate(_SIGNS)))


def iter_actions(state: State, texts: Iterable[ActionText]) -> Iterator[tuple[int, State]]:
    """Read and play the actions of one turn, and yield each with the state after it.

    The turn may stay unfinished, but nothing may follow it.

    Raises:
        TurnError: A text is no action, not legal, or after the end of the turn or the game.
    """
    turn_number = state.turn_number
    for part in texts:
        if state.turn_number != turn_number:
            raise TurnError(part.text, part.column, "the turn has ended before this action")
        try:
            action = state.string_to_action(part.text)
            state = state.apply(action)
        except IllegalActionError as error:
            raise TurnError(part.text, part.column, error.reason) from error
        except NotationError as error:
            raise TurnError(part.text, part.column, error.problem) from error
        yield action, state


def parse_turn(state: State, text: str) -> tuple[int, ...]:
    """Read the actions in ``text``, all in the turn that is being played.

    The result is empty when the text holds nothing but separators.

    Raises:
        TurnError: A text is no action, not legal, or after the end of the turn or the game.
    """
    return tuple(action for action, _ in iter_actions(state, split_actions(text)))


def format_turn(state: State, actions: Iterable[int]) -> str:
    """Write legal ``actions`` played from ``state``, separated by spaces; :func:`parse_turn` reads a turn back.

    Raises:
        IllegalActionError: An action is not legal where it stands.
    """
    texts = []
    for action in actions:
        after = state.apply(action)
        texts.append(state.action_to_string(action))
        state = after
    return " ".join(texts)
