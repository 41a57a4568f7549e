"""The limit of open files fits the connections that are allowed, or the log says that it does not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog

from tabuleiro_server.cli.serve import OTHER_FILES_COUNT, allow_open_files

resource = pytest.importorskip("resource")


@pytest.fixture(autouse=True)
def log_entries() -> Iterator[list[dict[str, object]]]:
    """In the place of the fixture that takes every warning for a fault."""
    with structlog.testing.capture_logs() as entries:
        yield entries


@pytest.fixture
def low_limit() -> Iterator[int]:
    """A soft limit far below the hard one."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    low = min(512, before[0])
    resource.setrlimit(resource.RLIMIT_NOFILE, (low, before[1]))
    yield low
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_soft_limit_is_raised_for_the_connections(
    low_limit: int, log_entries: list[dict[str, object]]
) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    allow_open_files(low_limit)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (low_limit + OTHER_FILES_COUNT, hard)
    assert log_entries == []


def test_a_limit_that_is_high_enough_stays(low_limit: int) -> None:
    allow_open_files(low_limit - OTHER_FILES_COUNT)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == low_limit


def test_more_connections_than_files_are_told_of(low_limit: int, log_entries: list[dict[str, object]]) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY:
        pytest.skip("there is no limit here")
    allow_open_files(hard)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard
    assert [entry["event"] for entry in log_entries] == ["too few open files for connections_count"]
