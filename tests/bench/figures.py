"""Figures as people read them: the median with its spread, and the slow end of times."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def percentile(values_s: Sequence[float], percent: int) -> float:
    """Return the value in milliseconds that ``percent`` of the values do not exceed; NaN without values."""
    if not values_s:
        return float("nan")
    return 1000 * sorted(values_s)[min(len(values_s) * percent // 100, len(values_s) - 1)]


def spread(values_s: Sequence[float]) -> str:
    """Return the median and the slow end of some times."""
    return f"p50 {percentile(values_s, 50):5.1f} p99 {percentile(values_s, 99):5.1f} ms"


def median_with_quartiles(values: Sequence[float], places: int = 0) -> str:
    """Return the median of some values, and in brackets the two quartiles between which half of them lie."""
    if len(values) < 2:
        return f"{values[0]:.{places}f}"
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:.{places}f} ({low:.{places}f} to {high:.{places}f})"
