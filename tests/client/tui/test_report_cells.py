"""Cells by the names of the reports on the screens of replays, and positions that are copied."""

from __future__ import annotations

import pytest

from tabuleiro.notation.record_text import parse_record
from tabuleiro_client.net.files import SETTINGS_FILE, kept_setting
from tabuleiro_client.tui.replay_model import ReplayModel

RECORD = """\
[Game "virus-wars"]
[Option "rows=4"]
[Option "cols=4"]
[Option "steps=2"]

1. b3 c2 2. c1 d2 *
"""


@pytest.fixture
def replay():
    return ReplayModel(parse_record(RECORD), has_report_cells=True)


def test_a_replay_shows_boards_and_turns_as_in_the_report(replay):
    assert replay.view.row_labels == ("0", "1", "2", "3")
    assert [turn.actions for turn in replay.turns_shown] == [("B1", "C2"), ("C3", "D2")]
    assert replay.timeline.actions == ["b3", "c2", "c1", "d2"]


def test_moves_tried_are_typed_and_told_as_in_the_report(replay):
    replay.start_branch()
    assert replay.type_actions("b1") == (True, None)
    assert replay.branch is not None
    assert replay.branch.actions == ["b3"]
    assert replay.type_actions("a4") == (False, None)
    assert replay.message == "cannot read 'a4': row 4 does not exist: rows are 0 to 3"
    assert replay.type_actions("d0") == (False, None)
    assert replay.message == "'D0': you have no virus or awake zombie next to it"


def test_lines_read_the_setting_that_the_screens_keep(tmp_path, monkeypatch):
    monkeypatch.setenv("TABULEIRO_CONFIG_DIR", str(tmp_path))
    assert kept_setting("has_report_cells") is None
    (tmp_path / SETTINGS_FILE).write_text('{"has_report_cells": true}', encoding="utf-8")
    assert kept_setting("has_report_cells") is True
    (tmp_path / SETTINGS_FILE).write_text("nonsense", encoding="utf-8")
    assert kept_setting("has_report_cells") is None
