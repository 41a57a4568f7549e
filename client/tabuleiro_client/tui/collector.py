"""Keeping the garbage collector's long rounds out of the time in which somebody plays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

FULL_ROUND_EVERY: Final = 1000
"""After how many rounds in the younger objects the old ones are looked through as well."""


@contextmanager
def spared_objects() -> Iterator[None]:
    """Have the collector pass over all that is there now, and seldom go through what gets old meanwhile.

    What is there is the loaded program, mostly, of which nothing becomes garbage: looking through it takes a tenth
    of a second each time, in which no key is taken. After the context all is as before: where something was spared
    already, by a caller or by this context around it, no more is, for nobody could tell the two apart afterwards.
    """
    thresholds, is_first = gc.get_threshold(), gc.get_freeze_count() == 0
    if is_first:
        gc.freeze()
    gc.set_threshold(*thresholds[:2], FULL_ROUND_EVERY)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if is_first:
            gc.unfreeze()
