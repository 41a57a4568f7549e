"""Time controls: their ranges, their texts and their way over the wire."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabuleiro.clock import (
    NO_CLOCK,
    TIME_CONTROL_FORMS,
    ByoYomi,
    Correspondence,
    Fischer,
    FixedTurn,
    TimeControl,
    describe_time_control,
    format_time_control,
    parse_time_control,
)
from tabuleiro.errors import NotationError
from tabuleiro.ids import DAY_MS, HOUR_MS


def seconds_ms(low: int, high: int) -> st.SearchStrategy[int]:
    """Whole seconds from ``low`` to ``high``, in milliseconds."""
    return st.integers(low, high).map(lambda seconds: seconds * 1_000)


controls: st.SearchStrategy[TimeControl] = st.one_of(
    st.just(NO_CLOCK),
    st.builds(Fischer, seconds_ms(1, 86_400), seconds_ms(0, 3_600)),
    st.builds(ByoYomi, seconds_ms(0, 86_400), seconds_ms(1, 3_600), st.integers(1, 99)),
    st.builds(FixedTurn, seconds_ms(1, 43_200)),
    st.builds(Correspondence, st.integers(1, 60)),
)


@given(control=controls)
def test_formatted_control_is_read_back(control: TimeControl) -> None:
    text = format_time_control(control)
    assert parse_time_control(text) == control
    assert parse_time_control(f" {text.upper().replace('+', ' + ').replace('/', ' / ')} ") == control


@given(one=controls, other=controls)
def test_different_controls_have_different_texts_and_descriptions(one: TimeControl, other: TimeControl) -> None:
    assert (format_time_control(one) == format_time_control(other)) == (one == other)
    assert (describe_time_control(one) == describe_time_control(other)) == (one == other)


@given(control=controls)
def test_control_survives_json_and_msgpack(control: TimeControl) -> None:
    assert msgspec.json.decode(msgspec.json.encode(control), type=TimeControl) == control
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(control), type=TimeControl) == control


def test_control_names_its_kind_on_the_wire() -> None:
    assert msgspec.to_builtins(Fischer(300_000, 3_000)) == {
        "kind": "fischer",
        "initial_ms": 300_000,
        "increment_ms": 3_000,
    }


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("none", NO_CLOCK),
        ("5+3", Fischer(300_000, 3_000)),
        ("5m+3s", Fischer(300_000, 3_000)),
        ("1m30s+0", Fischer(90_000, 0)),
        ("1h30m+30", Fischer(5_400_000, 30_000)),
        ("10m+5x30s", ByoYomi(600_000, 30_000, 5)),
        ("10+5x30", ByoYomi(600_000, 30_000, 5)),
        ("0s+1x1m", ByoYomi(0, 60_000, 1)),
        ("60s/turn", FixedTurn(60_000)),
        ("1m/turn", FixedTurn(60_000)),
        ("5", Fischer(300_000, 0)),
        ("5m", Fischer(300_000, 0)),
        ("5 min", Fischer(300_000, 0)),
        ("10s", Fischer(10_000, 0)),
        ("0:20+2", Fischer(20_000, 2_000)),
        ("0.5+3", Fischer(30_000, 3_000)),
        ("90:00", Fischer(5_400_000, 0)),
        ("5 minutes + 3 seconds", Fischer(300_000, 3_000)),
        ("12h/turn", FixedTurn(12 * HOUR_MS)),
        ("3D / Turn", Correspondence(3)),
    ],
)
def test_forms_that_people_write_are_read(text: str, control: TimeControl) -> None:
    assert parse_time_control(text) == control


@pytest.mark.parametrize(
    "text",
    ["", "+", "5+", "+3", "5+3+1", "-5+3", "5.5.5+3", "5:5", "5:60+1", ".5",
     "٥+٣", "1m30m+3", "1s1m+3", "1h30+3", "10+x30", "60/turn",
     "/turn", "d/turn", "3d", "1d12h/turn", "nothing", "5+3\0", "5" * 41, "1+" + " " * 40 + "1", "5+99999999"],
)  # fmt: skip
def test_text_of_no_form_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_time_control(text)
    assert caught.value.expected == f"a time control: {TIME_CONTROL_FORMS}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0+3", "an initial time from 1 second to 24 hours"),
        ("1441+3", "an initial time from 1 second to 24 hours"),
        ("5+3601", "an increment from 0 seconds to 1 hour"),
        ("24h1s+5x30", "a main time from 0 seconds to 24 hours"),
        ("5+5x0", "a period from 1 second to 1 hour"),
        ("5+0x30", "from 1 to 99 periods"),
        ("5+100x30", "from 1 to 99 periods"),
        ("0s/turn", "a turn from 1 second to 12 hours"),
        ("24h/turn", r"\(or days: 1d/turn\)"),
        ("0d/turn", "from 1 to 60 days a turn"),
        ("61d/turn", "from 1 to 60 days a turn"),
    ],
)
def test_number_out_of_range_is_refused_with_the_range(text: str, expected: str) -> None:
    with pytest.raises(NotationError, match=expected):
        parse_time_control(text)


@given(text=st.text(alphabet="0123456789hmsdx+/ turnone", max_size=12))
def test_any_text_gives_a_control_or_a_notation_error(text: str) -> None:
    try:
        control = parse_time_control(text)
    except NotationError:
        return
    assert parse_time_control(format_time_control(control)) == control


@pytest.mark.parametrize(
    "wire",
    [
        {"kind": "fischer", "initial_ms": 0, "increment_ms": 0},
        {"kind": "fischer", "initial_ms": 60_500, "increment_ms": 0},
        {"kind": "fischer", "initial_ms": 60_000, "increment_ms": -1_000},
        {"kind": "byo-yomi", "main_ms": 0, "period_ms": 0, "periods": 5},
        {"kind": "turn", "turn_ms": DAY_MS},
        {"kind": "correspondence", "days": 0},
        {"kind": "correspondence", "days": "3"},
        {"kind": "hourglass"},
    ],
)
def test_wire_value_out_of_range_is_not_decoded(wire: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wire, TimeControl)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1+1", "1 minute + 1 second a turn"),
        ("90+0", "1 hour 30 minutes for all turns"),
        ("0s+1x30s", "1 period of 30 seconds"),
        ("1d/turn", "1 day a turn"),
    ],
)
def test_description_counts_in_proper_english(text: str, words: str) -> None:
    assert describe_time_control(parse_time_control(text)) == words
