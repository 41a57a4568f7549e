"""The shuffle that random setups rest on: the same for ever, and fair enough."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from tabuleiro.rules.games.xero_g import iter_splitmix64, shuffled


def test_the_generator_gives_the_published_numbers() -> None:
    assert list(islice(iter_splitmix64(1234567), 3)) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


@given(seed=st.integers(0, 2**64 - 1), items=st.lists(st.integers(), max_size=8))
def test_a_shuffle_keeps_the_items_and_repeats_itself(seed: int, items: list[int]) -> None:
    order = shuffled(items, iter_splitmix64(seed))
    assert sorted(order) == sorted(items)
    assert order == shuffled(items, iter_splitmix64(seed))


def test_every_order_comes_about_as_often() -> None:
    counts = Counter(shuffled("abc", iter_splitmix64(seed)) for seed in range(6000))
    assert len(counts) == 6
    assert all(800 < count < 1200 for count in counts.values())
