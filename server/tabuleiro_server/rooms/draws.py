"""Drawing what the pure room core may not: seeds, who begins, secrets of private rooms."""

from __future__ import annotations

import secrets

from tabuleiro.protocol.events import RoomSecrets
from tabuleiro_server.room.commands import Draws

SECRET_BYTES = 9


def draw() -> Draws:
    """Fresh random numbers for one command."""
    return Draws(seed=secrets.randbelow(2**32), is_swapped=bool(secrets.randbits(1)))


def draw_secrets() -> RoomSecrets:
    """Fresh secret parts for a private room: 72 random bits each."""
    return RoomSecrets(secrets.token_urlsafe(SECRET_BYTES), secrets.token_urlsafe(SECRET_BYTES))
