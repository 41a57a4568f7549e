"""The script that makes the environment of `make play` and `make test`, with a Python that only takes notes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "install.sh"

PYTHON = """#!/bin/sh
echo "$*" >>"$NOTES"
case $1 in
    --version) echo "Python $VERSION" ;;
    -c) case $2 in
        *'version_info < '*) case $VERSION in 3.1[1-9]*) ;; *) exit 1 ;; esac ;;
        *find_spec*) [ -e "${0%/*}/pip" ] && [ "$(cat "${0%/*}/place" 2>/dev/null)" = "$PWD" ] ;;
        *'import sys, pip'*) [ -e "${0%/*}/pip" ] && case $VERSION in 3.1[1-9]*) ;; *) exit 1 ;; esac ;;
        *ensurepip*) [ -z "$INCOMPLETE" ] || { echo "No module named 'ensurepip'"; exit 1; } ;;
        *) exit 3 ;;
        esac ;;
    -m) case $2 in
        venv) rm -rf "$4" && mkdir -p "$4/bin" && touch "$4/pyvenv.cfg" "$4/bin/pip" && cp "$0" "$4/bin/python" ;;
        pip) case "$*" in
            *"$BROKEN"*) [ -z "$BROKEN" ] || { echo "ERROR: No matching distribution" >&2; exit 1; } ;;
            esac
            pwd >"${0%/*}/place" ;;
        esac ;;
esac
"""
"""`.venv/bin/pip` stands for an environment with pip, `.venv/bin/place` holds the folder installed there."""


class Clone:
    """A clone of the repository in ``folder`` with nothing but what the script reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "pyproject.toml").touch()
        (folder / "constraints.txt").touch()
        self.python = folder / "python3"
        self.python.write_text(PYTHON)
        self.python.chmod(0o755)

    def install(
        self, stage: str = "play", *, version: str = "3.11.9", broken: str = "", incomplete: str = ""
    ) -> tuple[int, str, list[str]]:
        """Run the script; return its status, what it says, and what it installed or made."""
        notes = self.folder / "notes"
        notes.write_text("")
        run = subprocess.run(
            ["sh", str(SCRIPT), "./python3", ".venv", stage],
            cwd=self.folder,
            env={
                "PATH": "/usr/bin:/bin",
                "NOTES": str(notes),
                "VERSION": version,
                "BROKEN": broken,
                "INCOMPLETE": incomplete,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.stdout == ""
        made = [line.removeprefix("-m ") for line in notes.read_text().splitlines() if line.startswith("-m ")]
        return run.returncode, run.stderr, made


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clone")


def test_players_get_no_tools_of_developers_and_developers_get_them_later(clone: Clone) -> None:
    status, says, made = clone.install("play")
    assert (status, says) == (0, "Installing tabuleiro into .venv; this takes about half a minute ...\n")
    assert [line.split()[0] for line in made] == ["venv", "pip"]
    assert made[1].endswith("-e .[server,bots]")
    status, _, made = clone.install("develop")
    assert status == 0
    assert made[-1].endswith("--group dev")
    assert "venv --clear .venv" not in made


@pytest.mark.parametrize("second", ["play", "develop"])
def test_what_is_sound_and_new_is_left_alone(clone: Clone, second: str) -> None:
    clone.install("develop")
    assert clone.install(second) == (0, "", [])


def test_new_requirements_are_installed_into_what_is_there(clone: Clone) -> None:
    clone.install("play")
    later_ns = (clone.folder / ".venv" / ".playing").stat().st_mtime_ns + 10**9
    os.utime(clone.folder / "pyproject.toml", ns=(later_ns, later_ns))
    status, _, made = clone.install("play")
    assert status == 0
    assert [line.split()[0] for line in made] == ["pip"]


@pytest.mark.parametrize("damage", ["no pip", "moved", "not finished", "no python"])
def test_an_environment_of_no_use_is_made_again(clone: Clone, damage: str) -> None:
    clone.install("play")
    environment = clone.folder / ".venv"
    match damage:
        case "no pip":
            (environment / "bin" / "pip").unlink()
        case "moved":
            (environment / "bin" / "place").write_text("/somewhere/else")
        case "not finished":
            (environment / ".playing").rename(environment / ".unfinished")
        case "no python":
            (environment / "bin" / "python").unlink()
    status, says, made = clone.install("play")
    assert status == 0
    assert "making a new one" in says
    assert made[0] == "venv --clear .venv"
    assert clone.install("play") == (0, "", [])


def test_an_environment_of_an_old_python_is_made_again(clone: Clone) -> None:
    clone.install("play")
    inside = clone.folder / ".venv" / "bin" / "python"
    inside.write_text(inside.read_text().replace("$VERSION", "3.10.2"))
    (clone.folder / ".venv" / ".playing").unlink()
    status, says, made = clone.install("play")
    assert status == 0
    assert "making a new one" in says
    assert made[0] == "venv --clear .venv"


def test_a_failed_installation_is_begun_again(clone: Clone) -> None:
    assert clone.install("play", broken="server")[0] == 1
    assert clone.install("play")[2][0] == "venv --clear .venv"


def test_the_python_that_is_needed_is_named_before_anything_is_made(clone: Clone) -> None:
    status, says, made = clone.install("play", version="3.10.13")
    assert status == 1
    assert "needs Python 3.11 or newer; `./python3` is Python 3.10.13" in says
    assert made == []
    assert not (clone.folder / ".venv").exists()


def test_a_python_without_venv_is_told_before_anything_is_made(clone: Clone) -> None:
    status, says, made = clone.install("play", incomplete="yes")
    assert status == 1
    assert "No module named 'ensurepip'" in says
    assert "apt install python3-venv" in says
    assert made == []


def test_no_folder_of_somebody_is_emptied(clone: Clone) -> None:
    (clone.folder / ".venv").mkdir()
    (clone.folder / ".venv" / "diary.txt").touch()
    status, says, _ = clone.install("play")
    assert status == 1
    assert ".venv is in the way" in says
    assert (clone.folder / ".venv" / "diary.txt").exists()


def test_without_a_wheel_of_numba_the_bots_come_without_their_compiled_search_told_once(clone: Clone) -> None:
    status, says, made = clone.install("play", broken="bots")
    assert status == 0
    assert "without their compiled search" in says
    assert "ERROR: No matching distribution" in says
    assert made[-1].endswith("-e .[server]")
    assert clone.install("play", broken="bots") == (0, "", [])
