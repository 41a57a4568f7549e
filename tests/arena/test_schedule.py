from __future__ import annotations

from collections import Counter

from tabuleiro_server.arena.schedule import Entrant, Terms, iter_pairings

THREE = tuple(Entrant(name, level="random") for name in "abc")


def test_every_pair_plays_every_round_with_sides_swapped() -> None:
    terms = Terms("minefield", {"size": 5}, THREE, round_count=4, seed=1)
    pairings = list(iter_pairings(terms))
    assert [pairing.number for pairing in pairings] == list(range(1, terms.game_count + 1))
    sides = Counter(pairing.sides for pairing in pairings)
    assert sides == {(one, other): 2 for one in range(3) for other in range(3) if one != other}
    assert {pairing.sides for pairing in pairings[:3]} == {(0, 1), (0, 2), (1, 2)}
    assert {pairing.sides for pairing in pairings[3:6]} == {(1, 0), (2, 0), (2, 1)}


def test_all_chance_comes_from_the_seed() -> None:
    def seeds(seed: int) -> list[tuple[int, int]]:
        return [one.seeds for one in iter_pairings(Terms("iris", {}, THREE, round_count=3, seed=seed))]

    assert seeds(1) == seeds(1)
    assert seeds(1) != seeds(2)
    drawn = [number for both in seeds(1) for number in both]
    assert len(set(drawn)) == len(drawn)


def test_a_drawn_start_is_played_from_both_sides() -> None:
    terms = Terms("xero-g", {"setup": "random"}, THREE[:2], round_count=4, seed=1)
    starts = [pairing.options["seed"] for pairing in iter_pairings(terms)]
    assert starts[0] == starts[1] != starts[2] == starts[3]
