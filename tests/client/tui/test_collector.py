"""Tests of what the garbage collector does, and leaves, while somebody plays."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from tabuleiro_client.tui.pacing import spared_objects


class Ring:
    """Holds itself, so that only the collector ends it."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def nothing_spared() -> Iterator[None]:
    """What the tests before have the collector pass over is looked at during this one."""
    gc.unfreeze()
    gc.collect()
    yield
    gc.collect()
    gc.freeze()


def test_objects_are_spared_only_while_the_context_lasts(nothing_spared):
    thresholds = gc.get_threshold()
    old = weakref.ref(Ring())
    with spared_objects():
        young = weakref.ref(Ring())
        gc.collect()
        assert old() is not None
        assert young() is None
    assert (gc.get_threshold(), gc.get_freeze_count()) == (thresholds, 0)
    gc.collect()
    assert old() is None


def test_what_was_spared_before_the_context_is_spared_after_it(nothing_spared):
    thresholds = gc.get_threshold()
    old = weakref.ref(Ring())
    with spared_objects():
        spared_count = gc.get_freeze_count()
        with spared_objects():
            pass
        assert gc.get_freeze_count() == spared_count
        gc.collect()
        assert old() is not None
    assert (gc.get_threshold(), gc.get_freeze_count()) == (thresholds, 0)
