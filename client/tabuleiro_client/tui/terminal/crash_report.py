"""The report of a crash: what its reader needs, kept in a file. No values of variables: those may be secret."""

from __future__ import annotations

import os
import platform
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import Final

FILE_NAME: Final = "crash-report.txt"


def write_report(folder: Path, error: BaseException) -> str:
    """Keep the report of ``error``, the last one only, in ``folder``; return a sentence for the person."""
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    lines = [
        f"tabuleiro {version('tabuleiro')}, Python {platform.python_version()}, {platform.platform()}\n",
        f"TERM={os.environ.get('TERM', '')}\n\n",
        *traceback.format_exception(error),
    ]
    path = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
    except OSError as problem:
        return f"tabuleiro has crashed ({what}); no report could be kept in {folder}: {problem.strerror}"
    return f"tabuleiro has crashed ({what}). The report is in {path}"
