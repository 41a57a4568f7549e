"""Copying a database, in use or not, into one file of its own."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from tabuleiro.errors import StorageUnavailableError


def copy_database(source: sqlite3.Connection, target: Path, *, is_checked: bool = True) -> None:
    """Copy what ``source`` sees at one moment to ``target``, damaged or not unless ``is_checked``.

    A former ``target`` is replaced when the copy is complete and on disk. The copy is one file without a
    write-ahead log, readable by its owner alone.

    Raises: sqlite3.Error; StorageUnavailableError when the file cannot be made, or is not sound.
    """
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        with contextlib.closing(sqlite3.connect(unfinished, isolation_level=None)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            findings = [text for (text,) in copy.execute("PRAGMA quick_check")] if is_checked else ["ok"]
        if findings != ["ok"]:
            finding = " ".join(findings[0].split())
            raise StorageUnavailableError(
                f"the copy of the database is not sound, and so may be the database; `tabuleiro db verify` tells,"
                f" `tabuleiro db rebuild` mends it ({finding})"
            )
        _flush(unfinished)
        os.replace(unfinished, target)
    except OSError as error:
        raise StorageUnavailableError(f"cannot write {target}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
