"""Records in JSON: our own, AbstractPlay's, the arena's, check vectors, lists; wrong ones by their place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import RecordError
from tabuleiro.ids import TimestampMs
from tabuleiro.notation.formats import RecordFormat, write_record
from tabuleiro.notation.record import MatchRecord, RecordPlayer, replay
from tabuleiro.notation.record_json import find_json_records
from tabuleiro.rules import Outcome, Termination, registry
from tabuleiro_server.arena.play import FAULT, PLY_LIMIT, GameResult
from tabuleiro_server.arena.schedule import Entrant, Terms, iter_pairings
from tabuleiro_server.arena.standings import report

VECTORS = Path(__file__).parents[1] / "data" / "vectors"
RECORD = MatchRecord(
    game="virus-wars",
    options={"rows": 5, "cols": 5, "steps": 3, "first_turn_steps": 1, "opening": "corners"},
    players=(RecordPlayer("Zé"), RecordPlayer("computer", "minimax-3")),
    actions=("b4", "d2", "c3", "b4", "b5", "a4"),
    outcome=Outcome(1, Termination.RESIGNATION),
    started_at_ms=TimestampMs(0),
    ended_at_ms=TimestampMs(90_500),
    time_control="5+3",
)


def read(value: object, default: str | None = None) -> list[MatchRecord]:
    """Read JSON, given as a value or as text; ``default`` is the game of lists of actions."""
    text = value if isinstance(value, str) else json.dumps(value)
    game = None if default is None else registry.load(default)
    return [record.read(game) for record in find_json_records(text)]


@pytest.mark.parametrize(
    "record",
    [
        RECORD,
        replace(RECORD, outcome=None, ended_at_ms=None),
        replace(RECORD, outcome=Outcome(None, Termination.AGREEMENT)),
        replace(RECORD, outcome=Outcome(None, Termination.ABORTED), started_at_ms=None),
        replace(RECORD, actions=()),
    ],
)
def test_what_is_exported_is_read_back(record: MatchRecord) -> None:
    exported = write_record(record, RecordFormat.JSON, game_id="K7MQ4-1")
    assert read(exported) == [record]
    assert read(exported + exported) == [record, record]
    assert read(f"[{exported}, {exported}]") == [record, record]


@pytest.mark.parametrize("name", registry.names())
def test_the_export_of_a_whole_game_of_every_kind_is_read_back(name: str) -> None:
    line = (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[0]
    (record,) = read(line)
    vector = json.loads(line)
    assert record.actions == tuple(vector["actions"])
    assert record.outcome == replay(record)[-1].outcome
    assert read(write_record(record, RecordFormat.JSON)) == [record]


def test_lines_of_check_vectors_are_several_records() -> None:
    text = (VECTORS / "iris.jsonl").read_text(encoding="utf-8")
    assert len(find_json_records(text)) == len(text.splitlines())


def arena_report(**changes: Any) -> dict[str, Any]:
    """Return the values that `tabuleiro arena --json` writes."""
    entrants = (Entrant("greedy", "greedy"), Entrant("Ana", command=("python3", "lucky.py")))
    terms = Terms("minefield", {"size": 5, "rules": "beginner"}, entrants, 2, 1)
    first, second = iter_pairings(terms)
    won = ("c1", "a1", "c2", "a3", "c3", "e5", "c4", "e1", "c5")
    results = [
        GameResult(first, 0, "connection", None, won),
        replace(GameResult(second, 1, FAULT, "gave no answer", ("c1",)), **changes),
    ]
    return report(terms, results)


def test_the_results_of_an_arena_are_read() -> None:
    won, lost = read(arena_report())
    assert (won.game, dict(won.options)) == ("minefield", {"size": 5, "rules": "beginner"})
    assert won.players == (RecordPlayer("greedy", "greedy"), RecordPlayer("Ana", "Ana"))
    assert won.outcome == Outcome(0, Termination.CONNECTION)
    assert lost.players == won.players[::-1]
    assert lost.outcome == Outcome(1, Termination.ABANDONED)
    _, drawn = read(arena_report(winner=None, termination=PLY_LIMIT, fault=None))
    assert drawn.outcome == Outcome(None, Termination.AGREEMENT)
    with pytest.raises(RecordError, match="the winner and termination that the rules give"):
        read(arena_report(winner=0, termination="connection"))


def abstract_play(game: str, moves: list[Any], results: tuple[int, int], *variants: str) -> dict[str, Any]:
    """Return a game record as that site writes it."""
    return {
        "header": {
            "game": {"name": game, "variants": list(variants)},
            "site": {"name": "Abstract Play", "gameid": "0b2c"},
            "date-start": "2026-01-01T10:00:00.000Z",
            "date-end": "2026-01-02T10:00:00.000Z",
            "date-generated": "2026-01-02T10:00:01.000Z",
            "unrated": False,
            "players": [
                {"name": "Ana", "userid": "1", "result": results[0]},
                {"name": "Rui", "userid": "2", "result": results[1], "is_ai": True},
            ],
        },
        "moves": moves,
    }


def test_gyges_of_abstract_play_counts_the_goals_among_the_rows() -> None:
    setup = ["3a2,2b2,1c2,1d2,2e2,3f2", {"sequence": 2, "move": "3a7,2b7,1c7,1d7,2e7,3f7", "result": []}]
    moves = [setup, ["a2-b2(d3)", "f7-d8"], [{"move": "resign", "result": [{"type": "resigned", "player": 1}]}]]
    with pytest.raises(RecordError, match=r"'f6-base': expected a legal action: no run"):
        read(abstract_play("Gyges", moves, (0, 1)))
    moves[1][1] = "a7-b7(d6)"
    (record,) = read(abstract_play("Gyges", moves, (0, 1)))
    assert (record.game, record.options["variant"]) == ("xero-g", "gyges")
    assert record.actions[-2:] == ("a1xb1@d2", "a6xb6@d5")
    assert record.actions[:2] == ("3@a1", "2@b1")
    assert record.outcome == Outcome(1, Termination.RESIGNATION)
    assert record.players == (RecordPlayer("Ana"), RecordPlayer("Rui", "bot"))
    assert record.started_at_ms == TimestampMs(1767261600000)


@pytest.mark.parametrize(
    ("variants", "size"), [((), 11), (("size-13",), 13), (("13x13 board",), 13), (("Size: 8",), 8)]
)
def test_minefield_of_abstract_play_has_its_sizes(variants: tuple[str, ...], size: int) -> None:
    (record,) = read(abstract_play("Minefield", [["c3", "d4"], ["e5"]], (1, 0), *variants))
    assert (record.options["size"], record.actions) == (size, ("c3", "d4", "e5"))
    with pytest.raises(RecordError, match="'pinwheel': expected the form name=value"):
        read(abstract_play("Minefield", [["c3"]], (1, 0), "pinwheel"))


def test_a_player_whom_the_rules_skip_passes_in_records_of_others() -> None:
    value = abstract_play("Minefield", [["c2", "pass"], ["d5", "e4"]], (0, 0), "size=5")
    value["header"]["startingPosition"] = "bbbww/wb.ww/.b.ww/b..b./wwb.b 0"
    del value["header"]["date-end"]
    (record,) = read(value)
    assert (record.actions[:2], record.outcome) == (("c2", "d5"), None)
    value["moves"][0] = ["c2", "a3"]
    with pytest.raises(RecordError, match="'a3': expected the turn of player 0"):
        read(value)


def test_the_order_of_a_round_may_be_told() -> None:
    moves = [[{"sequence": 2, "move": "a1-c2"}, {"sequence": 1, "move": "a6-c5"}]]
    value = abstract_play("Xero-G", moves, (1, 0))
    value["header"]["site"]["name"] = "Elsewhere"
    value["header"]["startingPosition"] = "321123/000000/000000/000000/000000/321123 1"
    assert read(value)[0].actions == ("a6-c5", "a1-c2")
    value["header"]["startingPosition"] = "321123/000000/000000/000000/000000/321123 0"
    with pytest.raises(RecordError, match="'a6-c5': expected the turn of player 0"):
        read(value)


def test_a_list_of_actions_is_of_the_game_given() -> None:
    assert read('["c3", "d4 e5"]', "minefield")[0].actions == ("c3", "d4", "e5")
    with pytest.raises(RecordError, match="or the game named beside the file"):
        read('["c3", "d4"]')


def test_whole_numbers_may_be_written_as_fractions() -> None:
    (record,) = read('{"game": "minefield", "options": {"size": 7.0}, "actions": ["c3"]}')
    assert record.options["size"] == 7


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('{"game":\n', (2, 1), "this is not JSON: Expecting value"),
        ("[" * 50_000, (1, 1), "numbers and lists of a usual size"),
        ("{}", (1, 1), "a record: an object with header and moves"),
        ('\n [1]', (2, 3), "a record"),
        ("[[[[[]]]]]", (1, 4), "a record"),
        ('{"game": "chess", "actions": []}', (1, 10), "'chess': expected one of virus-wars"),
        ('{"game": 3, "actions": []}', (1, 10), "'3': expected a text"),
        ('{"game": "iris",\n"actions": "f6"}', (2, 12), "'f6': expected a list"),
        ('{"game": "iris",\n"actions": ["f6", 1]}', (2, 19), "'1': expected a text"),
        ('{"game": "iris",\n"actions": ["f6",\n "a1", "zz"]}', (3, 8), "'zz': expected"),
        ('{"game": "iris", "options": [], "actions": []}', (1, 29), "expected an object of options"),
        ('{"game": "iris", "options": {"side": 99}, "actions": []}', (1, 38), "'99': expected a whole number"),
        ('{"game": "iris", "options": {"side": true}, "actions": []}', (1, 38), "expected a whole number"),
        ('{"game": "iris", "options": {"sides": 6}, "actions": []}', (1, 39), "one of the options"),
        ('{"header": 1, "moves": 2}', (1, 12), "'1': expected an object with the field game"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_its_line_and_column(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(RecordError) as caught:
        read(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == place, str(caught.value)


def test_a_number_without_end_is_refused() -> None:
    with pytest.raises(RecordError, match="line 1, column 1: '': expected numbers and lists of a usual size"):
        read("[" + "1" * 5_000 + "]")


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        ({"result": "2-0"}, '"result": "2-0"', "expected the result 1/2-1/2 with the termination resignation"),
        ({"termination": "boredom"}, '"boredom"', "expected one of unfinished"),
        ({"time-control": "soon"}, '"soon"', "expected a time control"),
        ({"options": None}, '"b4"', "'b4': expected a legal action"),
    ],
)
def test_a_wrong_line_of_our_own_export_is_named(change: dict[str, Any], line: str, message: str) -> None:
    value = json.loads(write_record(RECORD, RecordFormat.JSON))
    value["header"]["tabuleiro"].update(change)
    text = json.dumps(value, indent=1)
    with pytest.raises(RecordError, match=message) as caught:
        read(text)
    assert line in text.splitlines()[caught.value.line - 1]


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
KEYS = st.sampled_from(
    ("header", "moves", "game", "games", "actions", "options", "players", "winner", "termination", "label")
) | st.sampled_from(
    (
        "level",
        "result",
        "tabuleiro",
        "site",
        "name",
        "variants",
        "date-end",
        "move",
        "sequence",
        "startingPosition",
    )
)
TEXTS = st.sampled_from(["iris", "minefield", "Gyges", "f6", "a1", "pass", "1-0", "unfinished", "Abstract Play"])
VALUES = st.recursive(
    SCALARS | TEXTS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6)
)


def is_read_or_refused(value: object) -> bool:
    """Return whether a value is read, or refused in a line."""
    try:
        read(json.dumps(value), "minefield")
    except RecordError as error:
        return "\n" not in str(error) and len(str(error)) < 600
    return True


@settings(max_examples=150)
@given(value=VALUES)
def test_any_json_is_records_or_an_error_of_one_line(value: object) -> None:
    assert is_read_or_refused(value)


@settings(max_examples=150)
@given(data=st.data())
def test_a_record_in_which_anything_is_changed_is_read_or_refused(data: st.DataObject) -> None:
    value: Any = json.loads(write_record(RECORD, RecordFormat.JSON))
    if data.draw(st.booleans()):
        value = arena_report()
    if data.draw(st.booleans()):
        value = abstract_play("Gyges", [["3a2,2b2,1c2,1d2,2e2,3f2", "3a7,2b7,1c7,1d7,2e7,3f7"]], (1, 0))
    inside, last = value, list[Any]()
    while isinstance(inside, dict | list) and inside:
        key = data.draw(st.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside))))
        last, inside = [inside, key], inside[key]
        if data.draw(st.integers(0, 3)) == 0:
            break
    last[0][last[1]] = data.draw(VALUES)
    assert is_read_or_refused(value)
