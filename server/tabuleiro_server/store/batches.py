"""Many rows in few statements.

Python's sqlite3 lets go of the interpreter at every step of a statement and has to get it back from a busy event
loop, which may take the whole switch interval (5 ms) each time. A group of a hundred rows written one by one
waits half a second that way; in a handful of statements it does not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

_FEW_ROWS_COUNT: Final = 16
"""Up to here rows go in one statement, and more of them in multiples of it: few different texts, so that the
prepared statements are found again, and few statements a group."""

_MAX_ROWS_COUNT: Final = 10 * _FEW_ROWS_COUNT


def insert_rows(
    connection: sqlite3.Connection, head: str, rows: Sequence[tuple[Any, ...]], tail: str = ""
) -> None:
    """Run ``head VALUES (...), (...) tail`` for all rows, in their order; all have the same length.

    Raises: sqlite3.Error, with some of the rows written.
    """
    start = 0
    while start < len(rows):
        left_count = len(rows) - start
        size = min(left_count - left_count % _FEW_ROWS_COUNT, _MAX_ROWS_COUNT) or left_count
        batch = rows[start : start + size]
        values = list(chain.from_iterable(batch))
        connection.execute(_statement(head, len(batch[0]), size, tail), values)
        start += size


@cache
def _statement(head: str, width: int, size: int, tail: str) -> str:
    row = f"({', '.join('?' * width)})"
    return f"{head} VALUES {', '.join([row] * size)}{tail}"
