"""Whole turns out of single actions. How an action is chosen is left to the players."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tabuleiro.rules import State

S = TypeVar("S", bound=State)


def is_same_turn(start: State, later: State) -> bool:
    """Whether the turn that was being played in ``start`` goes on in ``later``."""
    return not later.is_terminal and (start.to_move, start.turn_number) == (later.to_move, later.turn_number)


def complete_turn(state: S, choose_action: Callable[[S], int]) -> tuple[int, ...]:
    """Choose one action after the other until the turn of the player to move is over."""
    actions: list[int] = []
    later = state
    while is_same_turn(state, later):
        action = choose_action(later)
        actions.append(action)
        later = later.child(action)
    return tuple(actions)
