"""A server on a slow disk: ``slow_server.py --db FILE --port N``, otherwise ``tabuleiro serve``.

A kill right after an acknowledgement comes before the commit here, if that was not waited for. On a quick disk the
commit is mostly done by then, and a server that acknowledges too early gets away with it.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

from tabuleiro_server.cli import serve
from tabuleiro_server.config import Config
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.store.port import Store
from tabuleiro_server.store.sqlite.store import SqliteStore
from tabuleiro_server.wiring import running_server

COMMIT_MAX_S: Final = 0.04


class SlowDisk(sqlite3.Connection):
    """Commits take up to ``COMMIT_MAX_S`` longer."""

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        if sql == "COMMIT":
            time.sleep(COMMIT_MAX_S * random.random())
        return super().execute(sql, parameters)


async def open_slowly(config: Config) -> Store:
    """Open the database that the settings name on a slow disk."""
    return await SqliteStore.open(Path(config.db), rows_of, connection_class=SlowDisk)


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    serve.running_server = partial(running_server, open_store=open_slowly)  # type: ignore[assignment]
    serve.serve(port=arguments.port, db=arguments.db)


if __name__ == "__main__":
    main()
