"""Logs: one event a line on standard error, for people or as JSON."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from functools import partial
from typing import Literal, TextIO, cast

import structlog


class _LastingStream:
    """Standard error for the log: what cannot be written, e.g. once the terminal is closed, is dropped."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Write a part of a line."""
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        """Write what waits."""
        with suppress(OSError):
            self._stream.flush()


def _add_node(
    node: str, logger: object, method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    event["node"] = node
    return event


def configure_logs(level: str, style: Literal["text", "json"] = "text", node: str = "") -> None:
    """Configure the logs of this process, those of the standard library included.

    Args:
        level: One of debug, info, warning, error.
        style: Lines for people, or one JSON object a line.
        node: The name in each line of a server that is one of several.
    """
    # Plain tracebacks: those for people that structlog prefers show the variables, tokens among them.
    renderer = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        *([partial(_add_node, node)] if node else []),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _LastingStream(sys.stderr))),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared))
    logging.basicConfig(handlers=[handler], level=max(threshold, logging.WARNING), force=True)
