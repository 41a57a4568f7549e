"""What the tests of the Textual client share: a terminal, patience, a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from textual.widgets import Input

from tabuleiro.errors import ConnectionLostError
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.link import is_loopback
from tabuleiro_client.net.server import Venue, remote_gallery
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
    monkeypatch.setattr("tabuleiro_client.models.turns.remote_gallery", _gallery_of_this_machine)
    # A cursor that blinks would make two pictures of one screen.
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)


def _gallery_of_this_machine(url: str, identities: IdentityFolder) -> AbstractAsyncContextManager[Venue]:
    """Reach servers of tests only: the home screen asks those of its matches, and some are made up."""
    if not is_loopback(url):
        raise ConnectionLostError(f"cannot connect to {url}")
    return remote_gallery(url, identities)


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
