from __future__ import annotations

import pytest

from tabuleiro.clock import NO_CLOCK, Fischer
from tabuleiro.errors import NotationError
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_client.line.settings_words import changed_settings

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
        ("hide-watcher-chat yes", "hides_watcher_chat", True),
    ],
)
@pytest.mark.parametrize("before", [RoomSettings(), OTHER])
def test_a_word_changes_its_setting_and_no_other(before, text, field, value):
    after = changed_settings(before, text)
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
        ("late-bot 60", "LEVEL:SECONDS"),
        ("late-bot random:soon", "a whole number from 0 to 86400"),
        ("away 4", "a whole number from 5"),
    ],
)
def test_what_cannot_be_read_is_told_with_what_would_be_right(text, expected):
    with pytest.raises(NotationError) as refusal:
        changed_settings(RoomSettings(), text)
    assert expected in refusal.value.expected
