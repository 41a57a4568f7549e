"""Records: written, read, written again; and every wrong text named by its place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.descriptors import ChoiceSetting, NumberSetting
from tabuleiro.errors import GameOptionError, IllegalActionError, NotationError, RecordError
from tabuleiro.ids import TimestampMs
from tabuleiro.notation.record import (
    MatchRecord,
    RecordPlayer,
    RecordTurn,
    format_timestamp,
    outcome_problem,
    parse_timestamp,
    replay,
    turns,
)
from tabuleiro.notation.record_text import format_record, parse_record
from tabuleiro.rules import Game, Outcome, Termination, registry
from tabuleiro.rules.base import RULE_TERMINATIONS

SMALL = """\
[Game "virus-wars"]
[Option "rows=5"]
[Option "cols=5"]
[Option "steps=3"]
[Option "first_turn_steps=1"]
[Option "opening=corners"]
[Player0 "Ana"]
[Player1 "computer"]
[Bot1 "minimax-3"]
[Started "2026-11-27T20:15:00.000Z"]
[Ended "?"]
[Result "*"]
[Termination "unfinished"]
[TimeControl "none"]

1. b4
2. d2 c3 b4
3. b5 a4
"""


def random_game(draw: st.DrawFn, name: str) -> Game:
    """Return a game with any options that fit each other."""
    options: dict[str, Any] = {}
    for spec in registry.game_type(name).option_specs:
        if isinstance(spec, NumberSetting) and draw(st.booleans()):
            options[spec.key] = draw(st.integers(spec.low, min(spec.high, spec.low + 6)))
        elif isinstance(spec, ChoiceSetting):
            options[spec.key] = draw(st.sampled_from(spec.choices))
    try:
        game = registry.load(name, options)
        if draw(st.booleans()):
            return registry.load(name, {**options, "position": game.initial_state().to_position()})
        return game
    except GameOptionError:
        return registry.load(name)


def random_outcome(draw: st.DrawFn, by_rules: Outcome | None) -> Outcome | None:
    """Draw an end of a match whose last state has the outcome ``by_rules``."""
    if by_rules is not None:
        return by_rules
    termination = draw(st.none() | st.sampled_from(sorted(set(Termination) - RULE_TERMINATIONS)))
    if termination is None or termination is Termination.ABORTED:
        return None if termination is None else Outcome(None, termination)
    return Outcome(draw(st.sampled_from((0, 1, None))), termination)


moments = st.none() | st.integers(-(10**12), 10**14).map(TimestampMs)
names = st.text(st.characters(), max_size=20) | st.sampled_from(
    [
        "Ana",
        '"',
        '\\"]',
        "a\nb",
        "\u2028",
        "\x1b[31m",
        "\u202e",
        "]",
        '[Game "x"]',
        "# no comment",
        "",
        "\ud83d",
        "é",
    ]
)


@st.composite
def records(draw: st.DrawFn, name: str) -> MatchRecord:
    game = random_game(draw, name)
    random, length = draw(st.randoms(use_true_random=False)), draw(st.sampled_from((0, 1, 7, 40, 400)))
    state, actions = game.initial_state(), []
    while len(actions) < length and not state.is_terminal:
        action = random.choice(state.legal_actions())
        actions.append(state.action_to_string(action))
        state = state.child(action)
    players = st.builds(RecordPlayer, names, st.none() | st.sampled_from(("random", "minimax-3")) | names)
    return MatchRecord(
        game=name,
        options=game.options,
        players=(draw(players), draw(players)),
        actions=tuple(actions),
        outcome=random_outcome(draw, state.outcome),
        started_at_ms=draw(moments),
        ended_at_ms=draw(moments),
        time_control=draw(st.sampled_from(("none", "5+3", "1m/turn"))),
    )


def has_lone_surrogate(record: MatchRecord) -> bool:
    texts = [player.name + (player.bot or "") for player in record.players]
    return any(0xD800 <= ord(letter) <= 0xDFFF for text in texts for letter in text)


@pytest.mark.parametrize("name", registry.names())
@settings(max_examples=40)
@given(data=st.data())
def test_writing_reading_and_writing_again_changes_nothing(name: str, data: st.DataObject) -> None:
    record = data.draw(records(name))
    text = format_record(record)
    read = parse_record(text)
    assert format_record(read) == text
    assert has_lone_surrogate(record) or read == record
    assert text.encode("utf-8").decode("utf-8") == text
    assert all(line.isprintable() for line in text.split("\n"))


def test_the_text_is_what_people_read() -> None:
    record = parse_record(SMALL)
    assert format_record(record) == SMALL
    assert record == MatchRecord(
        game="virus-wars",
        options={"rows": 5, "cols": 5, "steps": 3, "first_turn_steps": 1, "opening": "corners"},
        players=(RecordPlayer("Ana"), RecordPlayer("computer", "minimax-3")),
        actions=("b4", "d2", "c3", "b4", "b5", "a4"),
        started_at_ms=TimestampMs(1795810500000),
    )


def test_a_sloppy_text_is_read_and_written_canonically() -> None:
    sloppy = """\ufeff
        # a comment
        [ game   "virus-wars" ]
        [OPTION "steps = 3"]
        [Option "ROWS=5"]
        [Option "opening=Corners"]
        [Option "cols=5"]
        [option "first_turn_steps=1"]
        [Player0 "Ana"]
        [Player1 "computer"] \t
        [Bot1 "minimax-3"]
        [Started "2026-11-27 21:15:00+01:00"]
        1. (4,2)
        # another
        2.d2,C3
        2. 4-2

        3.  b5 [4, 1]
    """
    assert format_record(parse_record(sloppy)) == SMALL
    assert format_record(parse_record(sloppy.replace("\n", "\r\n"))) == SMALL


def test_the_rules_say_the_result_when_the_record_says_none() -> None:
    text = """[Game "virus-wars"]
[Option "rows=4"]
[Option "cols=4"]
[Option "steps=1"]
[Option "position=xO../OO../..../...o 1 1"]
1. d3
"""
    record = parse_record(text)
    assert record.outcome == Outcome(1, Termination.BLOCKED)
    assert (record.result, record.termination) == ("0-1", "blocked")
    assert [player.name for player in record.players] == ["?", "?"]
    assert parse_record(format_record(record)) == record


OVER = """[Game "virus-wars"]
[Option "rows=4"]
[Option "cols=4"]
[Option "steps=1"]
[Option "position=xO../OO../..../...o 1 1"]
[Result "{}"]
[Termination "{}"]
1. d3
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "message"),
    [
        ("3. b5 a4", "3. b5 zz", 18, 7, "'zz': expected a cell from a1 to e5"),
        ("3. b5 a4", "3. b5 e5", 18, 7, "'e5': you have no virus or awake zombie next to it"),
        ("3. b5 a4", "  3.b5 ,e5", 18, 9, "'e5': you have no virus"),
        ("2. d2 c3 b4", "2. d2 c3 b4 b3", 17, 13, "'b3': the turn has ended before this action"),
        ("2. d2 c3 b4", "2. d2 c3", 18, 1, "'3.': expected turn 2"),
        ("2. d2", "7. d2", 17, 1, "'7.': expected turn 2"),
        ("2. d2 c3 b4", "2.", 17, 1, "'2.': expected the actions of the turn after its number"),
        ("2. d2 c3 b4", "d2 c3 b4", 18, 1, "'3.': expected round 2"),
        ("3. b5 a4", '[Ended "?"]', 18, 1, "headers come before the turns"),
        ("virus-wars", "chess", 1, 7, "'chess': expected one of "),
        ('[Game "virus-wars"]\n', "", 1, 1, "expected a header that names the game"),
        ("rows=5", "rows=99", 2, 9, "'rows=99': expected a whole number from 4 to 30"),
        ("rows=5", "rows", 2, 9, "'rows': expected the form name=value"),
        ("rows=5", "colour=red", 2, 9, "'colour=red': expected one of the options rows, "),
        ("cols=5", "rows=5", 3, 9, "'rows=5': this option is there already"),
        ("first_turn_steps=1", "first_turn_steps=4", 5, 9, "expected a whole number from 1 to steps (3)"),
        ("opening=corners", "position=x 0 3", 6, 9, "expected 5 rows joined by '/', got 1"),
        ('[Player0 "Ana"]', '[Player0 "Ana]', 7, 1, "expected a header, e.g. "),
        ('[Player0 "Ana"]', ' [Player0 "A"na"]', 7, 11, "expected one text in double quotes"),
        ("Player0", "Player 0", 7, 1, "expected a header"),
        ("Player0", "Player2", 7, 2, "'Player2': expected Player1, or a name less like it"),
        ("Player0", "Plyer0", 7, 2, "'Plyer0': expected Player0, or a name less like it"),
        ("Option", "Optoin", 2, 2, "'Optoin': expected Option, or a name less like it"),
        ("Player1", "Player0", 8, 2, "'Player0': this header is there already"),
        ("2026-11-27T20:15:00.000Z", "yesterday", 10, 10, "'yesterday': expected an ISO 8601 date"),
        ('"?"', '"0000-01-01"', 11, 8, "expected an ISO 8601 date"),
        ('"*"', '"1-0"', 12, 9, "'1-0': expected the result * with the termination unfinished"),
        ('"*"', '"2-0"', 12, 9, "'2-0': expected the result *"),
        ("unfinished", "boredom", 13, 14, "'boredom': expected one of unfinished, blocked"),
        ("unfinished", "resignation", 12, 9, "'*': expected the result 1/2-1/2 with the termination resignation"),
        ('Result "*"', 'Result "1/2-1/2"', 12, 9, "expected the result *"),
        ('TimeControl "none"', 'TimeControl "soon"', 14, 14, "'soon': expected a time control"),
    ],
)
def test_the_first_wrong_text_is_named_by_line_and_column(
    old: str, new: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(RecordError) as caught:
        parse_record(SMALL.replace(old, new, 1))
    error = caught.value
    assert (error.line, error.column) == (line, column), str(error)
    assert str(error).startswith(f"line {line}, column {column}: ")
    assert message in str(error)


@pytest.mark.parametrize(
    ("result", "termination", "message"),
    [
        ("1-0", "blocked", "by the rules the game ends here: player 1 wins by blocked"),
        ("0-1", "resignation", "by the rules the game ends here"),
        ("*", "unfinished", "by the rules the game ends here"),
    ],
)
def test_a_result_that_the_rules_contradict_is_refused(result: str, termination: str, message: str) -> None:
    assert parse_record(OVER.format("0-1", "blocked")).result == "0-1"
    with pytest.raises(RecordError, match=message) as caught:
        parse_record(OVER.format(result, termination))
    assert (caught.value.line, caught.value.column) == (6, 9)


def test_an_end_by_the_rules_needs_a_last_position_that_ends() -> None:
    claimed = SMALL.replace('"*"', '"1-0"').replace("unfinished", "blocked")
    with pytest.raises(RecordError, match="by the rules the game does not end here"):
        parse_record(claimed)
    with pytest.raises(RecordError, match="nobody wins an aborted match"):
        parse_record(claimed.replace("blocked", "aborted"))


def test_nothing_is_played_after_the_end() -> None:
    with pytest.raises(RecordError) as caught:
        parse_record(OVER.format("0-1", "blocked") + "2. d4\n")
    assert str(caught.value) == "line 9, column 1: '2.': the game is over before this turn"


def test_writing_refuses_what_the_rules_refuse() -> None:
    record = parse_record(SMALL)
    with pytest.raises(IllegalActionError, match="e5"):
        format_record(replace(record, actions=("e5",)))
    with pytest.raises(NotationError, match="zz"):
        format_record(replace(record, actions=("zz",)))
    with pytest.raises(GameOptionError, match="rows"):
        format_record(replace(record, options={"rows": 99}))
    with pytest.raises(ValueError, match="1-0 by blocked: by the rules the game does not end here"):
        format_record(replace(record, outcome=Outcome(0, Termination.BLOCKED)))


def test_turns_hold_the_actions_of_one_player() -> None:
    record = parse_record(SMALL)
    states = replay(record)
    assert len(states) == len(record.actions) + 1
    assert turns(record, states) == (
        RecordTurn(1, 0, 0, ("b4",)),
        RecordTurn(2, 1, 1, ("d2", "c3", "b4")),
        RecordTurn(3, 0, 4, ("b5", "a4")),
    )
    assert outcome_problem(states[-1], None) is None


@pytest.mark.parametrize(
    ("text", "moment_ms"),
    [("?", None), ("1970-01-01", 0), ("1970-01-01T00:00:01.5Z", 1500), ("1970-01-01T01:00+01:00", 0)],
)
def test_dates_are_iso_8601(text: str, moment_ms: int | None) -> None:
    moment = parse_timestamp(text)
    assert moment == moment_ms
    assert parse_timestamp(format_timestamp(moment)) == moment


def test_a_record_of_a_thousand_turns_is_read_whole() -> None:
    game = registry.load("xero-g")
    state, actions = game.initial_state(), []
    while state.turn_number <= 1000:
        legal = state.legal_actions()
        start = len(actions) * 7
        after = state
        while after is state or after.is_terminal:
            action = legal[start % len(legal)]
            after, start = state.child(action), start + 1
        actions.append(state.action_to_string(action))
        state = after
    players = (RecordPlayer("a"), RecordPlayer("b"))
    record = MatchRecord(game.name, game.options, players, tuple(actions), state.outcome)
    assert len(turns(record, replay(record))) == 1000
    assert parse_record(format_record(record)) == record


@given(text=st.text(st.sampled_from('[]"#.\\ \n\r\t019?*GameOptionResult=-,a\u2028'), max_size=60))
def test_any_text_is_a_record_or_a_record_error(text: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_record(text)
    lines = text.split("\n")
    assert 1 <= caught.value.line <= len(lines)
    assert 1 <= caught.value.column <= len(lines[caught.value.line - 1]) + 1
