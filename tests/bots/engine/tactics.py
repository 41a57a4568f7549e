"""Positions of Iris and Minefield with a win that can be forced in one to three turns, by exhaustive search.

``python -m tests.bots.engine.tactics > tests/data/tactics.jsonl`` makes the file that the tests read, in some
minutes. Each line names a game, its options with the position, the number of ``turns`` in which the player to
move can force a win, and ``winning``: all turns that keep a win forced, however long it takes. ``is_sign_trap``
marks positions where a search that takes every action for a change of sides chooses a turn not among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from tabuleiro.ids import Player
from tabuleiro.rules import State, registry
from tabuleiro.rules.games.iris import IrisState
from tabuleiro.rules.games.minefield import MinefieldState
from tabuleiro.rules.games.minefield.connection import connection_distance

MAX_TURNS = 3
MANY_TURNS = 12
"""More than the turns that one player can still make in the positions looked at."""
CASES_PER_LENGTH = 6


class ForcedWins:
    """Exhaustive search for wins of ``player``."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._known: dict[tuple[object, int], bool] = {}

    def is_forced(self, state: State, turns: int) -> bool:
        """Return True if the player can force a win with ``turns`` turns begun from here on.

        In Minefield every stone counts as a turn, also one after the opponent was skipped.
        """
        if state.outcome is not None:
            return state.outcome.winner == self._player
        key = (state.key(), turns)
        if key not in self._known:
            self._known[key] = self._search(state, turns)
        return self._known[key]

    def _search(self, state: State, turns: int) -> bool:
        if isinstance(state, MinefieldState):
            distance = connection_distance(state.game.board, state.stones, self._player)
            if distance is None or distance > turns:
                return False
        if state.to_move != self._player:
            return all(self.is_forced(state.child(action), turns) for action in state.legal_actions())
        if isinstance(state, MinefieldState) or state.actions_in_turn == 0:
            turns -= 1
        return turns >= 0 and any(self.is_forced(state.child(action), turns) for action in state.legal_actions())


def iter_turns(state: State) -> Iterator[tuple[tuple[int, ...], State]]:
    """Yield every turn of the mover as its actions and the state after it."""
    unfinished: list[tuple[tuple[int, ...], State]] = [((), state)]
    while unfinished:
        actions, later = unfinished.pop()
        if actions and (later.to_move, later.turn_number) != (state.to_move, state.turn_number):
            yield actions, later
            continue
        if actions and later.is_terminal:
            yield actions, later
            continue
        unfinished += [((*actions, action), later.child(action)) for action in later.legal_actions()]


def naive_values(state: State) -> dict[int, int]:
    """Return the value of the actions to a negamax that flips the sign at every action: -1, 0 or 1."""
    known: dict[object, int] = {}

    def value(later: State, mover: Player) -> int:
        if later.outcome is not None:
            winner = later.outcome.winner
            return 0 if winner is None else 1 if winner == mover else -1
        key = (later.key(), mover)
        if key not in known:
            other: Player = 1 if mover == 0 else 0
            known[key] = max(-value(later.child(action), other) for action in later.legal_actions())
        return known[key]

    assert state.to_move is not None
    other: Player = 1 if state.to_move == 0 else 0
    return {action: -value(state.child(action), other) for action in state.legal_actions()}


def random_states(name: str, options: dict[str, int | str], random: Random, late: range) -> Iterator[State]:
    """Yield a position of each of endlessly many random games; ``late`` are the numbers of cells left empty."""
    game = registry.load(name, options)
    while True:
        state = game.initial_state()
        left = random.choice(late)
        while not state.is_terminal and (state.actions_in_turn > 0 or empty_count(state) > left):
            actions = list(state.legal_actions())
            if isinstance(state, IrisState) and state.can_pass:
                actions.pop()
            state = state.child(random.choice(actions))
        if isinstance(state, IrisState) and state.can_pass and random.random() < 0.4:
            # After a pass there is more to see: another one ends the game.
            state = state.child(state.game.pass_action)
        if not state.is_terminal:
            yield state


def empty_count(state: State) -> int:
    """Return the number of empty cells."""
    return state.to_position().split()[0].count(".")


def case_of(state: State, is_sign_trap: bool) -> dict[str, object] | None:
    """Return the case for ``state``; ``None`` when no win is forced, or too many turns keep it."""
    assert state.to_move is not None
    wins = ForcedWins(state.to_move)
    turns = next((turns for turns in range(1, MAX_TURNS + 1) if wins.is_forced(state, turns)), None)
    if turns is None:
        return None
    every = list(iter_turns(state))
    # Most positions fail here already, at less cost than with the wins that take longer.
    for longest in (turns - 1, MANY_TURNS):
        winning = [actions for actions, later in every if wins.is_forced(later, longest)]
        if len(winning) > 0.3 * len(every):
            return None
    if is_sign_trap:
        values = naive_values(state)
        naive = {action for action, value in values.items() if value == max(values.values())}
        if naive & {actions[0] for actions in winning}:
            return None
    return {
        "game": state.game.name,
        "options": {**state.game.options, "position": state.to_position()},
        "turns": turns,
        "is_sign_trap": is_sign_trap,
        "winning": [texts_of(state, actions) for actions in winning],
    }


def texts_of(state: State, actions: tuple[int, ...]) -> str:
    """Return the canonical texts of ``actions``, separated by spaces."""
    texts = []
    for action in actions:
        texts.append(state.action_to_string(action))
        state = state.child(action)
    return " ".join(texts)


def main() -> None:
    """Write the cases to standard output."""
    random = Random(2024)
    sources = (
        ("iris", {"side": 5}, range(3, 10), False, (1, 2, 3)),
        ("minefield", {"size": 6}, range(7, 13), False, (1, 2, 3)),
        # A win in one turn is no trap: its two actions flip the sign twice.
        ("iris", {"side": 5}, range(3, 9), True, (2, 3)),
    )
    for name, options, late, is_sign_trap, lengths in sources:
        missing = dict.fromkeys(lengths, CASES_PER_LENGTH)
        for state in random_states(name, options, random, late):
            case = case_of(state, is_sign_trap)
            if case is not None and missing.get(case["turns"], 0) > 0:
                missing[case["turns"]] -= 1
                print(json.dumps(case), flush=True)
                if not any(missing.values()):
                    break


if __name__ == "__main__":
    main()
