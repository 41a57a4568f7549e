"""Positions that show what a game looks like, reached by its rules."""

from __future__ import annotations

from typing import Final

from tabuleiro.rules import registry
from tabuleiro.rules.options import Options
from tabuleiro.rules.view import BoardView

_SAMPLES: Final[dict[str, tuple[Options, str]]] = {
    "virus-wars": ({"rows": 6, "cols": 6, "steps": 3}, "b5 c4 b6 e2 d3 d2 d4 d3 e3 c3 c4"),
    "iris": ({"side": 5}, "e5 d4 f6 a2 i4 e4 d6 a4 i2 f4 d7 c1 g7 d5 f3 b4 e7 d3 f7"),
}


def sample_view(game: str) -> BoardView:
    """Return a position in the middle of a small match of ``game``; one of the games there are samples of."""
    options, actions = _SAMPLES[game]
    state = registry.load(game, options).initial_state()
    for text in actions.split():
        state = state.apply(state.string_to_action(text))
    return state.view()
