"""Many rows in few statements.

Python's sqlite3 lets go of the interpreter at every step of a statement and has to get it back from a busy event
loop, which may take the whole switch interval (5 ms) each time. A group of a hundred rows written one by one
waits half a second that way; in a handful of statements it does not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

_SIZES: Final = (64, 16, 4, 1)
"""Rows a statement: few different texts, so that the prepared statements are found again."""


def insert_rows(
    connection: sqlite3.Connection, head: str, rows: Sequence[tuple[Any, ...]], tail: str = ""
) -> None:
    """Run ``head VALUES (...), (...) tail`` for all rows, in their order; all have the same length.

    Raises: sqlite3.Error, with some of the rows written.
    """
    start = 0
    for size in _SIZES:
        while len(rows) - start >= size:
            batch = rows[start : start + size]
            values = [value for row in batch for value in row]
            connection.execute(_statement(head, len(batch[0]), size, tail), values)
            start += size


@cache
def _statement(head: str, width: int, size: int, tail: str) -> str:
    row = f"({', '.join('?' * width)})"
    return f"{head} VALUES {', '.join([row] * size)}{tail}"
