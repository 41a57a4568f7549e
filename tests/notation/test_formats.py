"""The JSON export has the layout of AbstractPlay game records."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tabuleiro.ids import TimestampMs
from tabuleiro.notation.formats import RecordFormat, write_record
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
