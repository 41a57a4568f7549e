"""The promises about the shape of the code that no other tool checks."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for folder in ("shared/tabuleiro", "server/tabuleiro_server", "client/tabuleiro_client")
    for path in (ROOT / folder).rglob("*.py")
)
FORBIDDEN_NAMES = re.compile(r"(utils?|helpers?|managers?|misc|common)$")


def offenders(is_one: Callable[[Path], bool]) -> list[str]:
    """Return the paths of all modules of the product that break a promise."""
    assert SOURCES
    return [str(path.relative_to(ROOT)) for path in SOURCES if is_one(path)]


def test_a_module_is_named_for_what_it_holds() -> None:
    assert not offenders(lambda path: bool(FORBIDDEN_NAMES.search(path.stem)))


def test_a_module_says_what_its_job_is() -> None:
    assert not offenders(lambda path: not ast.get_docstring(ast.parse(path.read_text())))


def test_nothing_is_left_to_be_done() -> None:
    assert not offenders(lambda path: bool(re.search(r"\b(TODO|FIXME|XXX|HACK)\b", path.read_text())))


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


def test_the_map_for_contributors_names_what_is_there() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    packages = ("shared/tabuleiro", "server/tabuleiro_server", "client/tabuleiro_client")
    named = {name for name in re.findall(r"`([\w/.]+)`", page) if "/" in name or name.endswith(".py")}
    folders = [ROOT, *(ROOT / package for package in packages)]
    inner = [folder for package in packages for folder in (ROOT / package).iterdir() if folder.is_dir()]
    missing = [name for name in named if not any((folder / name).exists() for folder in [*folders, *inner])]
    assert len(named) > 30
    assert not missing
