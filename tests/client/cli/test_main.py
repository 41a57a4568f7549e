"""The root of the command line: which commands there are, what is loaded, and the exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tabuleiro import __version__
from tabuleiro.errors import ConfigError, StoreError
from tabuleiro_client.cli import main as cli

MODULE = '''
"""Dances, one a command."""
import typer
from tabuleiro.errors import ConfigError, StoreError

app = typer.Typer()

@app.command()
def waltz():
    """Dance in three."""
    print("one two three")

@app.command()
def polka():
    """Dance in two."""
    print("one two")

def dance(times: int = 1):
    """Dance a number of times.

    And more.
    """
    print("dancing " * times)

def stopped():
    raise KeyboardInterrupt

def unlucky():
    raise StoreError("the disk\\nis full")

def misconfigured():
    raise ConfigError("tabuleiro.toml", "port", "a port number")

def encore():
    raise typer.Exit(3)

def late():
    import aiosqlite

def typo():
    import tabuleiro.nothing
'''


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the commands of MODULE, and one whose module needs an extra, in place of the real ones."""
    (tmp_path / "dances_for_test.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "served_for_test.py").write_text(
        'import aiosqlite\n\ndef serve():\n    """Serve things."""\n', encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    values = {name: f"dances_for_test:{name}" for name in ("dance", "stopped", "unlucky", "misconfigured")}
    values |= {name: f"dances_for_test:{name}" for name in ("late", "typo", "encore")}
    values |= {"ball": "dances_for_test:app", "serve": "served_for_test:serve"}
    found = [EntryPoint(name, value, cli.COMMAND_GROUP) for name, value in values.items()]
    monkeypatch.setattr(cli, "entry_points", lambda group: found)
    for module in ("dances_for_test", "served_for_test"):
        monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.usefixtures("commands")
def test_help_lists_every_command_and_loads_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_status(["--help"]) == 0
    shown = capsys.readouterr().out
    for line in ("ball           Dances, one a command.", "dance          Dance a number", "serve          Serve"):
        assert line in shown
    assert "dances_for_test" not in sys.modules
    assert "served_for_test" not in sys.modules


@pytest.mark.parametrize("arguments", [[], ["bots"], ["db"]])
def test_the_lists_of_commands_tell_whole_sentences(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: "Tell the best turns of a position of a match and what...", and "``tabuleiro db``: look after"."""
    monkeypatch.setenv("COLUMNS", "80")
    cli.exit_status([*arguments, "--help"])
    _, listing, shown = capsys.readouterr().out.partition("Commands:")
    assert listing
    assert "..." not in shown
    assert "``" not in shown


@pytest.mark.usefixtures("commands")
def test_only_the_module_of_the_command_is_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_status(["dance", "--times", "2"]) == 0
    assert capsys.readouterr().out == "dancing dancing \n"
    assert "served_for_test" not in sys.modules


@pytest.mark.usefixtures("commands")
def test_a_typer_object_makes_a_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_status(["ball", "waltz"]) == 0
    assert capsys.readouterr().out == "one two three\n"


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize("command", ["serve", "late"])
def test_a_missing_extra_is_one_line_and_status_2(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "aiosqlite", None)
    assert cli.exit_status([command]) == 2
    assert capsys.readouterr().err == (
        "tabuleiro: this needs the server part of tabuleiro, which is not installed; "
        f"with the wheel: pipx install --force './tabuleiro-{__version__}-py3-none-any.whl[server]'\n"
    )


@pytest.mark.usefixtures("commands")
def test_a_missing_module_of_our_own_is_a_bug_and_not_hidden() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"tabuleiro\.nothing"):
        cli.exit_status(["typo"])


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("unlucky", 1, f"tabuleiro: {' '.join(str(StoreError('the disk is full')).split())}\n"),
        ("misconfigured", 2, f"tabuleiro: {ConfigError('tabuleiro.toml', 'port', 'a port number')}\n"),
        ("stopped", 130, ""),
    ],
)
def test_errors_are_one_line_and_a_status(
    command: str, status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.exit_status([command]) == status
    assert capsys.readouterr().err == message


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize("arguments", [["jump"], ["dance", "--times", "many"], ["dance", "--speed", "3"], []])
def test_wrong_usage_is_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_status(arguments) == 2
    assert "Usage: tabuleiro" in "".join(capsys.readouterr())


@pytest.mark.usefixtures("commands")
def test_a_command_typed_alone_is_called_as_it_stands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "make_app", None)
    assert cli.exit_status(["dance"]) == 0
    assert capsys.readouterr().out == "dancing \n"
    assert cli.exit_status(["encore"]) == 3


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize("arguments", [[], ["jump"], ["ball"], ["dance", "--times", "2"], ["--help"]])
def test_all_else_is_read_first(arguments: list[str]) -> None:
    assert cli.command_without_arguments(arguments) is None


def test_extras_are_found_by_module_name() -> None:
    assert cli.extra_that_installs("prometheus_client.core") == "server"
    assert cli.extra_that_installs("numba") == "bots"
    assert cli.extra_that_installs("websockets") is None


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_status(["--version"]) == 0
    assert capsys.readouterr().out == f"tabuleiro {__version__}\n"


def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tabuleiro_client", "rules", "virus-wars"]
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_fault(closed: str, tmp_path: Path) -> None:
    record = tmp_path / "game.txt"
    record.write_text('[Game "iris"]\n', encoding="utf-8")
    command = f'exec "$0" -m tabuleiro_client replay "$1" {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, str(record)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ("Iris" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_that_takes_no_more_is_one_line_and_status_1() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "tabuleiro_client", "rules", "virus-wars"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "tabuleiro: No space left on device\n")


def test_a_path_that_cannot_be_one_is_one_line_and_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_status(["export", "a" * 5000]) == 1
    assert capsys.readouterr().err == f"tabuleiro: '{'a' * 60}'...: File name too long\n"
