"""How much a search may still do: a count of nodes, and a flag that a timer raises. For kernels and their callers.

Kernels cannot read a clock; they give up the interpreter lock, so that a thread of the caller can raise the flag.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

from tabuleiro_server.bots.engine.compiled import Array, kernel

Effort = Array
"""Nodes looked at, nodes allowed, and 1 once the search must end."""

NODES: Final = 0
ALLOWED: Final = 1
IS_OVER: Final = 2
_NO_LIMIT: Final = 2**62


def unlimited_effort() -> Effort:
    """An effort without limits."""
    return np.array([0, _NO_LIMIT, 0], dtype=np.int64)


@contextmanager
def limited_effort(max_nodes: int | None, deadline_s: float | None) -> Iterator[Effort]:
    """An effort of ``max_nodes`` nodes, ended at ``deadline_s`` on the clock of ``time.monotonic``.

    ``None`` means no such limit; that one is given is left to ``check_task`` to see to.
    """
    effort = unlimited_effort()
    if max_nodes is not None:
        effort[ALLOWED] = max_nodes
    if deadline_s is None:
        yield effort
        return
    timer = threading.Timer(max(0.0, deadline_s - time.monotonic()), effort.__setitem__, (IS_OVER, 1))
    timer.daemon = True
    timer.start()
    try:
        yield effort
    finally:
        timer.cancel()


@kernel
def spend_node(effort: Effort) -> bool:
    """Count a node; whether the search must end."""
    effort[NODES] += 1
    if effort[NODES] > effort[ALLOWED]:
        effort[IS_OVER] = 1
    return bool(effort[IS_OVER] != 0)
