"""A server on a bad machine: ``slow_server.py --db FILE --port N``, otherwise ``tabuleiro serve``.

Its disk is slow, and its clock is set again and again. A kill right after an acknowledgement comes before the
commit here, if that was not waited for. On a quick disk the commit is mostly done by then, and a server that
acknowledges too early gets away with it.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

from tabuleiro.ids import DAY_MS, HOUR_MS
from tabuleiro_server.cli import serve
from tabuleiro_server.config import Config
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.run_clock import RunClock, wall_ms
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


SET_BY_MS: Final = (-61 * DAY_MS, -HOUR_MS, -1_000, 0, 1_000, HOUR_MS, 61 * DAY_MS)
"""How far the clock may be off while the server runs."""

SET_AT_START_BY_MS: Final = SET_BY_MS[:5]
"""How far it may be off at the start, the only clock there is then: in two months guests would be forgotten."""


class UnsteadyClock(RunClock):
    """A clock of a run on a machine whose time of day is another one at each look."""

    def __init__(self) -> None:
        self._choice = SET_AT_START_BY_MS
        super().__init__(self._unsteady_ms)
        self._choice = SET_BY_MS

    def _unsteady_ms(self) -> int:
        return wall_ms() + random.choice(self._choice)


async def open_slowly(config: Config) -> Store:
    """Open the database that the settings name on a slow disk."""
    return await SqliteStore.open(Path(config.db), rows_of, connection_class=SlowDisk)


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", required=True)
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    serve.RunClock = UnsteadyClock  # type: ignore[misc]
    serve.running_server = partial(running_server, open_store=open_slowly)  # type: ignore[assignment]
    serve.serve(port=arguments.port, db=arguments.db)


if __name__ == "__main__":
    main()
