"""Counts of what clients asked for and what became of it: plain numbers for whoever shows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from tabuleiro.protocol.messages import ClientMessage

UNREAD: Final = "unread"
"""The kind of what could not be read as a message, or was not looked at."""

DONE: Final = "ok"

_KINDS: Final[dict[type, str]] = {kind: str(kind.__struct_config__.tag) for kind in ClientMessage.__args__}


@dataclass(slots=True)
class RequestFigures:
    """``counts`` only grow; keys are the type of the message and ``ok`` or the code of the refusal."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, message: ClientMessage | None, refusal: str | None) -> None:
        """Count a request; ``None`` for one that is no message, and for no refusal.

        >>> figures = RequestFigures()
        >>> figures.count(None, "bad-message")
        >>> dict(figures.counts)
        {('unread', 'bad-message'): 1}
        """
        kind = UNREAD if message is None else _KINDS[type(message)]
        self.counts[kind, DONE if refusal is None else str(refusal)] += 1
