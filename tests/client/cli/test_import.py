"""`tabuleiro import`: records of others among the own matches."""

from __future__ import annotations

import io
import json
import sys

import pytest

from tabuleiro.notation.record_text import parse_record
from tabuleiro_client.cli.main import exit_status
from tabuleiro_client.models.saved_matches import SavedMatches
from tabuleiro_client.net.files import CONFIG_VARIABLE, config_folder

TWO = """\
[Game "minefield"]
[Option "size=5"]
[Player0 "Ana\\u001b[2J"]
1. c3 d4 1-0

[Game "xero-g"]
[Option "variant=gyges"]
[Option "position=321123/000000/000000/000000/000000/321123"]
1. 0|1|9
"""


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv(CONFIG_VARIABLE, str(tmp_path / "config"))


@pytest.fixture
def two(tmp_path):
    file = tmp_path / "two.txt"
    file.write_text(TWO)
    return str(file)


def kept():
    return SavedMatches(config_folder()).records()


def test_all_matches_of_a_file_are_kept_once_and_read_back(two, capsys):
    assert exit_status(["import", two]) == 0
    assert capsys.readouterr().out == (
        "imported: Minefield, size=5, Ana - ?, 1-0 resignation\n"
        "imported: Xero-G, gyges, own position, ? - ?, unfinished\n"
    )
    first, second = kept()
    assert (first.game, first.result, parse_record(first.text).actions) == (
        "Minefield",
        "1-0 resignation",
        ("c3", "d4"),
    )
    assert parse_record(second.text).actions == ("a1xb1@d2",)
    assert exit_status(["import", two, "--match", "2"]) == 0
    assert capsys.readouterr().out.startswith("there already: Xero-G")
    assert len(kept()) == 2


def test_one_match_of_a_file_is_kept(two):
    assert exit_status(["import", two, "--match", "1"]) == 0
    assert [record.game for record in kept()] == ["Minefield"]


def test_of_a_file_with_something_wrong_nothing_is_kept(two, tmp_path, capsys):
    (tmp_path / "two.txt").write_text(TWO.replace("0|1|9", "0|1|1"))
    assert exit_status(["import", two]) == 1
    assert f"{two}: match 2 of 2: line 9, column 4: " in capsys.readouterr().err
    assert kept() == []


def test_json_comes_through_standard_input(capsys, monkeypatch):
    text = json.dumps({"game": "minefield", "options": {"size": 5}, "actions": ["c3"]})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert exit_status(["import", "-"]) == 0
    assert kept()[0].players == "? - ?"


def test_a_folder_that_cannot_be_written_is_told(two, tmp_path, capsys):
    (tmp_path / "config").write_text("a file in the place of the folder")
    assert exit_status(["import", two]) == 1
    assert "the record cannot be kept in " in capsys.readouterr().err
