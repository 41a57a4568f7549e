"""What all tests share: the logs of a process are set up by what it runs, and must not outlive the test of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """A server started in one test may ask for errors only; the next test may look for its news."""
    root = logging.getLogger()
    config, level, handlers = structlog.get_config(), root.level, list(root.handlers)
    yield
    structlog.configure(**config)
    root.setLevel(level)
    root.handlers[:] = handlers
