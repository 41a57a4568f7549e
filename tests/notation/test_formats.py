"""Formats of files: what is written is found again, in any encoding; JSON in the layout of AbstractPlay."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import RecordError
from tabuleiro.ids import TimestampMs
from tabuleiro.notation.formats import FILE_MAX_BYTES, RecordFormat, find_records, write_record
from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.notation.record_json import export_json
from tabuleiro.notation.record_text import parse_record
from tabuleiro.rules import Outcome, Termination, registry

RECORD = MatchRecord(
    game="virus-wars",
    options={"rows": 5, "cols": 5, "steps": 3, "first_turn_steps": 1},
    players=(RecordPlayer("Ana"), RecordPlayer("computer", "minimax-3")),
    actions=("b4", "d2", "c3", "b4", "b5", "a4"),
    outcome=Outcome(1, Termination.RESIGNATION),
    started_at_ms=TimestampMs(0),
    ended_at_ms=TimestampMs(90_500),
    time_control="5+3",
)


def test_a_finished_match_fills_every_field_that_the_layout_requires() -> None:
    assert export_json(RECORD, game_id="K7MQ4/1", generated_at_ms=TimestampMs(100_000)) == {
        "header": {
            "game": {"name": "Virus Wars", "variants": ["rows=5", "cols=5", "steps=3", "first_turn_steps=1"]},
            "site": {"name": "tabuleiro", "gameid": "K7MQ4/1"},
            "date-start": "1970-01-01T00:00:00.000Z",
            "date-end": "1970-01-01T00:01:30.500Z",
            "date-generated": "1970-01-01T00:01:40.000Z",
            "players": [
                {"name": "Ana", "seat": 0, "result": 0, "is_ai": False},
                {"name": "computer", "seat": 1, "result": 1, "is_ai": True, "level": "minimax-3"},
            ],
            "tabuleiro": {
                "game": "virus-wars",
                "options": {"rows": 5, "cols": 5, "steps": 3, "first_turn_steps": 1, "opening": "corners"},
                "result": "0-1",
                "termination": "resignation",
                "time-control": "5+3",
            },
        },
        "moves": [["b4", "d2 c3 b4"], ["b5 a4", None]],
    }


def header(record: MatchRecord) -> dict[str, Any]:
    found = export_json(record)["header"]
    assert isinstance(found, dict)
    return found


def test_a_match_without_a_result_is_unrated_and_leaves_out_unknown_dates() -> None:
    for outcome in (None, Outcome(None, Termination.ABORTED)):
        found = header(replace(RECORD, outcome=outcome, started_at_ms=None, ended_at_ms=None))
        assert found["unrated"] is True
        assert [player["result"] for player in found["players"]] == [0, 0]
        assert not [key for key in found if key.startswith("date-")]


def test_a_draw_is_rated_and_gives_both_the_same() -> None:
    same = RecordPlayer("bot", "random")
    found = header(replace(RECORD, players=(same, same), outcome=Outcome(None, Termination.AGREEMENT)))
    assert "unrated" not in found
    assert [player["result"] for player in found["players"]] == [0, 0]
    assert found["players"][0] != found["players"][1]
    assert found["date-generated"] == found["date-end"]


def test_a_match_from_a_position_names_it_and_may_begin_with_player_1() -> None:
    position = "....o/...../...../...../x.... 1 2"
    record = parse_record(
        '[Game "virus-wars"]\n[Option "rows=5"]\n[Option "cols=5"]\n'
        f'[Option "position={position}"]\n1. d1 c1\n2. b5\n'
    )
    assert header(record)["startingPosition"] == position
    assert header(record)["game"]["variants"] == ["rows=5", "cols=5"]
    assert export_json(record)["moves"] == [[None, "d1 c1"], ["b5", None]]


@pytest.mark.parametrize("name", registry.names())
def test_a_whole_game_of_every_kind_is_plain_json(name: str) -> None:
    state, actions = registry.load(name).initial_state(), []
    while not state.is_terminal and len(actions) < 300:
        legal = state.legal_actions()
        action = legal[len(actions) * 7 % len(legal)]
        actions.append(state.action_to_string(action))
        state = state.child(action)
    record = replace(RECORD, game=name, options={}, actions=tuple(actions), outcome=state.outcome)
    exported = export_json(record)
    assert json.loads(json.dumps(exported)) == exported
    rounds = exported["moves"]
    assert isinstance(rounds, list)
    assert all(isinstance(entry, list) and len(entry) == 2 and any(entry) for entry in rounds)
    assert [text for entry in rounds for turn in entry if turn for text in turn.split()] == actions


def test_a_record_is_written_in_every_format_with_a_line_end() -> None:
    assert parse_record(write_record(RECORD, RecordFormat.RECORD)).actions == RECORD.actions
    written = write_record(RECORD, RecordFormat.JSON, game_id="K7MQ4/1")
    assert json.loads(written) == export_json(RECORD, game_id="K7MQ4/1")
    assert written.endswith("}\n")


TEXT = write_record(RECORD, RecordFormat.RECORD)
ACCENTED = TEXT.replace("Ana", "Zé")


@pytest.mark.parametrize(
    "data",
    [
        ACCENTED.encode("utf-8"),
        ACCENTED.encode("utf-8-sig"),
        ACCENTED.encode("utf-16"),
        b"\xfe\xff" + ACCENTED.encode("utf-16-be"),
        ACCENTED.replace("\n", "\r\n").encode("utf-8"),
        b"\xff\xfe" + ACCENTED.replace("\n", "\r\n").encode("utf-16-le"),
        ACCENTED.replace("\n", "\r").encode("utf-8"),
    ],
)
def test_a_record_is_read_in_the_encodings_and_line_ends_that_systems_write(data: bytes) -> None:
    """Symptom: a file that PowerShell had written with `>` was no UTF-8 text."""
    (found,) = find_records(data)
    assert found.read(None).players[0].name == "Zé"
    assert found.read(None).actions == RECORD.actions


def test_what_is_written_in_either_format_is_found_again() -> None:
    for record_format in RecordFormat:
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            (found,) = find_records(write_record(RECORD, record_format).encode(encoding))
            assert write_record(found.read(None), record_format) == write_record(RECORD, record_format)


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        (b"", (1, 1), "there is no record: expected headers and turns, a list of actions, or JSON"),
        (b" \n# only a comment\n", (1, 1), "there is no record"),
        (b'[Game "iris"]\n[Player0 "Z\xe9"]\n', (2, 12), "expected UTF-8 text, or UTF-16 with a byte order mark"),
        (TEXT.encode("utf-16-le"), (1, 2), "expected UTF-8 text, or UTF-16 with a byte order mark"),
        (b"\xff\xfea\0\n\0b", (2, 1), "expected UTF-8 text, or UTF-16 with a byte order mark"),
        (b"\x89PNG\r\n", (1, 1), "expected UTF-8 text"),
        (b" " * (FILE_MAX_BYTES + 1), (1, 1), "expected at most 8 MiB"),
        (b"{ a comment } c3", (1, 1), "expected a header that names the game"),
    ],
)
def test_bytes_that_are_no_record_are_refused(data: bytes, place: tuple[int, int], message: str) -> None:
    with pytest.raises(RecordError) as caught:
        find_records(data)[0].read(None)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == place


def test_a_comment_in_braces_before_the_first_turn_is_no_json() -> None:
    minefield = registry.load("minefield")
    for text in ('{ "well played" } 1. c3 d4', '{"well"} c3 d4', "[3, 3] d4", '["c3", "d4"]'):
        (found,) = find_records(text.encode())
        assert found.read(minefield).actions == ("c3", "d4")


BYTES = st.binary(max_size=60) | st.lists(
    st.sampled_from([b"\xff\xfe", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b'"', b":", b",", b"\r", b"\n", b"\0"])
    | st.sampled_from(
        [b'[Game "iris"]\n', b"f6", b"1.", b"*", b'{"game":"iris","actions":["f6"]}', b"\xe9", b" "]
    ),
    max_size=20,
).map(b"".join)


@settings(max_examples=400)
@given(data=BYTES)
def test_any_bytes_are_records_or_an_error_of_one_line(data: bytes) -> None:
    error = ""
    try:
        for found in find_records(data):
            found.read(registry.load("iris"))
    except RecordError as caught:
        error = str(caught)
    assert "\n" not in error
    assert len(error) < 600


def test_a_match_with_columns_of_two_letters_is_found_again_in_every_format() -> None:
    options: dict[str, int | str] = {"rows": 30, "cols": 30, "steps": 9}
    state, actions = registry.load("virus-wars", options).initial_state(), list[str]()
    chance = Random(1)
    while not state.is_terminal:
        action = chance.choice(state.legal_actions())
        actions.append(state.action_to_string(action))
        assert state.string_to_action(actions[-1].upper()) == action
        state = state.child(action)
    assert {"aa1", "ad30"} <= set(actions)
    record = replace(RECORD, options=options, actions=tuple(actions), outcome=state.outcome)
    for format in RecordFormat:
        (found,) = find_records(write_record(record, format).encode())
        assert found.read(None).actions == record.actions
    bare = parse_record(" ".join(actions), registry.load("virus-wars", options))
    assert bare.actions == record.actions
