"""What of a parametrised test runs by default: the first of its cases; the others are slow tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def rest_slow(cases: Iterable[Any], quick_count: int = 1) -> list[Any]:
    """Return the cases for ``parametrize``, all but the first ``quick_count`` of them marked as slow.

    A tuple stands for the values of one case; a case may be a ``pytest.param``.
    """
    return [case if place < quick_count else _slow(case) for place, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    if hasattr(case, "marks"):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
