"""What the tests of the Textual client share: a terminal, patience, a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.widgets import Input

from tabuleiro_server.config import Config
from tabuleiro_server.wiring import RunningServer, running_server
from tests.client.tui.settling import settle_without_a_clock
from tests.patience import PATIENCE


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A terminal of true colour and folders of the test's own."""
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TABULEIRO_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("TABULEIRO_DATA_DIR", str(tmp_path / "data"))
    settle_without_a_clock(monkeypatch)
    # A cursor that blinks would make two pictures of one screen.
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)


@pytest.fixture(autouse=True)
async def _patience() -> AsyncIterator[None]:
    """No test of this folder may wait for ever."""
    PATIENCE.renew()
    yield
    PATIENCE.end()


@pytest.fixture
async def real_server(tmp_path: Path) -> AsyncIterator[RunningServer]:
    """A whole server with its store, on a free loopback port."""
    async with running_server(Config(db=str(tmp_path / "server.db"), port=0)) as server:
        yield server
