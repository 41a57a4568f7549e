"""Damaging a page of a database file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

Page = Literal["root", "leaf"]


def spoil(path: Path, name: str, page: Page) -> None:
    """Fill a page of a table or an index with 0xFF: its first one, or one in the middle that holds rows."""
    with closing(sqlite3.connect(path)) as connection:
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        number = connection.execute(query, (name,)).fetchone()[0]
    content = bytearray(path.read_bytes())
    if page == "leaf":
        number = _leaf(content, page_bytes, number)
    content[(number - 1) * page_bytes : number * page_bytes] = b"\xff" * page_bytes
    path.write_bytes(content)


def _leaf(content: bytearray, page_bytes: int, number: int) -> int:
    """Go down the middle of a tree. Source: https://www.sqlite.org/fileformat2.html, B-tree pages."""
    start = (number - 1) * page_bytes
    while content[start] in (2, 5):
        cell_count = int.from_bytes(content[start + 3 : start + 5], "big")
        pointer = start + 12 + 2 * (cell_count // 2)
        cell = start + int.from_bytes(content[pointer : pointer + 2], "big")
        number = int.from_bytes(content[cell : cell + 4], "big")
        start = (number - 1) * page_bytes
    return number
