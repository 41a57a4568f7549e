"""The values that the analysis of a checkout gives to the positions of games: of the one whose Python runs this.

    CHECKOUT/.venv/bin/python tools/value_engine.py

It reads games as lines of JSON ``[game, options, actions, max_nodes]`` and answers each with a line: for every
position in which a turn begins ``[turn, player to move, value, whether it is proven]``. It uses nothing but what
all states of the project since the first have, so that ``tools.strength.trust`` can measure an older one.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from tabuleiro.rules import registry
from tabuleiro_server.bots import analysis, engine

CALIBRATED: Final[Any] = getattr(analysis, "calibrated", lambda found, state: found)
"""Older states have none."""

BEST_SEARCH: Final[Any] = getattr(analysis, "best_search", lambda game, patience_s: engine.searcher(game))
"""Older states have one compiled search for each game."""

SEED: Final = 1


def values_of(name: str, options: dict[str, Any], actions: list[str], max_nodes: int) -> list[tuple[Any, ...]]:
    """Return the values of all positions of a game in which a turn begins, for the player to move."""
    game: Any = registry.load(name, options)
    search: Any = BEST_SEARCH(game, None)
    state, turn, found = game.initial_state(), 0, list[tuple[Any, ...]]()
    for text in actions:
        if state.turn_number != turn and not getattr(state, "is_setup", False):
            turn = state.turn_number
            *_, last = search.analyse(state, candidate_count=1, max_nodes=max_nodes, deadline_s=None, seed=SEED)
            best = CALIBRATED(last, state).best
            found.append((turn, state.to_move, best.value, best.is_proven))
        state = state.child(state.string_to_action(text))
    return found


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(values_of(*json.loads(line))), flush=True)
