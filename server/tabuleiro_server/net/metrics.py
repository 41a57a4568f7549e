"""Counts of what the network did: plain numbers, written by `net` alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class NetMetrics:
    """``open_count`` goes up and down, all others only grow.

    ``frame_count`` are messages of clients. ``refused_counts`` are connections that were not admitted, by the
    config key of the limit; ``closed_counts`` those that the server closed, by close code.
    """

    open_count: int = 0
    admitted_count: int = 0
    frame_count: int = 0
    refused_counts: Counter[str] = field(default_factory=Counter)
    closed_counts: Counter[int] = field(default_factory=Counter)
