"""An engine that plays as ``expert`` of the checkout whose Python runs it, by time alone: without its node cap.

    OLDER_CHECKOUT/.venv/bin/python tools/expert_engine.py

It speaks the line protocol of server/BOTS.md, so that ``tools.strength.duel`` can measure a level against an older
state of the project. It uses nothing but what all states since the first have.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from tabuleiro.rules import registry
from tabuleiro_server.bots import engine

MARGIN_MS: Final = 10
"""What is kept of the limit for the way back."""

WARM_UP_NODES: Final = 4


def main() -> None:
    """Answer orders until ``quit`` or the end of the input."""
    name, options, seed, texts = "", dict[str, str](), 0, list[str]()
    game: Any = None
    search: Any = None
    for line in sys.stdin:
        read_s = time.monotonic()
        word, _, rest = line.strip().partition(" ")
        if word == "quit":
            return
        if word == "tabuleiro":
            print("name expert without a cap", flush=True)
        elif word == "newgame":
            name, options = rest, {}
        elif word == "option":
            key, _, value = rest.partition(" ")
            options[key] = value
        elif word == "seed":
            seed = int(rest)
            game = registry.load(name, registry.read_options(name, [f"{key}={options[key]}" for key in options]))
            search = engine.searcher(game)
            search.choose_turn(game.initial_state(), max_nodes=WARM_UP_NODES, deadline_s=None, seed=0)
        elif word == "isready":
            print("ready", flush=True)
        elif word == "position":
            texts = rest.split()
        elif word == "go":
            state = game.initial_state()
            for text in texts:
                state = state.child(state.string_to_action(text))
            deadline_s = read_s + (int(rest.split()[1]) - MARGIN_MS) / 1000
            turn_seed = seed * 1_000 + state.turn_number
            found = search.choose_turn(state, max_nodes=None, deadline_s=deadline_s, seed=turn_seed)
            chosen = []
            for action in found.actions:
                chosen.append(state.action_to_string(action))
                state = state.child(action)
            print("best", *chosen, flush=True)


if __name__ == "__main__":
    main()
