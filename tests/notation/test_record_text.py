"""Texts of records as others write them: headers, comments, results, numbers, and several records in one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import RecordError
from tabuleiro.notation.record import MatchRecord
from tabuleiro.notation.record_text import ACTIONS_MAX_COUNT, RECORDS_MAX_COUNT, parse_record, split_records
from tabuleiro.rules import Outcome, Termination, registry

MINEFIELD = registry.load("minefield", {"size": 7})
HEADER = '[Game "minefield"]\n[Option "size=7"]\n'


def actions(text: str) -> tuple[str, ...]:
    return parse_record(text, MINEFIELD).actions


@pytest.mark.parametrize(
    "text",
    [
        "c3 d4 e5",
        "c3, d4,e5",
        "c3\nd4\n\ne5\n",
        "C3 D4 E5 *",
        "(3,3) [4, 4] 5-5",
        "1. c3 d4 2. e5",
        "1.c3 d4 2.e5",
        "1. c3\n1... d4\n2. e5",
        "1. c3 1... d4 2. e5 *",
        "1. c3\n2. d4\n3. e5",
        "1. c3\n2.\nd4\n3. e5",
        "c3! d4?! e5 $14",
        "1. c3 { good } d4 {a comment\nof two lines} 2. e5",
        "1. c3 {good}d4{} 2. e5 ; the end }",
        "# a line\n1. c3 d4\n% another\n2. e5",
        "1. c3 (1. a1 {worse} (1. b1; or\n) ) d4 2. e5",
        "c3 ( a1 (3,3) ) (4,4) e5",
        "[3, 3] d4 e5",
        "1. c3 ... d4 2. e5",
    ],
)
def test_the_same_actions_in_every_way_to_write_them(text: str) -> None:
    assert actions(text) == ("c3", "d4", "e5")
    assert actions(HEADER + text) == ("c3", "d4", "e5")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("1. c3 d4 2. zz", (1, 13), "'zz': expected a cell from a1 to g7"),
        ("1. c3 d4 3. e5", (1, 10), "'3.': expected round 2"),
        ("1. c3 d4 e5", (1, 10), "both have had their turns in round 1"),
        ("1. c3\n2. d4 e5", (2, 7), "'e5': the turn has ended before this action"),
        ("2. c3", (1, 1), "'2.': expected turn 1"),
        ("1. c3 2.", (1, 7), "'2.': expected the actions of the turn after its number"),
        ("c3 {good", (1, 4), "'{': this comment has no end"),
        ("c3 (d4\n(e5)", (1, 4), "'(': this variation has no end"),
        ("c3 good}", (1, 4), "'good}': expected a cell"),
        ("c3 c3", (1, 4), "c3"),
    ],
)
def test_the_first_wrong_text_of_a_list_is_named(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(RecordError) as caught:
        actions(text)
    assert (caught.value.line, caught.value.column) == place, str(caught.value)
    assert message in str(caught.value)


def test_rounds_of_many_actions_are_read() -> None:
    text = (
        '[Game "virus-wars"]\n[Option "rows=5"]\n[Option "cols=5"]\n[Option "steps=2"]\n1. a4 b4 e2 d2\n2. b3 c3'
    )
    assert parse_record(text).actions == ("a4", "b4", "e2", "d2", "b3", "c3")
    with pytest.raises(RecordError, match=r"line 6, column 1: '2.': expected round 1"):
        parse_record(text.replace("e2 d2", "e2"))


def test_headers_of_other_programs_are_passed_over_and_theirs_for_players_read() -> None:
    text = (
        '[Event "club"] [Site "?"]\n[Date "2026.11.27"]\n[Round "1"]\n[Black "Ana"]\n[White "Rui"]\n'
        '[Result "0-1"]\n[Annotator "C:\\dir"]\n[TimeControl "-"]\n' + HEADER + "\n1. c3 d4 0-1\n"
    )
    record = parse_record(text)
    assert [player.name for player in record.players] == ["Ana", "Rui"]
    assert record.outcome == Outcome(1, Termination.RESIGNATION)
    assert record.time_control == "none"
    virus_wars = parse_record('[Game "Virus Wars"]\n[White "Ana"]\n[Black "Rui"]\n')
    assert [player.name for player in virus_wars.players] == ["Ana", "Rui"]
    assert parse_record('[Game "iris"]\n[White "Ana"]\n[Player1 "Eva"]').players[1].name == "Eva"


def test_gyges_names_a_variant() -> None:
    for name in ("Gygès", "gyges", "GYGES"):
        record = parse_record(
            f'[Game "{name}"]\n[Option "position=321123/000000/000000/000000/000000/321123"]\n1. 0|1|9'
        )
        assert (record.game, record.options["variant"], record.actions) == ("xero-g", "gyges", ("a1xb1@d2",))


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        ("*", None),
        ("", None),
        ("1-0", Outcome(0, Termination.RESIGNATION)),
        ("0 - 1", Outcome(1, Termination.RESIGNATION)),
        ("1/2-1/2", Outcome(None, Termination.AGREEMENT)),
        ("1-0\n1-0", Outcome(0, Termination.RESIGNATION)),
    ],
)
def test_a_result_after_the_last_turn_is_read(ending: str, outcome: Outcome | None) -> None:
    assert parse_record(f"c3 d4 {ending}", MINEFIELD).outcome == outcome


@pytest.mark.parametrize(
    ("headers", "outcome"),
    [
        ('[Result "1-0"]', Outcome(0, Termination.RESIGNATION)),
        ('[Result "1-0"]\n[Termination "Normal"]', Outcome(0, Termination.RESIGNATION)),
        ('[Result "1-0"]\n[Termination "time forfeit"]', Outcome(0, Termination.TIMEOUT)),
        ('[Result "*"]\n[Termination "unterminated"]', None),
        ('[Result "?"]', None),
        ('[Result "0-1"]\n[Termination "abandoned"]', Outcome(1, Termination.ABANDONED)),
    ],
)
def test_the_end_of_a_match_in_the_words_of_others(headers: str, outcome: Outcome | None) -> None:
    assert parse_record(f"{HEADER}{headers}\n1. c3 d4").outcome == outcome


def test_a_result_that_the_headers_contradict_is_refused() -> None:
    with pytest.raises(RecordError, match=r"line 4, column 7: '0-1': expected the result of the headers, 1-0"):
        parse_record(f'{HEADER}[Result "1-0"]\n1. c3 0-1')


def test_the_end_by_the_rules_stands_whatever_the_result_says_of_it() -> None:
    won = "\n".join(f"{2 * row - 1}. c{row}\n{2 * row}. {cell}" for row, cell in enumerate(("a1", "a3", "e5"), 1))
    text = f'{HEADER}[Option "rules=beginner"]\n'.replace("size=7", "size=5") + won + "\n7. c4\n8. e1\n9. c5"
    for ending in ("", " 1-0"):
        assert parse_record(text + ending).outcome == Outcome(0, Termination.CONNECTION)
    for ending in (" 0-1", " *", " 1/2-1/2"):
        with pytest.raises(RecordError, match="by the rules the game ends here"):
            parse_record(text + ending)


def read(text: str) -> list[MatchRecord]:
    return [record.read(MINEFIELD) for record in split_records(text)]


@pytest.mark.parametrize(
    "text",
    [
        "c3 d4 1-0 e5 f6",
        "c3 d4 *\ne5 f6\n",
        f"{HEADER}1. c3\n2. d4\n\n{HEADER}1. e5\n2. f6\n",
        f'[Event "a"]\n{HEADER}\n1. c3 d4 1-0\n\n[Event "b"]\n{HEADER}\n1. e5 f6 *\n',
        f"{HEADER}1. c3 d4\n{HEADER}1. e5 f6",
    ],
)
def test_several_records_in_a_text_are_told_apart(text: str) -> None:
    assert [record.actions for record in read(text)] == [("c3", "d4"), ("e5", "f6")]
    with pytest.raises(RecordError, match="expected one record, and this is the second of 2"):
        parse_record(text, MINEFIELD)


def test_records_without_turns_are_told_apart_by_their_headers() -> None:
    assert [record.game for record in read('[Game "iris"]\n\n[Game "minefield"]\n')] == ["iris", "minefield"]
    with pytest.raises(RecordError, match="this header is there already"):
        read('[Game "iris"]\n[Game "minefield"]\n')


def test_a_record_names_its_game_or_is_of_the_game_given() -> None:
    named, bare = split_records(f"{HEADER}1. c3 *\n1. c3")
    assert (named.names_game, bare.names_game) == (True, False)
    assert bare.read(MINEFIELD).options == MINEFIELD.options
    assert parse_record('[Option "rules=beginner"]\n1. c3', MINEFIELD).options["rules"] == "beginner"
    with pytest.raises(RecordError, match="expected a header that names the game"):
        bare.read()


def test_too_much_is_refused_soon() -> None:
    with pytest.raises(RecordError, match=f"at most {ACTIONS_MAX_COUNT} actions"):
        actions("pass " * (ACTIONS_MAX_COUNT + 1))
    with pytest.raises(RecordError, match="lines of turns"):
        actions("c3\n" * 4 * ACTIONS_MAX_COUNT + "c3\n")
    with pytest.raises(RecordError, match=f"at most {RECORDS_MAX_COUNT} records"):
        actions("c3 *\n" * (RECORDS_MAX_COUNT + 1))


def found(text: str) -> str:
    """Return the error in a text, or nothing."""
    try:
        parse_record(text, MINEFIELD)
    except RecordError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "unit", ["{", "}", "(", ")", "[", "[a", '[a "', "[1", "1. ", "1.", "* ", "1-0", ";", "a-", "-"]
)
def test_a_hostile_text_is_read_or_refused_at_once(unit: str) -> None:
    for text in (unit * 30_000, f"{unit}\n" * 20_000):
        assert len(found(text)) < 300


WORDS = st.sampled_from(
    [
        "c3",
        "d4",
        "(3,4)",
        "[5, 5]",
        "1.",
        "2.",
        "*",
        "1-0",
        "0-1",
        "{",
        "}",
        "(",
        ")",
        ";",
        "\n",
        "#",
        "$1",
        "!",
        HEADER,
        '[Event "x"]\n',
        '[Result "1-0"]\n',
        '[Termination "normal"]\n',
        "-",
        ",",
        '"',
        "\\",
        "a1-b2-c3",
    ]
)


@settings(max_examples=300)
@given(text=st.lists(WORDS | st.text(max_size=3), max_size=25).map(" ".join))
def test_any_text_is_records_or_an_error_that_names_its_place(text: str) -> None:
    lines, error = text.split("\n"), None
    try:
        for record in split_records(text):
            record.read(MINEFIELD)
    except RecordError as caught:
        error = caught
    if error is not None:
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
        assert len(str(error)) < 300
        assert "\n" not in str(error)
