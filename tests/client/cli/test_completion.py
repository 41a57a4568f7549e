"""The Tab key in a shell, and the groups of options in the help of `play`."""

from __future__ import annotations

import pytest

from tabuleiro.rules import registry
from tabuleiro_client.cli import completion
from tabuleiro_client.cli.main import COMPLETION_VARIABLE, exit_status
from tabuleiro_client.net.files import CONFIG_VARIABLE, config_folder
from tabuleiro_client.net.identity import Identity, IdentityFolder
from tabuleiro_server.bots.levels import level_names


@pytest.fixture
def offered(monkeypatch, capsys, tmp_path):
    """What bash offers after a line."""
    monkeypatch.setenv(CONFIG_VARIABLE, str(tmp_path))

    def offer(line: str) -> list[str]:
        monkeypatch.setenv(COMPLETION_VARIABLE, "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(f"{line}.".split()) - 1))
        exit_status([])
        output = capsys.readouterr()
        assert output.err == ""
        return output.out.split()

    return offer


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tabuleiro pl", ["play"]),
        ("tabuleiro identity ", ["export", "import"]),
        ("tabuleiro play --hide", ["--hide-watcher-chat"]),
        ("tabuleiro play --game ", list(registry.names())),
        ("tabuleiro rules m", ["minefield"]),
        ("tabuleiro play --game minefield --preset ", ["feup-10", "feup-13", "feup-16"]),
        ("tabuleiro play --game iris -o s", ["side="]),
        ("tabuleiro play --bot m", ["medium", "master", "minimax-1", "minimax-3"]),
        ("tabuleiro play --stand-in h", ["hard"]),
    ],
)
def test_the_tab_key_offers_commands_options_and_values(offered, line, expected):
    assert offered(line) == expected


def test_the_tab_key_offers_servers_known_before(offered):
    IdentityFolder(config_folder()).save(Identity("ws://192.0.2.7:8765", "ana", "secret"))
    assert offered("tabuleiro watch --server ") == ["ws://192.0.2.7:8765"]


def test_a_part_that_is_not_installed_says_nothing_between_the_keys(offered, monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, "tabuleiro_server.cli.serve", raising=False)
    monkeypatch.setitem(sys.modules, "structlog", None)
    assert offered("tabuleiro serve --") == []


def test_the_levels_of_the_help_are_those_of_the_bots():
    there = {level for name in registry.names() for level in level_names(name)}
    assert {*completion.LEVELS, *completion.LEVELS_OF_SOME_GAMES} == there
    assert all(set(completion.LEVELS) <= set(level_names(name)) for name in registry.names())


def test_the_help_of_play_has_groups_and_names_the_levels(capsys):
    assert exit_status(["play", "--help"]) == 0
    text = capsys.readouterr().out
    titles = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Where, and as whom", "What is played", "How it is played", "How it is shown", "Options"]
    assert "random, easy, medium, hard" in text


def test_the_help_of_a_command_with_few_options_has_one_list(capsys):
    assert exit_status(["watch", "--help"]) == 0
    assert "\nOptions:\n" in capsys.readouterr().out
