"""The client of a tabuleiro server: the command line and its screens, and a library for programs.

>>> from tabuleiro_client import connect
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabuleiro_client.net.library import connect

__all__ = ["connect"]


def __getattr__(name: str) -> Any:
    """Load the library when it is asked for, so that commands without a network start quickly."""
    if name == "connect":
        from tabuleiro_client.net.library import connect

        return connect
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
