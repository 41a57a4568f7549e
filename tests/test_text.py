"""Wording that every side uses: lengths of time, lists, counted things."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabuleiro.errors import NotationError
from tabuleiro.text import format_duration, format_elapsed, listed, parse_duration_ms, spell_duration


@given(st.integers(0, 14 * 86_400))
def test_short_durations_are_read_back(seconds: int) -> None:
    assert parse_duration_ms(format_duration(seconds * 1000)) == seconds * 1000
    assert parse_duration_ms(format_duration(seconds * 1000, has_days=False)) == seconds * 1000


@pytest.mark.parametrize("text", ["30s", "2m", "5h", "3d", "1m30s", "1d12h"])
def test_a_short_duration_is_written_as_it_was_typed(text: str) -> None:
    assert format_duration(parse_duration_ms(text)) == text


@pytest.mark.parametrize("text", ["", "s", "-5s", "5 weeks", "12345678s", "12345678", "30s 2m", "1.5h", "٣s"])
def test_other_texts_are_no_durations(text: str) -> None:
    with pytest.raises(NotationError, match="30s"):
        parse_duration_ms(text)


def test_a_bare_number_counts_the_unit_that_is_expected() -> None:
    assert (parse_duration_ms("90"), parse_duration_ms(" 5 ", 60_000)) == (90_000, 300_000)


def test_durations_in_words_name_every_unit_and_drop_parts_of_a_second() -> None:
    assert spell_duration(93_784_999) == "1 day 2 hours 3 minutes 4 seconds"
    assert spell_duration(0) == "0 seconds"


def test_a_stopwatch_shows_hours_only_after_the_first() -> None:
    assert [format_elapsed(ms) for ms in (3_599_999, 3_600_000)] == ["59:59", "1:00:00"]


def test_a_list_of_one_is_that_one() -> None:
    assert (listed(["b"]), listed(["a", "b"], "or")) == ("b", "a or b")
