"""Every command line that the documents show is one that the program understands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from tabuleiro_client.cli.main import make_app

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "README.md",
    "docs/playing.md",
    "docs/hosting.md",
    "docs/bots.md",
    "docs/records.md",
    "CONTRIBUTING.md",
    "server/BOTS.md",
    "deploy/README.md",
    "deploy/tabuleiro.service",
    "deploy/compose.yaml",
)
PLACEHOLDERS = {"YOUR-ADDRESS": "192.0.2.7", "CODE": "K7MQ4", "SECRET": "s3cr3t"}


def shown_commands() -> list[tuple[str, str]]:
    """The document and the arguments of every command line in it."""
    found = []
    for document in DOCUMENTS:
        for line in (ROOT / document).read_text(encoding="utf-8").splitlines():
            match = re.match(r"^(?:ExecStart=|\s{4,}|\$ |> )(?:\S*/)?tabuleiro (?!listens )([a-z].*)$", line)
            if match is not None:
                command = re.sub(r"\s+(#|>|\|).*", "", match[1])
                found.append((document, command))
    return found


def parse(arguments: list[str]) -> None:
    """Parse a command line without running anything. Raises: the parser's usage error."""
    command: Any = typer.main.get_command(make_app(arguments))
    context = command.context_class(command, info_name="tabuleiro")
    while hasattr(command, "resolve_command"):
        name, command, arguments = command.resolve_command(context, arguments)
        context = command.context_class(command, info_name=name, parent=context)
    command.make_context(context.info_name, arguments)


@pytest.mark.parametrize(("document", "command"), shown_commands())
def test_a_shown_command_is_understood(document: str, command: str) -> None:
    for placeholder, value in PLACEHOLDERS.items():
        command = command.replace(placeholder, value)
    parse(shlex.split(command))


def test_there_are_commands_to_check_and_nonsense_is_refused() -> None:
    assert len(shown_commands()) > 10
    with pytest.raises(Exception, match=r"(?i)no such option|unexpected"):
        parse(["play", "--colour", "mauve"])
