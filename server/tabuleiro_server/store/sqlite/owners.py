"""Owners and modes of the files beside a database: those of the database, whoever runs the command.

An administrator works on the file of a service as root. What root makes beside it, the service's user has to be
able to open. SQLite itself sees to its write-ahead log and the index of that.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
PRIVATE: Final = 0o600
"""Readable by its owner alone: tokens are kept hashed, but chat is not."""


def create_beside(path: Path | str, database: Path) -> int:
    """Create a file with the owner and the mode of ``database``, and return its descriptor.

    A file or a link that is there already is left alone: as root it could be led to anybody's file.

    Raises: OSError; FileExistsError.
    """
    descriptor = os.open(path, _NEW, PRIVATE)
    if sys.platform != "win32":
        # Some file systems know no owners; where there is no database yet, it will be our own.
        with suppress(OSError):
            status = os.stat(database)
            if os.geteuid() == 0:
                os.fchown(descriptor, status.st_uid, status.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & 0o666)
    return descriptor


def owner_hint(path: Path | str) -> str:
    """Return whose file or folder ``path`` is that was denied to us, after a semicolon.

    Where nothing is there, or it cannot be reached, its folder counts. Empty when it is our own, or unknown.
    """
    if sys.platform == "win32":
        return ""
    for place in (Path(path), Path(path).absolute().parent):
        with suppress(OSError):
            status = os.stat(place)
            if status.st_uid == os.geteuid() or os.geteuid() == 0:
                return ""
            mode = stat.S_IMODE(status.st_mode)
            whose = f"belongs to {_user_name(status.st_uid)} (mode {mode:04o})"
            return f"; {place} {whose}, and this program runs as {_user_name(os.geteuid())}"
    return ""


def _user_name(uid: int) -> str:
    if sys.platform != "win32":
        import pwd

        with suppress(KeyError):
            return pwd.getpwuid(uid).pw_name
    return f"user {uid}"
