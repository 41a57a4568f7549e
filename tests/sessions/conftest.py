"""The stage of the tests of rooms, for tests of what sessions ask of them."""

from __future__ import annotations

from tests.rooms.conftest import match_of, open_stage, stage

__all__ = ["match_of", "open_stage", "stage"]
