"""Inserting many rows with few statements.

Python's sqlite3 gives up the interpreter lock at every step of a statement and has to win it back from the
event loop's thread. ``executemany`` pays that for each row, a ``VALUES`` list once for all its rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Final

Value = str | bytes | int | None

_ROWS_AT_ONCE: Final = (64, 16, 4, 1)
"""Few sizes, so that all the statements stay prepared; 64 rows keep below the 999 parameters of an old SQLite."""


class RowInsert:
    """``INSERT`` of any number of rows; ``insert`` ends before ``VALUES``, ``on_conflict`` follows them."""

    def __init__(self, insert: str, column_count: int, on_conflict: str = "") -> None:
        row = f"({', '.join('?' * column_count)})"
        self._statements = tuple(
            (size, f"{insert} VALUES {', '.join([row] * size)} {on_conflict}") for size in _ROWS_AT_ONCE
        )

    def run(self, connection: sqlite3.Connection, rows: Sequence[tuple[Value, ...]]) -> None:
        """Insert ``rows``. Raises: sqlite3.Error; the caller rolls back."""
        start = 0
        for size, statement in self._statements:
            while len(rows) - start >= size:
                connection.execute(statement, tuple(chain.from_iterable(rows[start : start + size])))
                start += size
