"""Writing a file of this user whole or not at all: no reader, and no fault, ever meets half of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacement(path: Path, data: bytes, *, is_flushed: bool = False) -> Iterator[str]:
    """Write ``data`` beside ``path``, and put it in the place of ``path`` when the context ends without a fault.

    Gives the name of the new file, which nobody else can read, not even for a moment. The folder must be there.
    ``is_flushed``: it is on the disk before it takes the place.

    Raises: OSError, and then the file is as it was.
    """
    # mkstemp makes the file with mode 0600: it may hold a token, or the secret of a private room.
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            if is_flushed:
                file.flush()
                os.fsync(file.fileno())
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
