"""Xero-G played at random: what always holds, and whether a naive version of the rules agrees."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.rules import registry
from tabuleiro.rules.board import COLUMN_LETTERS
from tabuleiro.rules.games.xero_g import XeroGState
from tests.bench.naive_xero_g import NaiveXeroG

variants = st.sampled_from(["xero-g", "gyges"])


def random_state(variant: str, random: Random, plies_count: int) -> XeroGState:
    """Return a position after at most so many random moves from a random setup, the game not being over."""
    seed = random.randrange(2**32)
    state = registry.load("xero-g", {"variant": variant, "setup": "random", "seed": seed}).initial_state()
    assert isinstance(state, XeroGState)
    for _ in range(plies_count):
        following = state.child(random.choice(state.legal_actions()))
        if following.is_terminal:
            break
        state = following
    return state


states = st.builds(random_state, variants, st.randoms(use_true_random=False), st.integers(0, 60))


def ships_of(state: XeroGState) -> dict[str, int]:
    """Return the values by the names of the squares, read from the position text."""
    rows = state.to_position().split()[0].split("/")
    return {
        f"{column}{row}": int(digit)
        for row, digits in enumerate(rows, start=1)
        for column, digit in zip(COLUMN_LETTERS, digits, strict=False)
        if digit != "0"
    }


def is_step(here: str, there: str, mover: int) -> bool:
    """Return True if two names are neighbours, or the base is straight ahead."""
    if there == "base":
        return here[1] == ("1" if mover else "6")
    columns = abs(ord(here[0]) - ord(there[0]))
    return columns + abs(int(here[1]) - int(there[1])) == 1


@settings(max_examples=15)
@given(variant=variants, random=st.randoms(use_true_random=False))
def test_there_are_twelve_ships_from_the_end_of_the_setup(variant: str, random: Random) -> None:
    state = registry.load("xero-g", {"variant": variant}).initial_state()
    for count in range(12):
        assert isinstance(state, XeroGState)
        assert state.is_setup
        assert len(ships_of(state)) == count
        state = state.child(random.choice(state.legal_actions()))
    for _ in range(200):
        assert isinstance(state, XeroGState)
        values = [*ships_of(state).values(), state.base_ship]
        assert sorted(values) == [0] * (not state.base_ship) + [1] * 4 + [2] * 4 + [3] * 4
        if state.is_terminal:
            break
        state = state.child(random.choice(state.legal_actions()))


@settings(max_examples=40)
@given(state=states)
def test_every_route_is_legal_step_by_step_and_shortest(state: XeroGState) -> None:
    assert state.to_move is not None
    ships = ships_of(state)
    naive = NaiveXeroG(str(state.game.options["variant"]), state.to_position())
    shortest = {
        (start, target): steps
        for start in {state.route(action)[0] for action in state.legal_actions()}
        for target, steps in named_targets(naive, start).items()
    }
    seen = set()
    for action in state.legal_actions():
        text, route = state.action_to_string(action), state.route(action)
        start, target = route[0], route[-1]
        assert text.split("@")[0] in (f"{start}-{target}", f"{start}x{target}")
        if (start, target) in seen:
            continue
        seen.add((start, target))
        assert len(route) - 1 == shortest[start, target]
        edges = [frozenset(step) for step in pairwise(route)]
        assert len(set(edges)) == len(edges)
        assert all(is_step(here, there, state.to_move) for here, there in pairwise(route))
        others = {name: value for name, value in ships.items() if name != start}
        steps_left = ships[start]
        for name in route[1:-1]:
            steps_left -= 1
            assert steps_left >= 0
            assert (name in others) == (steps_left == 0)
            steps_left = steps_left or others[name]
        assert steps_left == 1
    assert seen == set(shortest)


def named_targets(naive: NaiveXeroG, start: str) -> dict[str, int]:
    """Return the least number of steps by the name of the target."""
    square = (COLUMN_LETTERS.index(start[0]), int(start[1]) - 1)
    return {
        f"{COLUMN_LETTERS[column]}{row + 1}" if 0 <= row < 6 else "base": steps
        for (column, row), steps in naive.targets(square).items()
    }


@settings(max_examples=20)
@given(state=states)
def test_landings_hold_exactly_the_legal_actions(state: XeroGState) -> None:
    actions: list[int] = []
    for square in range(36):
        for landing in state.landings_of(square):
            assert (landing.action is None) == bool(landing.drops)
            numbers = [number for _, number in landing.drops] if landing.action is None else [landing.action]
            assert all(state.route(number)[-1] == landing.name for number in numbers[:1])
            actions += numbers
    assert tuple(actions) == state.legal_actions()


@settings(max_examples=20)
@given(state=states)
def test_boosts_lead_to_all_that_the_first_run_does_not(state: XeroGState) -> None:
    for square in range(36):
        landings = state.landings_of(square)
        boosted: set[int] = set()
        for landing in landings:
            onward = state.boost_targets(square, landing.target)
            assert list(onward) == sorted(onward)
            assert not onward or landing.drops
            assert landing.target not in onward
            boosted.update(onward)
        assert boosted <= {landing.target for landing in landings}
        value = state.ships[square]
        for landing in landings:
            number = landing.action if landing.action is not None else landing.drops[0][1]
            if len(state.route(number)) - 1 > value:
                assert landing.target in boosted


@settings(max_examples=25)
@given(variant=variants, random=st.randoms(use_true_random=False), length=st.integers(12, 120))
def test_the_naive_version_agrees(variant: str, random: Random, length: int) -> None:
    state, naive = registry.load("xero-g", {"variant": variant}).initial_state(), NaiveXeroG(variant)
    for _ in range(length):
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        assert texts == naive.legal_texts()
        assert state.legal_count() == len(texts)
        assert state.to_move == naive.to_move
        if state.is_terminal:
            assert state.outcome is not None
            assert state.outcome.winner == naive.winner
            break
        text = random.choice(texts)
        state, naive = state.apply(state.string_to_action(text)), naive.child(text)


@settings(max_examples=60)
@given(variant=variants, squares=st.permutations(range(36)), mover=st.sampled_from([0, 1]), crowded=st.booleans())
def test_the_naive_version_agrees_on_any_position(
    variant: str, squares: list[int], mover: int, crowded: bool
) -> None:
    digits = ["0"] * 36
    chosen = [square for square in squares if square % 6 < 4 and square < 24] if crowded else squares
    for square, digit in zip(chosen, "111122223333", strict=False):
        digits[square] = digit
    rows = ("".join(digits[first : first + 6]) for first in range(0, 36, 6))
    position = f"{'/'.join(rows)} {mover}"
    state = registry.load("xero-g", {"variant": variant, "position": position}).initial_state()
    texts = [state.action_to_string(action) for action in state.legal_actions()]
    assert texts == NaiveXeroG(variant, position).legal_texts()
