"""The promises about the shape of the code that no other tool checks."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for folder in ("shared/tabuleiro", "server/tabuleiro_server", "client/tabuleiro_client")
    for path in (ROOT / folder).rglob("*.py")
)
MAX_LINES_COUNT = 420
"""A module past 400 lines is split; a few lines of grace keep reformatting from being a reason."""
FORBIDDEN_NAMES = re.compile(r"(utils?|helpers?|managers?|misc|common)$")

every_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))


@every_source
def test_modules_are_short_named_and_documented(path: Path) -> None:
    text = path.read_text()
    says_why = "Longer than other modules:" in text
    assert text.count("\n") <= MAX_LINES_COUNT or says_why
    assert not FORBIDDEN_NAMES.search(path.stem)
    if path.name != "py.typed":
        assert ast.get_docstring(ast.parse(text)), "a module says what its job is"


@every_source
def test_nothing_is_left_to_be_done(path: Path) -> None:
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", path.read_text())


def test_rules_and_room_name_no_clock_and_no_chance() -> None:
    pure = [path for path in SOURCES if {"rules", "room"} & set(path.relative_to(ROOT).parts)]
    assert pure
    for path in pure:
        imported = {
            alias.name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in ([ast.alias(node.module or "")] if isinstance(node, ast.ImportFrom) else node.names)
        }
        assert not imported & {"time", "datetime", "random", "secrets", "uuid", "asyncio", "os"}, path


def test_constraints_pin_everything_and_name_no_index() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert lines
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.+-]+", line) for line in lines)
