"""The table of settings: every field of a room has a descriptor, and each reads what it writes."""

from __future__ import annotations

import json

import msgspec
import pytest

from tabuleiro.clock import NO_CLOCK, Fischer
from tabuleiro.descriptors import NumberSetting
from tabuleiro.errors import NotationError
from tabuleiro.settings import (
    ROOM_SETTINGS,
    LateBot,
    RoomSetting,
    RoomSettings,
    change_setting,
    format_setting,
    room_setting,
)

OTHER = RoomSettings(
    time_control=Fischer(initial_ms=300_000, increment_ms=3_000),
    is_private=True,
    late_bot=LateBot("random", 5_000),
    stand_in_level="random",
)


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("time 5+3", "time_control", Fischer(initial_ms=300_000, increment_ms=3_000)),
        ("TIME none", "time_control", NO_CLOCK),
        ("casual no", "is_casual", False),
        ("hints yes", "hints", True),
        ("draw-first yes", "first", "draw"),
        ("draw-first no", "first", "seated"),
        ("undo  NO ", "may_undo", False),
        ("late-bot random:60", "late_bot", LateBot("random", 60_000)),
        ("late-bot none", "late_bot", None),
        ("stand-in minimax-1", "stand_in_level", "minimax-1"),
        ("stand-in none", "stand_in_level", None),
        ("away 30", "away_after_ms", 30_000),
        ("away 1m30s", "away_after_ms", 90_000),
        ("hide-watcher-chat yes", "hides_watcher_chat", True),
    ],
)
@pytest.mark.parametrize("before", [RoomSettings(), OTHER])
def test_a_word_changes_its_setting_and_no_other(before, text, field, value):
    after = change_setting(before, text)
    assert getattr(after, field) == value
    unchanged = set(RoomSettings.__struct_fields__) - {field}
    assert all(getattr(after, name) == getattr(before, name) for name in unchanged)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("private yes", "one of time, casual"),
        ("undo", "one of time, casual"),
        ("undo perhaps", "yes or no"),
        ("time soon", "5+3"),
        ("late-bot 60", "LEVEL:TIME"),
        ("late-bot random:soon", "LEVEL:TIME"),
        ("late-bot random:2d", "at most 1d"),
        ("away 4", "5s to 14d"),
        ("away 15d", "5s to 14d"),
        ("stand-in " + "x" * 301, "the level of a bot"),
    ],
)
def test_what_cannot_be_read_is_told_with_what_would_be_right(text, expected):
    with pytest.raises(NotationError) as refusal:
        change_setting(RoomSettings(), text)
    assert expected in refusal.value.expected


def test_every_field_of_a_room_has_one_descriptor_whose_needs_are_asked_before_it() -> None:
    assert sorted(setting.target for setting in ROOM_SETTINGS) == sorted(RoomSettings.__struct_fields__)
    keys = [setting.key for setting in ROOM_SETTINGS]
    assert len(set(keys)) == len(keys)
    assert all(setting.needs in keys[:place] for place, setting in enumerate(ROOM_SETTINGS) if setting.needs)


@pytest.mark.parametrize("settings", [RoomSettings(), OTHER])
@pytest.mark.parametrize("setting", ROOM_SETTINGS, ids=lambda setting: setting.key)
def test_a_value_that_is_written_is_read_back(settings: RoomSettings, setting: RoomSetting) -> None:
    assert setting.parse(format_setting(settings, setting)) == getattr(settings, setting.target)


def test_descriptors_are_plain_data() -> None:
    option = NumberSetting("first_turn_steps", "actions in the first turn", low=1, high=9)
    assert msgspec.to_builtins(option) == {
        "kind": "number",
        "key": "first_turn_steps",
        "help": "actions in the first turn",
        "label": "first turn steps",
        "target": "",
        "needs": "",
        "is_promise": False,
        "low": 1,
        "high": 9,
        "default": None,
    }
    for setting in ROOM_SETTINGS:
        assert json.loads(msgspec.json.encode(setting))["kind"] == setting.kind


def test_an_unknown_key_is_an_error_of_the_program() -> None:
    with pytest.raises(KeyError):
        room_setting("colour")
