"""Older states of this repository, each in a worktree of its own with an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[1]


@contextmanager
def older_python(commit: str, folder: Path) -> Iterator[str]:
    """Check out ``commit`` below ``folder`` and install it there; give its interpreter, and remove all at the end.

    Raises: SystemExit when there is no such commit, or when it cannot be installed.
    """
    place = folder / f"tabuleiro-{commit.replace('/', '-')}"
    _run("git", "-C", str(REPOSITORY), "worktree", "add", "--quiet", "--detach", str(place), commit)
    try:
        print(f"installing {commit} into an environment of its own", flush=True)
        _run("make", "--silent", "-C", str(place), f"PYTHON={sys.executable}", "VENV=.venv", ".venv/.installed")
        yield str(place / ".venv" / "bin" / "python")
    finally:
        _run("git", "-C", str(REPOSITORY), "worktree", "remove", "--force", str(place))


def _run(*command: str) -> None:
    status = subprocess.run(command, check=False).returncode
    if status:
        raise SystemExit(f"`{' '.join(command)}` ended with status {status}")
