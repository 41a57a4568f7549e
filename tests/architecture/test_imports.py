"""What importing does: every module can be the first one, and no command loads what it does not need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.test_layout import ROOT, SOURCES
from tools.structure import Checkout

LIBRARIES = ("textual.app", "textual.widgets", "websockets", "aiosqlite", "structlog", "typer", "numba", "msgspec")
"""Imported once, before each module of ours is imported in a process of its own."""

FIRST_IMPORT = """
import importlib, os, sys
for name in sys.argv[1].split():
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        pass
for name in sys.argv[2].split():
    if (child := os.fork()) == 0:
        importlib.import_module(name)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name)
"""


LIGHT_COMMANDS = """
import sys
from tabuleiro_client.cli.main import exit_status
heavy = {"aiosqlite", "asyncio", "msgspec", "numba", "numpy", "rich", "sqlite3", "textual", "websockets"}
heavy.add("tabuleiro_server.config")
for arguments in (["perft", "virus-wars", "--depth", "1"], ["rules", "iris"], ["--version"], ["--help"]):
    assert exit_status(arguments) == 0
    print(arguments[0], sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert Checkout(ROOT).circles() == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork there")
def test_every_module_can_be_imported_first() -> None:
    """Symptom of a circle: a module that works only when another one was imported before it."""
    names = [module_name(path) for path in SOURCES if path.stem != "__main__"]
    command = [sys.executable, "-c", FIRST_IMPORT, " ".join(LIBRARIES), " ".join(names)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_commands_that_need_neither_network_nor_screen_nor_server_load_none() -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT_COMMANDS], capture_output=True, text=True, check=True)
    assert done.stderr == "perft []\nrules []\n--version []\n--help []\n"
