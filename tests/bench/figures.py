"""Times as people read them: the middle and the slow end."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(values_s: Sequence[float], percent: int) -> float:
    """The value in milliseconds that ``percent`` of the values don't exceed; not a number without values."""
    if not values_s:
        return float("nan")
    return 1000 * sorted(values_s)[min(len(values_s) * percent // 100, len(values_s) - 1)]


def spread(values_s: Sequence[float]) -> str:
    """The middle and the slow end of some times."""
    return f"p50 {percentile(values_s, 50):5.1f} p99 {percentile(values_s, 99):5.1f} ms"
