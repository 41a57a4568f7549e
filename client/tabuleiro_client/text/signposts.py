"""The commands that lead to a room, as they are typed in a shell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signposts:
    """``join`` is how somebody else takes a seat, ``watch`` how they look on, ``back`` how this guest comes back.

    ``join`` and ``watch`` are empty where nobody can be told: a private room whose secrets are the host's.
    """

    join: str
    watch: str
    back: str
