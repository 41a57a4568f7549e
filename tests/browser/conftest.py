"""A server in a process of its own, and a real browser; skipped where there is none."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.browser.play import LIMIT_MS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
LOST = re.compile(r"WebSocket connection to '[^']*' failed|net::ERR_(CONNECTION_REFUSED|INTERNET_DISCONNECTED)")
"""What a browser says in its console when a server was killed on purpose, or its network switched off."""


class Served:
    """A server that may be killed and started again on the same port and database, ``None``: a file of its own.

    ``settings`` go in by the environment; ``port`` 0 is any free one.
    """

    def __init__(self, folder: Path, db: str | None = None, port: int = 0, **settings: object) -> None:
        self._folder = folder
        self._db = db or str(folder / "browser.db")
        self._port = str(port)
        self._settings = {f"TABULEIRO_{key.upper()}": str(value) for key, value in settings.items()}
        self.process: subprocess.Popen[str] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def address(self) -> str:
        return f"ws://127.0.0.1:{self._port}"

    def start(self) -> None:
        command = [sys.executable, "-m", "tabuleiro_client", "serve", "--port", self._port]
        command += ["--db", self._db]
        environment = {**os.environ, "TABULEIRO_DATA_DIR": str(self._folder), "TABULEIRO_BOT_WORKERS": "1"}
        environment |= self._settings
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = re.search(r"listens on ws://127\.0\.0\.1:([0-9]+)", line)
            if found:
                self._port = found.group(1)
                return
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(20)
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium is installed")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def session_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("browser"))
    yield served
    served.stop()


@pytest.fixture
def served(session_server: Served) -> Served:
    """The server of all tests here, running."""
    if session_server.process is None:
        session_server.start()
    return session_server


@pytest.fixture
def visit(browser: Any, served: Served) -> Iterator[Callable[..., Any]]:
    """``visit(path, **context)``: a page of a new visitor; the path may be a whole address of another server.

    Neither an error nor a report of the content security policy may have been said in its console. ``prepare`` is
    called with the page before it opens its address.
    """
    contexts: list[Any] = []
    faults: list[str] = []

    def open_page(
        path: str = "/", *, is_phone: bool = False, prepare: Callable[[Any], object] | None = None, **options: Any
    ) -> Any:
        context = browser.new_context(**(PHONE if is_phone else {}) | options)
        context.set_default_timeout(LIMIT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
        if prepare is not None:
            prepare(page)
        page.goto(urljoin(served.url, path))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [fault for fault in faults if not LOST.search(fault)] == []
