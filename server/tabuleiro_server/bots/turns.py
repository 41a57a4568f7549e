"""Whole turns out of single actions. How an action is chosen is left to the players."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tabuleiro.ids import Player
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


def after(state: S, actions: Iterable[int]) -> S:
    """The state after legal ``actions``, played one after the other."""
    for action in actions:
        state = state.child(action)
    return state


def first_turn(state: State, line: Sequence[int]) -> tuple[int, ...]:
    """The actions of ``line``, legal from ``state`` on, that belong to the turn of the player to move."""
    later = state
    for count, action in enumerate(line, start=1):
        later = later.child(action)
        if not is_same_turn(state, later):
            return tuple(line[:count])
    return tuple(line)


def turns_of_player(state: State, line: Sequence[int], player: Player) -> int:
    """How many turns ``player`` has in ``line``, legal from ``state`` on; what is left of a turn begun counts."""
    count = 0
    while line:
        turn = first_turn(state, line)
        count += state.to_move == player
        state, line = after(state, turn), line[len(turn) :]
    return count
