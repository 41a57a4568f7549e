"""Names of guests."""

from __future__ import annotations

import unicodedata

import pytest

from tabuleiro.errors import NotationError
from tabuleiro.protocol.names import name_key, parse_name


@pytest.mark.parametrize("text", ["ana", "João", "x-1_2", "a" * 20, "  rui  ", "Ωμέγα"])
def test_good_names(text: str) -> None:
    assert parse_name(text) == text.strip()


@pytest.mark.parametrize(
    "text",
    ["", "a", "a" * 21, "a b", "a\x1b[1m", "ana\u202e", "ana!", "bot/1", "a\n", "an\u3164a", "\u115f\u1160"],
)
def test_bad_names_are_refused_with_the_rule(text: str) -> None:
    with pytest.raises(NotationError, match="2 to 20 letters"):
        parse_name(text)


def test_names_that_differ_only_in_case_or_composition_are_one() -> None:
    assert name_key("JOÃO") == name_key(unicodedata.normalize("NFD", "joão"))
