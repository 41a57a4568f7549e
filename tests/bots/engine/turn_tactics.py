"""Positions of Virus Wars and Xero-G with a win forced in one to three turns, found by exhaustive search.

``python -m tests.bots.engine.turn_tactics > tests/data/turn_tactics.jsonl`` makes the file that the tests read, in
some minutes. Its lines are like those of ``tactics.py``, but that ``winning`` holds the first actions after which
the rest of the turn can keep a win forced: however long it takes in Virus Wars, in ``turns`` turns in Xero-G. A
sign trap is a position where a search that takes every action for a change of sides begins with another one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from random import Random

from tabuleiro.ids import Player
from tabuleiro.rules import State, registry
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g.moves import BASE_BIT

ANY_TURNS = None
SIGN_TRAPS = {1: 9, 2: 2}
"""How many of them are wanted, by the turns to the win."""
CASES_PER_VARIANT = 6
MOST_POSITIONS = {1: 100, 2: sys.maxsize, 3: 15_000}
"""How many are looked at to find out whether a win is forced in Xero-G, by the turns to the win."""


class ForcedWins:
    """Exhaustive search for wins of ``player`` in Virus Wars."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._known: dict[tuple[object, int | None], bool] = {}

    def is_forced(self, state: VirusWarsState, turns: int | None) -> bool:
        """Return True if the player can force a win with ``turns`` turns from here on; ``None``: any number."""
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
    """Return the value of the actions to a negamax that flips the sign at every action: -1 or 1."""
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
    """Return the most actions that can follow: each takes an empty cell or a virus."""
    return sum(state.to_position().split()[0].count(piece) for piece in ".xo")


def virus_wars_case(state: VirusWarsState, is_sign_trap: bool) -> dict[str, object] | None:
    """Return the case for ``state``; ``None`` when no win is forced, or too many actions keep it."""
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


class XeroGWins:
    """Exhaustive search for wins in Xero-G that looks at ``most_positions`` positions at most.

    Raises: TooManyPositionsError where it takes more.
    """

    def __init__(self, most_positions: int) -> None:
        self._left = most_positions
        self._known: dict[tuple[object, int], bool] = {}
        self._refutations: dict[int, list[int]] = {}

    def is_forced(self, state: XeroGState, turns: int) -> bool:
        """Return True if the player to move can enter a base within ``turns`` turns of theirs, 1 at least."""
        key = (state.key(), turns)
        if key not in self._known:
            self._known[key] = state.outcome is None and (
                self._can_enter(state)
                or (
                    turns > 1
                    and any(self.is_forced_after(state.child(a), turns - 1) for a in state.legal_actions())
                )
            )
        return self._known[key]

    def is_forced_after(self, state: XeroGState, turns: int) -> bool:
        """Return the same for the player who has just moved."""
        if state.outcome is not None:
            return state.outcome.winner == 1 - state.mover
        if self._can_enter(state):
            return False
        actions, refutations = state.legal_actions(), self._refutations.setdefault(turns, [])
        # What saved the opponent elsewhere often saves them here: nothing is left out, it is only looked at first.
        for action in (*(each for each in refutations if each in set(actions)), *actions):
            if not self.is_forced(state.child(action), turns):
                refutations[:] = [action, *(each for each in refutations if each != action)][:4]
                return False
        return True

    def _can_enter(self, state: XeroGState) -> bool:
        self._left -= 1
        if self._left < 0:
            raise TooManyPositionsError
        return can_enter(state)


class TooManyPositionsError(Exception):
    """A position would take too long to look at."""


def xero_g_case(state: XeroGState, turns: int, most_positions: int, share: float) -> dict[str, object] | None:
    """Return the case for ``state``; ``None`` when no win is forced in exactly ``turns`` turns.

    Return ``None`` too if the proof takes too long, or if more than ``share`` of the actions force the win.
    """
    wins, actions = XeroGWins(most_positions), state.legal_actions()
    try:
        if (turns > 1 and wins.is_forced(state, turns - 1)) or not wins.is_forced(state, turns):
            return None
    except TooManyPositionsError:
        return None
    wins = XeroGWins(sys.maxsize)
    winning = [action for action in actions if is_winning(wins, state.child(action), turns)]
    return case_of(state, turns, winning, False) if len(winning) <= share * len(actions) else None


def is_winning(wins: XeroGWins, later: XeroGState, turns: int) -> bool:
    """Return True if the action that led to ``later`` begins a win in ``turns`` turns."""
    if later.outcome is not None or turns == 1:
        return later.outcome is not None and later.outcome.winner == 1 - later.mover
    return wins.is_forced_after(later, turns - 1)


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


def iter_enterable(variant: str, random: Random) -> Iterator[XeroGState]:
    """Yield positions that a careless action leads to from those of :func:`iter_xero_g`: a base can be entered."""
    for state in iter_xero_g(variant, random):
        later = state.child(random.choice(state.legal_actions()))
        if later.outcome is None and can_enter(later):
            yield later


def print_xero_g() -> None:
    random = Random(7)
    for turns, iter_states, most_actions, share in (
        (2, iter_xero_g, sys.maxsize, 0.2),
        (1, iter_enterable, sys.maxsize, 0.2),
        # With more actions, looking at all that can happen in three turns takes hours.
        (3, iter_xero_g, 60, 0.5),
    ):
        for variant in ("xero-g", "gyges"):
            states = (
                state for state in iter_states(variant, random) if len(state.legal_actions()) <= most_actions
            )
            cases = (xero_g_case(state, turns, MOST_POSITIONS[turns], share) for state in states)
            for case in islice(filter(None, cases), CASES_PER_VARIANT):
                print(json.dumps(case), flush=True)


if __name__ == "__main__":
    print_virus_wars()
    print_xero_g()
