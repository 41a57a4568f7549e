"""Which computer player is offered first. What levels there are is told by the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

FIRST_OFFERED: Final = "easy"
"""The level for somebody who does not know any yet: it plays sensibly and can be beaten."""


def levels_to_offer(levels: Sequence[str]) -> tuple[str, ...]:
    """The levels (weakest first) in the order in which a list offers them: first the usual one, if it is there.

    >>> levels_to_offer(("random", "greedy", "easy", "hard"))
    ('easy', 'random', 'greedy', 'hard')
    """
    return tuple(sorted(levels, key=lambda level: level != FIRST_OFFERED))
