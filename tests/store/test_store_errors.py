"""The texts of the store's errors."""

from __future__ import annotations

import pytest

from tabuleiro.errors import (
    ConflictError,
    DamagedRoomError,
    DatabaseFormatError,
    DatabaseLockedError,
    NameTakenError,
    StorageUnavailableError,
    StoreError,
)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            DatabaseLockedError("a.db", 12),
            "a.db: another server (process 12) is using this database; stop it or choose another file",
        ),
        (
            DatabaseLockedError("a.db", None),
            "a.db: another server is using this database; stop it or choose another file",
        ),
        (DatabaseFormatError("a.db", "not ours"), "a.db: not ours"),
        (StorageUnavailableError("disk full"), "storage unavailable: disk full"),
        (ConflictError("K7MQ4", 3, 5), "room K7MQ4: expected event 3 to be the last, but it is 5"),
        (DamagedRoomError("K7MQ4", 3, "gone"), "room K7MQ4 is damaged at event 3: gone"),
        (DamagedRoomError("K7MQ4", None, "gone"), "room K7MQ4 is damaged: gone"),
        (NameTakenError("A\x1bna"), "the name 'A\\x1bna' is taken, choose another"),
    ],
)
def test_error_says_what_was_wrong(error: StoreError, text: str) -> None:
    assert isinstance(error, StoreError)
    assert str(error) == text
