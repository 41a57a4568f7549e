"""The number of action sequences: the quickest comparison of two programs of the rules."""

from __future__ import annotations

from tabuleiro.rules.base import State


def perft(state: State, depth: int) -> int:
    """Count the action sequences of exactly ``depth`` actions from ``state``.

    Sequences that end earlier don't count. ``depth`` 0 counts the empty sequence.

    Raises:
        ValueError: The depth is negative.
    """
    if depth < 0:
        raise ValueError(f"depth must not be negative, got {depth}")
    if depth == 0:
        return 1
    if depth == 1:
        return state.legal_count()
    return sum(perft(state.child(action), depth - 1) for action in state.legal_actions())
