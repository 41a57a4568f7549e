"""Tests of what the garbage collector does, and leaves, while somebody plays."""

from __future__ import annotations

import gc
import weakref

from tabuleiro_client.tui.collector import spared_objects


class Ring:
    """Holds itself, so that only the collector ends it."""

    def __init__(self) -> None:
        self.me = self


def test_objects_are_spared_only_while_the_context_lasts():
    gc.collect()
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()
    old = weakref.ref(Ring())
    with spared_objects():
        young = weakref.ref(Ring())
        gc.collect()
        assert old() is not None
        assert young() is None
    assert (gc.get_threshold(), gc.get_freeze_count()) == (thresholds, frozen)
    gc.collect()
    assert old() is None
