"""Positions of Virus Wars (one to three turns) and Xero-G (two) with a forced win, found by exhaustive search.

``python tests/bots/engine/turn_tactics.py > tests/data/turn_tactics.jsonl`` makes the file that the tests read, in
some minutes. Its lines are like those of ``tactics.py``, but that ``winning`` holds the first actions after which
the rest of the turn can keep a win forced: however long it takes in Virus Wars, in two turns in Xero-G. A sign
trap is a position where a search that takes every action for a change of sides begins with another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from random import Random

from tabuleiro.rules import State, registry
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g_moves import BASE_BIT
from tabuleiro.rules.outcome import Player

ANY_TURNS = None
SIGN_TRAPS = {1: 9, 2: 2}
"""How many of them are wanted, by the turns to the win."""
CASES_PER_VARIANT = 6


class ForcedWins:
    """Exhaustive search for wins of ``player`` in Virus Wars."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._known: dict[tuple[object, int | None], bool] = {}

    def is_forced(self, state: VirusWarsState, turns: int | None) -> bool:
        """Whether the player can force a win with ``turns`` turns begun from here on; ``None``: however many."""
        if state.outcome is not None:
            return state.outcome.winner == self._player
        is_own = state.to_move == self._player
        if turns is not None and is_own and state.actions_in_turn == 0:
            turns -= 1
            if turns < 0:
                return False
        key = (state.key(), turns)
        if key not in self._known:
            found = (self.is_forced(state.child(action), turns) for action in state.legal_actions())
            self._known[key] = any(found) if is_own else all(found)
        return self._known[key]


def naive_values(state: VirusWarsState) -> dict[int, int]:
    """What a negamax that flips the sign at every action thinks of the actions: -1 or 1."""
    known: dict[object, int] = {}

    def value(later: VirusWarsState, mover: Player) -> int:
        other: Player = 1 if mover == 0 else 0
        if later.outcome is not None:
            return 1 if later.outcome.winner == mover else -1
        key = (later.key(), mover)
        if key not in known:
            known[key] = max(-value(later.child(action), other) for action in later.legal_actions())
        return known[key]

    other: Player = 1 if state.mover == 0 else 0
    return {action: -value(state.child(action), other) for action in state.legal_actions()}


def iter_virus_wars(options: dict[str, int | str], random: Random, lengths: range) -> Iterator[VirusWarsState]:
    """Yield one position at the start of a turn of each of endlessly many random games."""
    game = registry.load("virus-wars", options)
    while True:
        state: State = game.initial_state()
        left = random.choice(lengths)
        while not state.is_terminal and (state.actions_in_turn or most_actions(state) > left):
            state = state.child(random.choice(state.legal_actions()))
        if isinstance(state, VirusWarsState) and not state.is_terminal:
            yield state


def most_actions(state: State) -> int:
    """More actions than this cannot follow: each takes an empty cell or a virus."""
    return sum(state.to_position().split()[0].count(piece) for piece in ".xo")


def virus_wars_case(state: VirusWarsState, is_sign_trap: bool) -> dict[str, object] | None:
    """The case that ``state`` makes; ``None`` when no win is forced, or too many actions keep it."""
    wins = ForcedWins(state.mover)
    turns = next((turns for turns in (1, 2, 3) if wins.is_forced(state, turns)), None)
    if turns is None:
        return None
    actions = state.legal_actions()
    winning = [action for action in actions if wins.is_forced(state.child(action), ANY_TURNS)]
    if len(winning) > 0.5 * len(actions):
        return None
    if is_sign_trap:
        values = naive_values(state)
        if {action for action, value in values.items() if value == max(values.values())} & set(winning):
            return None
    return case_of(state, turns, winning, is_sign_trap)


def iter_xero_g(variant: str, random: Random) -> Iterator[XeroGState]:
    """Yield positions of random games in which bases are not entered where that can be helped."""
    while True:
        options = {"variant": variant, "setup": "random", "seed": random.randrange(2**32)}
        state: State = registry.load("xero-g", options).initial_state()
        for _ in range(12):
            assert isinstance(state, XeroGState)
            if state.is_terminal or can_enter(state):
                break
            yield state
            actions = state.legal_actions()
            quiet = [state.child(action) for action in random.sample(actions, min(5, len(actions)))]
            state = min(quiet, key=can_enter)


def can_enter(state: XeroGState) -> bool:
    return any(ship.targets & BASE_BIT for ship in state.ship_moves())


def wins_after(state: XeroGState) -> bool:
    """Whether the player who has just moved can enter a base in the next turn, whatever is answered."""
    if state.outcome is not None:
        return state.outcome.winner == 1 - state.mover
    return not can_enter(state) and all(_is_won_after(state.child(action)) for action in state.legal_actions())


def _is_won_after(answered: XeroGState) -> bool:
    return answered.outcome is None and can_enter(answered)


def xero_g_case(state: XeroGState) -> dict[str, object] | None:
    """The case that ``state`` makes; ``None`` when no win is forced in two turns, or too many actions force it."""
    actions = state.legal_actions()
    winning = [action for action in actions if wins_after(state.child(action))]
    return case_of(state, 2, winning, False) if 0 < len(winning) <= 0.2 * len(actions) else None


def case_of(state: State, turns: int, winning: list[int], is_sign_trap: bool) -> dict[str, object]:
    options = {name: value for name, value in state.game.options.items() if name not in ("setup", "seed")}
    return {
        "game": state.game.name,
        "options": {**options, "position": state.to_position()},
        "turns": turns,
        "is_sign_trap": is_sign_trap,
        "winning": [state.action_to_string(action) for action in winning],
    }


def print_virus_wars() -> None:
    for options, action_counts, wanted in (
        ({"rows": 4, "cols": 4, "steps": 2}, range(5, 13), {1: 5, 2: 5, 3: 5}),
        ({"rows": 4, "cols": 4, "steps": 3, "opening": "edges"}, range(4, 11), SIGN_TRAPS),
    ):
        missing, random = dict(wanted), Random(5)
        for state in iter_virus_wars(options, random, action_counts):
            case = virus_wars_case(state, wanted is SIGN_TRAPS)
            if case is not None and missing.get(case["turns"], 0) > 0:
                missing[case["turns"]] -= 1
                print(json.dumps(case), flush=True)
                if not any(missing.values()):
                    break


def print_xero_g() -> None:
    random = Random(7)
    for variant in ("xero-g", "gyges"):
        cases = (xero_g_case(state) for state in iter_xero_g(variant, random))
        for case in islice(filter(None, cases), CASES_PER_VARIANT):
            print(json.dumps(case), flush=True)


if __name__ == "__main__":
    print_virus_wars()
    print_xero_g()
