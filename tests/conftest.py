"""What all tests share: settings of the process that one test or its caller must not leave to another."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tabuleiro.rules.games.virus_wars import VirusWars
from tests.postgres import Cluster, cluster_with_games
from tests.postgres_proxy import Proxy, proxy

GARBAGE_THRESHOLDS = (10_000, 10, 10)
"""After how many new objects, and rounds in the younger ones, the collector looks for garbage."""


# A busy machine is no fault of what is tested: nothing here asks how long anything takes.
settings.register_profile("tabuleiro", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tabuleiro")


def pytest_configure() -> None:
    """Leave to tests, and to what they start, nothing of the terminal and the job that pytest runs in.

    A background job has Ctrl-C ignored, and one under nohup the end of its terminal; children inherit that.
    The interpreter's line editor, which pytest loads, tells its children the size of the terminal by
    variables; screens in windows of any size believe them.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)


def pytest_collection_finish() -> None:
    """Have the collector pass over the loaded modules and tests, which never become garbage, and come seldom.

    Looking through them took a quarter of the time of the tests of screens.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """A server started in one test may ask for errors only; the next test may look for its news."""
    root = logging.getLogger()
    config, level, handlers = structlog.get_config(), root.level, list(root.handlers)
    yield
    structlog.configure(**config)
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture(autouse=True)
def bots_get_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a busy core a worker of the lowest priority gets next to no time, and tests wait for its turns."""
    monkeypatch.setattr("tabuleiro_server.bots.pool.LOWEST_PRIORITY", 5)


@pytest.fixture
def draws_in_virus_wars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a draw be offered in Virus Wars, whose short matches the tests of all offers play."""
    monkeypatch.setattr(VirusWars, "has_draws", True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """One PostgreSQL for all tests of a process."""
    with cluster_with_games() as running:
        yield running


@pytest.fixture
def database_url(postgres: Cluster) -> Iterator[str]:
    """The address of an empty database."""
    yield postgres.url("games")
    postgres.sql("DROP SCHEMA IF EXISTS tabuleiro CASCADE", "games")


@pytest.fixture
async def network(database_url: str) -> AsyncIterator[Proxy]:
    """The network between a server and its database, to be disturbed."""
    with tempfile.TemporaryDirectory(prefix="tabuleiro-net-") as folder:
        async with proxy(Path(folder), database_url) as running:
            yield running
            running.release()
