"""What scripted players play: short games of every kind, and random actions."""

from __future__ import annotations

import random
from typing import Final

from tabuleiro.rules import State

Options = dict[str, int | str]

RESIGN_AFTER_TURNS: Final = 30
"""Random matches of Xero-G can take thousands of plies."""

GAMES: Final[tuple[tuple[str, Options, str], ...]] = (
    ("virus-wars", {"rows": 4, "cols": 4, "steps": 2}, "minimax-3"),
    ("virus-wars", {"rows": 5, "cols": 5, "steps": 3}, "minimax-3"),
    ("xero-g", {}, "random"),
    ("xero-g", {"setup": "random"}, "random"),
    ("iris", {"side": 5}, "greedy"),
    ("minefield", {"size": 5}, "greedy"),
)
"""Games with options, and a level that plays them quickly."""


def some_actions(state: State, chance: random.Random) -> tuple[tuple[str, ...], State]:
    """Choose one or more actions of the turn that is to be made, and say what they lead to."""
    actions: list[str] = []
    mover = state.to_move
    while True:
        action = chance.choice(state.legal_actions())
        actions.append(state.action_to_string(action))
        state = state.child(action)
        if state.to_move != mover or state.actions_in_turn == 0 or chance.random() < 0.4:
            return tuple(actions), state
