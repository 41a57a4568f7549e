"""What a fault looks like in the log, whoever logs it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

import pytest
import structlog

from tabuleiro_server.cli.logs import configure_logs


def fail_with(secret: str) -> None:
    raise LookupError("something of ours")


def log_fault(log: Callable[[], None]) -> None:
    # Put together, so that the line itself, which tracebacks show, does not hold it.
    token = "".join(["s3", "cret"])
    try:
        fail_with(token)
    except LookupError:
        log()


def log_by_standard_library() -> None:
    logging.getLogger("websockets.server").error("a task failed", exc_info=True)


def log_by_structlog() -> None:
    structlog.get_logger("tabuleiro").error("a task failed", exc_info=True)


LOGGERS = pytest.mark.parametrize("log", [log_by_standard_library, log_by_structlog])


@LOGGERS
def test_traceback_shows_lines_but_no_variables(
    log: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs("info")
    log_fault(log)
    written = capsys.readouterr().err
    assert 'raise LookupError("something of ours")' in written
    assert "s3cret" not in written


@LOGGERS
def test_json_line_holds_the_traceback_as_text(
    log: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs("info", "json")
    log_fault(log)
    (line,) = capsys.readouterr().err.splitlines()
    entry = json.loads(line)
    assert entry["event"] == "a task failed"
    assert entry["exception"].splitlines()[-1] == "LookupError: something of ours"


def test_lines_of_a_node_have_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    for node, names in (("a", {"node": "a"}), ("", {})):
        configure_logs("info", "json", node)
        structlog.get_logger().info("hello")
        logging.getLogger("asyncio").warning("hello")
        for line in capsys.readouterr().err.splitlines():
            assert {key: value for key, value in json.loads(line).items() if key == "node"} == names
