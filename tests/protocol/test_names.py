"""Names of guests."""

from __future__ import annotations

import unicodedata

import pytest

from tabuleiro.errors import NotationError
from tabuleiro.protocol.names import check_new_name, looks_of, name_key, parse_name

LEVELS = ("random", "easy", "medium", "minimax-1")


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


@pytest.mark.parametrize(
    "name",
    [
        "ana",
        "João_2",
        "Ωμέγα",
        "Паша-7",
        "田中太郎",
        "たなか太郎",
        "김민수",
        "アナ",
        "שרה",
        "robo-8123",
        "bot-51234",
        "easy-51234",
    ],
)
def test_a_new_name_of_one_script_is_allowed(name: str) -> None:
    check_new_name(parse_name(name), LEVELS)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("p\N{CYRILLIC SMALL LETTER A}vel", "one script, not Cyrillic and Latin"),
        ("\N{GREEK SMALL LETTER ALPHA}na", "one script, not Greek and Latin"),
        ("ana田中", "one script"),
        ("Пaшa", "one script"),
        ("\N{FULLWIDTH LATIN SMALL LETTER A}na", "plain letters, as in 'ana'"),
        ("\N{LATIN SMALL LIGATURE FI}n", "plain letters, as in 'fin'"),
        ("\N{MATHEMATICAL BOLD SMALL A}na", "plain letters"),
        ("\N{MODIFIER LETTER APOSTROPHE}\N{MODIFIER LETTER APOSTROPHE}", "stand for themselves"),
    ],
)
def test_a_new_name_that_mixes_or_disguises_letters_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        check_new_name(parse_name(name), LEVELS)


@pytest.mark.parametrize(
    "name",
    [
        *("server", "Admin", "SYSTEM", "null", "r00t", "admin2", "_server_", "h0st", "аdmin"),
        *("easy-bot", "random-bot", "easy-bot-2", "bot", "lucky-b0t", "Easy", "easy-1", "minimax-1", "rnedium"),
    ],
)
def test_names_of_the_server_and_its_bots_are_kept(name: str) -> None:
    with pytest.raises(NotationError, match=r"kept for server|one script"):
        check_new_name(parse_name(name), LEVELS)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("pabe", "раве"),
        ("scope", "ѕсоре"),
        ("PABE", "РАВЕ"),
        ("ana0", "anao"),
        ("Iris", "lris"),
        ("Iris", "1ris"),
        ("modern", "modem"),
        ("ANA", "ana"),
        ("AHA", "АНА"),
        ("TIM", "ΤΙΜ"),
        ("bob", "bοb"),
    ],
)
def test_names_that_look_alike_share_a_look(name: str, other: str) -> None:
    assert looks_of(name) & looks_of(other)


@pytest.mark.parametrize(
    ("name", "other"), [("ana", "ava"), ("Joao", "João"), ("iris", "lris"), ("Паша", "Маша"), ("ana-1", "ana_1")]
)
def test_names_that_differ_for_the_eye_share_none(name: str, other: str) -> None:
    assert not looks_of(name) & looks_of(other)
