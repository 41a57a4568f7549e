"""Text from elsewhere is harmless once its controls are stripped."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabuleiro.notation.plain_text import MAX_COMBINING_RUN, strip_controls


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ana", "Ana"),
        ("José Ñandú 王さん 🙂", "José Ñandú 王さん 🙂"),
        ("\x1b[2J\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;new title\x07name", "name"),
        ("\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x1bPdevice string\x1b\\after", "after"),
        ("\x1b]never ended", ""),
        ("\x1b(0line\x1b(B", "line"),
        ("\x1b", ""),
        ("\x1b\x1b[31m[31mnested", "[31mnested"),
        ("a\x00b\x07c\x7fd", "abcd"),
        ("two\r\nlines\tand\u2028more\u00a0", "two lines and more"),
        ("ab\u202edcb\u2066\u200bz\ufeff", "abdcbz"),
        ("\ud800x\ue000\u3164", "x"),
        ("e" + "\u0301" * 20 + "x", "e" + "\u0301" * MAX_COMBINING_RUN + "x"),
        (" \t ", ""),
    ],
)
def test_controls_go_and_letters_stay(text: str, expected: str) -> None:
    assert strip_controls(text) == expected


hostile = st.text(st.one_of(st.characters(), st.sampled_from("\x1b\x9b[]m;0\\\x07\u0301\u202e \n")), max_size=40)


@given(hostile)
def test_nothing_left_moves_a_cursor_or_hides(text: str) -> None:
    cleaned = strip_controls(text)
    categories = {unicodedata.category(character) for character in cleaned}
    assert not {category for category in categories if category.startswith("C")} | (categories & {"Zl", "Zp"})
    assert cleaned == " ".join(cleaned.split())
    assert strip_controls(cleaned) == cleaned
