"""`tabuleiro identity`: names that move to another computer."""

from __future__ import annotations

import io
import stat
import sys
from pathlib import Path

import pytest

from tabuleiro.errors import NotationError
from tabuleiro_client.cli.main import exit_status
from tabuleiro_client.net.files import CONFIG_VARIABLE
from tabuleiro_client.net.identity import LOOKING_ON, Identity, IdentityFolder, identities_in, identity_text

ANA = Identity("ws://192.0.2.7:8765", "ana", "secret-of-ana")
JOAO = Identity("wss://games.example.org", "João", "secret-of-joao")
OTHERS = (Identity("local local.db", "root", "x"), Identity(f"{ANA.server}{LOOKING_ON}", "guest-1234", "y"))


class Computer:
    """A computer with a folder of names."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.names = IdentityFolder(folder)
        self._folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *arguments: str, typed: str = "") -> tuple[int, str, str]:
        """Run a command there; return its status, output and errors."""
        self._monkeypatch.setenv(CONFIG_VARIABLE, str(self._folder))
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        status = exit_status(["identity", *arguments])
        return status, *self._capsys.readouterr()


@pytest.fixture
def old(tmp_path, monkeypatch, capsys):
    computer = Computer(tmp_path / "old", monkeypatch, capsys)
    for identity in (*OTHERS, JOAO, ANA):
        computer.names.save(identity)
    return computer


@pytest.fixture
def new(tmp_path, monkeypatch, capsys):
    return Computer(tmp_path / "new", monkeypatch, capsys)


def test_the_names_on_servers_move_by_a_text_with_a_warning(old, new):
    status, text, told = old.run("export")
    assert status == 0
    assert "like a password" in told
    assert "secret-of" not in told
    status, says, _ = new.run("import", typed=text)
    assert status == 0
    assert "You are ana on ws://192.0.2.7:8765" in says
    assert {(found.name, found.token) for found in new.names.all()} == {
        ("ana", "secret-of-ana"),
        ("João", "secret-of-joao"),
    }


def test_one_name_moves_in_a_file_that_only_its_owner_can_read(old, new, tmp_path):
    file = tmp_path / "ana.txt"
    status, output, _ = old.run("export", "--server", "192.0.2.7", "--name", "Ana", "--output", str(file))
    assert (status, output) == (0, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert new.run("import", str(file))[0] == 0
    assert new.names.all() == [ANA]


def test_a_text_on_the_command_line_is_read_too(new):
    assert new.run("import", identity_text(ANA))[0] == 0
    assert new.names.all() == [ANA]


def test_a_name_that_is_here_already_keeps_its_other_token(old, new):
    new.names.save(Identity(ANA.server, "Ana", "of this computer"))
    assert new.run("import", typed=old.run("export", "--name", "ana")[1])[0] == 0
    assert new.names.find(ANA.server, "ana") == Identity(ANA.server, "Ana", "secret-of-ana", ("of this computer",))


def test_a_name_that_nobody_has_here_is_an_error(old):
    status, output, told = old.run("export", "--name", "eva")
    assert (status, output) == (1, "")
    assert "you have no name eva on any server" in told


def test_lines_broken_by_a_mail_program_do_not_matter():
    text = identity_text(JOAO)
    broken = "\n  ".join(text[start : start + 20] for start in range(0, len(text), 20))
    assert identities_in(broken) == [JOAO]
    assert text.isascii()


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 30])
def test_a_text_that_was_cut_is_refused_without_showing_it(new, cut):
    text = identity_text(ANA)[:-cut]
    status, output, told = new.run("import", typed=text)
    assert (status, output) == (1, "")
    assert "a part of it is missing or changed" in told
    assert text[25:45] not in told
    assert new.names.all() == []


@pytest.mark.parametrize(
    "text", ["", "hello", "x tabuleiro-identity-abc", "tabuleiro-identity-", "tabuleiro-identity-é"]
)
def test_other_texts_are_refused(text):
    with pytest.raises(NotationError):
        identities_in(text)


def test_any_changed_letter_is_noticed():
    text = identity_text(ANA)
    for place in range(len("tabuleiro-identity-"), len(text) - 1):
        changed = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
        with pytest.raises(NotationError):
            identities_in(changed)
